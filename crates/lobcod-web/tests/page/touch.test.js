// Touch and clipboard: one finger paints, two fingers zoom, an image can be pasted.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { missing, Studio } from "./support/studio.js";

let studio;
let session;

before(async () => {
  if (missing) return;
  studio = await Studio.open("restore", { width: 400, height: 860, touch: true });
  session = await studio.page.context().newCDPSession(studio.page);
});
after(() => studio?.close());

const touch = (type, ...points) =>
  session.send("Input.dispatchTouchEvent", {
    type,
    touchPoints: points.map(([x, y], id) => ({ x, y, id })),
  });

test("one finger paints", { skip: missing }, async () => {
  await studio.sample("Hills and wires");
  const { x, y, width, height } = await studio.find(".stage-canvas").boundingBox();
  const [left, middle] = [x + width / 2 - 60, y + height / 2];
  await touch("touchStart", [left, middle]);
  for (let step = 1; step <= 6; step++) await touch("touchMove", [left + 20 * step, middle]);
  await touch("touchEnd");
  await studio.find(".quiet:has-text('pixels marked')").waitFor();
});

test("two fingers zoom, and mark nothing", { skip: missing }, async () => {
  const marked = await studio.find(".section .quiet").first().innerText();
  const { x, y, width, height } = await studio.find(".stage-canvas").boundingBox();
  const [cx, cy] = [x + width / 2, y + height / 2];
  const zoom = async () => parseFloat(await studio.find(".stage .zoom-text").textContent());
  const before = await zoom();
  await touch("touchStart", [cx - 20, cy]);
  await touch("touchStart", [cx - 20, cy], [cx + 20, cy]);
  for (let step = 1; step <= 5; step++) {
    await touch("touchMove", [cx - 20 - 10 * step, cy], [cx + 20 + 10 * step, cy]);
  }
  await touch("touchEnd");
  await studio.page.waitForTimeout(100);
  const now = await zoom();
  assert.ok(now > 2.5 * before && now < 4.5 * before, `${before} ${now}`);
  assert.equal(await studio.find(".section .quiet").first().innerText(), marked);
});

test("two fingers with the wand take back what it marked", { skip: missing }, async () => {
  await studio.button("Show the whole image (0)").click();
  await studio.find(".tool[title^='Wand']").click();
  const marked = () => studio.find(".section .quiet").first().innerText();
  const before = await marked();
  const { x, y, width, height } = await studio.find(".stage-canvas").boundingBox();
  // Next to the image, where the wand marks nothing, and on it.
  for (const [cx, cy] of [
    [x + width / 2, y + 4],
    [x + width / 2, y + height / 2 + 40],
  ]) {
    await touch("touchStart", [cx, cy]);
    await touch("touchStart", [cx, cy], [cx + 40, cy]);
    await touch("touchEnd");
    assert.equal(await marked(), before);
  }
});

test("on a narrow screen the image can be watched, and the run stopped", { skip: missing }, async () => {
  await studio.find(".segment:has-text('Best')").click();
  await studio.button("Restore").click();
  const inView = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  };
  assert.ok(await studio.find(".stage-canvas").evaluate(inView), "the image");
  assert.ok(await studio.button("Stop").evaluate(inView), "Stop");
  await studio.button("Stop").click();
  await studio.find(".status:has-text('Stopped.')").waitFor();
  assert.ok(await studio.find(".stage-canvas").evaluate(inView), "the image");
});

test("an image is pasted", { skip: missing }, async () => {
  await studio.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(70, 50);
    canvas.getContext("2d").fillRect(0, 0, 70, 50);
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([await canvas.convertToBlob()], "pasted.png"));
    document.dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
  });
  await studio.find(".picture-name:has-text('70 × 50')").waitFor();
});

test("a file that is no image is refused in a sentence", { skip: missing }, async () => {
  await studio.page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["text"], "notes.txt"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer }));
  });
  await studio.find(".failed:has-text('notes.txt is not an image')").waitFor();
});

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
