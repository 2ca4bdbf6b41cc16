// The short test of CI: a scratch is painted with the mouse and healed, without console errors.

import assert from "node:assert/strict";
import { test } from "node:test";
import { join } from "node:path";
import { difference, missing, scratchFolder, Studio } from "./support/studio.js";
import { PAGE } from "./support/server.js";

test("a scratch is painted and healed", { skip: missing }, async () => {
  const studio = await Studio.open("restore");
  try {
    await studio.sample("Scratched cat");
    await studio.button("Clear").click();
    await studio.draw(
      [
        [60, 200],
        [120, 210],
        [200, 190],
      ],
      [340, 256],
    );
    assert.match(await studio.find(".section .quiet").first().innerText(), /pixels marked/);
    await studio.find(".segment:has-text('Fast')").click();
    assert.match(await studio.run("Restore"), /^Filled [\d,]+ pixels in/);
    const folder = scratchFolder();
    await studio.download("Download PNG", join(folder, "restored.png"));
    const [result, given] = [
      await studio.pixels(join(folder, "restored.png")),
      await studio.pixels(join(PAGE, "samples/cat.png")),
    ];
    assert.ok(difference(result, given).largest > 0, "something was filled");
    assert.deepEqual(
      result.data.subarray(0, 340 * 4 * 100),
      given.data.subarray(0, 340 * 4 * 100),
      "known pixels are kept",
    );
    assert.deepEqual(studio.faults, []);
  } finally {
    await studio.close();
  }
});
