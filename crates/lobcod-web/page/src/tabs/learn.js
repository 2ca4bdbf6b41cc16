// Learn: atoms of an image appear and sharpen, with the objective and the certified gap.

import { h } from "../dom.js";
import { imageBuffer } from "../engine/message.js";
import { stem } from "../image/load.js";
import { context, isGrey, newCanvas, toCanvas } from "../image/raster.js";
import { learnRecipe } from "../recipes.js";
import { Stage } from "../stage/stage.js";
import { atomBoard } from "../widgets/atoms.js";
import { commands } from "../widgets/commands.js";
import { curves } from "../widgets/curves.js";
import { section, slider } from "../widgets/fields.js";
import {
  dictionaryButton,
  passesSlider,
  penaltySlider,
  relativePenalty,
  stoppedDictionary,
} from "../widgets/learning.js";
import { pictureHead, pictureWelcome, setWelcome, workbench } from "../widgets/picture-panel.js";
import { Runner } from "../widgets/runner.js";
import { codesAt, codesOf, drawUses, usesOf } from "./codes.js";
import { checkWhole } from "./limits.js";
import { counted, learningText, secondsText, sentenceOf } from "../words.js";

/** Atoms listed for a place. */
const MOST_LISTED = 8;

/** @typedef {import("../engine/message.js").Message} Message */

