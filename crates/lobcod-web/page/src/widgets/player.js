// Plays samples through the speakers.

import { button } from "../dom.js";

/** @type {AudioContext | null} */
let audio = null;
/** @type {AudioBufferSourceNode | null} */
let playing = null;

/**
 * Plays a sound; one that is playing is stopped first.
 * @param {Float32Array} samples
 * @param {number} rate
 * @param {() => void} [ended] called at its end, or when it is stopped
 */
export function play(samples, rate, ended = () => {}) {
  stop();
  audio ??= new AudioContext();
  void audio.resume();
  // Browsers play 8 kHz and more; slower signals are shortened to that.
  const buffer = audio.createBuffer(1, samples.length, Math.min(96000, Math.max(8000, rate)));
  buffer.copyToChannel(new Float32Array(samples), 0);
  const source = (playing = audio.createBufferSource());
  source.buffer = buffer;
  source.connect(audio.destination);
  source.addEventListener("ended", () => {
    if (playing === source) playing = null;
    ended();
  });
  source.start();
}

export function stop() {
  playing?.stop();
  playing = null;
}

/**
 * A button that plays a sound, and stops it while it plays.
 * @param {{ text?: string, label?: string, hint?: string,
 *   sound: () => { samples: Float32Array, rate: number } | null }} options
 */
export function playButton({ text, label, hint, sound }) {
  let sounds = false;
  const element = button({ icon: "play", text, label, hint, press });

  function press() {
    if (sounds) return stop();
    const given = sound();
    if (!given) return;
    play(given.samples, given.rate, () => show(false));
    show(true);
  }

  /** @param {boolean} on */
  function show(on) {
    sounds = on;
    element.setAttribute("aria-pressed", String(on));
    element.querySelector("use").setAttribute("href", `icons.svg#${on ? "stop" : "play"}`);
  }
  return element;
}
