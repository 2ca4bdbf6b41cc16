// A small line chart of values over seconds, with a linear or logarithmic axis.

import { h } from "../dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 84;

/** @typedef {{ seconds: number, value: number }} Sample */

/**
 * @param {{ label: string, logarithmic?: boolean, format: (value: number) => string }} options
 */
export function plot({ label, logarithmic = false, format }) {
  const line = document.createElementNS(SVG, "polyline");
  const dot = document.createElementNS(SVG, "circle");
  dot.setAttribute("r", "3");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("class", "plot-lines");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.append(line, dot);
  const value = h("output", { class: "field-value" });
  const time = h("span", { class: "quiet" });
  const element = h(
    "div",
    { class: "plot" },
    h("div", { class: "field-head" }, h("span", {}, label), value),
    svg,
    time,
  );
  return {
    element,
    /** @param {Sample[]} samples in order of time */
    show(samples) {
      const shown = samples.filter(
        ({ value }) => Number.isFinite(value) && (!logarithmic || value > 0),
      );
      const last = shown.at(-1);
      value.textContent = last ? format(last.value) : "–";
      time.textContent = last ? `${last.seconds.toFixed(1)} s` : "";
      const heights = shown.map(({ value }) => (logarithmic ? Math.log10(value) : value));
      const [low, high] = [Math.min(...heights), Math.max(...heights)];
      const end = Math.max(last?.seconds ?? 1, 1e-9);
      const place = (/** @type {number} */ i) => {
        const x = 4 + (WIDTH - 8) * (shown[i].seconds / end);
        const y =
          HEIGHT - 5 - (HEIGHT - 10) * (high > low ? (heights[i] - low) / (high - low) : 0.5);
        return [x, y];
      };
      line.setAttribute(
        "points",
        shown
          .map((_, i) =>
            place(i)
              .map((n) => n.toFixed(1))
              .join(","),
          )
          .join(" "),
      );
      dot.setAttribute("visibility", last ? "visible" : "hidden");
      if (last) {
        const [x, y] = place(shown.length - 1);
        dot.setAttribute("cx", String(x));
        dot.setAttribute("cy", String(y));
      }
      svg.setAttribute(
        "aria-label",
        last ? `${label}: ${format(last.value)} after ${last.seconds.toFixed(1)} seconds` : label,
      );
    },
  };
}
