// Images are `ImageData`: four bytes per pixel, as canvases and the engine read them.

/**
 * A box of pixels.
 * @typedef {{ left: number, top: number, width: number, height: number }} Rectangle
 */

/**
 * A canvas of the given size.
 * @param {number} width
 * @param {number} height
 * @returns {HTMLCanvasElement}
 */
export function newCanvas(width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

/**
 * The context of a canvas whose pixels are read and written directly.
 * @param {HTMLCanvasElement} canvas
 */
export const context = (canvas) =>
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));

/**
 * Draws an image onto a canvas of its size, which is made if none is given.
 * @param {ImageData} image
 * @param {HTMLCanvasElement} [canvas]
 */
export function toCanvas(image, canvas = newCanvas(image.width, image.height)) {
  context(canvas).putImageData(image, 0, 0);
  return canvas;
}

/**
 * A box with a margin around it, as far as an image reaches.
 * @param {Rectangle} box
 * @param {number} margin
 * @param {{ width: number, height: number }} image
 * @returns {Rectangle}
 */
export function widened({ left, top, width, height }, margin, image) {
  const [x, y] = [Math.max(0, left - margin), Math.max(0, top - margin)];
  return {
    left: x,
    top: y,
    width: Math.min(image.width, left + width + margin) - x,
    height: Math.min(image.height, top + height + margin) - y,
  };
}

/**
 * A part of an image.
 * @param {ImageData} image
 * @param {Rectangle} box
 */
export function crop(image, { left, top, width, height }) {
  const part = new ImageData(width, height);
  for (let y = 0; y < height; y++) {
    const from = 4 * ((top + y) * image.width + left);
    part.data.set(image.data.subarray(from, from + 4 * width), 4 * y * width);
  }
  return part;
}

/**
 * A copy of an image with a part replaced.
 * @param {ImageData} image
 * @param {ImageData} part
 * @param {{ left: number, top: number }} place
 */
export function paste(image, part, { left, top }) {
  const copy = new ImageData(image.data.slice(), image.width, image.height);
  for (let y = 0; y < part.height; y++) {
    const row = part.data.subarray(4 * y * part.width, 4 * (y + 1) * part.width);
    copy.data.set(row, 4 * ((top + y) * image.width + left));
  }
  return copy;
}

/**
 * The image as a PNG file.
 * @param {ImageData} image
 * @returns {Promise<Blob>}
 */
export function toPng(image) {
  const canvas = toCanvas(image);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) =>
        blob
          ? resolve(blob)
          : reject(new Error("The image is too large for a PNG in this browser.")),
      "image/png",
    ),
  );
}

/**
 * Whether an image has no colours; the engine then codes one channel.
 * @param {ImageData} image
 */
export function isGrey({ data }) {
  for (let i = 0; i < data.length; i += 4)
    if (data[i] !== data[i + 1] || data[i] !== data[i + 2]) return false;
  return true;
}
