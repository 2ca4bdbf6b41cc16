// The floating toolbar of a stage: which tool paints, erasing, undo and redo.

import { button, h, icon, newId } from "../dom.js";

/**
 * @typedef {object} ToolbarOptions
 * @property {{ key: string, icon: string, label: string,
 *   tool: import("../stage/pointers.js").Tool | null }[]} tools
 * @property {import("../stage/stage.js").Stage} stage
 * @property {(erase: boolean) => void} [erase] where erasing exists
 * @property {() => void} undo
 * @property {() => void} redo
 * @property {(key: string) => void} [changed]
 */

/** @param {ToolbarOptions} options */
export function toolbar({ tools, stage, erase, undo, redo, changed = () => {} }) {
  const name = newId();
  const inputs = new Map();
  let enabled = true;
  const choose = (/** @type {string} */ key) => {
    inputs.get(key).checked = true;
    apply();
    changed(key);
  };
  const chosen = () => tools.find((tool) => inputs.get(tool.key).checked);
  const apply = () => {
    stage.tool = enabled ? (chosen()?.tool ?? null) : null;
    stage.element.classList.toggle("painting", Boolean(stage.tool));
    stage.redraw();
  };
  const parts = tools.map((tool, i) => {
    const input = h("input", {
      type: "radio",
      name,
      value: tool.key,
      checked: i === 0,
      class: "visually-hidden",
      "aria-label": tool.label,
    });
    input.addEventListener("change", () => choose(tool.key));
    inputs.set(tool.key, input);
    return h(
      "label",
      { class: "tool", title: `${tool.label} (${tool.key.toUpperCase()})` },
      input,
      icon(tool.icon),
    );
  });
  const eraser = h("input", {
    type: "checkbox",
    class: "visually-hidden",
    "aria-label": "Erase instead of mark",
  });
  eraser.addEventListener("change", () => erase?.(eraser.checked));
  const undoButton = button({ icon: "undo", label: "Undo (Ctrl+Z)", press: undo });
  const redoButton = button({ icon: "redo", label: "Redo (Ctrl+Shift+Z)", press: redo });
  const group = h("div", { class: "tools", role: "radiogroup", "aria-label": "Tool" }, ...parts);
  const element = h(
    "div",
    { class: "toolbar" },
    group,
    erase
      ? h("label", { class: "tool", title: "Erase instead of mark (E)" }, eraser, icon("eraser"))
      : null,
    h("div", { class: "tools" }, undoButton, redoButton),
  );
  stage.element.append(element);
  stage.canvas.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (inputs.has(key)) choose(key);
    else if (key === "e" && erase) {
      eraser.checked = !eraser.checked;
      erase(eraser.checked);
    }
  });
  apply();
  return {
    element,
    choose,
    /** Shows which steps are possible. @param {boolean} canUndo @param {boolean} canRedo */
    steps(canUndo, canRedo) {
      undoButton.disabled = !canUndo;
      redoButton.disabled = !canRedo;
    },
    /** Turns painting on or off. @param {boolean} on */
    enable(on) {
      enabled = on;
      element.hidden = !on;
      apply();
    },
  };
}

/**
 * Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) while a tab is shown.
 * @param {KeyboardEvent} event
 * @param {{ undo: () => void, redo: () => void }} steps
 */
export function undoKeys(event, { undo, redo }) {
  if (!(event.ctrlKey || event.metaKey)) return;
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) undo();
  else if (key === "y" || (key === "z" && event.shiftKey)) redo();
  else return;
  event.preventDefault();
}
