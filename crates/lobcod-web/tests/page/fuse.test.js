// Fuse: a focus stack, the decision painted over by hand, and the same pixels as the command line.

import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { PAGE } from "./support/server.js";
import { difference, missing, noProgram, noPython, scratchFolder, Studio } from "./support/studio.js";

const SIZE = [440, 320];
const FRAMES = ["focus-near.png", "focus-middle.png", "focus-far.png"].map((name) =>
  join(PAGE, "samples", name),
);
const folder = scratchFolder();
let studio;

before(async () => {
  if (!missing) studio = await Studio.open("fuse");
});
after(() => studio?.close());

test("frames of different sizes are refused", { skip: missing }, async () => {
  await studio.drop(FRAMES[0], join(PAGE, "samples/cat.png"));
  await studio.find(".failed:has-text('the same size')").waitFor();
});

test("the result is that of the command shown", { skip: noProgram }, async () => {
  await studio.drop(...FRAMES);
  await studio.find(".frame").nth(2).waitFor();
  assert.match(await studio.run("Fuse"), /^Fused 3 frames \(focus\)/);
  await studio.download("Download PNG", join(folder, "page.png"));
  for (const frame of FRAMES) copyFileSync(frame, join(folder, basename(frame)));
  await studio.runCommand(folder);
  const page = await studio.pixels(join(folder, "page.png"));
  const { largest, mean } = difference(page, await studio.pixels(join(folder, "fused.png")));
  console.log(`Fuse: page and command differ by at most ${largest} of 255, mean ${mean}`);
  // Where two frames are equally sharp, rounding may decide for the other one.
  assert.ok(mean < 0.05, `${largest} ${mean}`);
});

test("the Python call shown gives the same pixels", { skip: noPython }, async () => {
  await studio.runPython(folder);
  const page = await studio.pixels(join(folder, "page.png"));
  const { largest, mean } = difference(page, await studio.pixels(join(folder, "fused.png")));
  console.log(`Fuse: page and Python differ by at most ${largest} of 255, mean ${mean}`);
  assert.ok(mean < 0.05, `${largest} ${mean}`);
});

test("a painted place is taken from the chosen frame", { skip: noProgram }, async () => {
  await studio.find(".frame").nth(2).click();
  await studio.find(".segment:has-text('Result')").click();
  await studio.find(".tool[title^='Take']").click();
  await studio.draw(
    [
      [150, 250],
      [200, 250],
    ],
    SIZE,
  );
  const before = await studio.pixels(join(folder, "page.png"));
  const far = await studio.pixels(FRAMES[2]);
  const at = 4 * (250 * 440 + 175);
  const pixel = ({ data }, place) => [...data.subarray(place, place + 3)];
  assert.notDeepEqual(pixel(before, at), pixel(far, at), "the frames differ here");
  let now;
  for (let i = 0; i < 50; i++) {
    await studio.download("Download PNG", join(folder, "page-painted.png"));
    now = await studio.pixels(join(folder, "page-painted.png"));
    if (now.data[at] === far.data[at]) break;
    await studio.page.waitForTimeout(200);
  }
  assert.deepEqual(pixel(now, at), pixel(far, at));
  const elsewhere = before.data.subarray(0, 4 * 440 * 200);
  assert.deepEqual(now.data.subarray(0, elsewhere.length), elsewhere, "the rest is kept");
});

for (const [name, skip, run] of [
  ["command", noProgram, () => studio.runCommand(folder)],
  ["Python call", noPython, () => studio.runPython(folder)],
]) {
  test(`the ${name} shown takes what is painted as a file`, { skip }, async () => {
    await studio.download("Export what is painted", join(folder, "painted.png"));
    assert.match(await run(), /decision[ =]/);
    const [page, other] = [
      await studio.pixels(join(folder, "page-painted.png")),
      await studio.pixels(join(folder, "fused.png")),
    ];
    const { largest, mean } = difference(page, other);
    console.log(`Painted: page and ${name} differ by at most ${largest} of 255, mean ${mean}`);
    assert.ok(mean < 0.05, `${largest} ${mean}`);
    // A brush of 40 pixels: its middle is all of the painted frame, up to rounding.
    for (let x = 160; x < 190; x++)
      for (let c = 0; c < 3; c++) {
        const place = 4 * (250 * 440 + x) + c;
        assert.ok(Math.abs(page.data[place] - other.data[place]) <= 1, `column ${x}`);
      }
  });
}

test("undoing the paint gives the fused image back", { skip: noProgram }, async () => {
  await studio.button("Undo (Ctrl+Z)").click();
  await studio.download("Download PNG", join(folder, "again.png"));
  const [page, again] = [
    await studio.pixels(join(folder, "page.png")),
    await studio.pixels(join(folder, "again.png")),
  ];
  assert.deepEqual(again.data, page.data);
  assert.doesNotMatch(await studio.find(".commands pre").first().textContent(), /--decision /);
});

test("decision and depth can be seen", { skip: noProgram }, async () => {
  for (const view of ["Decision", "Depth"]) {
    await studio.find(`.segment:has-text('${view}')`).click();
    await studio.download("Download PNG", join(folder, "map.png"));
    const map = await studio.pixels(join(folder, "map.png"));
    const colours = new Set();
    for (let i = 0; i < map.data.length; i += 4) colours.add(map.data.readUInt32LE(i));
    assert.ok(colours.size >= 3, `${view}: ${colours.size}`);
  }
});

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
