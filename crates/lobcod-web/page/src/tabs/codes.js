// Looking into codes: where an atom is used, and which atoms make a place.

/**
 * Codes of an image: `value[k]` times atom `atom[k]`, whose first pixel is at `position[2k]` (row)
 * and `position[2k + 1]` (column).
 * @typedef {{ position: Int32Array, atom: Int32Array, value: Float32Array }} Codes
 */

/**
 * The codes of a result.
 * @param {import("../engine/message.js").Message} message
 * @returns {Codes}
 */
export function codesOf({ buffers }) {
  return {
    position: /** @type {Int32Array} */ (buffers.position.data),
    atom: /** @type {Int32Array} */ (buffers.atom.data),
    value: /** @type {Float32Array} */ (buffers.value.data),
  };
}

/**
 * How often each atom is used.
 * @param {Codes} codes
 * @param {number} count
 */
export function usesOf({ atom }, count) {
  const uses = new Int32Array(count);
  for (const index of atom) uses[index]++;
  return uses;
}

/**
 * Draws where an atom is used: its box at every position, stronger where its value is larger.
 * @param {CanvasRenderingContext2D} pen
 * @param {Codes} codes
 * @param {number} chosen
 * @param {[number, number]} size height and width of the atoms
 * @param {string} colour
 */
export function drawUses(pen, { position, atom, value }, chosen, [height, width], colour) {
  pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
  let largest = 1e-12;
  for (let k = 0; k < atom.length; k++)
    if (atom[k] === chosen) largest = Math.max(largest, Math.abs(value[k]));
  pen.fillStyle = colour;
  for (let k = 0; k < atom.length; k++) {
    if (atom[k] !== chosen) continue;
    pen.globalAlpha = 0.15 + (0.7 * Math.abs(value[k])) / largest;
    pen.fillRect(position[2 * k + 1], position[2 * k], width, height);
  }
  pen.globalAlpha = 1;
}

/**
 * The codes whose atoms cover a pixel, largest value first.
 * @param {Codes} codes
 * @param {{ x: number, y: number }} at
 * @param {[number, number]} size
 */
export function codesAt({ position, atom, value }, at, [height, width]) {
  const [row, column] = [Math.floor(at.y), Math.floor(at.x)];
  const found = [];
  for (let k = 0; k < atom.length; k++) {
    const [y, x] = [position[2 * k], position[2 * k + 1]];
    if (y <= row && row < y + height && x <= column && column < x + width)
      found.push({ atom: atom[k], value: value[k], x, y });
  }
  return found.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}
