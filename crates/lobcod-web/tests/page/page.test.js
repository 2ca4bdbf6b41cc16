// The page as a whole: widths, light and dark, accessibility, files from disk, large photos, memory.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { oriented } from "./support/exif.js";
import { PAGE } from "./support/server.js";
import { missing, Studio } from "./support/studio.js";

const TABS = {
  restore: "Scratched cat",
  fuse: "Focus stack",
  denoise: "Noisy micrograph",
  learn: "Herringbone",
  sound: "Drum loop",
};
let studio;

before(async () => {
  if (!missing) studio = await Studio.open("restore");
});
after(() => studio?.close());

for (const scheme of ["light", "dark"]) {
  for (const width of [400, 1400, 2560]) {
    test(
      `every tab fits ${width} pixels in ${scheme} mode and is accessible`,
      { skip: missing },
      async () => {
        await studio.page.emulateMedia({ colorScheme: scheme });
        await studio.page.setViewportSize({ width, height: 900 });
        for (const [tab, sample] of Object.entries(TABS)) {
          await studio.show(tab);
          for (const state of ["empty", "opened"]) {
            if (state === "opened") await studio.sample(sample);
            const wide = await studio.page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(wide <= width, `${tab}, ${state}: ${wide} pixels wide`);
            assert.deepEqual(await studio.violations(), [], `${tab}, ${state}`);
          }
        }
        assert.deepEqual(studio.faults, []);
      },
    );
  }
}

test("tabs are chosen with keys and by address", { skip: missing }, async () => {
  await studio.show("restore");
  const selected = () => studio.page.locator(".tab[aria-selected=true]").innerText();
  await studio.page.locator(".tab[aria-selected=true]").focus();
  for (const [key, tab] of [
    ["ArrowRight", "Fuse"],
    ["End", "Sound"],
    ["ArrowRight", "Restore"],
    ["ArrowLeft", "Sound"],
    ["Home", "Restore"],
  ]) {
    await studio.page.keyboard.press(key);
    assert.equal(await selected(), tab);
    assert.equal(await studio.page.evaluate(() => document.activeElement.textContent), tab);
  }
  await studio.page.evaluate(() => (location.hash = "learn"));
  await studio.page.locator(".tab[aria-selected=true]:has-text('Learn')").waitFor();
});

for (const [tab, sample] of Object.entries(TABS)) {
  test(`${tab}: the focus moves with what is shown`, { skip: missing }, async () => {
    await studio.show(tab);
    await studio.find(`.sample:has-text("${sample}")`).focus();
    await studio.page.keyboard.press("Enter");
    await studio.find("canvas:focus").waitFor();
    await studio.find(".picture-head .button[aria-label^='Close']").focus();
    await studio.page.keyboard.press("Enter");
    await studio.find(".welcome .primary:focus").waitFor();
  });
}

test(
  "from a file it says why it cannot work, and names lobcod studio",
  { skip: missing },
  async () => {
    const page = await studio.browser.newPage();
    await page.goto(pathToFileURL(join(PAGE, "index.html")).href);
    assert.match(
      await page.locator("#notice").innerText(),
      /opened from a file.*workers.*lobcod studio/s,
    );
    await page.close();
  },
);

test("all eight orientations of EXIF are turned upright", { skip: missing }, async () => {
  await studio.show("restore");
  // Red, green, blue and white quarters of an upright image of 64 x 48 pixels.
  const upright = (x, y) => (y < 24 ? (x < 32 ? "#f00" : "#0f0") : x < 32 ? "#00f" : "#fff");
  // Where a stored pixel belongs, for each orientation.
  const places = [
    (x, y) => [x, y],
    (x, y) => [63 - x, y],
    (x, y) => [63 - x, 47 - y],
    (x, y) => [x, 47 - y],
    (x, y) => [y, x],
    (x, y) => [63 - y, x],
    (x, y) => [63 - y, 47 - x],
    (x, y) => [y, 47 - x],
  ];
  for (const [i, place] of places.entries()) {
    const size = i < 4 ? [64, 48] : [48, 64];
    const stored = await studio.jpeg(...size, (x, y) => upright(...place(x, y)));
    const corners = await studio.page.evaluate(async (text) => {
      const { decode } = await import("./src/image/load.js");
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const { image } = await decode(new Blob([bytes], { type: "image/jpeg" }), "turned.jpg");
      const at = (x, y) =>
        [...image.data.subarray(4 * (y * image.width + x)).subarray(0, 3)]
          .map((c) => Number(c > 127))
          .join("");
      return `${image.width}x${image.height} ${at(8, 8)} ${at(56, 8)} ${at(8, 40)} ${at(56, 40)}`;
    }, oriented(stored, i + 1).toString("base64"));
    assert.equal(corners, "64x48 100 010 001 111", `orientation ${i + 1}`);
  }
});

/** Opens a photo of 12 megapixels. */
async function openLarge(tab) {
  await studio.show(tab);
  await studio.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(4000, 3000);
    const pen = canvas.getContext("2d");
    const fade = pen.createLinearGradient(0, 0, 4000, 3000);
    fade.addColorStop(0, "#345");
    fade.addColorStop(1, "#eca");
    pen.fillStyle = fade;
    pen.fillRect(0, 0, 4000, 3000);
    const transfer = new DataTransfer();
    transfer.items.add(
      new File([await canvas.convertToBlob({ type: "image/jpeg" })], "large.jpg", {
        type: "image/jpeg",
      }),
    );
    document.dispatchEvent(
      new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
    );
  });
  await studio.find(".picture-name:has-text('4000 × 3000')").waitFor({ timeout: 60_000 });
}

