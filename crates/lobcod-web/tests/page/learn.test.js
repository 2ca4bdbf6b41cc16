// Learn: atoms appear while they are learnt, can be looked into, and are those of the command line.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { greyPng } from "./support/png.js";
import { lobcod, missing, noProgram, noPython, scratchFolder, Studio } from "./support/studio.js";

const folder = scratchFolder();
let studio;

before(async () => {
  if (!missing) studio = await Studio.open("learn");
});
after(() => studio?.close());

/** Moves a slider to a value with the keyboard. */
async function slide(label, presses, key) {
  await studio.page.getByLabel(label, { exact: true }).focus();
  for (let i = 0; i < presses; i++) await studio.page.keyboard.press(key);
}

test("atoms appear, and the objective falls", { skip: missing }, async () => {
  // Stripes of two directions and a little noise, 128 x 96 pixels in grey.
  const value = (x, y) =>
    128 + 70 * Math.sin((x < 64 ? x + y : x - y) / 1.9) + 8 * Math.sin(12.9898 * x + 78.233 * y);
  writeFileSync(join(folder, "stripes.png"), greyPng(128, 96, value));
  await studio.drop(join(folder, "stripes.png"));
  await studio.find(".picture-name:has-text('128 × 96')").waitFor();
  await slide("Number of atoms", 7, "ArrowLeft");
  await slide("Passes", 7, "ArrowLeft");
  await studio.button("Learn").click();
  await studio.find(".atom").nth(7).waitFor({ timeout: 60_000 });
  await studio.find(".status:has-text('Learnt 8 atoms')").waitFor({ timeout: 120_000 });
  const points = await studio.find(".plot-lines polyline").first().getAttribute("points");
  const heights = points.split(" ").map((pair) => Number(pair.split(",")[1]));
  // Lower on the screen is a smaller objective.
  assert.ok(heights.length > 2 && heights.at(-1) > heights[0]);
  assert.match(await studio.find(".plot .field-value").nth(1).innerText(), /e-\d/);
});

test("an atom shows its uses, a place its atoms", { skip: missing }, async () => {
  await studio.find(".atom").nth(3).click();
  const said = studio.find("section[aria-live] .quiet");
  assert.match(await said.innerText(), /^Atom 4 is used [\d,]+ times/);
  const [x, y] = await studio.at(60.5, 40.5, [128, 96]);
  await studio.page.mouse.click(x, y);
  assert.match(await said.innerText(), /codes? covers? column (59|60|61), row (39|40|41)/);
  assert.ok((await studio.find(".found li").count()) > 0);
});

test("sliders may move while atoms are learnt", { skip: missing }, async () => {
  await slide("Number of atoms", 2, "ArrowRight");
  await studio.button("Learn").click();
  await slide("Number of atoms", 3, "ArrowLeft");
  await slide("Passes", 1, "ArrowLeft");
  await studio.find(".status:has-text('Learnt 16 atoms')").waitFor({ timeout: 120_000 });
  await studio.find(".atom").nth(15).click();
  assert.match(await studio.find("section[aria-live] .quiet").innerText(), /^Atom 16 is used \d/);
  await slide("Number of atoms", 1, "ArrowRight");
  assert.match(await studio.run("Learn"), /^Learnt 8 atoms/);
});

test("a run that is stopped keeps its atoms", { skip: noProgram }, async () => {
  await slide("Passes", 30, "ArrowRight");
  await slide("Number of atoms", 20, "ArrowRight");
  await studio.button("Learn").click();
  await studio.find(".status:has-text('Pass ')").waitFor({ timeout: 60_000 });
  await studio.button("Stop").click();
  await studio.find(".status:has-text('What was learnt so far')").waitFor();
  await studio.download("Download dictionary (npz)", join(folder, "stopped.npz"));
  assert.ok(objective("stopped.npz") > 0);
  await slide("Passes", 23, "ArrowLeft");
  await slide("Number of atoms", 20, "ArrowLeft");
  assert.match(await studio.run("Learn"), /^Learnt 8 atoms/);
});

test("what was learnt is accessible", { skip: missing }, async () =>
  assert.deepEqual(await studio.violations(), []));

const objective = (dictionary) => {
  const words = ["--dictionary", join(folder, dictionary), "--penalty", "30", "--json"];
  return JSON.parse(lobcod("encode", join(folder, "stripes.png"), ...words)).objective;
};

for (const [name, skip, run] of [
  ["command", noProgram, () => studio.runCommand(folder)],
  ["Python call", noPython, () => studio.runPython(folder)],
]) {
  test(`the dictionary is that of the ${name} shown`, { skip }, async () => {
    const file = await studio.download("Download dictionary (npz)", join(folder, "page.npz"));
    await run();
    const [page, other] = [objective("page.npz"), objective(file)];
    console.log(`Learn: objective with the dictionary of the page ${page}, the ${name} ${other}`);
    // Learning is not convex: roundings of other instruction sets may grow.
    assert.ok(Math.abs(page - other) < 0.01 * other);
  });
}

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
