// Objective and certified gap of a learning run, as they fall.

import { h } from "../dom.js";
import { plot } from "./plot.js";

/** @typedef {import("./plot.js").Sample} Sample */

export function curves() {
  const objective = plot({ label: "Objective", format: (value) => value.toExponential(3) });
  const gap = plot({
    label: "Certified relative gap",
    logarithmic: true,
    format: (value) => value.toExponential(1),
  });
  /** @type {{ objective: Sample[], gap: Sample[] }} */
  let samples = { objective: [], gap: [] };
  const element = h("div", { class: "section" }, objective.element, gap.element);
  const refresh = () => {
    objective.show(samples.objective);
    gap.show(samples.gap);
    element.hidden = samples.objective.length === 0;
  };
  return {
    element,
    /**
     * Adds what an event reports; not every event measures both.
     * @param {import("../engine/message.js").Message} message
     */
    follow(message) {
      for (const name of /** @type {const} */ (["objective", "gap"])) {
        const value = message[name] ?? null;
        if (value !== null) samples[name].push({ seconds: message.seconds, value });
      }
      refresh();
    },
    /**
     * Adds the result of a run, and what no event reported of its passes.
     * @param {import("../engine/message.js").Message} message
     */
    finish(message) {
      const passes = message.history.map(
        (/** @type {{ seconds: number, objective: number }} */ { seconds, objective }) => ({
          seconds,
          value: objective,
        }),
      );
      samples.objective = [...samples.objective, ...passes].sort((a, b) => a.seconds - b.seconds);
      this.follow(message);
    },
    clear() {
      samples = { objective: [], gap: [] };
      refresh();
    },
  };
}
