// Learn: atoms appear while they are learnt, can be looked into, and are those of the command line.

import assert from "node:assert/strict";
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
  const points = (await studio.find(".plot-lines polyline").first().getAttribute("points")).split(" ").map((pair) => Number(pair.split(",")[1]));
  assert.ok(points.length > 2 && points.at(-1) > points[0], "lower on the screen is a smaller objective");
  assert.match(await studio.find(".plot .field-value").nth(1).innerText(), /e-\d/);
});

test("an atom shows its uses, a place its atoms", { skip: missing }, async () => {
  await studio.find(".atom").nth(3).click();
  assert.match(await studio.find(".section .quiet").last().innerText(), /^Atom 4 is used [\d,]+ times/);
  const [x, y] = await studio.at(200, 150, [384, 384]);
  await studio.page.mouse.click(x, y);
  assert.match(await studio.find(".section .quiet").last().innerText(), /codes? covers? column 200, row 150|codes? cover/);
  assert.ok((await studio.find(".found li").count()) > 0);
});

test("the dictionary is that of the command line", { skip: noProgram }, async () => {
  await studio.download("Download dictionary (npz)", join(folder, "page.npz"));
  const image = join(folder, "cloth.png");
  await saveImage(image);
  const command = (await studio.find(".commands pre").first().textContent()).split(" ").slice(4);
  lobcod("learn", image, "-o", join(folder, "cli.npz"), ...command.slice(command.indexOf("--atoms")), "--quiet");
  const mosaic = (name) => {
    lobcod("show", join(folder, `${name}.npz`), "-o", join(folder, `${name}.png`), "--quiet");
    return studio.pixels(join(folder, `${name}.png`));
  };
  const [page, cli] = [await mosaic("page"), await mosaic("cli")];
  let correlation = 0;
  let [a2, b2] = [0, 0];
  for (let i = 0; i < page.data.length; i += 4) {
    const [a, b] = [page.data[i] - 128, cli.data[i] - 128];
    correlation += a * b;
    a2 += a * a;
    b2 += b * b;
  }
  correlation /= Math.sqrt(a2 * b2);
  console.log(`Learn: the mosaics of page and command line correlate by ${correlation.toFixed(6)}`);
  assert.ok(correlation > 0.99, `${correlation}`);
});

/** Saves the image of the tab through Restore, where it can be downloaded as it is. */
async function saveImage(path) {
  const { writeFileSync } = await import("node:fs");
  const text = await studio.page.evaluate(async () => {
    const { cloth } = await import("./src/image/scenes.js");
    const { toPng } = await import("./src/image/raster.js");
    const bytes = new Uint8Array(await (await toPng(cloth())).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  });
  writeFileSync(path, Buffer.from(text, "base64"));
}

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
