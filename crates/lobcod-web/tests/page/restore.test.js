// Restore: painting, undo, masks as files, and the same pixels as the command line.

import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { oriented } from "./support/exif.js";
import { greyPng } from "./support/png.js";
import { PAGE } from "./support/server.js";
import { difference, missing, noProgram, noPython, scratchFolder, Studio } from "./support/studio.js";

const SIZE = [340, 256];
const folder = scratchFolder();
let studio;

before(async () => {
  if (!missing) studio = await Studio.open("restore");
});
after(() => studio?.close());

const marked = async () => {
  const text = await studio.find(".section .quiet").first().innerText();
  return Number(/^([\d,]+) pixels/.exec(text)?.[1].replaceAll(",", "") ?? 0);
};

test("strokes are undone and redone", { skip: missing }, async () => {
  await studio.sample("Scratched cat");
  await studio.button("Clear").click();
  assert.equal(await marked(), 0);
  await studio.draw(
    [
      [60, 60],
      [160, 60],
    ],
    SIZE,
  );
  const once = await marked();
  // A brush of 12 pixels over 100 pixels: a bar with two half discs.
  assert.ok(Math.abs(once - (100 * 12 + Math.PI * 36)) < 60, `${once}`);
  await studio.draw(
    [
      [60, 120],
      [160, 120],
    ],
    SIZE,
  );
  assert.ok((await marked()) > once);
  await studio.page.keyboard.press("Control+z");
  assert.equal(await marked(), once);
  await studio.page.keyboard.press("Control+z");
  assert.equal(await marked(), 0);
  await studio.page.keyboard.press("Control+Shift+z");
  assert.equal(await marked(), once);
  await studio.button("Clear").click();
});

test("lasso, wand and eraser mark what they should", { skip: missing }, async () => {
  await studio.page.keyboard.press("Escape");
  await studio.find(".stage-canvas").focus();
  await studio.page.keyboard.press("l");
  await studio.draw(
    [
      [40, 40],
      [140, 40],
      [140, 120],
      [40, 120],
    ],
    SIZE,
  );
  const lasso = await marked();
  assert.ok(Math.abs(lasso - 100 * 80) < 300, `${lasso}`);
  await studio.find(".stage-canvas").focus();
  await studio.page.keyboard.press("b");
  await studio.page.keyboard.press("e");
  await studio.draw(
    [
      [60, 80],
      [120, 80],
    ],
    SIZE,
  );
  assert.ok((await marked()) < lasso - 600);
  await studio.find(".stage-canvas").focus();
  await studio.page.keyboard.press("e");
  await studio.page.keyboard.press("w");
  await studio.button("Clear").click();
  // The stain: a disc of nearly one colour.
  await studio.draw([[277, 41]], SIZE);
  const wand = await marked();
  assert.ok(wand > 400 && wand < 1500, `${wand}`);
  await studio.button("Clear").click();
});

test("the keyboard alone can paint", { skip: missing }, async () => {
  await studio.find(".stage-canvas").focus();
  await studio.page.keyboard.press("b");
  await studio.page.keyboard.press("ArrowRight");
  await studio.page.keyboard.press("Enter");
  assert.ok((await marked()) > 80);
  await studio.button("Clear").click();
});

test("the result is that of the command shown", { skip: noProgram }, async () => {
  await studio.draw(
    [
      [60, 200],
      [120, 210],
      [200, 190],
    ],
    SIZE,
  );
  await studio.draw(
    [
      [230, 60],
      [250, 140],
    ],
    SIZE,
  );
  copyFileSync(join(PAGE, "samples/cat.png"), join(folder, "cat.png"));
  assert.equal(await studio.download("Export", join(folder, "cat-mask.png")), "cat-mask.png");
  assert.match(await studio.run("Restore"), /^Filled/);
  const name = await studio.download("Download PNG", join(folder, "page.png"));
  assert.equal(name, "cat-restored.png");
  const command = await studio.runCommand(folder);
  assert.equal(command, "lobcod inpaint cat.png --holes cat-mask.png -o cat-restored.png");
  const page = await studio.pixels(join(folder, "page.png"));
  const { largest, mean } = difference(page, await studio.pixels(join(folder, name)));
  console.log(`Restore: page and command differ by at most ${largest} of 255, mean ${mean}`);
  // Instruction sets add in different orders. Rounding may show it, and so may patches that are
  // equally similar to another one.
  assert.ok(largest <= 6 && mean < 0.01, `${largest} ${mean}`);
});

