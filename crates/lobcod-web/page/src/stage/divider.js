// The divider between "before" and "after": a handle to drag, or to move with the arrow keys.

import { h, icon } from "../dom.js";

/**
 * @param {() => void} changed
 */
export function divider(changed) {
  let value = 0.5;
  const knob = h(
    "div",
    {
      class: "divider-knob",
      role: "slider",
      tabindex: 0,
      "aria-label": "Before and after",
      "aria-orientation": "horizontal",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    },
    icon("split"),
  );
  const element = h(
    "div",
    { class: "divider", hidden: true },
    h("span", { class: "divider-tag before" }, "before"),
    h("span", { class: "divider-tag after" }, "after"),
    knob,
  );
  const set = (/** @type {number} */ next) => {
    value = Math.min(1, Math.max(0, next));
    element.style.left = `${100 * value}%`;
    knob.setAttribute("aria-valuenow", String(Math.round(100 * value)));
    knob.setAttribute("aria-valuetext", `${Math.round(100 * value)} % before`);
    changed();
  };
  const follow = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {Element} */ (element.parentElement).getBoundingClientRect();
    set((event.clientX - box.left) / box.width);
  };
  element.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    knob.focus();
    element.setPointerCapture(event.pointerId);
    follow(event);
  });
  element.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (element.hasPointerCapture(event.pointerId)) follow(event);
  });
  knob.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const steps = {
      ArrowLeft: -0.02,
      ArrowRight: 0.02,
      PageDown: -0.1,
      PageUp: 0.1,
      Home: -1,
      End: 1,
    };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (step === undefined) return;
    event.preventDefault();
    set(value + step);
  });
  set(value);
  return {
    element,
    get value() {
      return value;
    },
    set value(next) {
      set(next);
    },
  };
}
