// How an image lies in a window: its scale and the position of its corner.

const MOST_ZOOM = 32;

/** @typedef {{ x: number, y: number }} Point */

export class View {
  constructor() {
    /** Size of the window, in CSS pixels. */
    this.width = 1;
    this.height = 1;
    /** Size of the image, in its pixels. */
    this.imageWidth = 1;
    this.imageHeight = 1;
    /** CSS pixels per image pixel. */
    this.scale = 1;
    /** Position of the image's corner in the window. */
    this.left = 0;
    this.top = 0;
    /** Whether the whole image is kept in view when the window changes. */
    this.fitted = true;
  }

  /** The scale at which the whole image is visible. */
  get fitScale() {
    // Room for the tools that float on the window, where there is some.
    const across = this.width < 700 ? 12 : 76;
    const down = this.height < 420 ? 12 : 64;
    const scale = Math.min(
      (this.width - 2 * across) / this.imageWidth,
      (this.height - 2 * down) / this.imageHeight,
    );
    return Math.max(scale, 0.01);
  }

  fit() {
    this.scale = this.fitScale;
    this.left = (this.width - this.imageWidth * this.scale) / 2;
    this.top = (this.height - this.imageHeight * this.scale) / 2;
    this.fitted = true;
  }

  /**
   * Zooms by a factor; the image point at `at` stays where it is.
   * @param {number} factor
   * @param {Point} [at]
   */
  zoom(factor, at = { x: this.width / 2, y: this.height / 2 }) {
    const lowest = Math.min(1, this.fitScale);
    const scale = Math.min(MOST_ZOOM, Math.max(lowest, this.scale * factor));
    const ratio = scale / this.scale;
    this.left = at.x - (at.x - this.left) * ratio;
    this.top = at.y - (at.y - this.top) * ratio;
    this.scale = scale;
    this.fitted = false;
    this.keepInside();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  pan(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.fitted = false;
    this.keepInside();
  }

  /** Keeps a part of the image in the window. */
  keepInside() {
    const keep = 48;
    this.left = Math.min(
      this.width - keep,
      Math.max(keep - this.imageWidth * this.scale, this.left),
    );
    this.top = Math.min(
      this.height - keep,
      Math.max(keep - this.imageHeight * this.scale, this.top),
    );
  }

  /**
   * The image point below a point of the window.
   * @param {Point} point
   * @returns {Point}
   */
  toImage({ x, y }) {
    return { x: (x - this.left) / this.scale, y: (y - this.top) / this.scale };
  }

  /**
   * Moves the window so that an image point is in it.
   * @param {Point} point
   */
  reveal({ x, y }) {
    const edge = Math.min(24, this.width / 4, this.height / 4);
    const [across, down] = [this.left + x * this.scale, this.top + y * this.scale];
    const inside = (/** @type {number} */ at, /** @type {number} */ length) =>
      Math.min(length - edge, Math.max(edge, at));
    if (inside(across, this.width) !== across || inside(down, this.height) !== down)
      this.pan(inside(across, this.width) - across, inside(down, this.height) - down);
  }

  /** The box of image pixels that are visible. */
  visible() {
    const from = this.toImage({ x: 0, y: 0 });
    const to = this.toImage({ x: this.width, y: this.height });
    const left = Math.max(0, Math.floor(from.x));
    const top = Math.max(0, Math.floor(from.y));
    return {
      left,
      top,
      width: Math.max(0, Math.min(this.imageWidth, Math.ceil(to.x)) - left),
      height: Math.max(0, Math.min(this.imageHeight, Math.ceil(to.y)) - top),
    };
  }
}
