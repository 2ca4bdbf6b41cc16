// Synthetic images, drawn by code: hills behind wires, fruit with ink over it, and a woven cloth.

import { context, newCanvas } from "./raster.js";

/** @typedef {CanvasRenderingContext2D} Pen */

/**
 * Random numbers from 0 to 1 (mulberry32), the same for every visitor.
 * @param {number} seed
 */
function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * @param {number} width
 * @param {number} height
 * @param {(pen: Pen, random: () => number) => void} draw
 */
function drawn(width, height, draw) {
  const pen = context(newCanvas(width, height));
  draw(pen, randomFrom(7));
  return pen.getImageData(0, 0, width, height);
}

/**
 * A height that varies at several scales.
 * @param {number} x
 * @param {number} phase
 */
const ridge = (x, phase) =>
  Math.sin(x * 2.1 + phase) +
  0.5 * Math.sin(x * 5.3 + 2 * phase) +
  0.25 * Math.sin(x * 11.7 + 3 * phase) +
  0.12 * Math.sin(x * 27 + phase);

/**
 * Fills a background with a gradient from top to bottom.
 * @param {Pen} pen
 * @param {[number, string][]} stops
 */
function backdrop(pen, stops) {
  const { width, height } = pen.canvas;
  const fade = pen.createLinearGradient(0, 0, 0, height);
  for (const [at, colour] of stops) fade.addColorStop(at, colour);
  pen.fillStyle = fade;
  pen.fillRect(0, 0, width, height);
}

/** Layers of hills at dusk, a field in front, and the wires of a power line to paint away. */
export const hills = () =>
  drawn(512, 384, (pen, random) => {
    backdrop(pen, [
      [0, "#27406b"],
      [0.35, "#8c7aa0"],
      [0.58, "#f0a878"],
      [0.7, "#fbd9a0"],
      [1, "#fbd9a0"],
    ]);
    const sun = pen.createRadialGradient(350, 232, 4, 350, 232, 110);
    sun.addColorStop(0, "#fff6d8");
    sun.addColorStop(0.12, "#ffe9b0cc");
    sun.addColorStop(1, "#ffd58a00");
    pen.fillStyle = sun;
    pen.fillRect(200, 90, 312, 260);
    const colours = ["#9a86a4", "#6f6b8f", "#4a5476", "#2f4254"];
    colours.forEach((colour, layer) => {
      pen.fillStyle = colour;
      pen.beginPath();
      pen.moveTo(0, 384);
      for (let x = 0; x <= 512; x++)
        pen.lineTo(
          x,
          226 + 28 * layer - (22 - 3 * layer) * ridge(x / 130 + layer, 1.7 * layer + 0.4),
        );
      pen.lineTo(512, 384);
      pen.fill();
    });
    for (let i = 0; i < 2600; i++) {
      const x = 512 * random();
      const depth = random() ** 0.6;
      const y = 318 + 72 * depth;
      const hue = 70 + 45 * random();
      const saturation = 28 + 20 * random();
      pen.strokeStyle = `hsl(${hue} ${saturation}% ${14 + 26 * random() * depth}%)`;
      pen.lineWidth = 0.6 + 1.1 * depth;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.quadraticCurveTo(
        x + 2,
        y - 8 * depth,
        x + 7 * (random() - 0.3),
        y - (7 + 15 * depth) * (0.4 + random()),
      );
      pen.stroke();
    }
    pen.strokeStyle = "#14181f";
    pen.lineWidth = 2.4;
    for (const sag of [0, 16, 33]) {
      pen.beginPath();
      pen.moveTo(-4, 62 + sag);
      pen.quadraticCurveTo(250, 150 + 0.8 * sag, 516, 74 + sag);
      pen.stroke();
    }
  });

