// The page as `lobcod studio` serves it: the program on this computer does the work.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGE } from "./support/server.js";
import { difference, noProgram, PROGRAM, scratchFolder, Studio } from "./support/studio.js";

const folder = scratchFolder();
let program;
let studio;

before(async () => {
  if (noProgram) return;
  program = spawn(PROGRAM, ["studio", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve) =>
    program.stdout.once("data", (line) => resolve(line.toString().trim())),
  );
  studio = await Studio.open("restore", { address });
});
after(async () => {
  await studio?.close();
  program?.kill();
});

test(
  "the token is taken from the address and the program is used",
  { skip: noProgram },
  async () => {
    assert.equal(await studio.page.locator(".engine-name").innerText(), "On this computer");
    assert.ok(!studio.page.url().includes("token"), studio.page.url());
  },
);

test("a photograph is restored by the program", { skip: noProgram }, async () => {
  await studio.sample("Scratched cat");
  await studio.find(".segment:has-text('Fast')").click();
  assert.match(await studio.run("Restore"), /^Filled 6,324 pixels/);
  await studio.download("Download PNG", join(folder, "page.png"));
  const page = await studio.pixels(join(folder, "page.png"));
  const given = await studio.pixels(join(PAGE, "samples/cat.png"));
  assert.ok(difference(page, given).mean > 0);
});

test("Stop ends the work of the program", { skip: noProgram }, async () => {
  await studio.find(".segment:has-text('Best')").click();
  await studio.button("Restore").click();
  await studio.page.waitForTimeout(500);
  await studio.button("Stop").click();
  await studio.find(".status:has-text('Stopped.')").waitFor();
  await studio.find(".segment:has-text('Fast')").click();
  assert.match(await studio.run("Restore"), /^Filled 6,324 pixels/);
});

test("when the program ends, the page says so", { skip: noProgram }, async () => {
  program.kill();
  await new Promise((resolve) => program.once("exit", resolve));
  assert.match(await studio.run("Restore"), /^lobcod studio does not answer/);
});
