// What the tabs of one image share: the empty stage, and the head of the side panel.

import { button, download, h } from "../dom.js";
import { takePhoto } from "../image/camera.js";
import { pickFiles, stem } from "../image/load.js";
import { toPng } from "../image/raster.js";
import { SAMPLES } from "../image/samples.js";
import { choice } from "./fields.js";
import { welcome } from "./welcome.js";
import { sizeText } from "../words.js";

const ACCEPT = "image/*";

/**
 * The welcome of a tab whose images come from the shared store.
 * @param {import("../pictures.js").Pictures} pictures
 * @param {{ title: string, text: string, fail: (error: unknown) => void }} options
 */
export function pictureWelcome(pictures, { title, text, fail }) {
  return welcome({
    title,
    text,
    accept: ACCEPT,
    camera: () => takePhoto().then((photo) => photo && pictures.set(photo), fail),
    open: (files) => pictures.open(files).catch(fail),
    samples: SAMPLES.map((sample) => ({
      ...sample,
      picture: async () => (await sample.open()).image,
      choose: () => sample.open().then((picture) => pictures.set(picture), fail),
    })),
  });
}

/**
 * Name and size of the image, with buttons to open another one and to close it.
 * @param {import("../pictures.js").Pictures} pictures
 * @param {(error: unknown) => void} fail
 */
export function pictureHead(pictures, fail) {
  const name = h("strong", {});
  const size = h("span", { class: "quiet" });
  const element = h(
    "div",
    { class: "picture-head" },
    h("div", { class: "picture-name" }, name, size),
    button({
      icon: "open",
      label: "Open another image",
      press: async () => pictures.open(await pickFiles({ accept: ACCEPT })).catch(fail),
    }),
    button({
      icon: "download",
      label: "Save the image as PNG",
      press: () => save().catch(fail),
    }),
    button({ icon: "close", label: "Close the image", press: () => pictures.set(null) }),
  );
  const save = async () => {
    const picture = pictures.current;
    if (picture) download(await toPng(picture.image), `${stem(picture.name)}.png`);
  };
  const refresh = () => {
    const picture = pictures.current;
    name.textContent = name.title = picture?.name ?? "";
    size.textContent = picture ? sizeText(picture.image) : "";
  };
  pictures.addEventListener("change", refresh);
  refresh();
  return element;
}

/**
 * The choice between speed and quality.
 * @param {{ change: () => void, best?: string }} options `best`: a hint for the slowest
 */
export const qualityChoice = ({ change, best }) =>
  choice({
    label: "Quality",
    value: "standard",
    options: [
      ["fast", "Fast"],
      ["standard", "Standard"],
      ["best", "Best"],
    ],
    hints: best ? { best } : {},
    change,
  });

/**
 * What can be done with a result: download it, or make it the image. Hidden until there is one.
 * @param {import("../pictures.js").Pictures} pictures
 * @param {() => string} name of its file
 * @param {() => ImageData | null} result
 */
export function resultRow(pictures, name, result) {
  const use = (/** @type {(image: ImageData) => unknown} */ take) => () => {
    const image = result();
    return image && take(image);
  };
  return h(
    "div",
    { class: "row", hidden: true },
    button({
      icon: "download",
      text: "Download PNG",
      press: use(async (image) => download(await toPng(image), name())),
    }),
    button({
      icon: "forward",
      text: "Continue",
      hint: "Use the result as the image",
      press: use((image) => pictures.set({ name: name(), image, missing: null })),
    }),
  );
}

/**
 * Shows the welcome of a tab, or its stage and side panel. The focus moves along: otherwise keys and
 * screen readers would start again at the top of the page.
 * @param {boolean} welcomes
 * @param {{ cover: HTMLElement, stage: HTMLElement, side: HTMLElement }} parts
 */
export function setWelcome(welcomes, { cover, stage, side }) {
  const focused = (welcomes ? side : cover).contains(document.activeElement);
  cover.hidden = !welcomes;
  side.hidden = welcomes;
  const first = (welcomes ? cover : stage).querySelector("button, [tabindex]");
  if (focused) /** @type {HTMLElement | null} */ (first)?.focus();
}

/**
 * Lays out a tab: the stage, and the panel at its side.
 * @param {HTMLElement} stage
 * @param {...HTMLElement} panel
 */
export function workbench(stage, ...panel) {
  const side = h("aside", { class: "panel", "aria-label": "Settings" }, ...panel);
  return {
    element: h("div", { class: "workbench" }, h("div", { class: "stage-area" }, stage), side),
    side,
  };
}
