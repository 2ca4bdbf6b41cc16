// The copy of the page in the documentation site, which "Try it" opens.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "./support/server.js";
import { missing, Studio, WASM } from "./support/studio.js";

const SITE = fileURLToPath(new URL("../../../../target/site/html", import.meta.url));
const skip =
  missing ||
  (existsSync(`${SITE}/studio/index.html`)
    ? false
    : `skipped: ${SITE} has no studio; build it with \`cargo xtask studio\`, \`cargo xtask site\``);

test("Try it opens a page that restores an image", { skip }, async () => {
  const server = await serve(WASM, SITE, {});
  const studio = await Studio.open("restore", { address: `${server.address}studio/` });
  try {
    await studio.page.goto(`${server.address}how-to/studio.html`);
    await studio.page.getByRole("link", { name: "Try it" }).click();
    await studio.page.waitForSelector("html[data-ready]");
    assert.match(studio.page.url(), /\/studio\/index.html/);
    await studio.sample("Scratched cat");
    await studio.find(".segment:has-text('Fast')").click();
    assert.match(await studio.run("Restore"), /^Filled 6,324 pixels/);
  } finally {
    await studio.close();
    server.close();
  }
});
