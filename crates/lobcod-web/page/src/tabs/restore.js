// Restore: paint the damage, and watch it being filled.

import { button, download, h } from "../dom.js";
import { bufferImage, imageBuffer } from "../engine/message.js";
import { pickFiles, stem } from "../image/load.js";
import { context, crop, isGrey, paste, toCanvas } from "../image/raster.js";
import { maskPng, readMask } from "../mask/files.js";
import { Mask } from "../mask/mask.js";
import { toolbar, undoKeys } from "../mask/toolbar.js";
import { brush, lasso, wand } from "../mask/tools.js";
import { restoreRecipe } from "../recipes.js";
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
import { MASK_COLOURS, workBox } from "./limits.js";
import { counted, percentText, secondsText, sentenceOf, sizeText } from "../words.js";

/** @param {import("../main.js").Context} context */
export function restoreTab({ engine, pictures }) {
  const stage = new Stage(
    "The image; paint the damage with the mouse, or move with the arrow keys and mark with Enter",
  );
  /** @type {Mask | null} */
  let mask = null;
  /** @type {ImageData | null} */
  let result = null;
  /** @type {HTMLCanvasElement | null} */
  let before = null;
  /** @type {HTMLCanvasElement | null} */
  let after = null;

  const settings = { diameter: 12, tolerance: 24, grow: 2, value: 1 };
  const tools = toolbar({
    stage,
    tools: [
      { key: "b", icon: "brush", label: "Brush", tool: brush(() => mask, settings) },
      { key: "l", icon: "lasso", label: "Lasso", tool: lasso(() => mask, settings, stage) },
      {
        key: "w",
        icon: "wand",
        label: "Wand: mark a region of one colour",
        tool: wand(
          () => mask,
          settings,
          () => pictures.current?.image ?? null,
        ),
      },
      { key: "h", icon: "hand", label: "Move the image", tool: null },
    ],
    erase: (erase) => (settings.value = erase ? 0 : 1),
    undo: () => mask?.undo(),
    redo: () => mask?.redo(),
    changed: (key) => {
      size.element.hidden = key !== "b";
      tolerance.element.hidden = grow.element.hidden = key !== "w";
    },
  });
  const size = slider({
    label: "Brush size",
    min: 1,
    max: 120,
    value: settings.diameter,
    show: (n) => `${n} px`,
    change: (n) => ((settings.diameter = n), stage.redraw()),
  });
  const tolerance = slider({
    label: "Colour tolerance",
    min: 0,
    max: 128,
    value: settings.tolerance,
    change: (n) => (settings.tolerance = n),
  });
  const grow = slider({
    label: "Grow the region by",
    min: 0,
    max: 12,
    value: settings.grow,
    show: (n) => `${n} px`,
    change: (n) => (settings.grow = n),
  });
  tolerance.element.hidden = grow.element.hidden = true;

  const runner = new Runner(engine, {
    label: "Restore",
    start: () => void run(),
    watch: () => stage.element,
  });
  const fail = (/** @type {unknown} */ error) =>
    pictures.current ? runner.fail(error) : (problem.textContent = sentenceOf(error));
  const problem = h("p", { class: "failed", role: "alert" });
  const view = choice({
    label: "View",
    hidden: true,
    value: "damage",
    options: [
      ["damage", "Damage"],
      ["result", "Result"],
    ],
    change: () => layers(),
  });
  view.element.classList.add("view-choice");
  const preset = qualityChoice({
    change: () => describe(),
    best: "Also learns atoms from the image; takes many times longer",
  });
  const fill = choice({
    label: "Wide holes",
    value: "auto",
    options: [
      ["auto", "Auto"],
      ["model", "Smooth"],
      ["copy", "Copy"],
    ],
    hints: {
      auto: "Copies where the surroundings are detailed",
      model: "Only what the atoms predict",
      copy: "Copies from elsewhere in the image",
    },
    change: () => describe(),
  });
  const marked = h("p", { class: "quiet", role: "status" });
  const listing = commands();
  const outputName = () => `${stem(pictures.current?.name ?? "image")}-restored.png`;
  const finished = resultRow(pictures, outputName, () => result);
  const cover = h(
    "div",
    { class: "stage-cover" },
    pictureWelcome(pictures, {
      title: "Restore an image",
      text: "Drop or paste a photo, and paint over what should go. It never leaves this device.",
      fail,
    }),
    problem,
  );
  stage.element.append(view.element, cover);
  const { element, side } = workbench(
    stage.element,
    pictureHead(pictures, fail),
    section(
      "Damage",
      size.element,
      tolerance.element,
      grow.element,
      marked,
      h(
        "div",
        { class: "row" },
        button({ icon: "trash", text: "Clear", press: () => mask?.clear() }),
        button({
          icon: "upload",
          text: "Import",
          hint: "A mask of the size of the image, white where it is damaged",
          press: () => void importMask(),
        }),
        button({
          icon: "download",
          text: "Export",
          hint: "The mask as a PNG, for --holes",
          press: async () => mask && download(await maskPng(mask), maskName()),
        }),
      ),
    ),
    section("Filling", preset.element, fill.element),
    runner.element,
    finished,
    listing.element,
  );

  const maskName = () => `${stem(pictures.current?.name ?? "image")}-mask.png`;

  async function importMask() {
    const [file] = await pickFiles({ accept: "image/*" });
    if (!file || !mask) return;
    await readMask(file, file.name, mask).then((data) => mask?.replace(data), fail);
  }

  function describe() {
    listing.show(
      restoreRecipe({
        image: pictures.current?.name ?? "photo.png",
        mask: maskName(),
        output: outputName(),
        preset: preset.value,
        fill: fill.value,
        grey: pictures.current !== null && isGrey(pictures.current.image),
      }),
    );
  }

  function layers() {
    const showsResult = view.value === "result" && after !== null;
    tools.enable(pictures.current !== null && !showsResult);
    stage.compare(showsResult && !runner.busy);
    stage.layers = [];
    if (before && (!showsResult || !runner.busy))
      stage.layers.push({ source: before, side: showsResult ? "before" : undefined });
    if (after && showsResult)
      stage.layers.push({ source: after, side: runner.busy ? undefined : "after" });
    if (mask && !showsResult)
      stage.layers.push({ source: mask.overlay, alpha: 0.62, smooth: false });
    stage.redraw();
  }

  function opened() {
    runner.stop();
    const picture = pictures.current;
    problem.textContent = "";
    before = after = mask = result = null;
    finished.hidden = true;
    view.value = "damage";
    view.enable("result", false);
    view.element.hidden = picture === null;
    runner.say("");
    if (picture) {
      before = toCanvas(picture.image);
      mask = new Mask(picture.image.width, picture.image.height, MASK_COLOURS);
      mask.addEventListener("paint", () => stage.redraw());
      mask.addEventListener("change", painted);
      if (picture.missing) mask.replace(picture.missing);
      painted();
    }
    stage.show(picture?.image ?? null);
    setWelcome(picture === null, { cover, stage: stage.element, side });
    layers();
    describe();
  }

  function painted() {
    const count = mask?.count() ?? 0;
    const share = percentText(count / (mask?.data.length ?? 1));
    marked.textContent =
      count === 0
        ? "Nothing is marked yet. Paint over the damage."
        : `${count.toLocaleString("en")} pixels marked, ${share} of the image`;
    tools.steps((mask?.done.length ?? 0) > 0, (mask?.undone.length ?? 0) > 0);
    runner.startButton.disabled = count === 0;
  }

  async function run() {
    const picture = pictures.current;
    if (!picture || !mask) return;
    let box;
    try {
      box = workBox(picture.image, mask, engine);
    } catch (error) {
      return runner.fail(error);
    }
    const { image } = picture;
    const holes = mask.cut(mask.data, box);
    const canvas = (after = toCanvas(image));
    const show = (/** @type {import("../engine/message.js").Message} */ message) => {
      context(canvas).putImageData(bufferImage(message.buffers.image), box.left, box.top);
      stage.redraw();
    };
    view.enable("result", true);
    view.value = "result";
    finished.hidden = true;
    const job = runner.run({
      task: "inpaint",
      options: { preset: preset.value, fill: fill.value },
      buffers: {
        image: imageBuffer(crop(image, box)),
        mask: { type: "u8", shape: [box.height, box.width], data: holes },
      },
      preview: show,
    });
    layers();
    const message = await job;
    if (pictures.current !== picture) return;
    if (message) {
      show(message);
      result = paste(image, bufferImage(message.buffers.image), box);
      const part =
        box.width * box.height < image.width * image.height
          ? ` Worked on the ${sizeText(box)} pixels around the damage.`
          : "";
      runner.say(
        `Filled ${counted(message.missing, "pixel")} in ${secondsText(message.seconds)}.${part}`,
      );
      finished.hidden = false;
      stage.divider.value = 0.5;
    } else if (
      result === null &&
      view.value === "result" &&
      runner.status.classList.contains("failed")
    ) {
      after = null;
      view.value = "damage";
      view.enable("result", false);
    } else if (!runner.busy) {
      // Stopped: what was filled so far is the result.
      result = context(canvas).getImageData(0, 0, canvas.width, canvas.height);
      finished.hidden = false;
    }
    layers();
  }

  pictures.addEventListener("change", opened);
  opened();
  return {
    element,
    receive: (/** @type {File[]} */ files) => void pictures.open(files).catch(fail),
    key: (/** @type {KeyboardEvent} */ event) =>
      mask && undoKeys(event, { undo: () => mask?.undo(), redo: () => mask?.redo() }),
  };
}
