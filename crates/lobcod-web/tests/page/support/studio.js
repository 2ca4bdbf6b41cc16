// The page in Chromium, as a visitor sees it, and the command line to compare with.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { serve } from "./server.js";

const ROOT = fileURLToPath(new URL("../../../../..", import.meta.url));

/** The module; `cargo xtask studio` builds it. */
export const WASM = process.env.LOBCOD_WASM ?? join(ROOT, "crates/lobcod-web/page/lobcod_web.wasm");

/** The command line. */
export const PROGRAM = process.env.LOBCOD_BINARY ?? join(ROOT, "target/debug/lobcod");

const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => existsSync(path),
);

/** Why tests cannot run here, or `false`. */
export const missing = !BROWSER
  ? "skipped: Chromium or Chrome is not installed"
  : !existsSync(WASM)
    ? `skipped: ${WASM} does not exist; build it with \`cargo xtask studio\``
    : false;

/** Why results cannot be compared with the command line here, or `false`. */
export const noProgram =
  missing ||
  (existsSync(PROGRAM)
    ? false
    : `skipped: ${PROGRAM} does not exist; build it with \`cargo build -p lobcod-cli\``);

/** A Python that has the package; `cargo xtask python` installs it into its environment. */
const PYTHON = process.env.LOBCOD_PYTHON ?? join(ROOT, "target/python/venv/bin/python");

/** Why Python calls cannot run here, or `false`. */
export const noPython =
  noProgram ||
  (spawnSync(PYTHON, ["-c", "import lobcod, PIL, scipy"]).status === 0
    ? false
    : `skipped: ${PYTHON} lacks lobcod, Pillow or SciPy; \`cargo xtask python\` installs them`);

/** A folder for files of one test. */
export const scratchFolder = () => mkdtempSync(join(tmpdir(), "lobcod-studio-"));

/** Runs the command line. */
export const lobcod = (...words) =>
  execFileSync(PROGRAM, words, { stdio: ["ignore", "pipe", "inherit"] });

