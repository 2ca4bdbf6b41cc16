// The command line and the Python call that do what the panel does.

import { button, h, newId } from "../dom.js";

/**
 * Two listings to copy. `show` replaces them.
 */
export function commands() {
  const listing = (/** @type {string} */ title) => {
    const id = newId();
    const code = h("code", {});
    const copy = button({
      icon: "copy",
      label: `Copy the ${title.toLowerCase()}`,
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
  };
  const shell = listing("Command line");
  const python = listing("Python");
  const element = h("details", { class: "section commands" }, h("summary", {}, "Do the same without this page"), shell.element, python.element);
  return {
    element,
    /** @param {string} shellText @param {string} pythonText */
    show(shellText, pythonText) {
      shell.code.textContent = shellText;
      python.code.textContent = pythonText;
    },
  };
}

/**
 * A file name as a word of the shell.
 * @param {string} name
 */
export const quoted = (name) => (/^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

/**
 * Options that differ from the defaults, as ` --name value`.
 * @param {[string, string | number | boolean, string | number | boolean][]} options name, value, default
 */
export const shellOptions = (options) =>
  options
    .filter(([, value, usual]) => value !== usual)
    .map(([name, value]) => (value === true ? ` --${name}` : ` --${name} ${value}`))
    .join("");

/**
 * The same as keyword arguments.
 * @param {[string, string | number | boolean, string | number | boolean][]} options
 */
export const pythonOptions = (options) =>
  options
    .filter(([, value, usual]) => value !== usual)
    .map(([name, value]) => `, ${name.replaceAll("-", "_")}=${literal(value)}`)
    .join("");

/** @param {string | number | boolean} value */
function literal(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
