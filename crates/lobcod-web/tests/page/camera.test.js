// The camera, with the pattern that Chromium offers in place of one.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { missing, Studio } from "./support/studio.js";

let studio;

before(async () => {
  if (missing) return;
  const args = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
  studio = await Studio.open("restore", { args });
});
after(() => studio?.close());

/** Waits until no camera is in use. */
const released = () =>
  studio.page.waitForFunction(() =>
    globalThis.streams.every((stream) =>
      stream.getTracks().every((track) => track.readyState === "ended"),
    ),
  );

test("a photo is taken, and the camera is released", { skip: missing }, async () => {
  await studio.page.evaluate(() => {
    globalThis.streams = [];
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (wanted) => {
      const stream = await open(wanted);
      globalThis.streams.push(stream);
      return stream;
    };
  });
  await studio.button("Take a photo").click();
  await studio.page.getByRole("button", { name: "Cancel" }).click();
  await released();
  assert.ok(await studio.button("Take a photo").isVisible(), "nothing was opened");
  await studio.button("Take a photo").click();
  const shutter = studio.page.getByRole("button", { name: "Take the photo" });
  await studio.page.waitForSelector(".camera video");
  await shutter.click();
  await studio.find(".picture-name:has-text('photo.png')").waitFor();
  assert.match(await studio.find(".picture-name").innerText(), /\d{3,4} × \d{3,4}/);
  await released();
  assert.equal(await studio.page.locator(".camera").count(), 0);
});

test("without permission it says what to do", { skip: missing }, async () => {
  await studio.button("Close the image").click();
  await studio.page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () =>
      Promise.reject(new DOMException("denied", "NotAllowedError"));
  });
  await studio.button("Take a photo").click();
  await studio.find(".failed:has-text('Allow it for this page, or open a file')").waitFor();
});

test("no errors on the console", { skip: missing }, () => assert.deepEqual(studio.faults, []));
