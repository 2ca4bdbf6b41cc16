// Controls that the tabs which learn share.

import { button, download } from "../dom.js";
import { slider } from "./fields.js";

/**
 * A penalty, as a fraction of the largest useful one, from a slider whose positions are exponents.
 * @param {number} exponent
 */
export const relativePenalty = (exponent) => Number((10 ** exponent).toPrecision(2));

/** @param {{ max: number, value: number, hint: string, change: () => void }} options */
export const penaltySlider = (options) =>
  slider({
    label: "Penalty",
    min: -2,
    step: 0.05,
    show: (n) => `${relativePenalty(n)} of the largest`,
    ...options,
  });

/** @param {() => void} change */
export const passesSlider = (change) =>
  slider({ label: "Passes", min: 2, max: 60, step: 2, value: 20, change });

/**
 * A button that downloads the dictionary.
 * @param {string} text
 * @param {() => string} name of its file
 * @param {() => Uint8Array<ArrayBuffer> | null} file
 */
export const dictionaryButton = (text, name, file) =>
  button({
    icon: "download",
    text,
    hint: "For --dictionary and numpy.load",
    press: () => {
      const bytes = file();
      if (bytes) download(new Blob([bytes], { type: "application/zip" }), name());
    },
  });

/**
 * The npz file of the atoms that a stopped run showed last, which the status line then offers.
 * `null` if the run failed, or another one began.
 * @param {import("../main.js").Context["engine"]} engine
 * @param {import("./runner.js").Runner} runner
 * @param {import("../engine/message.js").Buffer} atoms
 * @returns {Promise<Uint8Array<ArrayBuffer> | null>}
 */
export async function stoppedDictionary(engine, runner, atoms) {
  if (runner.busy || runner.status.classList.contains("failed")) return null;
  const signal = new AbortController().signal;
  const job = { task: "dictionary", options: {}, buffers: { atoms }, signal, event() {} };
  const message = await engine.run(job);
  if (!message || runner.busy) return null;
  runner.say("Stopped. What was learnt so far can be downloaded.");
  return new Uint8Array(message.buffers.dictionary.data);
}
