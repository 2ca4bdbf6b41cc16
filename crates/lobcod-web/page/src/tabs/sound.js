// Sound: the waveforms of a recording are learnt, can be heard, and are shown where they occur.

import { button, h } from "../dom.js";
import { bells, drums } from "../files/sounds.js";
import { readWav } from "../files/wav.js";
import { pickFiles, stem } from "../image/load.js";
import { soundRecipe } from "../recipes.js";
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
import { setWelcome, workbench } from "../widgets/picture-panel.js";
import { play, playButton, stop } from "../widgets/player.js";
import { Runner } from "../widgets/runner.js";
import { track } from "../widgets/track.js";
import { waveCards } from "../widgets/waves.js";
import { welcome } from "../widgets/welcome.js";
import { codesOf, usesOf } from "./codes.js";
import { refuseLong } from "./limits.js";
import { counted, learningText, secondsText, sentenceOf } from "../words.js";

/** @typedef {import("../files/wav.js").Sound} Sound */

/** @param {import("../main.js").Context} context */
export function soundTab({ engine }) {
  /** @type {Sound | null} */
  let sound = null;
  /** @type {Uint8Array<ArrayBuffer> | null} */
  let file = null;
  /** @type {Float32Array | null} */
  let rebuilt = null;

  const timeline = track((atom) => choose(atom));
  const cards = waveCards((atom) => choose(atom));
  const runner = new Runner(engine, {
    label: "Learn",
    start: () => void run(),
    watch: () => stage,
  });
  const count = slider({
    label: "Number of waveforms",
    min: 1,
    max: 16,
    value: 3,
    change: () => describe(),
  });
  const duration = slider({
    label: "Length of a waveform",
    min: 5,
    max: 200,
    step: 5,
    value: 60,
    show: (n) => `${n} ms, ${samplesOf(n)} samples`,
    change: () => describe(),
  });
  const penalty = penaltySlider({
    max: -0.3,
    value: -0.7,
    hint: "How strong an event must be",
    change: () => describe(),
  });
  const passes = passesSlider(() => describe());
  const charts = curves();
  const listing = commands();
  const problem = h("p", { class: "failed", role: "alert" });
  const title = h("strong", {});
  const subtitle = h("span", { class: "quiet" });
  const sum = playButton({
    text: "Play the sum",
    hint: "The sound as the sum of its waveforms",
    sound: () => rebuilt && sound && { samples: rebuilt, rate: sound.rate },
  });
  const finished = h(
    "div",
    { class: "row", hidden: true },
    dictionaryButton("Dictionary (npz)", () => outputName(), () => file),
    sum,
  );
  const samples = [
    { ...sampleCard(drums, "Drum loop", "Three drums"), choose: () => opened(drums()) },
    { ...sampleCard(bells, "Bells", "Three notes"), choose: () => opened(bells()) },
  ];
  const cover = h(
    "div",
    { class: "stage-cover" },
    welcome({
      title: "Learn the waveforms of a sound",
      text: "Drop a WAV file. Shapes that repeat in it are found, and when they occur.",
      accept: ".wav,audio/wav",
      open: (files) => void open(files),
      samples,
    }),
    problem,
  );
  const stage = h("div", { class: "stage sound-stage" }, timeline.element, cards.element, cover);
  const { element, side } = workbench(
    stage,
    h(
      "div",
      { class: "picture-head" },
      h("div", { class: "picture-name" }, title, subtitle),
      playButton({ label: "Play the sound", sound: () => sound }),
      button({
        icon: "open",
        label: "Open another sound",
        press: async () => void open(await pickFiles({ accept: ".wav,audio/wav" })),
      }),
      button({ icon: "close", label: "Close the sound", press: () => opened(null) }),
    ),
    section("Dictionary", count.element, duration.element, penalty.element, passes.element),
    runner.element,
    finished,
    charts.element,
    listing.element,
  );

  /** @param {number} milliseconds */
  function samplesOf(milliseconds) {
    return Math.max(4, Math.round(((sound?.rate ?? 8000) * milliseconds) / 1000));
  }

  const outputName = () => `${stem(sound?.name ?? "sound")}-atoms.npz`;

  /** @param {() => Sound} make @param {string} title @param {string} hint */
  function sampleCard(make, title, hint) {
    return {
      title,
      hint,
      credit: "computed by code",
      picture: async () => wavePicture(make().samples),
    };
  }

  /** @param {File[]} files */
  async function open(files) {
    try {
      if (files.length > 0) opened(readWav(await files[0].arrayBuffer(), files[0].name));
    } catch (error) {
      if (sound) runner.fail(error);
      else problem.textContent = sentenceOf(error);
    }
  }

  /** @param {Sound | null} next */
  function opened(next) {
    runner.stop();
    stop();
    sound = next;
    problem.textContent = "";
    timeline.element.hidden = next === null;
    stage.classList.toggle("empty", next === null);
    setWelcome(next === null, { cover, stage, side });
    forget();
    runner.say("");
    if (next) {
      title.textContent = title.title = next.name;
      const seconds = (next.samples.length / next.rate).toFixed(2);
      subtitle.textContent = `${seconds} s, ${next.rate.toLocaleString("en")} Hz`;
      timeline.show(next.samples, next.rate);
      duration.value = duration.value;
    }
    describe();
  }

  function forget() {
    file = rebuilt = null;
    charts.clear();
    finished.hidden = true;
    cards.clear();
    timeline.activations(null, 0);
  }

  /** @param {number} atom */
  function choose(atom) {
    timeline.mark(atom);
    cards.mark(atom);
    const wave = cards.wave(atom);
    if (!wave || !sound) return;
    const largest = wave.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
    play(
      wave.map((value) => (0.6 * value) / largest),
      sound.rate,
    );
  }

  function describe() {
    const given = {
      name: sound?.name ?? "sound.wav",
      output: outputName(),
      atoms: count.value,
      size: samplesOf(duration.value),
      penalty: relativePenalty(penalty.value),
      passes: passes.value,
    };
    listing.show(soundRecipe(given, (sound?.channels ?? 1) === 1));
  }

  async function run() {
    const given = sound;
    if (!given) return;
    try {
      refuseLong(given.samples.length, engine);
    } catch (error) {
      return runner.fail(error);
    }
    forget();
    // The sliders may move while waveforms are learnt.
    const [atoms, last] = [count.value, passes.value];
    /** @type {import("../engine/message.js").Buffer | null} */
    let latest = null;
    const message = await runner.run({
      task: "sound",
      options: {
        rate: given.rate,
        atoms,
        size: samplesOf(duration.value),
        relative_penalty: relativePenalty(penalty.value),
        passes: last,
      },
      buffers: { samples: { type: "f32", shape: [given.samples.length], data: given.samples } },
      preview: ({ buffers }) => cards.show((latest = buffers.atoms)),
      progress: (progress) => {
        charts.follow(progress);
        runner.say(learningText(progress, last));
      },
    });
    if (sound !== given) return;
    if (!message) return latest && keepStopped(latest);
    const codes = codesOf(message);
    cards.show(message.buffers.atoms);
    cards.label(usesOf(codes, atoms));
    timeline.activations(codes, atoms);
    file = new Uint8Array(message.buffers.dictionary.data);
    rebuilt = new Float32Array(message.buffers.reconstruction.data);
    charts.finish(message);
    finished.hidden = sum.hidden = false;
    runner.say(
      `Learnt ${counted(atoms, "waveform")} in ${secondsText(message.seconds)}; ` +
        `${counted(message.nonzeros, "event")}.`,
    );
  }

  /** @param {import("../engine/message.js").Buffer} waveforms */
  async function keepStopped(waveforms) {
    const bytes = await stoppedDictionary(engine, runner, waveforms);
    if (!bytes) return;
    file = bytes;
    sum.hidden = true;
    finished.hidden = false;
  }

  opened(null);
  return { element, receive: (/** @type {File[]} */ files) => void open(files) };
}

/** A drawing of a sound for its card. @param {Float32Array} samples */
function wavePicture(samples) {
  const image = new ImageData(240, 180);
  for (let x = 0; x < 240; x++) {
    let largest = 0;
    for (let i = Math.floor((x * samples.length) / 240); i < ((x + 1) * samples.length) / 240; i++)
      largest = Math.max(largest, Math.abs(samples[i]));
    const half = Math.max(1, Math.round(80 * largest));
    for (let y = 90 - half; y < 90 + half; y++)
      image.data.set([16, 150, 136, 255], 4 * (y * 240 + x));
  }
  return image;
}
