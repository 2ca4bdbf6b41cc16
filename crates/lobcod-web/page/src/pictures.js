// The image that Restore, Denoise and Learn share.

import { decode } from "./image/load.js";

/** @typedef {import("./image/load.js").Picture} Picture */

/** Dispatches `change` when another image is opened or the image is closed. */
export class Pictures extends EventTarget {
  constructor() {
    super();
    /** @type {Picture | null} */
    this.current = null;
  }

  /** @param {Picture | null} picture */
  set(picture) {
    this.current = picture;
    this.dispatchEvent(new Event("change"));
  }

  /**
   * Opens the first image among files.
   * @param {File[]} files
   */
  async open(files) {
    if (files.length > 0) this.set(await decode(files[0], files[0].name));
  }
}