test(
  "of a photo of 12 megapixels the surroundings of the damage are restored",
  { skip: missing },
  async () => {
    await studio.page.setViewportSize({ width: 1400, height: 900 });
    await openLarge("restore");
    await studio.draw(
      [
        [1000, 1000],
        [1100, 1040],
      ],
      [4000, 3000],
    );
    await studio.find(".segment:has-text('Fast')").click();
    assert.match(await studio.run("Restore"), /Worked on the \d+ × \d+ pixels around the damage/);
  },
);

test(
  "a photo of 12 megapixels that is damaged everywhere is refused in a sentence",
  { skip: missing },
  async () => {
    await studio.find(".segment:has-text('Damage')").click();
    await studio.draw(
      [
        [100, 100],
        [3900, 2900],
      ],
      [4000, 3000],
    );
    assert.match(
      await studio.run("Restore"),
      /megapixels are more than the .* that a browser tab handles/,
    );
    await openLarge("denoise");
    await studio.find(".status.failed:has-text('megapixels are more than')").waitFor();
    await openLarge("learn");
    assert.match(await studio.run("Learn"), /^12 megapixels .* Reduce .*lobcod studio/);
  },
);

/** Opens a small image with a hole that is transparent. */
async function openSmall(tab = "restore") {
  await studio.show(tab);
  await studio.page.evaluate(async () => {
    const canvas = new OffscreenCanvas(96, 80);
    const pen = canvas.getContext("2d");
    for (let x = 0; x < 96; x++) {
      pen.fillStyle = `hsl(${3 * x} 60% ${40 + 20 * Math.sin(x)}%)`;
      pen.fillRect(x, 0, 1, 80);
    }
    pen.clearRect(40, 30, 9, 7);
    const transfer = new DataTransfer();
    transfer.items.add(new File([await canvas.convertToBlob()], "small.png"));
    document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer }));
  });
}

test(
  "transparent pixels are marked, and refused where they are not filled",
  { skip: missing },
  async () => {
    await openSmall();
    await studio.find(".quiet:has-text('63 pixels marked')").waitFor();
    for (const tab of ["fuse", "denoise", "learn"]) {
      await openSmall(tab);
      if (tab === "learn") await studio.button("Learn").click();
      await studio.find(".failed:has-text('small.png has transparent pixels')").waitFor();
    }
  },
);

test("transparent pixels are missing by the rule of the engine", { skip: missing }, async () => {
  const counts = await studio.page.evaluate(async () => {
    const { decode } = await import("./src/image/load.js");
    const { WasmEngine } = await import("./src/engine/wasm.js");
    const { imageBuffer } = await import("./src/engine/message.js");
    const engine = await WasmEngine.open();
    const found = [];
    for (const opaque of [0, 0.4, 0.8, 0.95]) {
      const image = new ImageData(37, 23);
      for (let i = 0; i < image.data.length; i++) image.data[i] = 256 * Math.random();
      for (let i = 3; i < image.data.length; i += 4)
        if (Math.random() < opaque) image.data[i] = 255;
      const canvas = new OffscreenCanvas(37, 23);
      canvas.getContext("2d").putImageData(image, 0, 0);
      const { missing } = await decode(await canvas.convertToBlob(), "soft.png");
      const result = await engine.run({
        task: "inpaint",
        options: { preset: "fast" },
        buffers: { image: imageBuffer(image) },
        signal: new AbortController().signal,
        event() {},
      });
      found.push([missing.reduce((sum, x) => sum + x, 0), result.missing]);
    }
    return found;
  });
  for (const [page, engine] of counts) assert.equal(page, engine);
  assert.ok(new Set(counts.map(([page]) => page)).size > 1);
});

test("memory is freed after ten runs", { skip: missing }, async () => {
  await openSmall();
  await studio.find(".segment:has-text('Fast')").click();
  const session = await studio.page.context().newCDPSession(studio.page);
  const used = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize, backingStorageSize = 0 } = await session.send("Runtime.getHeapUsage");
    return (usedSize + backingStorageSize) / 2 ** 20;
  };
  await studio.run("Restore");
  const before = await used();
  for (let i = 0; i < 10; i++) assert.match(await studio.run("Restore"), /^Filled/);
  const now = await used();
  console.log(
    `Memory: ${before.toFixed(1)} MiB after the first run, ${now.toFixed(1)} MiB after ten more`,
  );
  await noWorkers();
  assert.ok(now < before + 1, `${before} ${now}`);
});

/** Waits until all workers have ended. */
async function noWorkers() {
  for (let i = 0; i < 50 && studio.page.workers().length > 0; i++) {
    await studio.page.waitForTimeout(100);
  }
  assert.equal(studio.page.workers().length, 0);
}

test("Stop ends a run and keeps what there is", { skip: missing }, async () => {
  await studio.show("restore");
  await studio.sample("Scratched cat");
  await studio.find(".segment:has-text('Best')").click();
  await studio.button("Restore").click();
  await studio.page.waitForTimeout(500);
  await studio.button("Stop").click();
  await studio.find(".status:has-text('Stopped.')").waitFor();
  await noWorkers();
  assert.deepEqual(studio.faults, []);
});
