// Fuse: frames of one scene become one image; the choice of frames can be painted over.

import { button, download, h } from "../dom.js";
import { bufferImage, imageBuffer } from "../engine/message.js";
import { decode, pickFiles } from "../image/load.js";
import { rampImage } from "../image/palette.js";
import { isGrey, toCanvas, toPng } from "../image/raster.js";
import { fetchPicture, STACKS } from "../image/samples.js";
import { decisionMask, KEPT, paintedIn, paintedPng } from "../mask/painted.js";
import { toolbar, undoKeys } from "../mask/toolbar.js";
import { brush } from "../mask/tools.js";
import { fuseRecipe } from "../recipes.js";
import { Stage } from "../stage/stage.js";
import { commands } from "../widgets/commands.js";
import { choice, section, slider } from "../widgets/fields.js";
import { checkStack, frameList, MOST_FRAMES, toFrame } from "../widgets/frames.js";
import { setWelcome, workbench } from "../widgets/picture-panel.js";
import { Runner } from "../widgets/runner.js";
import { welcome } from "../widgets/welcome.js";
import { fusionSettings } from "./fusion-settings.js";
import { reduce, refuseLarge, refuseTransparent } from "./limits.js";
import { secondsText, sentenceOf, sizeText } from "../words.js";

/** The file of what is painted. */
const PAINTED = "painted.png";

/** @typedef {import("../widgets/frames.js").Frame} Frame */
/**
 * @typedef {{ automatic: ImageData, image: ImageData, canvas: HTMLCanvasElement,
 *   depth: HTMLCanvasElement, alignment: any }} Fused
 */

