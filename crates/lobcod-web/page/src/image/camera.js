// A photo from the camera: a window with what it sees, and a shutter.

import { button, h } from "../dom.js";
import { context, newCanvas } from "./raster.js";
import { decode, pickFiles } from "./load.js";

/** @typedef {import("./load.js").Picture} Picture */

const NAME = "photo.png";

/** Why there is no photo, by the name of the browser's error. */
const REASONS = /** @type {Record<string, string>} */ ({
  NotAllowedError: "The browser may not use the camera. Allow it for this page, or open a file.",
  NotFoundError: "There is no camera. Open a file instead.",
  NotReadableError: "Another program uses the camera. Close it, or open a file.",
});

/**
 * Takes a photo; `null` if the visitor decides against it.
 * @returns {Promise<Picture | null>}
 */
export async function takePhoto() {
  // Phones have a better program for it, which also knows their several cameras.
  if (matchMedia("(pointer: coarse)").matches || !navigator.mediaDevices) {
    const [file] = await pickFiles({ accept: "image/*", capture: true });
    return file ? decode(file, file.name) : null;
  }
  const size = { width: { ideal: 1920 }, height: { ideal: 1080 } };
  const stream = await navigator.mediaDevices.getUserMedia({ video: size }).catch((error) => {
    throw new Error(REASONS[error.name] ?? `The camera does not work: ${error.message}`);
  });
  try {
    return await shoot(stream);
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}

/**
 * Shows the camera until the visitor presses the shutter or closes the window.
 * @param {MediaStream} stream
 * @returns {Promise<Picture | null>}
 */
function shoot(stream) {
  return new Promise((resolve) => {
    const video = h("video", { autoplay: true, playsinline: true });
    video.muted = true;
    video.srcObject = stream;
    /** @type {Picture | null} */
    let photo = null;
    const take = button({
      icon: "camera",
      text: "Take the photo",
      kind: "primary",
      press: () => {
        const canvas = newCanvas(video.videoWidth, video.videoHeight);
        context(canvas).drawImage(video, 0, 0);
        const image = context(canvas).getImageData(0, 0, canvas.width, canvas.height);
        photo = { name: NAME, image, missing: null };
        dialog.close();
      },
    });
    take.disabled = true;
    video.addEventListener("playing", () => {
      take.disabled = false;
      take.focus();
    });
    const cancel = button({ text: "Cancel", press: () => dialog.close() });
    const row = h("div", { class: "row centred" }, take, cancel);
    const dialog = h("dialog", { class: "camera", "aria-label": "Camera" }, video, row);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(photo);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
