// Colours for numbers in order, such as frames from front to back.

/** Dark violet to yellow, evenly spaced for the eye. */
const STOPS = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

/**
 * The colour of a position from 0 to 1.
 * @param {number} at
 * @returns {number[]} red, green, blue
 */
export function ramp(at) {
  const place = Math.min(1, Math.max(0, at)) * (STOPS.length - 1);
  const low = Math.min(STOPS.length - 2, Math.floor(place));
  return STOPS[low].map((value, c) =>
    Math.round(value + (place - low) * (STOPS[low + 1][c] - value)),
  );
}

/**
 * The colours of `count` frames, as words of ImageData.
 * @param {number} count
 */
export const frameWords = (count) =>
  Array.from({ length: count }, (_, i) => word(ramp(count > 1 ? i / (count - 1) : 0)));

/** @param {number[]} colour */
const word = ([red, green, blue]) => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;

/**
 * An image of numbers from 0 to `most`.
 * @param {Float32Array} values
 * @param {number} width
 * @param {number} height
 * @param {number} most
 */
export function rampImage(values, width, height, most) {
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < words.length; i++) words[i] = word(ramp(values[i] / Math.max(most, 1)));
  return image;
}

/** @param {number[]} colour */
export const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
