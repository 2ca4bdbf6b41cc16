// The large area that shows an image: layers on a canvas, zoom and pan, a tool, and a divider
// between "before" and "after".

import { button, h, oncePerFrame } from "../dom.js";
import { divider } from "./divider.js";
import { listen } from "./pointers.js";
import { View } from "./view.js";

/**
 * What is drawn: an image of the stage's size. `side` limits it to one side of the divider.
 * @typedef {{ source: CanvasImageSource, alpha?: number, side?: "before" | "after",
 *   smooth?: boolean }} Layer
 */

export class Stage extends EventTarget {
  /** @param {string} label what screen readers call the image */
  constructor(label) {
    super();
    this.view = new View();
    this.hasImage = false;
    /** @type {Layer[]} */
    this.layers = [];
    /** @type {import("./pointers.js").Tool | null} */
    this.tool = null;
    /** @type {{ x: number, y: number } | null} */
    this.cursor = null;
    /**
     * Draws on top, in image coordinates.
     * @type {((pen: CanvasRenderingContext2D, scale: number) => void) | null}
     */
    this.decorate = null;
    this.redraw = oncePerFrame(() => this.draw());
    /** @type {HTMLCanvasElement} */
    this.canvas = h("canvas", {
      class: "stage-canvas",
      tabindex: 0,
      role: "img",
      "aria-label": label,
    });
    this.divider = divider(() => this.redraw());
    this.zoomText = h("output", { class: "zoom-text", "aria-label": "zoom" });
    this.bar = h(
      "div",
      { class: "zoom-bar", role: "group", "aria-label": "Zoom" },
      button({ icon: "minus", label: "Zoom out (-)", press: () => this.zoomBy(1 / 1.5) }),
      this.zoomText,
      button({ icon: "plus", label: "Zoom in (+)", press: () => this.zoomBy(1.5) }),
      button({ icon: "fit", label: "Show the whole image (0)", press: () => this.fit() }),
    );
    this.element = h("div", { class: "stage" }, this.canvas, this.divider.element, this.bar);
    listen(this);
    new ResizeObserver(() => this.resized()).observe(this.element);
    this.show(null);
  }

  /**
   * Shows an image of a size; `null` empties the stage.
   * @param {{ width: number, height: number } | null} size
   */
  show(size) {
    const { view } = this;
    const same = size && size.width === view.imageWidth && size.height === view.imageHeight;
    this.hasImage = size !== null;
    this.bar.hidden = !size;
    this.element.classList.toggle("empty", !size);
    if (!size) this.layers = [];
    if (size && !same) {
      view.imageWidth = size.width;
      view.imageHeight = size.height;
      this.fit();
    }
    this.redraw();
  }

  /** Whether the divider between before and after is shown. @param {boolean} shown */
  compare(shown) {
    this.divider.element.hidden = !shown;
    this.redraw();
  }

  fit() {
    this.view.fit();
    this.moved();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.view.zoom(factor);
    this.moved();
  }

  /** The visible part changed. */
  moved() {
    this.redraw();
    this.dispatchEvent(new Event("move"));
  }

  resized() {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.view.width = clientWidth;
    this.view.height = clientHeight;
    if (this.view.fitted) this.view.fit();
    else this.view.keepInside();
    this.draw();
    if (this.hasImage) this.dispatchEvent(new Event("move"));
  }

  draw() {
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const { view } = this;
    const ratio = this.canvas.width / view.width;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.hasImage) return;
    this.zoomText.textContent = `${Math.round(100 * view.scale)} %`;
    const split = this.divider.element.hidden ? null : this.divider.value * view.width;
    for (const layer of this.layers) {
      pen.save();
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (layer.side && split !== null) {
        pen.beginPath();
        if (layer.side === "before") pen.rect(0, 0, split, view.height);
        else pen.rect(split, 0, view.width - split, view.height);
        pen.clip();
      }
      pen.translate(view.left, view.top);
      pen.scale(view.scale, view.scale);
      pen.globalAlpha = layer.alpha ?? 1;
      // Enlarged pixels stay pixels: that is what one zooms in for.
      pen.imageSmoothingEnabled = layer.smooth ?? view.scale * ratio < 4;
      pen.imageSmoothingQuality = "high";
      pen.drawImage(layer.source, 0, 0, view.imageWidth, view.imageHeight);
      pen.restore();
    }
    pen.setTransform(
      ratio * view.scale,
      0,
      0,
      ratio * view.scale,
      ratio * view.left,
      ratio * view.top,
    );
    this.decorate?.(pen, view.scale);
    if (this.tool && this.cursor) drawCursor(pen, this.cursor, this.tool.radius ?? 0, view.scale);
  }
}

/**
 * A circle of the size of the brush, or a cross.
 * @param {CanvasRenderingContext2D} pen
 * @param {{ x: number, y: number }} at
 * @param {number} radius
 * @param {number} scale
 */
function drawCursor(pen, at, radius, scale) {
  const path = new Path2D();
  if (radius > 0) path.arc(at.x, at.y, Math.max(radius, 2 / scale), 0, 2 * Math.PI);
  if (radius * scale < 4) {
    const arm = 7 / scale;
    path.moveTo(at.x - arm, at.y);
    path.lineTo(at.x + arm, at.y);
    path.moveTo(at.x, at.y - arm);
    path.lineTo(at.x, at.y + arm);
  }
  strokeVisibly(pen, path, scale);
}

/**
 * Draws a thin line that is visible on light and dark images.
 * @param {CanvasRenderingContext2D} pen
 * @param {Path2D} path
 * @param {number} scale
 */
export function strokeVisibly(pen, path, scale) {
  for (const [colour, width] of /** @type {[string, number][]} */ ([
    ["#000a", 3],
    ["#fff", 1.25],
  ])) {
    pen.strokeStyle = colour;
    pen.lineWidth = width / scale;
    pen.stroke(path);
  }
}
