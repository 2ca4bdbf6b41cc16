// What is painted over the decision of a fusion, as a file that `lobcod fuse --decision` reads.

import { toPng } from "../image/raster.js";

/** Stands for a pixel that is not painted. */
export const KEPT = 255;

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
