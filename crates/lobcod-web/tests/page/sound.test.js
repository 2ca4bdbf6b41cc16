// Sound: the drums of a loop are learnt and can be played; files that are not WAV are refused.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lobcod, missing, noProgram, noPython, scratchFolder, Studio } from "./support/studio.js";

const folder = scratchFolder();
let studio;

before(async () => {
  if (missing) return;
  studio = await Studio.open("sound");
  // Records the contexts that are made and how long each sound plays.
  await studio.page.addInitScript(() => {
    globalThis.audioContexts = [];
    globalThis.played = [];
    const Context = globalThis.AudioContext;
    globalThis.AudioContext = class extends Context {
      constructor() {
        super();
        globalThis.audioContexts.push(this);
      }
      createBufferSource() {
        const source = super.createBufferSource();
        const began = this.currentTime;
        source.addEventListener("ended", () =>
          globalThis.played.push(this.currentTime - began),
        );
        return source;
      }
    };
  });
  await studio.show("sound");
});
after(() => studio?.close());

/** A WAV file of 16-bit samples. */
function wav(samples, rate) {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + 2 * samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(2 * samples.length, 40);
  return Buffer.concat([head, Buffer.from(Int16Array.from(samples).buffer)]);
}

test("a file that is not a sound is refused", { skip: missing }, async () => {
  writeFileSync(join(folder, "text.wav"), "no sound");
  await studio.drop(join(folder, "text.wav"));
  await studio.find(".failed:has-text('is not a WAV file')").waitFor();
});

test("damaged sounds are refused in a sentence", { skip: missing }, async () => {
  const file = [...wav([1, 2, 3], 8000)];
  const words = await studio.page.evaluate(async (bytes) => {
    const { readWav } = await import("./src/files/wav.js");
    const said = (/** @type {number[]} */ list) => {
      try {
        return readWav(Uint8Array.from(list).buffer, "x.wav").samples.length;
      } catch (error) {
        return error.message;
      }
    };
    const cut = bytes.map((_, length) => said(bytes.slice(0, length)));
    // The extensible format, without its identifier; no channels; no rate.
    const extensible = bytes.slice(0, 36).with(16, 26).with(20, 0xfe).with(21, 0xff);
    const changed = [extensible, bytes.with(22, 0), bytes.with(24, 0).with(25, 0)].map(said);
    return [...cut, ...changed];
  }, file);
  assert.equal(words[48], 2, "the last sample is cut off");
  for (const said of words.toSpliced(46, 4))
    assert.match(String(said), /^x\.wav (is not a WAV|is damaged|holds no samples)/);
});

test("sliders may move while waveforms are learnt", { skip: missing }, async () => {
  await studio.sample("Bells");
  await studio.button("Learn").click();
  await studio.page.getByLabel("Number of waveforms").focus();
  await studio.page.keyboard.press("ArrowRight");
  await studio.find(".status:has-text('Learnt 3 waveforms')").waitFor({ timeout: 60_000 });
  assert.match(await studio.find(".wave").last().innerText(), /^Waveform 3\s+[\d,]+ events?$/);
  assert.deepEqual(await studio.violations(), []);
  await studio.page.keyboard.press("ArrowLeft");
  await studio.button("Close the sound").click();
});

test("the waveforms of a loop are learnt", { skip: missing }, async () => {
  await studio.sample("Drum loop");
  assert.match(await studio.run("Learn"), /^Learnt 3 waveforms in .* events\.$/);
  assert.equal(await studio.find(".wave").count(), 3);
  await studio.find(".wave").first().click();
  assert.equal(await studio.find(".wave").first().getAttribute("aria-pressed"), "true");
});

test("sounds are played to their end, and can be stopped", { skip: missing }, async () => {
  const sum = studio.button("Play the sum");
  const pressed = (value) =>
    studio.find(`.button[aria-pressed=${value}]:has-text("Play the sum")`).waitFor();
  await studio.find(".wave").first().click();
  await sum.click();
  await pressed(true);
  const state = () => studio.page.evaluate(() => globalThis.audioContexts[0].state);
  assert.equal(await state(), "running");
  // Its end releases the button.
  await pressed(false);
  await sum.click();
  await pressed(true);
  await sum.click();
  await pressed(false);
  const played = await studio.page.evaluate(() => globalThis.played);
  console.log(`Sound: played ${played.map((seconds) => seconds.toFixed(2)).join(", ")} s`);
  const [whole, stopped] = played.slice(-2);
  assert.ok(whole >= 4 && stopped < whole, "the loop has 4 seconds");
});

test("a click of known shape is found", { skip: missing }, async () => {
  const click = Array.from({ length: 40 }, (_, i) =>
    Math.round(12000 * Math.sin(i / 2) * Math.exp(-i / 10)),
  );
  const samples = new Array(4000).fill(0);
  for (const at of [200, 900, 1700, 2600, 3300])
    click.forEach((value, i) => (samples[at + i] += value));
  writeFileSync(join(folder, "clicks.wav"), wav(samples, 8000));
  await studio.drop(join(folder, "clicks.wav"));
  await studio.find(".picture-name:has-text('clicks.wav')").waitFor();
  await studio.page.getByLabel("Number of waveforms").focus();
  for (let i = 0; i < 2; i++) await studio.page.keyboard.press("ArrowLeft");
  await studio.page.getByLabel("Length of a waveform").focus();
  for (let i = 0; i < 11; i++) await studio.page.keyboard.press("ArrowLeft");
  assert.match(await studio.run("Learn"), /^Learnt 1 waveform /);
});

const objective = (dictionary) => {
  const words = ["--dictionary", join(folder, dictionary), "--relative-penalty", "0.1", "--json"];
  return JSON.parse(lobcod("encode", join(folder, "clicks.wav"), ...words).toString()).objective;
};

for (const [name, skip, run] of [
  ["command", noProgram, () => studio.runCommand(folder)],
  ["Python call", noPython, () => studio.runPython(folder)],
]) {
  test(`its waveform is that of the ${name} shown`, { skip }, async () => {
    const file = await studio.download("Dictionary (npz)", join(folder, "page.npz"));
    await run();
    const [page, other] = [objective("page.npz"), objective(file)];
    console.log(`Sound: objective with the dictionary of the page ${page}, the ${name} ${other}`);
    assert.ok(Math.abs(page - other) < 1e-3 * other);
  });
}

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