/** A browser with the page of one tab open. */
export class Studio {
  static async open(
    tab,
    { width = 1400, height = 900, scheme = "light", touch = false, address, args = [] } = {},
  ) {
    const studio = new Studio();
    studio.server = address ? null : await serve(WASM);
    studio.address = address ? new URL(".", address).href : studio.server.address;
    studio.browser = await chromium.launch({
      executablePath: BROWSER,
      args: ["--no-sandbox", ...args],
    });
    const context = await studio.browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      hasTouch: touch,
      acceptDownloads: true,
    });
    studio.page = await context.newPage();
    studio.faults = [];
    studio.page.on(
      "console",
      (message) =>
        ["error", "warning"].includes(message.type()) && studio.faults.push(message.text()),
    );
    studio.page.on("pageerror", (error) => studio.faults.push(error.stack ?? error.message));
    studio.page.on("request", (request) => {
      if (!request.url().startsWith(studio.address) && !/^(blob|data):/.test(request.url()))
        studio.faults.push(`fetched ${request.url()}`);
    });
    try {
      // The address of `lobcod studio` has its token, which the page keeps.
      if (address) await studio.visit(address);
      await studio.show(tab);
      return studio;
    } catch (error) {
      await studio.close();
      throw error;
    }
  }

  /** Loads the page at a tab. */
  show(tab) {
    return this.visit(`${this.address}#${tab}`);
  }

  async visit(address) {
    await this.page.goto("about:blank");
    await this.page.goto(address);
    await this.page.waitForSelector("html[data-ready]");
  }

  async close() {
    await this.browser.close();
    this.server?.close();
  }

  /** An element of the tab that is shown. */
  find(selector) {
    return this.page.locator(`.tab-panel:not([hidden]) ${selector}`);
  }

  button(name) {
    return this.page.locator(".tab-panel:not([hidden])").getByRole("button", { name, exact: true });
  }

  /** What axe finds against WCAG and good practice: contrast, labels, roles, sizes of targets. */
  async violations() {
    await this.page.evaluate(axe.source);
    const { violations } = await this.page.evaluate(() => axe.run());
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
  }

  /** Chooses a sample by its title. */
  async sample(title) {
    await this.find(`.sample:has-text("${title}")`).click();
    await this.find(".panel").waitFor();
  }

  /** Gives files to the tab as a drop does. */
  async drop(...files) {
    const data = files.map((path) => ({
      name: path.split("/").at(-1),
      bytes: readFileSync(path).toString("base64"),
    }));
    await this.page.evaluate((list) => {
      const transfer = new DataTransfer();
      for (const { name, bytes } of list) {
        const type = name.endsWith("png") ? "image/png" : name.endsWith("jpg") ? "image/jpeg" : "";
        transfer.items.add(
          new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name, { type }),
        );
      }
      document.dispatchEvent(
        new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
      );
    }, data);
  }

  /** Starts the job and waits for its end; returns what the status line says. */
  async run(label, timeout = 120_000) {
    await this.button(label).click();
    await this.find(".runner .button.primary:not([hidden])").first().waitFor({ timeout });
    return this.find(".runner .status").first().innerText();
  }

  /** Where an image pixel is on the screen. */
  async at(x, y, [width, height]) {
    const box = await this.find(".stage-canvas").boundingBox();
    const scale = parseFloat(await this.find(".stage .zoom-text").innerText()) / 100;
    return [
      box.x + box.width / 2 + (x - width / 2) * scale,
      box.y + box.height / 2 + (y - height / 2) * scale,
    ];
  }

  /** Draws a line with the mouse, from pixel to pixel of an image of the given size. */
  async draw(points, size) {
    const places = [];
    for (const [x, y] of points) places.push(await this.at(x, y, size));
    await this.page.mouse.move(...places[0]);
    await this.page.mouse.down();
    for (const place of places.slice(1)) await this.page.mouse.move(...place, { steps: 8 });
    await this.page.mouse.up();
  }

  /** Presses a download button and keeps the file. */
  async download(name, path) {
    const [file] = await Promise.all([
      this.page.waitForEvent("download"),
      this.button(name).click(),
    ]);
    await file.saveAs(path);
    return file.suggestedFilename();
  }

  /** Runs the command that the tab shows in a folder, which has the files that it names. */
  async runCommand(folder) {
    const command = await this.find(".commands pre").first().textContent();
    const line = command.replace(/^lobcod /, `'${PROGRAM}' `);
    execFileSync("sh", ["-c", `${line} --quiet`], { cwd: folder, stdio: "inherit" });
    return command;
  }

  /** Runs the Python call that the tab shows in a folder, which has the files that it names. */
  async runPython(folder) {
    const call = await this.find(".commands pre").nth(1).textContent();
    execFileSync(PYTHON, ["-W", "error", "-c", call], { cwd: folder, stdio: "inherit" });
    return call;
  }

  /** A JPEG file whose pixels have the given colours. */
  async jpeg(width, height, colour) {
    const colours = Array.from({ length: width * height }, (_, i) =>
      colour(i % width, Math.floor(i / width)),
    );
    const address = await this.page.evaluate(
      ([width, height, colours]) => {
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width, height });
        const pen = canvas.getContext("2d");
        colours.forEach((colour, i) => {
          pen.fillStyle = colour;
          pen.fillRect(i % width, Math.floor(i / width), 1, 1);
        });
        return canvas.toDataURL("image/jpeg", 1);
      },
      [width, height, colours],
    );
    return Buffer.from(address.split(",")[1], "base64");
  }

  /** The pixels of an image file, decoded by the browser. */
  async pixels(path) {
    const bytes = readFileSync(path).toString("base64");
    const { width, height, data } = await this.page.evaluate(async (text) => {
      const blob = new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
      const bitmap = await createImageBitmap(blob, { premultiplyAlpha: "none" });
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const pen = canvas.getContext("2d");
      pen.drawImage(bitmap, 0, 0);
      const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
      let letters = "";
      for (let i = 0; i < data.length; i += 8192)
        letters += String.fromCharCode(...data.subarray(i, i + 8192));
      return { width: bitmap.width, height: bitmap.height, data: btoa(letters) };
    }, bytes);
    return { width, height, data: Buffer.from(data, "base64") };
  }
}

/** Largest and mean difference of two images of the same size, over all channels. */
export function difference(a, b) {
  if (a.width !== b.width || a.height !== b.height)
    throw new Error(`${a.width} x ${a.height} and ${b.width} x ${b.height} pixels`);
  let [largest, sum] = [0, 0];
  for (let i = 0; i < a.data.length; i++) {
    const d = Math.abs(a.data[i] - b.data[i]);
    largest = Math.max(largest, d);
    sum += d;
  }
  return { largest, mean: sum / ((3 / 4) * a.data.length) };
}
