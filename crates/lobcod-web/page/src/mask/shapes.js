// Shapes that tools mark in a mask: discs along a stroke, polygons, and regions of one colour.

/** @typedef {import("../image/raster.js").Rectangle} Rectangle */
/** @typedef {{ x: number, y: number }} Point in pixels; pixel 0 covers 0..1 */
/** @typedef {{ width: number, height: number, data: Uint8Array }} Plane */

/**
 * Marks all pixels whose centre is within `radius` of a line segment.
 * @param {Plane} plane
 * @param {Point} from
 * @param {Point} to
 * @param {number} radius
 * @param {number} value
 * @returns {Rectangle} the box that may have changed
 */
export function stroke(plane, from, to, radius, value) {
  const left = Math.max(0, Math.floor(Math.min(from.x, to.x) - radius));
  const right = Math.min(plane.width, Math.ceil(Math.max(from.x, to.x) + radius));
  const top = Math.max(0, Math.floor(Math.min(from.y, to.y) - radius));
  const bottom = Math.min(plane.height, Math.ceil(Math.max(from.y, to.y) + radius));
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  // A brush of one pixel marks the pixel below it, wherever its centre is.
  const limit = Math.max(radius, Math.SQRT1_2) ** 2;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const [px, py] = [x + 0.5 - from.x, y + 0.5 - from.y];
      const along = length > 0 ? Math.min(1, Math.max(0, (px * dx + py * dy) / length)) : 0;
      const distance = (px - along * dx) ** 2 + (py - along * dy) ** 2;
      if (distance <= limit) plane.data[y * plane.width + x] = value;
    }
  }
  return { left, top, width: right - left, height: bottom - top };
}

/**
 * Marks all pixels whose centre is inside a polygon (even-odd rule).
 * @param {Plane} plane
 * @param {Point[]} points
 * @param {number} value
 * @returns {Rectangle}
 */
export function polygon(plane, points, value) {
  const heights = points.map((point) => point.y);
  const top = Math.max(0, Math.floor(Math.min(...heights)));
  const bottom = Math.min(plane.height, Math.ceil(Math.max(...heights)));
  for (let y = top; y < bottom; y++) {
    const crossings = crossingsAt(points, y + 0.5);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const start = Math.max(0, Math.ceil(crossings[i] - 0.5));
      const end = Math.min(plane.width, Math.ceil(crossings[i + 1] - 0.5));
      if (end > start) plane.data.fill(value, y * plane.width + start, y * plane.width + end);
    }
  }
  return { left: 0, top, width: plane.width, height: bottom - top };
}

/**
 * Where the outline crosses a row, in order.
 * @param {Point[]} points
 * @param {number} y
 */
function crossingsAt(points, y) {
  const found = [];
  for (let i = 0; i < points.length; i++) {
    const a = points[i];
    const b = points[(i + 1) % points.length];
    if (a.y <= y !== b.y <= y) found.push(a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x));
  }
  return found.sort((a, b) => a - b);
}

/**
 * Pixels connected to a place whose colour differs by at most `tolerance` in every channel, and
 * their neighbours up to `grow` pixels away.
 * @param {ImageData} image
 * @param {Point} at
 * @param {number} tolerance
 * @param {number} grow
 * @returns {Uint8Array} 1 where a pixel belongs to the region
 */
export function region(image, at, tolerance, grow) {
  const { width, height, data } = image;
  const found = new Uint8Array(width * height);
  const start = Math.floor(at.y) * width + Math.floor(at.x);
  if (!(at.x >= 0 && at.x < width && at.y >= 0 && at.y < height)) return found;
  const similar = (/** @type {number} */ i) => {
    for (let c = 0; c < 3; c++) {
      if (Math.abs(data[4 * i + c] - data[4 * start + c]) > tolerance) return false;
    }
    return true;
  };
  const pending = [start];
  found[start] = 1;
  const visit = (/** @type {number} */ i) => {
    if (!found[i] && similar(i)) {
      found[i] = 1;
      pending.push(i);
    }
  };
  while (pending.length > 0) {
    const i = /** @type {number} */ (pending.pop());
    const x = i % width;
    if (x > 0) visit(i - 1);
    if (x + 1 < width) visit(i + 1);
    if (i >= width) visit(i - width);
    if (i + width < found.length) visit(i + width);
  }
  return grow > 0 ? dilate({ width, height, data: found }, grow) : found;
}

/**
 * A plane with every mark widened to a square, separately along rows and columns.
 * @param {Plane} plane
 * @param {number} radius
 */
function dilate({ width, height, data }, radius) {
  const rows = widen(data, width, height, 1, width, radius);
  return widen(rows, height, width, width, 1, radius);
}

/**
 * Widens marks along lines of `length` samples, `step` apart; lines are `line` apart.
 * @param {Uint8Array} data
 * @param {number} length
 * @param {number} lines
 * @param {number} step
 * @param {number} line
 * @param {number} radius
 */
function widen(data, length, lines, step, line, radius) {
  const wide = new Uint8Array(data.length);
  for (let l = 0; l < lines; l++) {
    let until = -1;
    for (let i = 0; i < length + radius; i++) {
      if (i < length && data[l * line + i * step]) until = i + 2 * radius;
      const at = i - radius;
      if (at >= 0 && i <= until) wide[l * line + at * step] = 1;
    }
  }
  return wide;
}