/** @param {import("../main.js").Context} context */
export function fuseTab({ engine }) {
  const stage = new Stage("The frames, the fused image, or the map of frames");
  /** @type {Frame[]} */
  let frames = [];
  let chosen = 0;
  /** @type {Fused | null} */
  let fused = null;
  /**
   * Which frame each pixel of the result is taken from; where it is painted, plus the number of
   * frames.
   * @type {import("../mask/mask.js").Mask | null}
   */
  let decision = null;

  const settings = { diameter: 40, tolerance: 0, grow: 0, value: 0 };
  const tools = toolbar({
    stage,
    tools: [
      { key: "h", icon: "hand", label: "Move the image", tool: null },
      {
        key: "b",
        icon: "brush",
        label: "Take the chosen frame here",
        tool: brush(() => decision, settings),
      },
    ],
    undo: () => decision?.undo(),
    redo: () => decision?.redo(),
    changed: (key) => (size.element.hidden = key !== "b"),
  });
  const size = slider({
    label: "Brush size",
    min: 4,
    max: 200,
    value: settings.diameter,
    show: (n) => `${n} px`,
    change: (n) => (settings.diameter = n),
  });
  size.element.hidden = true;
  const runner = new Runner(engine, {
    label: "Fuse",
    start: () => void run(),
    watch: () => stage.element,
  });
  const painter = new Runner(engine, { label: "Repaint", start: () => void repaint() });
  const view = choice({
    label: "View",
    hidden: true,
    value: "frame",
    options: [
      ["frame", "Frame"],
      ["result", "Result"],
      ["decision", "Decision"],
      ["depth", "Depth"],
    ],
    change: () => layers(),
  });
  view.element.classList.add("view-choice");
  const fusion = fusionSettings(() => describe());
  const list = frameList({
    choose: (index) => pick(index),
    remove: (index) => changeFrames(frames.filter((_, i) => i !== index)),
  });
  const title = h("strong", {});
  const subtitle = h("span", { class: "quiet" });
  const listing = commands();
  const exported = button({
    icon: "download",
    text: "Export what is painted",
    kind: "wide",
    hint: "As a PNG, for --decision",
    press: async () =>
      decision && download(await paintedPng(paintedIn(decision, frames.length)), PAINTED),
  });
  const painting = section(
    "Paint over the decision",
    h(
      "p",
      { class: "quiet" },
      "Choose a frame above, take the brush, and paint where this frame should be used.",
    ),
    size.element,
    exported,
  );
  const finished = h(
    "div",
    { class: "row", hidden: true },
    button({ icon: "download", text: "Download PNG", press: () => void save() }),
  );
  const problem = h("p", { class: "failed", role: "alert" });
  const cover = h(
    "div",
    { class: "stage-cover" },
    welcome({
      title: "Fuse a stack of frames",
      text: `Drop 2 to ${MOST_FRAMES} frames of one scene that differ in focus or exposure.`,
      accept: "image/*",
      multiple: true,
      open: (files) => void add(files),
      samples: STACKS.map((stack) => ({
        ...stack,
        file: stack.files[0],
        choose: () => void sample(stack.files),
      })),
    }),
    problem,
  );
  stage.element.append(view.element, cover);
  const { element, side } = workbench(
    stage.element,
    h(
      "div",
      { class: "picture-head" },
      h("div", { class: "picture-name" }, title, subtitle),
      button({
        icon: "plus",
        label: "Add frames",
        press: async () => void add(await pickFiles({ accept: "image/*", multiple: true })),
      }),
      button({ icon: "close", label: "Close all frames", press: () => changeFrames([]) }),
    ),
    list.element,
    fusion.element,
    runner.element,
    painting,
    finished,
    listing.element,
  );

  const fail = (/** @type {unknown} */ error) => {
    if (frames.length > 0) runner.fail(error);
    else problem.textContent = sentenceOf(error);
  };

  /** @param {string[]} files */
  async function sample(files) {
    try {
      changeFrames((await Promise.all(files.map(fetchPicture))).map(toFrame));
    } catch (error) {
      fail(error);
    }
  }

  /** @param {File[]} files */
  async function add(files) {
    try {
      const more = await Promise.all(files.map((file) => decode(file, file.name)));
      more.forEach(refuseTransparent);
      const all = [...frames, ...more.map(toFrame)];
      checkStack(all);
      if (all.length > 0) changeFrames(all);
    } catch (error) {
      fail(error);
    }
  }

  /** @param {Frame[]} next */
  function changeFrames(next) {
    runner.stop();
    painter.stop();
    frames = next;
    chosen = Math.min(chosen, Math.max(0, next.length - 1));
    fused = decision = null;
    problem.textContent = "";
    runner.say(frames.length === 1 ? "Add at least one more frame." : "");
    runner.startButton.disabled = frames.length < 2;
    view.value = "frame";
    refresh();
  }

  function refresh() {
    const empty = frames.length === 0;
    view.element.hidden = empty;
    for (const key of ["result", "decision", "depth"]) view.enable(key, fused !== null);
    painting.hidden = fused === null;
    exported.hidden = true;
    finished.hidden = fused === null;
    title.textContent = `${frames.length} ${frames.length === 1 ? "frame" : "frames"}`;
    subtitle.textContent = empty ? "" : sizeText(frames[0].image);
    list.show(frames);
    list.mark(chosen);
    layers();
    setWelcome(empty, { cover, stage: stage.element, side });
    describe();
  }

  /** @param {number} index */
  function pick(index) {
    chosen = index;
    settings.value = frames.length + index;
    list.mark(index);
    layers();
  }

  function layers() {
    const shown = fused ? view.value : "frame";
    tools.enable(fused !== null && (shown === "result" || shown === "decision"));
    stage.layers = [];
    if (frames.length > 0 && shown === "frame") stage.layers = [{ source: frames[chosen].canvas }];
    if (fused && shown === "result") stage.layers = [{ source: fused.canvas }];
    if (fused && shown === "depth") stage.layers = [{ source: fused.depth }];
    if (fused && decision && shown === "decision")
      stage.layers = [
        { source: fused.canvas },
        { source: decision.overlay, alpha: 0.6, smooth: false },
      ];
    stage.show(
      frames.length === 0 ? null : shown === "frame" || !fused ? frames[chosen].image : fused.image,
    );
  }

  const frameBuffers = () =>
    Object.fromEntries(frames.map(({ image }, i) => [`frame${i}`, imageBuffer(image)]));

  async function run() {
    try {
      refuseLarge(
        { width: frames[0].image.width, height: frames[0].image.height * frames.length },
        engine,
        reduce("frames", engine),
      );
    } catch (error) {
      return runner.fail(error);
    }
    const given = frames;
    painter.stop();
    const message = await runner.run({
      task: "fuse",
      options: fusion.options(),
      buffers: frameBuffers(),
    });
    if (!message || given !== frames) return;
    const image = bufferImage(message.buffers.image);
    const { depth } = message.buffers;
    fused = {
      automatic: image,
      image,
      canvas: toCanvas(image),
      depth: toCanvas(
        rampImage(
          /** @type {Float32Array} */ (depth.data),
          image.width,
          image.height,
          frames.length - 1,
        ),
      ),
      alignment: message.alignment,
    };
    const map = (decision = decisionMask(message.buffers.decision, frames.length));
    map.addEventListener("paint", () => stage.redraw());
    map.addEventListener("change", () => {
      tools.steps(map.done.length > 0, map.undone.length > 0);
      void repaint();
    });
    tools.steps(false, false);
    settings.value = frames.length + chosen;
    view.value = "result";
    runner.say(
      `Fused ${frames.length} frames (${message.mode}) in ${secondsText(message.seconds)}.`,
    );
    refresh();
  }

  /** Makes the image again, with what is painted. */
  async function repaint() {
    const target = fused;
    if (!target || !decision) return;
    const map = paintedIn(decision, frames.length);
    const any = map.data.some((value) => value !== KEPT);
    exported.hidden = !any;
    describe();
    painter.stop();
    let { automatic: image } = target;
    if (any) {
      const message = await painter.run({
        task: "repaint",
        options: { alignment: target.alignment },
        buffers: {
          ...frameBuffers(),
          fused: imageBuffer(target.automatic),
          painted: { type: "u8", shape: [map.height, map.width], data: map.data },
        },
      });
      if (!message) {
        if (painter.status.classList.contains("failed")) runner.fail(painter.status.textContent);
        return;
      }
      if (fused !== target) return;
      image = bufferImage(message.buffers.image);
    }
    target.image = image;
    toCanvas(image, target.canvas);
    stage.redraw();
  }

  async function save() {
    if (!fused) return;
    const picture =
      view.value === "decision" && decision
        ? decision.overlay
        : view.value === "depth"
          ? fused.depth
          : null;
    const name = picture ? `${view.value}.png` : "fused.png";
    const image = picture
      ? /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d")).getImageData(
          0,
          0,
          picture.width,
          picture.height,
        )
      : fused.image;
    download(await toPng(image), name);
  }

  function describe() {
    listing.show(
      fuseRecipe({
        names: frames.map(({ name }) => name),
        ...fusion.options(),
        grey: frames.length > 0 && frames.every(({ image }) => isGrey(image)),
        painted: exported.hidden ? null : PAINTED,
      }),
    );
  }

  changeFrames([]);
  return {
    element,
    receive: (/** @type {File[]} */ files) => void add(files),
    key: (/** @type {KeyboardEvent} */ event) =>
      decision && undoKeys(event, { undo: () => decision?.undo(), redo: () => decision?.redo() }),
  };
}
