// The atoms of a dictionary as a board of buttons.

import { h } from "../dom.js";
import { context, newCanvas } from "../image/raster.js";
import { counted } from "../words.js";

/** @typedef {import("../engine/message.js").Buffer} Buffer */

/**
 * @param {(index: number) => void} choose what a click on an atom does
 */
export function atomBoard(choose) {
  const element = h("div", { class: "atoms", role: "group", "aria-label": "Atoms" });
  /** @type {{ button: HTMLButtonElement, canvas: HTMLCanvasElement }[]} */
  let cells = [];
  return {
    element,
    /**
     * Draws atoms `[m, h, w]` or `[m, 3, h, w]`.
     * @param {Buffer} atoms
     */
    show({ shape, data }) {
      const [count] = shape;
      const [height, width] = shape.slice(-2);
      if (cells.length !== count || cells[0]?.canvas.width !== width) {
        cells = Array.from({ length: count }, (_, i) => {
          const canvas = newCanvas(width, height);
          const button = h(
            "button",
            {
              type: "button",
              class: "atom",
              "aria-label": `Atom ${i + 1}`,
              "aria-pressed": "false",
              on: { click: () => choose(i) },
            },
            canvas,
          );
          return { button, canvas };
        });
        element.replaceChildren(...cells.map(({ button }) => button));
        element.style.setProperty("--columns", String(Math.ceil(Math.sqrt(count))));
      }
      const size = data.length / count;
      cells.forEach(({ canvas }, i) =>
        drawAtom(canvas, data.subarray(i * size, (i + 1) * size), shape.length === 4 ? 3 : 1),
      );
    },
    /** Says how often each atom is used. @param {Int32Array} uses */
    label(uses) {
      cells.forEach(({ button }, i) => {
        button.title = `Atom ${i + 1}, used ${counted(uses[i], "time")}`;
        button.setAttribute("aria-label", button.title);
      });
    },
    /** Marks the chosen atoms. @param {number[]} chosen */
    mark(chosen) {
      cells.forEach(({ button }, i) =>
        button.setAttribute("aria-pressed", String(chosen.includes(i))),
      );
    },
    /** A copy of the image of an atom. @param {number} index */
    picture(index) {
      const source = cells[index].canvas;
      const copy = newCanvas(source.width, source.height);
      context(copy).drawImage(source, 0, 0);
      return copy;
    },
    clear() {
      cells = [];
      element.replaceChildren();
    },
  };
}

/**
 * Draws an atom with grey for zero; its largest value reaches black or white.
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} values channel after channel
 * @param {number} channels
 */
function drawAtom(canvas, values, channels) {
  const { width, height } = canvas;
  const pixels = new ImageData(width, height);
  let largest = 1e-12;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]));
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++)
      pixels.data[4 * i + c] =
        127.5 + (127.5 / largest) * values[(channels === 3 ? c : 0) * width * height + i];
    pixels.data[4 * i + 3] = 255;
  }
  context(canvas).putImageData(pixels, 0, 0);
}
