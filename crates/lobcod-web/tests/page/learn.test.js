// Learn: atoms appear while they are learnt, can be looked into, and are those of the command line.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lobcod, missing, noProgram, scratchFolder, Studio } from "./support/studio.js";

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
  await studio.sample("Herringbone");
  await slide("Number of atoms", 5, "ArrowLeft");
  await slide("Passes", 7, "ArrowLeft");
  await studio.button("Learn").click();
  await studio.find(".atom").nth(15).waitFor({ timeout: 60_000 });
  await studio.find(".status:has-text('Learnt 16 atoms')").waitFor({ timeout: 120_000 });
  const points = (await studio.find(".plot-lines polyline").first().getAttribute("points"))
    .split(" ")
    .map((pair) => Number(pair.split(",")[1]));
  assert.ok(
    points.length > 2 && points.at(-1) > points[0],
    "lower on the screen is a smaller objective",
  );
  assert.match(await studio.find(".plot .field-value").nth(1).innerText(), /e-\d/);
});

test("an atom shows its uses, a place its atoms", { skip: missing }, async () => {
  await studio.find(".atom").nth(3).click();
  assert.match(
    await studio.find(".section .quiet").last().innerText(),
    /^Atom 4 is used [\d,]+ times/,
  );
  const [x, y] = await studio.at(200, 150, [384, 384]);
  await studio.page.mouse.click(x, y);
  assert.match(
    await studio.find(".section .quiet").last().innerText(),
    /codes? covers? column 200, row 150|codes? cover/,
  );
  assert.ok((await studio.find(".found li").count()) > 0);
});

test("the dictionary is as good as that of the command shown", { skip: noProgram }, async () => {
  const name = await studio.download("Download dictionary (npz)", join(folder, "page.npz"));
  await saveCloth(join(folder, "cloth.png"));
  await studio.runCommand(folder);
  const objective = (dictionary) => {
    const words = ["--dictionary", join(folder, dictionary), "--penalty", "60", "--json"];
    return JSON.parse(lobcod("encode", join(folder, "cloth.png"), ...words).toString()).objective;
  };
  const [page, command] = [objective("page.npz"), objective(name)];
  console.log(`Learn: objective with the dictionary of the page ${page}, the command ${command}`);
  // Learning is not convex: roundings of other instruction sets grow to other atoms in time.
  assert.ok(Math.abs(page - command) < 0.03 * command);
});

/** Saves the sample that was learnt from. */
async function saveCloth(path) {
  const text = await studio.page.evaluate(async () => {
    const { cloth } = await import("./src/image/scenes.js");
    const { toPng } = await import("./src/image/raster.js");
    const bytes = new Uint8Array(await (await toPng(cloth())).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  });
  writeFileSync(path, Buffer.from(text, "base64"));
}

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
