// Small helpers that build elements. Text is always set as text, never as markup.

/** @typedef {Record<string, any>} Attributes */

/**
 * Builds an element. `on` holds listeners; other attributes are set as written, and skipped if they
 * are `false`, `null` or `undefined`.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string | null | undefined)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An icon of `icons.svg`.
 * @param {string} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `icons.svg#${name}`);
  svg.append(use);
  return svg;
}

/**
 * A button with an icon, a text, or both. Without a text the label is its accessible name.
 * @param {{ icon?: string, text?: string, label?: string, kind?: string, hint?: string,
 *   press: (event: MouseEvent) => void }} options
 */
export function button({ icon: name, text, label, kind = "plain", hint, press }) {
  return h(
    "button",
    {
      type: "button",
      class: `button ${kind}${text ? "" : " square"}`,
      "aria-label": text ? null : label,
      title: hint ?? label,
      on: { click: press },
    },
    name ? icon(name) : null,
    text ? h("span", {}, text) : null,
  );
}

let lastId = 0;

/** A new id for elements that refer to each other. */
export const newId = () => `e${++lastId}`;

/**
 * Downloads bytes under a name.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/**
 * Calls `work` at most once per frame, however often it is requested.
 * @param {() => void} work
 */
export function oncePerFrame(work) {
  let pending = 0;
  return () => {
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      work();
    });
  };
}
