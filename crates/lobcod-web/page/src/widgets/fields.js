// Labelled form controls of the side panel.

import { h, newId } from "../dom.js";

/**
 * A slider with its label and its value in words.
 * @param {{ label: string, min: number, max: number, step?: number, value: number, hint?: string,
 *   show?: (value: number) => string, change?: (value: number) => void }} options
 */
export function slider({
  label,
  min,
  max,
  step = 1,
  value,
  hint,
  show = String,
  change = () => {},
}) {
  const id = newId();
  const output = h("output", { for: id, class: "field-value" }, show(value));
  const input = h("input", { type: "range", id, min, max, step, value, title: hint });
  const refresh = () => {
    const words = show(Number(input.value));
    output.textContent = words;
    input.setAttribute("aria-valuetext", words);
    input.style.setProperty("--filled", String((Number(input.value) - min) / (max - min)));
  };
  refresh();
  input.addEventListener("input", () => {
    refresh();
    change(Number(input.value));
  });
  const element = h(
    "div",
    { class: "field" },
    h("div", { class: "field-head" }, h("label", { for: id }, label), output),
    input,
  );
  return {
    element,
    get value() {
      return Number(input.value);
    },
    set value(next) {
      input.value = String(next);
      refresh();
    },
  };
}

/**
 * A choice of a few values, shown side by side.
 * @param {{ label: string, options: [string, string][], value: string,
 *   hints?: Record<string, string>, hidden?: boolean, change?: (value: string) => void }} options
 */
export function choice({ label, options, value, hints = {}, hidden = false, change = () => {} }) {
  const name = newId();
  const inputs = new Map();
  const parts = options.map(([key, text]) => {
    const input = h("input", {
      type: "radio",
      name,
      value: key,
      checked: key === value,
      class: "visually-hidden",
    });
    inputs.set(key, input);
    input.addEventListener("change", () => change(key));
    return h("label", { class: "segment", title: hints[key] }, input, h("span", {}, text));
  });
  const element = h(
    "fieldset",
    { class: "field" },
    h("legend", { class: hidden ? "visually-hidden" : "field-head" }, label),
    h("div", { class: "segments" }, ...parts),
  );
  return {
    element,
    get value() {
      return [...inputs].find(([, input]) => input.checked)?.[0] ?? value;
    },
    set value(next) {
      inputs.get(next).checked = true;
    },
    /** @param {string} key @param {boolean} enabled */
    enable(key, enabled) {
      inputs.get(key).disabled = !enabled;
    },
  };
}

/**
 * A switch.
 * @param {{ label: string, value?: boolean, hint?: string,
 *   change?: (value: boolean) => void }} options
 */
export function toggle({ label, value = false, hint, change = () => {} }) {
  const input = h("input", { type: "checkbox", checked: value, role: "switch" });
  input.addEventListener("change", () => change(input.checked));
  return {
    element: h("label", { class: "toggle", title: hint }, input, h("span", {}, label)),
    get value() {
      return input.checked;
    },
    set value(next) {
      input.checked = next;
    },
  };
}

/**
 * A group of the side panel with a heading.
 * @param {string} title
 * @param {...Node} children
 */
export const section = (title, ...children) =>
  h("section", { class: "section" }, h("h2", {}, title), ...children);
