// A sound over time: its waveform, and below it when each atom is used.

import { button, h, oncePerFrame } from "../dom.js";

/** Height of the lane of an atom. */
const LANE = 30;

/** @typedef {{ position: Int32Array, atom: Int32Array, value: Float32Array }} Codes */

/** @param {(atom: number) => void} choose what a click into a lane does */
export function track(choose) {
  /** @type {Float32Array} */
  let samples = new Float32Array(1);
  let rate = 1;
  /** @type {Codes | null} */
  let codes = null;
  let lanes = 0;
  let chosen = -1;
  // The visible part, in samples.
  let start = 0;
  let length = 1;
  const canvas = h("canvas", {
    class: "track-canvas",
    tabindex: 0,
    role: "img",
    "aria-label": "Waveform, and when each atom is used",
  });
  const bar = h(
    "div",
    { class: "zoom-bar", role: "group", "aria-label": "Zoom" },
    button({ icon: "minus", label: "Zoom out (-)", press: () => zoom(2) }),
    button({ icon: "plus", label: "Zoom in (+)", press: () => zoom(0.5) }),
    button({ icon: "fit", label: "Show the whole sound (0)", press: () => all() }),
  );
  const element = h("div", { class: "track" }, canvas, bar);
  const redraw = oncePerFrame(draw);

  function all() {
    start = 0;
    length = samples.length;
    redraw();
  }

  /** @param {number} factor @param {number} [at] fraction of the width that stays */
  function zoom(factor, at = 0.5) {
    const next = Math.min(samples.length, Math.max(64, length * factor));
    start += (length - next) * at;
    length = next;
    keepInside();
  }

  function keepInside() {
    start = Math.min(samples.length - length, Math.max(0, start));
    redraw();
  }

  function draw() {
    const { clientWidth, clientHeight } = element;
    if (clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(clientWidth * ratio);
    canvas.height = Math.round(clientHeight * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    const style = getComputedStyle(element);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const wave = clientHeight - lanes * LANE - 28;
    drawWave(pen, clientWidth, wave, colour("--accent"), colour("--line"));
    drawLanes(pen, clientWidth, wave, colour);
    drawTimes(pen, clientWidth, clientHeight, colour("--quiet"));
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} width
   * @param {number} height
   * @param {string} ink
   * @param {string} axis
   */
  function drawWave(pen, width, height, ink, axis) {
    const middle = height / 2;
    let largest = 1e-9;
    for (const sample of samples) largest = Math.max(largest, Math.abs(sample));
    const scale = (middle - 12) / largest;
    pen.fillStyle = axis;
    pen.fillRect(0, middle, width, 1);
    pen.fillStyle = ink;
    for (let x = 0; x < width; x++) {
      const from = Math.floor(start + (length * x) / width);
      const to = Math.max(from + 1, Math.floor(start + (length * (x + 1)) / width));
      let [low, high] = [Infinity, -Infinity];
      for (let i = from; i < to && i < samples.length; i++) {
        low = Math.min(low, samples[i]);
        high = Math.max(high, samples[i]);
      }
      if (high >= low) pen.fillRect(x, middle - high * scale, 1, Math.max(1, (high - low) * scale));
    }
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} width
   * @param {number} top
   * @param {(name: string) => string} colour
   */
  function drawLanes(pen, width, top, colour) {
    for (let lane = 0; lane < lanes; lane++) {
      const base = top + (lane + 1) * LANE - 4;
      pen.fillStyle = lane === chosen ? colour("--accent-soft") : "transparent";
      pen.fillRect(0, base - LANE + 4, width, LANE);
      pen.fillStyle = colour("--line");
      pen.fillRect(0, base, width, 1);
      pen.fillStyle = colour("--quiet");
      pen.font = "11px system-ui";
      pen.fillText(String(lane + 1), 6, base - 6);
    }
    if (!codes) return;
    const largest = codes.value.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
    pen.fillStyle = colour("--accent");
    for (let k = 0; k < codes.atom.length; k++) {
      const x = ((codes.position[k] - start) / length) * width;
      if (x < 0 || x > width) continue;
      const height = Math.max(2, (LANE - 8) * (Math.abs(codes.value[k]) / largest));
      pen.fillRect(x - 1, top + (codes.atom[k] + 1) * LANE - 4 - height, 2, height);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} width
   * @param {number} height
   * @param {string} ink
   */
  function drawTimes(pen, width, height, ink) {
    const span = length / rate;
    const step =
      [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60].find(
        (s) => (s / span) * width > 70,
      ) ?? 120;
    pen.fillStyle = ink;
    pen.font = "11px system-ui";
    const end = (start + length) / rate;
    for (let time = Math.ceil(start / rate / step) * step; time <= end; time += step) {
      const text = `${Number(time.toFixed(3))} s`;
      const half = pen.measureText(text).width / 2;
      const x = ((time * rate - start) / length) * width;
      pen.fillText(text, Math.min(width - 2 * half - 6, Math.max(6, x - half)), height - 8);
    }
  }

  /** @type {{ x: number, moved: boolean } | null} */
  let drag = null;
  canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, moved: false };
  });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!drag) return;
    const dx = event.clientX - drag.x;
    if (!drag.moved && Math.abs(dx) < 4) return;
    drag = { x: event.clientX, moved: true };
    start -= (dx / canvas.clientWidth) * length;
    keepInside();
  });
  canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    const lane = Math.floor((event.offsetY - (element.clientHeight - lanes * LANE - 28)) / LANE);
    if (drag && !drag.moved && lane >= 0 && lane < lanes) choose(lane);
    drag = null;
  });
  canvas.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.0015), event.offsetX / canvas.clientWidth);
  });
  canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const steps = { ArrowLeft: -0.1, ArrowRight: 0.1 };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") all();
    else if (step) {
      start += step * length;
      keepInside();
    } else return;
    event.preventDefault();
  });
  new ResizeObserver(redraw).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  return {
    element,
    /** @param {Float32Array} next @param {number} hertz */
    show(next, hertz) {
      samples = next;
      rate = hertz;
      codes = null;
      lanes = 0;
      all();
    },
    /** @param {Codes | null} next @param {number} count number of atoms */
    activations(next, count) {
      codes = next;
      lanes = count;
      redraw();
    },
    /** @param {number} atom */
    mark(atom) {
      chosen = atom;
      redraw();
    },
  };
}
