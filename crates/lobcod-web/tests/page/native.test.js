// The page as `lobcod studio` serves it: the program on this computer does the work.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGE } from "./support/server.js";
import { difference, noProgram, PROGRAM, scratchFolder, Studio } from "./support/studio.js";

const folder = scratchFolder();
let address;
let program;
let studio;

before(async () => {
  if (noProgram) return;
  program = spawn(PROGRAM, ["studio", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve) =>
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

/** Threads of the program that run a job; on Linux. */
function jobs() {
  const folder = `/proc/${program.pid}/task`;
  return readdirSync(folder).filter((task) => {
    try {
      return readFileSync(join(folder, task, "comm"), "utf8").trim() === "job";
    } catch {
      return false;
    }
  }).length;
}

const until = async (number) => {
  for (let i = 0; i < 300 && jobs() !== number; i++) await studio.page.waitForTimeout(100);
  assert.equal(jobs(), number);
};

test(
  "no job is left when the page is loaded again or closed",
  { skip: noProgram || (process.platform !== "linux" && "skipped: threads are seen on Linux only") },
  async () => {
    const start = {
      restore: async () => {
        await studio.sample("Scratched cat");
        await studio.find(".segment:has-text('Best')").click();
        await studio.button("Restore").click();
      },
      learn: async () => {
        await studio.sample("Coffee");
        await studio.page.getByLabel("Passes").focus();
        await studio.page.keyboard.press("End");
        await studio.button("Learn").click();
      },
    };
    for (const [tab, run] of Object.entries(start)) {
      await studio.show(tab);
      await run();
      await until(1);
      await studio.page.reload();
      await until(0);
      await studio.page.waitForSelector("html[data-ready]");
      assert.equal(await studio.page.locator(".engine-name").innerText(), "On this computer");
    }
    const page = studio.page;
    studio.page = await page.context().newPage();
    await studio.visit(address);
    await start.restore();
    await until(1);
    await studio.page.close();
    studio.page = page;
    await until(0);
  },
);

test("a page with the token of an earlier start says so", { skip: noProgram }, async () => {
  const page = await studio.browser.newPage();
  await page.goto(address.replace(/token=.*/, `token=${"0".repeat(32)}`));
  const said = await page.locator("#notice").innerText();
  assert.match(said, /^lobcod studio was started again.*reload this page/s);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  assert.equal(await page.locator(".engine-name").innerText(), "In this browser");
  await page.close();
});

test("when the program ends, the page says so", { skip: noProgram }, async () => {
  await studio.show("restore");
  await studio.sample("Scratched cat");
  program.kill();
  await new Promise((resolve) => program.once("exit", resolve));
  assert.match(await studio.run("Restore"), /^lobcod studio does not answer/);
});
