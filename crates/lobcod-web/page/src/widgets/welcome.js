// What an empty stage shows: where to get an image from.

import { button, h } from "../dom.js";
import { pickFiles } from "../image/load.js";
import { toCanvas } from "../image/raster.js";

/**
 * @typedef {object} WelcomeOptions
 * @property {string} title
 * @property {string} text
 * @property {string} accept which files can be chosen
 * @property {boolean} [multiple]
 * @property {() => void} [camera] takes a photo
 * @property {(files: File[]) => void} open
 * @property {{ title: string, hint: string, credit: string, file?: string,
 *   picture?: () => Promise<ImageData>, choose: () => void }[]} samples
 */

/** @param {WelcomeOptions} options */
export function welcome({ title, text, accept, multiple = false, camera, open, samples }) {
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, title),
    h("p", {}, text),
    h(
      "div",
      { class: "row centred" },
      button({
        icon: "open",
        text: multiple ? "Open files" : "Open a file",
        kind: "primary",
        press: async () => open(await pickFiles({ accept, multiple })),
      }),
      camera ? button({ icon: "camera", text: "Take a photo", press: camera }) : null,
    ),
    h("p", { class: "quiet" }, "or start with a sample"),
    h("ul", { class: "samples" }, ...samples.map(sampleCard)),
  );
}

/** @param {WelcomeOptions["samples"][number]} sample */
function sampleCard({ title, hint, credit, file, picture, choose }) {
  const frame = h("span", { class: "sample-image" });
  if (file) frame.append(h("img", { src: `samples/${file}`, alt: "", loading: "lazy" }));
  // Drawing takes a while: the page is usable first.
  else setTimeout(async () => picture && frame.append(toCanvas(await picture())), 0);
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "sample", title: credit, on: { click: choose } },
      frame,
      h("span", { class: "sample-title" }, title),
      h("span", { class: "sample-hint" }, hint),
    ),
  );
}
