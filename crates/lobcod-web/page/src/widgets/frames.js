// The frames of a stack as cards: one is chosen, each can be removed.

import { button, h } from "../dom.js";
import { css, ramp } from "../image/palette.js";
import { toCanvas } from "../image/raster.js";
import { sizeText } from "../words.js";

export const MOST_FRAMES = 20;

/** @typedef {{ name: string, image: ImageData, canvas: HTMLCanvasElement }} Frame */

/** @param {{ name: string, image: ImageData }} picture @returns {Frame} */
export const toFrame = ({ name, image }) => ({ name, image, canvas: toCanvas(image) });

/**
 * Refuses too many frames, and frames of different sizes.
 * @param {Frame[]} frames
 */
export function checkStack(frames) {
  if (frames.length > MOST_FRAMES)
    throw new Error(`${frames.length} frames are too many; use at most ${MOST_FRAMES}.`);
  const [first] = frames;
  const odd = frames.find(
    ({ image }) => image.width !== first.image.width || image.height !== first.image.height,
  );
  if (odd)
    throw new Error(
      `${odd.name} has ${sizeText(odd.image)} pixels, but ${first.name} has ` +
        `${sizeText(first.image)}. Use frames of the same size.`,
    );
}

/**
 * @param {{ choose: (index: number) => void, remove: (index: number) => void }} actions
 */
export function frameList({ choose, remove }) {
  const element = h("ul", { class: "frames" });

  /**
   * @param {Frame} frame
   * @param {number} index
   * @param {number} count
   */
  function card({ name, canvas }, index, count) {
    const small = h("canvas", { width: 160, height: 120 });
    const pen = /** @type {CanvasRenderingContext2D} */ (small.getContext("2d"));
    const scale = Math.max(160 / canvas.width, 120 / canvas.height);
    const [width, height] = [canvas.width * scale, canvas.height * scale];
    pen.drawImage(canvas, (160 - width) / 2, (120 - height) / 2, width, height);
    // The colour of the frame in the decision map.
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = css(ramp(count > 1 ? index / (count - 1) : 0));
    const label = `Frame ${index + 1}, ${name}`;
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "frame",
          "aria-pressed": "false",
          "aria-label": label,
          title: label,
          on: { click: () => choose(index) },
        },
        small,
        swatch,
        h("span", { class: "frame-number" }, String(index + 1)),
      ),
      button({
        icon: "close",
        label: `Remove frame ${index + 1}`,
        kind: "tiny",
        press: () => remove(index),
      }),
    );
  }

  return {
    element,
    /** @param {Frame[]} frames */
    show(frames) {
      element.replaceChildren(...frames.map((frame, i) => card(frame, i, frames.length)));
    },
    /** @param {number} index */
    mark(index) {
      [...element.querySelectorAll(".frame")].forEach((card, i) =>
        card.setAttribute("aria-pressed", String(i === index)),
      );
    },
  };
}
