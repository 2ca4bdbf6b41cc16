// Images from files, the clipboard and the camera.

import { megapixels } from "../words.js";
import { context, newCanvas } from "./raster.js";

/** Larger images are refused: their working copies alone would fill the memory of a browser tab. */
const MOST_PIXELS = 40e6;

/**
 * An opened image, made opaque. `missing` marks pixels that were transparent in the file or are
 * known to be damaged.
 * @typedef {{ name: string, image: ImageData, missing: Uint8Array | null,
 *   transparent?: boolean }} Picture
 */

/**
 * Decodes an image file. The browser turns it upright (EXIF) and converts its colours to sRGB.
 * @param {Blob} file
 * @param {string} name
 * @returns {Promise<Picture>}
 */
export async function decode(file, name) {
  const bitmap = await createImageBitmap(file, {
    imageOrientation: "from-image",
    premultiplyAlpha: "none",
  }).catch(() => {
    throw new Error(`${name} is not an image this browser can read. Use PNG, JPEG or WebP.`);
  });
  try {
    const pixelCount = bitmap.width * bitmap.height;
    if (pixelCount > MOST_PIXELS) {
      throw new Error(
        `${name} has ${megapixels(pixelCount)}, more than a browser tab can hold ` +
          `(${megapixels(MOST_PIXELS)}). Use the command line for it.`,
      );
    }
    const canvas = newCanvas(bitmap.width, bitmap.height);
    const pen = context(canvas);
    pen.drawImage(bitmap, 0, 0);
    const pixels = pen.getImageData(0, 0, canvas.width, canvas.height);
    const missing = takeTransparency(pixels);
    return { name, image: pixels, missing, transparent: missing !== null };
  } finally {
    bitmap.close();
  }
}

/**
 * Makes an image opaque, and returns which pixels are missing, by the rule of the program: those
 * more transparent than opaque, and partly transparent ones next to them.
 * @param {ImageData} pixels
 */
function takeTransparency({ data, width, height }) {
  const clear = new Uint8Array(width * height);
  for (let i = 0; i < clear.length; i++) clear[i] = Number(data[4 * i + 3] < 128);
  const any = clear.includes(1);
  const missing = clear.slice();
  for (let i = 0; i < clear.length; i++) {
    if (any && data[4 * i + 3] < 255) missing[i] = Number(isNear(clear, i, width));
    data[4 * i + 3] = 255;
  }
  return any ? missing : null;
}

/**
 * Whether a pixel or one of its eight neighbours is set.
 * @param {Uint8Array} mask
 * @param {number} i
 * @param {number} width
 */
function isNear(mask, i, width) {
  const x = i % width;
  for (let row = i - width; row <= i + width; row += width)
    for (let dx = x > 0 ? -1 : 0; dx <= (x + 1 < width ? 1 : 0); dx++)
      if (mask[row + dx]) return true;
  return false;
}

/**
 * The files of a drop or a paste.
 * @param {DataTransfer | null} transfer
 * @returns {File[]}
 */
export const filesOf = (transfer) => [...(transfer?.files ?? [])];

/**
 * Lets the user choose files.
 * @param {{ accept: string, multiple?: boolean, capture?: boolean }} options
 * @returns {Promise<File[]>}
 */
export function pickFiles({ accept, multiple = false, capture = false }) {
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = accept;
    input.multiple = multiple;
    if (capture) input.setAttribute("capture", "environment");
    input.addEventListener("change", () => resolve([...(input.files ?? [])]));
    input.addEventListener("cancel", () => resolve([]));
    input.click();
  });
}

/**
 * The name of a file without its extension.
 * @param {string} name
 */
export const stem = (name) => name.replace(/\.[^.]*$/, "");
