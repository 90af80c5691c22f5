/** For everyone: by keyboard alone, with a screen reader, in light and dark, on a small screen, over a slow line. */
import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { accessible } from "./harness/axe.js";
import { PHONE, ask, visit } from "./harness/visit.js";

/** @typedef {import("playwright-core").Page} Page */

const PICTURES = process.env.PICTURES ?? "target/pictures";
const FIRST_LOAD_BYTES = 60_000;

/**
 * Presses Tab until something has the focus.
 * @param {Page} page
 * @param {string} selector
 */
async function tabTo(page, selector, key = "Tab") {
  for (let i = 0; i < 80; i += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`${selector} is not reached with ${key}`);
}

describe("everyone", () => {
  test("the keyboard alone is enough", () =>
    visit({}, async (page) => {
      await tabTo(page, 'input[name="dataset"]');
      await page.keyboard.press("ArrowDown");
      await page.getByPlaceholder("Ask about Web shop").waitFor();
      await page.keyboard.press("/");
      await tabTo(page, "#question", "Tab");
      await page.keyboard.type("How many customers are there per tier?");
      await page.keyboard.press("Enter");
      await page.locator(".answer-text").waitFor();
      await tabTo(page, 'article [role="tab"]', "Shift+Tab");
      await page.keyboard.press("ArrowRight");
      await page.locator(".drawing svg").waitFor();
      await page.keyboard.press("ArrowLeft");
      await tabTo(page, "th button");
      await page.keyboard.press("Enter");
      await tabTo(page, "td");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("End");
      await page.keyboard.press("Control+c");
      await page.waitForFunction(async () => /^\d+$/.test(await navigator.clipboard.readText()));
      await tabTo(page, ".details > summary");
      await page.keyboard.press("Enter");
      await page.getByText("Understood as").waitFor();
    }));

  test("nothing serious stands in anyone's way, in light and dark", () =>
    visit({ actor: "root", role: "admin" }, async (page) => {
      await page.locator(".tables .values").first().waitFor();
      await accessible(page, "the invitation");
      const turn = await ask(page, "Monthly revenue in 2026");
      await turn.getByText("How this was answered").click();
      await accessible(page, "an answer with its details");
      await turn.getByRole("tab", { name: "Chart" }).click();
      await turn.locator(".drawing svg").waitFor();
      await ask(page, "purple elephants");
      await accessible(page, "a chart and a refusal");
      for (const [place, shown] of [["History", ".runs"], ["Admin", ".statement"], ["Audit chain", "tbody tr"], ["Tokens", "tbody tr"]]) {
        await page.getByRole("link", { name: place }).click();
        await page.locator(String(shown)).first().waitFor();
        await accessible(page, String(place));
      }
    }));

  test("the first load is small, and what it needs is asked for at once", () =>
    visit({ path: "/livez", expected: /favicon/, fresh: true }, async (page, context) => {
      const session = await context.newCDPSession(page);
      await session.send("Network.enable");
      let [bodies, all] = [0, 0];
      session.on("Network.dataReceived", ({ encodedDataLength }) => (bodies += encodedDataLength));
      session.on("Network.loadingFinished", ({ encodedDataLength }) => (all += encodedDataLength));
      await page.goto("/");
      await page.locator(".tables .values").first().waitFor();
      const shown = [bodies, all].map((bytes) => `${(bytes / 1000).toFixed(1)} kB`);
      console.log(`first load: ${shown[0]} of files and data, ${shown[1]} with HTTP's headers`);
      assert.ok(bodies > 20_000 && bodies < FIRST_LOAD_BYTES, `${bodies} bytes`);
      const modules = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
        .filter((path) => path.endsWith(".js")));
      const preloaded = await page.locator('link[rel="modulepreload"]').evaluateAll((links) => links.map((link) => link.getAttribute("href")));
      assert.deepEqual(modules.filter((path) => path !== "/assets/main.js" && !preloaded.includes(path)), [], "missing in index.html");
      assert.deepEqual(preloaded.filter((path) => !modules.includes(String(path))), [], "no longer needed in index.html");
    }));

  for (const [name, wish] of /** @type {const} */ ([
    ["light", {}], ["dark", { scheme: "dark" }], ["phone", { viewport: PHONE }], ["phone-dark", { viewport: PHONE, scheme: "dark" }],
  ])) {
    test(`a picture: ${name}`, () =>
      visit(wish, async (page) => {
        mkdirSync(PICTURES, { recursive: true });
        const turn = await ask(page, "Monthly revenue in 2026");
        await turn.getByRole("tab", { name: "Chart" }).click();
        await turn.locator(".drawing svg").waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `nothing sticks out at the side (${wide} px)`);
        const path = join(PICTURES, `page-${name}.png`);
        await page.screenshot({ path });
        assert.ok(statSync(path).size < 300_000);
      }));
  }
});
