// Denoise: the noise is measured, previews follow the slider, the result is that of the command.

import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
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
