// The tools that paint a mask: brush, lasso and wand. Each sets pixels to one value; 0 erases.

import { strokeVisibly } from "../stage/stage.js";
import { polygon, region, stroke } from "./shapes.js";

/** @typedef {import("./mask.js").Mask} Mask */
/** @typedef {import("../stage/stage.js").Stage} Stage */
/** @typedef {{ x: number, y: number }} Point */

/**
 * What the tools need to know; the toolbar changes it.
 * @typedef {{ diameter: number, tolerance: number, grow: number, value: number }} Settings
 */

/**
 * Paints discs along the pointer's path.
 * @param {() => Mask | null} mask
 * @param {Settings} settings
 * @returns {import("../stage/pointers.js").Tool}
 */
export function brush(mask, settings) {
  /** @type {Point | null} */
  let last = null;
  const paint = (/** @type {Point} */ from, /** @type {Point} */ to) => {
    const target = mask();
    if (target) target.touched(stroke(target, from, to, settings.diameter / 2, settings.value));
  };
  return {
    get radius() {
      return settings.diameter / 2;
    },
    down(at) {
      mask()?.begin();
      last = at;
      paint(at, at);
    },
    move(at) {
      if (last) paint(last, at);
      last = at;
    },
    up() {
      last = null;
      mask()?.commit();
    },
    cancel() {
      last = null;
      undoStroke(mask());
    },
  };
}

/**
 * Marks the inside of a drawn outline.
 * @param {() => Mask | null} mask
 * @param {Settings} settings
 * @param {Stage} stage
 * @returns {import("../stage/pointers.js").Tool}
 */
export function lasso(mask, settings, stage) {
  /** @type {Point[]} */
  let points = [];
  const outline = (/** @type {CanvasRenderingContext2D} */ pen, /** @type {number} */ scale) => {
    const path = new Path2D();
    points.forEach((point, i) =>
      i === 0 ? path.moveTo(point.x, point.y) : path.lineTo(point.x, point.y),
    );
    strokeVisibly(pen, path, scale);
  };
  const end = () => {
    points = [];
    stage.decorate = null;
  };
  return {
    down(at) {
      points = [at];
      stage.decorate = outline;
    },
    move(at) {
      points.push(at);
    },
    up() {
      const target = mask();
      if (target && points.length > 2) {
        target.begin();
        target.touched(polygon(target, points, settings.value));
        target.commit();
      }
      end();
    },
    cancel: end,
  };
}

/**
 * Marks the region of similar colour below the pointer.
 * @param {() => Mask | null} mask
 * @param {Settings} settings
 * @param {() => ImageData | null} image
 * @returns {import("../stage/pointers.js").Tool}
 */
export function wand(mask, settings, image) {
  return {
    down(at) {
      const [target, pixels] = [mask(), image()];
      if (!target || !pixels) return;
      const found = region(pixels, at, settings.tolerance, settings.grow);
      target.begin();
      for (let i = 0; i < found.length; i++) if (found[i]) target.data[i] = settings.value;
      target.touched({ left: 0, top: 0, width: target.width, height: target.height });
    },
    move() {},
    up() {
      mask()?.commit();
    },
    cancel() {
      undoStroke(mask());
    },
  };
}

/**
 * Takes back a stroke that has not ended.
 * @param {Mask | null} mask
 */
function undoStroke(mask) {
  if (!mask?.before) return;
  mask.data.set(mask.before);
  mask.before = null;
  mask.touched({ left: 0, top: 0, width: mask.width, height: mask.height });
}
