// Denoise: the noise is measured, previews follow the slider, the result is that of the command.

import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { greyPng } from "./support/png.js";
import { PAGE } from "./support/server.js";
import { difference, missing, noProgram, noPython, scratchFolder, Studio } from "./support/studio.js";

const folder = scratchFolder();
let studio;

before(async () => {
  if (!missing) studio = await Studio.open("denoise");
});
after(() => studio?.close());

test("the noise is measured and a preview follows the strength", { skip: missing }, async () => {
  await studio.sample("Noisy micrograph");
  await studio.find(".measure:has-text('noise')").waitFor({ timeout: 60_000 });
  await studio.find(".quiet:has-text('Preview of')").waitFor({ timeout: 60_000 });
  await studio.page.getByLabel("Strength").focus();
  await studio.page.keyboard.press("ArrowLeft");
  await studio.find(".quiet:has-text('Preview…')").waitFor();
  await studio.find(".quiet:has-text('Preview of')").waitFor({ timeout: 60_000 });
  await studio.page.keyboard.press("ArrowRight");
});

test("the preview is that part of the result", { skip: missing }, async () => {
  const mean = await studio.page.evaluate(async () => {
    const { fetchPicture } = await import("./src/image/samples.js");
    const { WasmEngine } = await import("./src/engine/wasm.js");
    const { bufferImage, imageBuffer } = await import("./src/engine/message.js");
    const { crop, widened } = await import("./src/image/raster.js");
    const { PREVIEW_MARGIN } = await import("./src/tabs/limits.js");
    const { image } = await fetchPicture("micrograph.png");
    const engine = await WasmEngine.open();
    const run = async (task, options, image) =>
      engine.run({
        task,
        options,
        buffers: { image: imageBuffer(image) },
        signal: new AbortController().signal,
        event() {},
      });
    const { noise } = await run("noise", {}, image);
    const clean = async (image) =>
      bufferImage((await run("denoise", { noise }, image)).buffers.image);
    const box = { left: 90, top: 60, width: 50, height: 40 };
    const around = widened(box, PREVIEW_MARGIN, image);
    const inside = { ...box, left: box.left - around.left, top: box.top - around.top };
    const whole = crop(await clean(image), box).data;
    const part = crop(await clean(crop(image, around)), inside).data;
    return whole.reduce((sum, x, i) => sum + Math.abs(x - part[i]), 0) / whole.length;
  });
  console.log(`Denoise: preview and result differ by ${mean} of 255 on average`);
  assert.ok(mean < 2, `${mean}`);
});

test("an image without noise is left alone, and it says so", { skip: missing }, async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "fade.png"), greyPng(64, 48, (x, y) => x + 2 * y));
  await studio.drop(join(folder, "fade.png"));
  await studio.find(".measure:has-text('No noise.')").waitFor();
  assert.match(await studio.run("Denoise the whole image"), /^There is nothing to remove/);
  await studio.button("Close the image").click();
  await studio.sample("Noisy micrograph");
  await studio.find(".measure:has-text('grows with')").waitFor();
});

test("the result is that of the command shown", { skip: noProgram }, async () => {
  await studio.find(".segment:has-text('Fast')").click();
  assert.match(await studio.run("Denoise the whole image"), /^Denoised in/);
  const name = await studio.download("Download PNG", join(folder, "page.png"));
  copyFileSync(join(PAGE, "samples/micrograph.png"), join(folder, "micrograph.png"));
  assert.match(await studio.runCommand(folder), /^lobcod denoise .* --preset fast$/);
  const page = await studio.pixels(join(folder, "page.png"));
  const { largest, mean } = difference(page, await studio.pixels(join(folder, name)));
  console.log(`Denoise: page and command differ by at most ${largest} of 255, mean ${mean}`);
  assert.ok(largest <= 2 && mean < 0.01, `${largest} ${mean}`);
});

test("the Python call shown gives the same pixels", { skip: noPython }, async () => {
  await studio.runPython(folder);
  const page = await studio.pixels(join(folder, "page.png"));
  const python = await studio.pixels(join(folder, "micrograph-denoised.png"));
  const { largest, mean } = difference(page, python);
  console.log(`Denoise: page and Python differ by at most ${largest} of 255, mean ${mean}`);
  assert.ok(largest <= 2 && mean < 0.01, `${largest} ${mean}`);
});

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
