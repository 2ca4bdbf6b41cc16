// Masks as image files: white where pixels are missing, as `--holes` reads them.

import { decode } from "../image/load.js";
import { toPng } from "../image/raster.js";
import { sizeText } from "../words.js";

/** Darker values count as black, as in the program's rule for soft masks. */
const BLACK = 16;

/**
 * Reads a mask of the given size.
 * @param {Blob} file
 * @param {string} name
 * @param {{ width: number, height: number }} size
 * @returns {Promise<Uint8Array>}
 */
export async function readMask(file, name, { width, height }) {
  const { image, missing } = await decode(file, name);
  if (image.width !== width || image.height !== height) {
    throw new Error(
      `The mask has ${sizeText(image)} pixels, but the image has ${width} × ${height}. ` +
        "Use a mask of the size of the image.",
    );
  }
  const mask = new Uint8Array(width * height);
  const constant = isConstant(image);
  for (let i = 0; i < mask.length; i++) {
    const brightest = Math.max(image.data[4 * i], image.data[4 * i + 1], image.data[4 * i + 2]);
    // Where only the transparency varies, opaque paint is the mask.
    mask[i] = Number(constant && missing ? !missing[i] : brightest > BLACK && !missing?.[i]);
  }
  return mask;
}

/** @param {ImageData} image */
function isConstant({ data }) {
  for (let i = 4; i < data.length; i += 4) {
    if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 2] !== data[2]) return false;
  }
  return true;
}

/**
 * The mask as a PNG.
 * @param {{ width: number, height: number, data: Uint8Array }} mask
 */
export function maskPng({ width, height, data }) {
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < words.length; i++) words[i] = data[i] ? 0xffffffff : 0xff000000;
  return toPng(image);
}