/** A still life on a striped cloth. @param {Pen} pen @param {() => number} random */
function table(pen, random) {
  backdrop(pen, [
    [0, "#e9dfc8"],
    [0.45, "#cfc0a2"],
    [1, "#b8a684"],
  ]);
  for (let i = -12; i < 60; i++) {
    pen.fillStyle = i % 3 === 0 ? "#5d7f8e" : i % 3 === 1 ? "#f1ead9" : "#dcd2bd";
    pen.beginPath();
    pen.moveTo(10 * i + 20, 200);
    pen.lineTo(10 * i + 30, 200);
    pen.lineTo(18 * i - 60 + 18, 384);
    pen.lineTo(18 * i - 60, 384);
    pen.fill();
  }
  const fruit = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {number} */ r,
    /** @type {string[]} */ [light, middle, dark],
  ) => {
    pen.fillStyle = "#00000040";
    pen.beginPath();
    pen.ellipse(x + 0.35 * r, y + 0.86 * r, 1.05 * r, 0.26 * r, 0, 0, 7);
    pen.fill();
    const shade = pen.createRadialGradient(x - 0.35 * r, y - 0.4 * r, 0.05 * r, x, y, 1.05 * r);
    shade.addColorStop(0, light);
    shade.addColorStop(0.55, middle);
    shade.addColorStop(1, dark);
    pen.fillStyle = shade;
    pen.beginPath();
    pen.arc(x, y, r, 0, 7);
    pen.fill();
    for (let i = 0; i < 420; i++) {
      const [a, d] = [6.283 * random(), r * Math.sqrt(random()) * 0.96];
      pen.fillStyle = random() < 0.5 ? "#ffffff14" : "#00000016";
      pen.fillRect(x + d * Math.cos(a), y + d * Math.sin(a), 2, 2);
    }
  };
  fruit(180, 190, 78, ["#ffd9a0", "#f0912f", "#a44f10"]);
  fruit(330, 214, 62, ["#eff3b0", "#a9bf3c", "#5c7419"]);
  fruit(262, 268, 50, ["#ffb3a0", "#cc3d33", "#741a1d"]);
}

/** The still life with handwriting over it, and where the ink is. */
export function letter() {
  const clean = drawn(512, 384, table);
  const written = drawn(512, 384, (pen, random) => {
    table(pen, random);
    pen.fillStyle = "#1b2a6b";
    pen.font = "italic 600 33px 'URW Chancery L', 'Apple Chancery', 'Segoe Script', cursive, serif";
    ["With love from the sea,", "back on Sunday evening.", "Keep some of the fruit!"].forEach(
      (line, i) => {
        pen.setTransform(1, -0.06, 0, 1, 40, 110 + 92 * i);
        pen.fillText(line, 0, 0);
      },
    );
  });
  const missing = new Uint8Array(512 * 384);
  for (let i = 0; i < missing.length; i++) {
    let difference = 0;
    for (let c = 0; c < 3; c++)
      difference = Math.max(difference, Math.abs(clean.data[4 * i + c] - written.data[4 * i + c]));
    missing[i] = Number(difference > 0);
  }
  return { image: written, missing };
}

/** A herringbone cloth: few patterns that repeat, made for learning atoms. */
export const cloth = () =>
  drawn(384, 384, (pen, random) => {
    const pixels = pen.createImageData(384, 384);
    const words = new Uint32Array(pixels.data.buffer);
    for (let y = 0; y < 384; y++) {
      for (let x = 0; x < 384; x++) {
        const panel = Math.floor(x / 48);
        const across = x % 48;
        const along = panel % 2 === 0 ? across + y : 48 - across + y;
        const yarn = Math.sin((2 * Math.PI * along) / 12);
        const twist = Math.sin(
          (2 * Math.PI * (along / 3 + (panel % 2 === 0 ? -1 : 1) * across)) / 6,
        );
        const seam = Math.exp(-((Math.min(across, 47 - across) / 1.6) ** 2));
        const light =
          128 + 66 * Math.tanh(1.6 * yarn) + 16 * twist - 34 * seam + 10 * (random() - 0.5);
        words[y * 384 + x] = (0xff000000 | (Math.round(light) * 0x010101)) >>> 0;
      }
    }
    pen.putImageData(pixels, 0, 0);
  });
