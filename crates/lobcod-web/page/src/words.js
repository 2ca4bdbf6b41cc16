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

/**
 * About how long something takes.
 * @param {number} seconds
 */
export const durationText = (seconds) =>
  seconds < 60
    ? `${Math.max(1, Math.round(seconds))} s`
    : seconds < 3600
      ? `${Math.round(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`;

/**
 * What learning does now: its passes, and at the end the codes with their certificate.
 * @param {Record<string, any>} progress
 * @param {number} passes
 */
export const learningText = ({ pass, gap }, passes) =>
  pass !== null
    ? `Pass ${pass} of ${passes}`
    : `Final codes${gap === null ? "…" : `, certified gap ${gap.toExponential(1)}`}`;

/** @param {{ width: number, height: number }} size */
export const sizeText = ({ width, height }) => `${width} × ${height}`;

/** @param {number} pixels */
export const megapixels = (pixels) => `${Number((pixels / 1e6).toFixed(1))} megapixels`;

/**
 * A part of a whole in percent, with two digits.
 * @param {number} part
 */
export const percentText = (part) => `${Number((100 * part).toPrecision(2))} %`;

/**
 * Words as a sentence: a capital letter and a full stop.
 * @param {string} words
 */
export const sentence = (words) =>
  words.charAt(0).toUpperCase() + words.slice(1) + (/[.?!…]$/.test(words) ? "" : ".");

/**
 * The sentence of an error.
 * @param {unknown} error
 */
export const sentenceOf = (error) => (error instanceof Error ? error.message : String(error));
