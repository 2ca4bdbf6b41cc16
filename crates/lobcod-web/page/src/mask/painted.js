// The decision of a fusion, what is painted over it, and that as a file for `lobcod fuse
// --decision`.

import { frameWords } from "../image/palette.js";
import { toPng } from "../image/raster.js";
import { Mask } from "./mask.js";

/** Stands for a pixel that is not painted. */
export const KEPT = 255;

/**
 * A decision to paint on: the frame of each pixel; where it is painted, plus the number of frames.
 * @param {import("../engine/message.js").Buffer} decision
 * @param {number} count of the frames
 */
export function decisionMask({ shape: [height, width], data }, count) {
  const colours = frameWords(count);
  const mask = new Mask(width, height, [...colours, ...colours]);
  mask.data.set(data);
  mask.touched({ left: 0, top: 0, width, height });
  return mask;
}

/**
 * The frame of each painted pixel; `KEPT` elsewhere.
 * @param {Mask} decision
 * @param {number} count of the frames
 */
export const paintedIn = ({ width, height, data }, count) => ({
  width,
  height,
  count,
  data: data.map((value) => (value < count ? KEPT : value - count)),
});

/**
 * A PNG with the frames as greys, from black for the first to white for the last, transparent where
 * nothing is painted.
 * @param {{ width: number, height: number, count: number, data: Uint8Array }} painted
 */
export function paintedPng({ width, height, count, data }) {
  const image = new ImageData(width, height);
  data.forEach((frame, i) => {
    const grey = Math.round((255 * frame) / (count - 1));
    if (frame !== KEPT) image.data.set([grey, grey, grey, 255], 4 * i);
  });
  return toPng(image);
}
