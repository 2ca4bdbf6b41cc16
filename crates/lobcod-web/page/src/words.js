// Numbers in words.

/**
 * A number with its noun, such as "1 frame" or "1,250 pixels".
 * @param {number} count
 * @param {string} one
 * @param {string} several
 */
export const counted = (count, one, several = `${one}s`) =>
  `${count.toLocaleString("en")} ${count === 1 ? one : several}`;

/** @param {number} seconds */
export const secondsText = (seconds) =>
  seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;

/** @param {{ width: number, height: number }} size */
export const sizeText = ({ width, height }) => `${width} × ${height}`;

/** @param {number} pixels */
export const megapixels = (pixels) => `${Number((pixels / 1e6).toFixed(1))} megapixels`;

/**
 * The sentence of an error.
 * @param {unknown} error
 */
export const sentenceOf = (error) => (error instanceof Error ? error.message : String(error));