/** @param {import("../main.js").Context} context */
export function learnTab({ engine, pictures }) {
  const stage = new Stage("The image; click a place to see the atoms that make it");
  /** @type {import("./codes.js").Codes | null} */
  let codes = null;
  /** How often each atom is used. */
  let uses = new Int32Array(0);
  /** Height and width of the atoms. @type {[number, number]} */
  let size = [8, 8];
  /** @type {Uint8Array<ArrayBuffer> | null} */
  let file = null;
  /** @type {HTMLCanvasElement | null} */
  let overlay = null;
  let shownPicture = pictures.current;

  const board = atomBoard((index) => showUses(index));
  const runner = new Runner(engine, {
    label: "Learn",
    start: () => void run(),
    watch: () => area,
  });
  const count = slider({
    label: "Number of atoms",
    min: 4,
    max: 128,
    step: 4,
    value: 36,
    change: () => describe(),
  });
  const side = slider({
    label: "Size of an atom",
    min: 4,
    max: 16,
    value: 8,
    show: (n) => `${n} × ${n}`,
    change: () => describe(),
  });
  const penalty = penaltySlider({
    max: -0.5,
    value: -1.3,
    hint: "Larger penalties use fewer codes",
    change: () => describe(),
  });
  const passes = passesSlider(() => describe());
  const charts = curves();
  const found = h("ol", { class: "found" });
  const foundTitle = h("p", { class: "quiet" });
  const listing = commands();
  const problem = h("p", { class: "failed", role: "alert" });
  const fail = (/** @type {unknown} */ error) =>
    pictures.current ? runner.fail(error) : (problem.textContent = sentenceOf(error));
  const outputName = () => `${stem(pictures.current?.name ?? "image")}-atoms.npz`;
  const save = dictionaryButton("Download dictionary (npz)", outputName, () => file);
  save.classList.add("wide");
  save.hidden = true;
  const cover = h(
    "div",
    { class: "stage-cover" },
    pictureWelcome(pictures, {
      title: "Learn the atoms of an image",
      text: "Watch the patterns of an image appear, then click one to see where it is used.",
      fail,
    }),
    problem,
  );
  stage.element.append(cover);
  const area = h("div", { class: "atoms-area" }, board.element);
  const bench = workbench(
    h("div", { class: "split" }, stage.element, area),
    pictureHead(pictures, fail),
    section("Dictionary", count.element, side.element, penalty.element, passes.element),
    runner.element,
    save,
    h("section", { class: "section", "aria-live": "polite" }, foundTitle, found),
    charts.element,
    listing.element,
  );

  function describe() {
    const picture = pictures.current;
    const given = {
      name: picture?.name ?? "photo.png",
      output: outputName(),
      atoms: count.value,
      size: side.value,
      penalty: relativePenalty(penalty.value),
      passes: passes.value,
    };
    listing.show(learnRecipe(given, picture !== null && isGrey(picture.image)));
  }

  async function run() {
    const picture = pictures.current;
    if (!picture) return;
    try {
      checkWhole(picture, engine);
    } catch (error) {
      return runner.fail(error);
    }
    forget();
    // The sliders may move while atoms are learnt.
    const [atoms, edge, last] = [count.value, side.value, passes.value];
    /** @type {import("../engine/message.js").Buffer | null} */
    let latest = null;
    const message = await runner.run({
      task: "learn",
      options: {
        atoms,
        size: [edge, edge],
        relative_penalty: relativePenalty(penalty.value),
        passes: last,
        colour: true,
      },
      buffers: { image: imageBuffer(picture.image) },
      preview: ({ buffers }) => board.show((latest = buffers.atoms)),
      progress: (progress) => {
        charts.follow(progress);
        runner.say(learningText(progress, last));
      },
    });
    if (pictures.current !== picture) return;
    if (!message) return latest && keepStopped(latest);
    board.show(message.buffers.atoms);
    codes = codesOf(message);
    size = [edge, edge];
    file = new Uint8Array(message.buffers.dictionary.data);
    uses = usesOf(codes, atoms);
    board.label(uses);
    charts.finish(message);
    save.hidden = false;
    foundTitle.textContent =
      "Click an atom to see where it is used, or a place of the image to see which atoms make it.";
    runner.say(
      `Learnt ${counted(atoms, "atom")} in ${secondsText(message.seconds)}; ` +
        `${counted(message.nonzeros, "code")}.`,
    );
    stage.tool = inspector;
    stage.element.classList.add("painting");
  }

  /** @param {import("../engine/message.js").Buffer} atoms */
  async function keepStopped(atoms) {
    const bytes = await stoppedDictionary(engine, runner, atoms);
    if (!bytes) return;
    file = bytes;
    save.hidden = false;
  }

  /** @param {number} index */
  function showUses(index) {
    if (!codes || !overlay) return;
    board.mark([index]);
    drawUses(context(overlay), codes, index, size, "#00e0c8");
    found.replaceChildren();
    const times = counted(uses[index], "time");
    foundTitle.textContent = `Atom ${index + 1} is used ${times}, strongly where the colour is strong.`;
    stage.decorate = null;
    stage.redraw();
  }

  /** @param {{ x: number, y: number }} at */
  function showPlace(at) {
    if (!codes || !overlay) return;
    const list = codesAt(codes, at, size);
    const shown = list.slice(0, MOST_LISTED);
    board.mark(shown.map(({ atom }) => atom));
    context(overlay).clearRect(0, 0, overlay.width, overlay.height);
    const place = `column ${Math.floor(at.x)}, row ${Math.floor(at.y)}`;
    const some = list.length > MOST_LISTED ? `; the ${MOST_LISTED} largest` : "";
    const number = counted(list.length, "code covers", "codes cover");
    foundTitle.textContent = `${number} ${place}${some}:`;
    found.replaceChildren(
      ...shown.map(({ atom, value }) =>
        h(
          "li",
          {},
          board.picture(atom),
          h("span", {}, `atom ${atom + 1}`),
          h("output", { class: "field-value" }, value.toPrecision(3)),
        ),
      ),
    );
    stage.decorate = (pen, scale) => {
      pen.strokeStyle = "#00e0c8";
      pen.lineWidth = 1.5 / scale;
      for (const { x, y } of shown) pen.strokeRect(x, y, size[1], size[0]);
    };
    stage.redraw();
  }

  const inspector = { down: showPlace, move: showPlace, up() {}, cancel() {} };

  /** Forgets what was learnt. */
  function forget() {
    codes = file = null;
    charts.clear();
    save.hidden = true;
    stage.tool = null;
    stage.element.classList.remove("painting");
    stage.decorate = null;
    found.replaceChildren();
    foundTitle.textContent = "";
    if (overlay) context(overlay).clearRect(0, 0, overlay.width, overlay.height);
    stage.redraw();
  }

  function opened() {
    const picture = pictures.current;
    shownPicture = picture;
    runner.stop();
    forget();
    board.clear();
    area.hidden = picture === null;
    problem.textContent = "";
    runner.say("");
    if (picture) {
      overlay = newCanvas(picture.image.width, picture.image.height);
      stage.layers = [
        { source: toCanvas(picture.image) },
        { source: overlay, alpha: 0.75, smooth: false },
      ];
    }
    stage.show(picture?.image ?? null);
    setWelcome(picture === null, { cover, stage: stage.element, side: bench.side });
    describe();
  }

  pictures.addEventListener("change", () => bench.element.offsetParent !== null && opened());
  opened();
  return {
    element: bench.element,
    receive: (/** @type {File[]} */ files) => void pictures.open(files).catch(fail),
    shown: () => shownPicture !== pictures.current && opened(),
  };
}
