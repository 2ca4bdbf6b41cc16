// A painted map with undo and redo: one byte per pixel, for damage or the number of a frame.

import { context, newCanvas } from "../image/raster.js";

/** @typedef {import("../image/raster.js").Rectangle} Rectangle */
/** @typedef {{ box: Rectangle, before: Uint8Array, after: Uint8Array }} Change */

/** Changes that can be undone. */
const MOST_CHANGES = 100;

export class Mask extends EventTarget {
  /**
   * @param {number} width
   * @param {number} height
   * @param {number[]} palette the colour of each value, as a word of ImageData
   */
  constructor(width, height, palette) {
    super();
    this.width = width;
    this.height = height;
    this.data = new Uint8Array(width * height);
    /** The map in its colours, for the stage. */
    this.overlay = newCanvas(width, height);
    this.palette = palette;
    /** @type {Change[]} */
    this.done = [];
    /** @type {Change[]} */
    this.undone = [];
    /** The data before the stroke in progress. @type {Uint8Array | null} */
    this.before = null;
  }

  /** Starts a change; edits until `commit` are undone together. */
  begin() {
    this.before ??= this.data.slice();
  }

  /**
   * Shows pixels edited within a box.
   * @param {Rectangle} box
   */
  touched(box) {
    const part = this.clip(box);
    if (part.width <= 0 || part.height <= 0) return;
    const pixels = new ImageData(part.width, part.height);
    const words = new Uint32Array(pixels.data.buffer);
    for (let y = 0, k = 0; y < part.height; y++) {
      const row = (part.top + y) * this.width + part.left;
      for (let x = 0; x < part.width; x++, k++) words[k] = this.palette[this.data[row + x]];
    }
    context(this.overlay).putImageData(pixels, part.left, part.top);
    this.dispatchEvent(new Event("paint"));
  }

  /** Ends a change. Nothing is recorded if no pixel differs. */
  commit() {
    const before = this.before;
    this.before = null;
    if (!before) return;
    const box = this.difference(before);
    if (!box) return;
    this.done.push({ box, before: this.cut(before, box), after: this.cut(this.data, box) });
    if (this.done.length > MOST_CHANGES) this.done.shift();
    this.undone = [];
    this.dispatchEvent(new Event("change"));
  }

  undo() {
    const change = this.done.pop();
    if (!change) return;
    this.undone.push(change);
    this.put(change.before, change.box);
  }

  redo() {
    const change = this.undone.pop();
    if (!change) return;
    this.done.push(change);
    this.put(change.after, change.box);
  }

  /**
   * Replaces the whole map as one change.
   * @param {Uint8Array} data
   */
  replace(data) {
    this.begin();
    this.data.set(data);
    this.touched({ left: 0, top: 0, width: this.width, height: this.height });
    this.commit();
  }

  clear() {
    this.replace(new Uint8Array(this.data.length));
  }

  /** Number of marked pixels. */
  count() {
    return this.data.reduce((sum, value) => sum + Number(value > 0), 0);
  }

  /** The smallest box around marked pixels, or `null`. */
  bounds() {
    return this.difference(new Uint8Array(this.data.length));
  }

  /**
   * @param {Rectangle} box
   * @returns {Rectangle}
   */
  clip({ left, top, width, height }) {
    const x = Math.max(0, Math.floor(left));
    const y = Math.max(0, Math.floor(top));
    return {
      left: x,
      top: y,
      width: Math.min(this.width, Math.ceil(left + width)) - x,
      height: Math.min(this.height, Math.ceil(top + height)) - y,
    };
  }

  /**
   * The smallest box that contains all pixels that differ from `other`.
   * @param {Uint8Array} other
   * @returns {Rectangle | null}
   */
  difference(other) {
    let [left, right, top, bottom] = [this.width, -1, this.height, -1];
    for (let y = 0, i = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++, i++) {
        if (this.data[i] !== other[i]) {
          if (x < left) left = x;
          if (x > right) right = x;
          if (y < top) top = y;
          bottom = y;
        }
      }
    }
    return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
  }

  /**
   * @param {Uint8Array} data
   * @param {Rectangle} box
   */
  cut(data, { left, top, width, height }) {
    const part = new Uint8Array(width * height);
    for (let y = 0; y < height; y++) {
      const from = (top + y) * this.width + left;
      part.set(data.subarray(from, from + width), y * width);
    }
    return part;
  }

  /**
   * @param {Uint8Array} part
   * @param {Rectangle} box
   */
  put(part, box) {
    for (let y = 0; y < box.height; y++) {
      this.data.set(
        part.subarray(y * box.width, (y + 1) * box.width),
        (box.top + y) * this.width + box.left,
      );
    }
    this.touched(box);
    this.dispatchEvent(new Event("change"));
  }
}
