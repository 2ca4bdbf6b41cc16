// How much an engine can work on, and the colours of masks.

import { widened } from "../image/raster.js";
import { counted, megapixels } from "../words.js";

/** Colours of a painted mask: none, and the accent of the page, brighter. */
export const MASK_COLOURS = [0, 0xffc8e000];

/** Pixels of image around the damage that a part of a large photo includes. */
const MARGIN = 96;

/** The largest images, in pixels, that are worked on as a whole. */
const MOST_PIXELS = { wasm: 3e6, native: 40e6 };

/**
 * @param {{ native: boolean }} engine
 * @returns {number}
 */
const mostPixels = (engine) => (engine.native ? MOST_PIXELS.native : MOST_PIXELS.wasm);

/** @param {{ native: boolean }} engine */
const handler = (engine) => (engine.native ? "this page" : "a browser tab");

/**
 * What to do with an image or frames that are too large for an engine.
 * @param {string} what
 * @param {{ native: boolean }} engine
 */
export const reduce = (what, engine) =>
  `Reduce the ${what}, or use ${engine.native ? "" : "`lobcod studio` or "}the command line.`;

/**
 * Refuses an image that is too large for an engine.
 * @param {{ width: number, height: number }} size
 * @param {{ native: boolean }} engine
 * @param {string} [cure]
 */
export function refuseLarge({ width, height }, engine, cure = reduce("image", engine)) {
  const most = mostPixels(engine);
  if (width * height > most) {
    throw new Error(
      `${megapixels(width * height)} are more than the ${most / 1e6} that ` +
        `${handler(engine)} handles. ${cure}`,
    );
  }
}

/**
 * Refuses an image with transparent pixels, for tasks that do not fill them.
 * @param {import("../image/load.js").Picture} picture
 */
export function refuseTransparent({ name, transparent }) {
  if (transparent)
    throw new Error(`${name} has transparent pixels. Fill them first, in Restore.`);
}

/**
 * Refuses an image that a task which needs all its pixels cannot take.
 * @param {import("../image/load.js").Picture} picture
 * @param {{ native: boolean }} engine
 */
export function checkWhole(picture, engine) {
  refuseLarge(picture.image, engine);
  refuseTransparent(picture);
}

/**
 * The part of an image to work on: all of it, or the surroundings of the damage in a large photo.
 * @param {{ width: number, height: number }} image
 * @param {import("../mask/mask.js").Mask} mask
 * @param {{ native: boolean }} engine
 */
export function workBox(image, mask, engine) {
  const whole = { left: 0, top: 0, width: image.width, height: image.height };
  if (image.width * image.height <= mostPixels(engine)) return whole;
  const box = widened(mask.bounds() ?? whole, MARGIN, image);
  refuseLarge(
    box,
    engine,
    engine.native
      ? "Use the command line."
      : "Restore one part of the damage after the other, or use `lobcod studio` on your computer.",
  );
  return box;
}

/** Pixels around a preview that are denoised with it: similar patches are searched there. */
export const PREVIEW_MARGIN = 24;

/** The largest previews while a slider is moved, in pixels along a side. */
const PREVIEW_SIDE = { wasm: 224, native: 640 };

/**
 * The middle of the visible part, of a size that an engine denoises quickly.
 * @param {import("../image/raster.js").Rectangle} visible
 * @param {{ native: boolean }} engine
 */
export function previewBox({ left, top, width, height }, engine) {
  const most = engine.native ? PREVIEW_SIDE.native : PREVIEW_SIDE.wasm;
  const [w, h] = [Math.min(width, most), Math.min(height, most)];
  return {
    left: left + Math.floor((width - w) / 2),
    top: top + Math.floor((height - h) / 2),
    width: w,
    height: h,
  };
}

/** The longest sounds, in samples. */
const MOST_SAMPLES = { wasm: 1e6, native: 20e6 };

/**
 * Refuses a sound that is too long for an engine.
 * @param {number} samples
 * @param {{ native: boolean }} engine
 */
export function refuseLong(samples, engine) {
  const most = engine.native ? MOST_SAMPLES.native : MOST_SAMPLES.wasm;
  if (samples > most) {
    throw new Error(
      `${counted(samples, "sample")} are more than the ${most / 1e6} million that ` +
        `${handler(engine)} handles. Cut the sound, or use the command line.`,
    );
  }
}
