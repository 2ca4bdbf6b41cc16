// The listings of a recipe, to copy.

import { button, h, newId } from "../dom.js";

/**
 * A listing with a button that copies it.
 * @param {string} title
 */
function listing(title) {
  const id = newId();
  const code = h("code", {});
  const copy = button({
    icon: "copy",
    label: `Copy: ${title}`,
    press: async () => {
      await navigator.clipboard.writeText(code.textContent ?? "");
      copy.title = "Copied";
    },
  });
  const element = h(
    "div",
    { class: "listing" },
    h("div", { class: "field-head" }, h("span", { id }, title), copy),
    h("pre", { tabindex: 0, role: "region", "aria-labelledby": id }, code),
  );
  return { element, code };
}

/** Both listings of a recipe; `show` replaces them. */
export function commands() {
  const shell = listing("Command line");
  const python = listing("Python");
  const summary = h("summary", {}, "Do the same without this page");
  const attributes = { class: "section commands" };
  return {
    element: h("details", attributes, summary, shell.element, python.element),
    /** @param {import("../recipes.js").Recipe} recipe */
    show(recipe) {
      shell.code.textContent = recipe.shell;
      python.code.textContent = recipe.python;
    },
  };
}
