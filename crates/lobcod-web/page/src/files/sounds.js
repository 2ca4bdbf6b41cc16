// Synthetic sounds, computed by code: a drum loop and a melody on bells.

/** @typedef {import("./wav.js").Sound} Sound */

const RATE = 8000;

/**
 * Adds a sound that starts at a time.
 * @param {Float32Array} track
 * @param {number} seconds
 * @param {number} loudness
 * @param {number} length in seconds
 * @param {(time: number, index: number) => number} shape
 */
function add(track, seconds, loudness, length, shape) {
  const start = Math.round(seconds * RATE);
  const count = Math.min(Math.round(length * RATE), track.length - start);
  for (let i = 0; i < count; i++) track[start + i] += loudness * shape(i / RATE, i);
}

/** Fixed noise, the same for each stroke of a drum. @param {number} i */
const noise = (i) =>
  (((Math.imul(i + 1, 2654435761) ^ Math.imul(i + 7, 1597334677)) >>> 0) / 2147483648 - 1) * 0.9;

/** Four bars of kick, snare and hi-hat. @returns {Sound} */
export function drums() {
  const samples = new Float32Array(4 * RATE);
  const kick = (/** @type {number} */ t) =>
    Math.sin(2 * Math.PI * (55 * t + 6 * (1 - Math.exp(-t / 0.02)))) * Math.exp(-t / 0.035);
  const snare = (/** @type {number} */ t, /** @type {number} */ i) =>
    (0.6 * noise(i) + 0.6 * Math.sin(2 * Math.PI * 190 * t)) * Math.exp(-t / 0.025);
  const hat = (/** @type {number} */ t, /** @type {number} */ i) =>
    (noise(i) - noise(i - 1)) * 0.6 * Math.exp(-t / 0.008);
  for (let step = 0; step < 32; step++) {
    const at = 0.125 * step;
    if (step % 8 === 0 || step % 8 === 5) add(samples, at, 0.75, 0.09, kick);
    if (step % 8 === 4) add(samples, at, 0.55, 0.09, snare);
    if (step % 2 === 0 || step % 16 === 15)
      add(samples, at + 0.004, step % 4 === 0 ? 0.3 : 0.22, 0.04, hat);
  }
  return { name: "drums.wav", rate: RATE, channels: 1, samples };
}

/** A melody on three bells. @returns {Sound} */
export function bells() {
  const samples = new Float32Array(4 * RATE);
  const bell = (/** @type {number} */ pitch) => (/** @type {number} */ t) =>
    [
      [1, 1],
      [2.76, 0.4],
      [5.4, 0.2],
    ].reduce(
      (sum, [ratio, part]) =>
        sum + part * Math.sin(2 * Math.PI * pitch * ratio * t) * Math.exp((-t * ratio) / 0.05),
      0,
    ) * Math.min(1, t / 0.001);
  const melody = [0, 1, 2, 1, 0, 2, 1, 0, 2, 2, 1, 0, 1, 1, 0];
  melody.forEach((note, i) =>
    add(samples, 0.1 + 0.25 * i, 0.35 + 0.1 * (i % 2), 0.24, bell([392, 494, 587][note])),
  );
  return { name: "bells.wav", rate: RATE, channels: 1, samples };
}
