// Denoise: the noise is measured, its removal previewed on the visible part, then done everywhere.

import { h } from "../dom.js";
import { bufferImage, imageBuffer } from "../engine/message.js";
import { stem } from "../image/load.js";
import { context, crop, isGrey, newCanvas, toCanvas, widened } from "../image/raster.js";
import { denoiseRecipe } from "../recipes.js";
import { Stage } from "../stage/stage.js";
import { commands } from "../widgets/commands.js";
import { choice, section, slider } from "../widgets/fields.js";
import {
  pictureHead,
  pictureWelcome,
  qualityChoice,
  resultRow,
  setWelcome,
  workbench,
} from "../widgets/picture-panel.js";
import { Runner } from "../widgets/runner.js";
import { checkWhole, PREVIEW_MARGIN, previewBox } from "./limits.js";
import { secondsText, sentence, sentenceOf, sizeText } from "../words.js";

/** Time without a change before a preview starts, in milliseconds. */
const PAUSE = 200;

/** @typedef {import("../engine/message.js").Message} Message */

/** @param {import("../main.js").Context} context */
export function denoiseTab({ engine, pictures }) {
  const stage = new Stage("The noisy image and its denoised version");
  /** What was measured in the image. @type {Message | null} */
  let measured = null;
  /** @type {ImageData | null} */
  let result = null;
  /** @type {HTMLCanvasElement | null} */
  let before = null;
  /** Preview or result; transparent elsewhere. @type {HTMLCanvasElement | null} */
  let after = null;
  let shownPicture = pictures.current;
  let timer = 0;

  const runner = new Runner(engine, {
    label: "Denoise the whole image",
    start: () => void run(),
    watch: () => stage.element,
  });
  const previewer = new Runner(engine, { label: "Preview", start: () => {} });
  const measurer = new Runner(engine, { label: "Measure", start: () => {} });
  const strength = slider({
    label: "Strength",
    min: 0.2,
    max: 2,
    step: 0.05,
    value: 1,
    show: (n) => n.toFixed(2),
    hint: "Below 1 keeps more detail and noise, above 1 smooths more",
    change: () => changed(),
  });
  const kind = choice({
    label: "Kind",
    value: "auto",
    options: [
      ["auto", "Auto"],
      ["gaussian", "White"],
      ["poisson", "Photon"],
      ["correlated", "Grain"],
      ["impulse", "Specks"],
    ],
    change: () => changed(),
  });
  kind.element.classList.add("dense");
  const preset = qualityChoice({ change: () => changed() });
  const level = h("p", { class: "measure", role: "status" });
  const previewState = h("p", { class: "quiet" });
  const listing = commands();
  const problem = h("p", { class: "failed", role: "alert" });
  const fail = (/** @type {unknown} */ error) =>
    pictures.current ? runner.fail(error) : (problem.textContent = sentenceOf(error));
  const outputName = () => `${stem(pictures.current?.name ?? "image")}-denoised.png`;
  const finished = resultRow(pictures, outputName, () => result);
  const cover = h(
    "div",
    { class: "stage-cover" },
    pictureWelcome(pictures, {
      title: "Remove noise",
      text: "Drop or paste a noisy photo or micrograph. The noise is measured for you.",
      fail,
    }),
    problem,
  );
  stage.element.append(cover);
  const { element, side } = workbench(
    stage.element,
    pictureHead(pictures, fail),
    section("Noise", level, kind.element),
    section("Removal", strength.element, preset.element, previewState),
    runner.element,
    finished,
    listing.element,
  );

  /** The noise for a part of the image: that of the whole image, if it was measured. */
  const noiseOfPart = () => (kind.value === "auto" ? (measured?.noise ?? "auto") : kind.value);

  function describe() {
    listing.show(
      denoiseRecipe({
        image: pictures.current?.name ?? "photo.png",
        output: outputName(),
        noise: kind.value,
        strength: strength.value,
        preset: preset.value,
        grey: pictures.current !== null && isGrey(pictures.current.image),
      }),
    );
  }

  function changed() {
    result = null;
    finished.hidden = true;
    describe();
    schedule();
  }

  function schedule() {
    clearTimeout(timer);
    timer = window.setTimeout(() => void preview(), PAUSE);
  }

  async function preview() {
    const picture = pictures.current;
    if (!picture || !measured || result || runner.busy || element.offsetParent === null) return;
    if (kind.value === "auto" && !measured.noise) {
      previewState.textContent = "There is nothing to remove.";
      return;
    }
    const box = previewBox(stage.view.visible(), engine);
    const around = widened(box, PREVIEW_MARGIN, picture.image);
    previewState.textContent = "Preview…";
    const message = await previewer.run({
      task: "denoise",
      options: { noise: noiseOfPart(), strength: strength.value, preset: preset.value },
      buffers: { image: imageBuffer(crop(picture.image, around)) },
    });
    if (previewer.status.classList.contains("failed"))
      previewState.textContent = previewer.status.textContent;
    if (!message || pictures.current !== picture || result || !after) return;
    const pen = context(after);
    pen.clearRect(0, 0, after.width, after.height);
    pen.putImageData(
      bufferImage(message.buffers.image),
      around.left,
      around.top,
      box.left - around.left,
      box.top - around.top,
      box.width,
      box.height,
    );
    const seconds = secondsText(message.waited);
    previewState.textContent = `Preview of ${sizeText(box)} pixels in ${seconds}.`;
    stage.redraw();
  }

  async function measure() {
    const picture = pictures.current;
    measured = null;
    if (!picture) return;
    level.textContent = "Measuring the noise…";
    try {
      checkWhole(picture, engine);
    } catch (error) {
      level.textContent = "";
      runner.startButton.disabled = true;
      return fail(error);
    }
    const message = await measurer.run({
      task: "noise",
      options: {},
      buffers: { image: imageBuffer(picture.image) },
    });
    if (pictures.current !== picture) return;
    if (!message) {
      level.textContent = measurer.status.textContent;
      return;
    }
    measured = message;
    level.textContent = sentence(message.words);
    schedule();
  }

  async function run() {
    const picture = pictures.current;
    if (!picture) return;
    previewer.stop();
    const canvas = after;
    const message = await runner.run({
      task: "denoise",
      options: { noise: kind.value, strength: strength.value, preset: preset.value },
      buffers: { image: imageBuffer(picture.image) },
      preview: ({ buffers }) => {
        if (canvas) toCanvas(bufferImage(buffers.image), canvas);
        stage.redraw();
      },
    });
    if (pictures.current !== picture || !after) return;
    // Stopped: the preview of the visible part, which made way for the run, comes back.
    if (!message) return schedule();
    result = bufferImage(message.buffers.image);
    toCanvas(result, after);
    previewState.textContent = "";
    runner.say(
      message.kind === "none"
        ? "There is nothing to remove: the image is unchanged."
        : `Denoised in ${secondsText(message.seconds)}.`,
    );
    finished.hidden = false;
    stage.redraw();
  }

  function opened() {
    const picture = pictures.current;
    shownPicture = picture;
    runner.stop();
    previewer.stop();
    measurer.stop();
    problem.textContent = "";
    result = before = after = null;
    finished.hidden = true;
    runner.startButton.disabled = false;
    runner.say("");
    if (picture) {
      before = toCanvas(picture.image);
      after = newCanvas(picture.image.width, picture.image.height);
      stage.layers = [{ source: before }, { source: after, side: "after" }];
    }
    stage.show(picture?.image ?? null);
    setWelcome(picture === null, { cover, stage: stage.element, side });
    stage.compare(picture !== null);
    describe();
    void measure();
  }

  stage.addEventListener("move", () => !result && schedule());
  pictures.addEventListener("change", () => element.offsetParent !== null && opened());
  opened();
  return {
    element,
    receive: (/** @type {File[]} */ files) => void pictures.open(files).catch(fail),
    shown: () => shownPicture !== pictures.current && opened(),
  };
}