test("the Python call shown gives the same pixels", { skip: noPython }, async () => {
  await studio.runPython(folder);
  const page = await studio.pixels(join(folder, "page.png"));
  const python = await studio.pixels(join(folder, "cat-restored.png"));
  const { largest, mean } = difference(page, python);
  console.log(`Restore: page and Python differ by at most ${largest} of 255, mean ${mean}`);
  assert.ok(largest <= 6 && mean < 0.01, `${largest} ${mean}`);
});

test(
  "an exported mask can be imported, and one of another size is refused",
  { skip: missing },
  async () => {
    await studio.find(".segment:has-text('Damage')").click();
    await studio.draw(
      [
        [20, 20],
        [90, 40],
      ],
      SIZE,
    );
    const count = await marked();
    await studio.download("Export", join(folder, "again.png"));
    await studio.button("Clear").click();
    const importing = async (path) => {
      const [chooser] = await Promise.all([
        studio.page.waitForEvent("filechooser"),
        studio.button("Import").click(),
      ]);
      await chooser.setFiles(path);
    };
    await importing(join(folder, "again.png"));
    await studio.page.waitForFunction(() =>
      /pixels marked/.test(document.querySelector(".section .quiet").textContent),
    );
    assert.equal(await marked(), count);
    await importing(join(PAGE, "samples/coffee.png"));
    await studio.find(".status.failed").waitFor();
    assert.match(
      await studio.find(".status").innerText(),
      /440 × 320 pixels, but the image has 340 × 256/,
    );
  },
);

test("all pixels of an image can be marked, but not filled", { skip: missing }, async () => {
  writeFileSync(join(folder, "tiny.png"), greyPng(3, 2, (x) => 80 * x));
  await studio.drop(join(folder, "tiny.png"));
  await studio.find(".picture-name:has-text('3 × 2')").waitFor();
  await studio.draw([[1, 1]], [3, 2]);
  const said = studio.find(".quiet:has-text('pixels marked')");
  assert.equal(await said.innerText(), "6 pixels marked, 100 % of the image");
  assert.match(await studio.run("Restore"), /^The mask marks every sample as missing.*\.$/);
  await studio.button("Close the image").click();
});

test("a photo on its side is restored upright", { skip: noProgram }, async () => {
  const colour = (x, y) => `hsl(${3 * y} 60% ${50 + Math.round(20 * Math.sin((x + y) / 5))}%)`;
  const photo = await studio.jpeg(120, 96, colour);
  writeFileSync(join(folder, "turned.jpg"), oriented(photo, 6));
  await studio.drop(join(folder, "turned.jpg"));
  await studio.find(".picture-name:has-text('96 × 120')").waitFor();
  await studio.find(".segment:has-text('Fast')").click();
  await studio.draw(
    [
      [20, 30],
      [60, 90],
    ],
    [96, 120],
  );
  await studio.download("Export", join(folder, "turned-mask.png"));
  await studio.run("Restore");
  const name = await studio.download("Download PNG", join(folder, "turned-page.png"));
  const page = await studio.pixels(join(folder, "turned-page.png"));
  const runs = [["command", () => studio.runCommand(folder)]];
  if (!noPython) runs.push(["Python call", () => studio.runPython(folder)]);
  for (const [kind, run] of runs) {
    await run();
    const { largest, mean } = difference(page, await studio.pixels(join(folder, name)));
    console.log(`Photo: page and ${kind} differ by at most ${largest} of 255, mean ${mean}`);
    // Decoders of JPEG files round in their own ways.
    assert.ok(mean < 1, `${largest} ${mean}`);
  }
});

test("files of any name can be used by the command shown", { skip: noProgram }, async () => {
  const name = "-it's 1 $HOME.png";
  copyFileSync(join(folder, "cat.png"), join(folder, name));
  await studio.drop(join(folder, name));
  await studio.find(".picture-name:has-text('HOME')").waitFor();
  await studio.find(".segment:has-text('Fast')").click();
  await studio.draw([[100, 100]], SIZE);
  const mask = await studio.download("Export", join(folder, "mask.png"));
  copyFileSync(join(folder, "mask.png"), join(folder, mask));
  assert.match(await studio.runCommand(folder), / '\.\/-it'\\''s 1 \$HOME\.png' /);
  const made = await studio.pixels(join(folder, "-it's 1 $HOME-restored.png"));
  assert.deepEqual([made.width, made.height], SIZE);
});

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
