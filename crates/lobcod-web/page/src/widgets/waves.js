// The learnt waveforms of a sound as cards that can be played.

import { h, icon } from "../dom.js";
import { counted } from "../words.js";

/** @param {(atom: number) => void} choose what a click on a card does */
export function waveCards(choose) {
  const element = h("div", { class: "waves", role: "group", "aria-label": "Waveforms" });
  /**
   * @type {{ button: HTMLButtonElement, canvas: HTMLCanvasElement, text: HTMLElement,
   *   wave: Float32Array }[]}
   */
  let cells = [];
  const draw = () => {
    const ink = getComputedStyle(element).getPropertyValue("--accent").trim();
    for (const { canvas, wave } of cells) drawWave(canvas, wave, ink);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return {
    element,
    /** @param {import("../engine/message.js").Buffer} atoms `[m, t]` */
    show({ shape: [count, length], data }) {
      if (cells.length !== count) {
        cells = Array.from({ length: count }, (_, i) => {
          const canvas = h("canvas", { width: 320, height: 120 });
          const text = h("span", { class: "quiet" });
          const button = h(
            "button",
            {
              type: "button",
              class: "wave",
              "aria-pressed": "false",
              on: { click: () => choose(i) },
            },
            canvas,
            h("span", { class: "wave-text" }, icon("play"), `Waveform ${i + 1}`, text),
          );
          return { button, canvas, text, wave: new Float32Array(0) };
        });
        element.replaceChildren(...cells.map(({ button }) => button));
      }
      cells.forEach((cell, i) => {
        cell.wave = new Float32Array(data.subarray(i * length, (i + 1) * length));
      });
      draw();
    },
    /** @param {Int32Array} uses */
    label(uses) {
      cells.forEach(({ text }, i) => (text.textContent = counted(uses[i], "event")));
    },
    /** @param {number} atom */
    mark(atom) {
      cells.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(i === atom)));
    },
    /** @param {number} atom */
    wave: (atom) => cells[atom]?.wave ?? null,
    clear() {
      cells = [];
      element.replaceChildren();
    },
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} wave
 * @param {string} ink
 */
function drawWave(canvas, wave, ink) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const { width, height } = canvas;
  const largest = wave.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
  pen.clearRect(0, 0, width, height);
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  pen.lineJoin = "round";
  pen.beginPath();
  wave.forEach((value, i) => {
    const [x, y] = [
      (width * i) / Math.max(1, wave.length - 1),
      height / 2 - (height / 2 - 6) * (value / largest),
    ];
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  });
  pen.stroke();
}
