/** See: tables, charts, and taking them along. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ask, visit } from "./harness/visit.js";

/** @typedef {import("playwright-core").Locator} Locator */
/** @typedef {import("playwright-core").Page} Page */

/** @param {Locator} turn @param {number} column */
const texts = (turn, column) => turn.locator(`tbody td[data-column="${column}"]`).allTextContents();

/** @param {Page} page */
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

/** @param {Page} page @param {Locator} button */
async function downloaded(page, button) {
  const saved = page.waitForEvent("download");
  await button.click();
  const file = await saved;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

describe("see", () => {
  test("a table is sorted up, down and back", () =>
    visit({ dataset: "shop" }, async (page) => {
      const turn = await ask(page, "Average price by category");
      const head = turn.getByRole("columnheader").nth(1);
      const numbers = async () => (await texts(turn, 1)).map((text) => Number(text.replaceAll(",", "")));
      const sent = await numbers();
      assert.equal(await head.getAttribute("aria-sort"), "none");
      await head.getByRole("button").click();
      assert.equal(await head.getAttribute("aria-sort"), "ascending");
      assert.deepEqual(await numbers(), sent.toSorted((a, b) => a - b));
      await head.getByRole("button").click();
      assert.equal(await head.getAttribute("aria-sort"), "descending");
      await head.getByRole("button").click();
      assert.deepEqual(await numbers(), sent);
      assert.equal(await turn.locator("td").nth(1).evaluate((cell) => getComputedStyle(cell).textAlign), "right");
    }));

  test("cell, row and table are copied", () =>
    visit({ dataset: "shop" }, async (page) => {
      const turn = await ask(page, "How many customers are there per tier?");
      await turn.locator("td", { hasText: "free" }).click();
      await turn.getByRole("button", { name: "Copy cell" }).click();
      await turn.getByRole("button", { name: "Copied" }).waitFor();
      assert.equal(await clipboard(page), "free");
      await turn.getByRole("button", { name: "Copy row" }).click();
      await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "free\t54");
      await turn.getByRole("button", { name: "Copy table" }).click();
      await page.waitForFunction(async () => (await navigator.clipboard.readText()).split("\n").length === 4);
      await turn.locator("td", { hasText: "54" }).click();
      await page.keyboard.press("Control+c");
      await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "54");
    }));

  test("CSV and JSON are saved, and no spreadsheet runs them", () =>
    visit({ dataset: "shop" }, async (page) => {
      const turn = await ask(page, "SELECT '=1+1' AS formula, -5 AS n, 9007199254740993 AS big FROM products LIMIT 1");
      await turn.getByRole("tab", { name: "Table" }).click();
      const csv = await downloaded(page, turn.getByRole("button", { name: "CSV" }));
      assert.match(csv.name, /^gatehouse-\w{8}\.csv$/);
      assert.equal(csv.bytes.toString(), "formula,n,big\r\n'=1+1,-5,9007199254740993\r\n");
      const json = await downloaded(page, turn.getByRole("button", { name: "JSON" }));
      assert.match(json.bytes.toString(), /"formula": "=1\+1", "n": -5, "big": 9007199254740993/);
    }));

  test("no digit of a number is lost", () =>
    visit({}, async (page) => {
      const text = "[9007199254740993, 1.5, 512898.50000000023, 12345678901234567.89, -0.1, 1e3]";
      const read = await page.evaluate(async (json) => (await import(String("/assets/api/json.js"))).parseJson(json), text);
      assert.deepEqual(read, ["9007199254740993", 1.5, 512898.50000000023, "12345678901234567.89", -0.1, 1000]);
    }));

  test("ten thousand rows are scrolled smoothly, and what is cut is said", () =>
    visit({}, async (page) => {
      const turn = await ask(page, "SELECT * FROM sales_orders ORDER BY order_id");
      await turn.getByText("only the first 10,000 rows came back").waitFor();
      assert.ok((await turn.locator("tbody tr").count()) < 100, "only what is seen is drawn");
      const scroll = turn.locator(".scroll");
      const slowest = await scroll.evaluate(async (box) => {
        let worst = 0;
        for (let i = 1; i <= 20; i += 1) {
          const start = performance.now();
          box.scrollTop = (box.scrollHeight * i) / 20;
          await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
          worst = Math.max(worst, performance.now() - start);
        }
        return worst;
      });
      assert.ok(slowest < 500, `the slowest step took ${Math.round(slowest)} ms`);
      const last = turn.locator('tr[aria-rowindex="10001"]');
      await last.waitFor();
      await last.locator("td").first().click();
      await page.keyboard.press("Control+Home");
      await turn.locator('tr[aria-rowindex="2"] td:focus').waitFor();
      await page.keyboard.press("PageDown");
      await turn.locator('tr[aria-rowindex="12"] td:focus').waitFor();
    }));

  test("the server's choice of chart is drawn, and saved as SVG and PNG", () =>
    visit({}, async (page) => {
      const loaded = /** @type {string[]} */ ([]);
      page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
      const turn = await ask(page, "Monthly revenue in 2026");
      assert.ok(!loaded.includes("/assets/vendor/plot.js"), "not before it is needed");
      await turn.getByRole("tab", { name: "Chart" }).click();
      await turn.getByRole("img", { name: "Line chart: Monthly revenue in 2026" }).locator("svg").waitFor();
      assert.ok(loaded.includes("/assets/vendor/plot.js"));
      const svg = await downloaded(page, turn.getByRole("button", { name: "SVG" }));
      const text = svg.bytes.toString();
      assert.match(text, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      assert.ok(!text.includes("var(") && !text.includes("light-dark"), "it stands alone");
      const png = await downloaded(page, turn.getByRole("button", { name: "PNG" }));
      assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
      assert.ok(png.bytes.length > 5_000);
      const next = await ask(page, "Total revenue by region");
      await next.getByRole("img", { name: /^Bar chart/ }).locator("svg").waitFor();
      const series = await ask(page, "revenue by region and month in 2026");
      assert.deepEqual(await series.locator(".legend li").allTextContents(), ["Americas", "APAC", "EMEA"]);
    }));

  test("one number stands large, and where no chart suits it is said", () =>
    visit({ dataset: "shop" }, async (page) => {
      const one = await ask(page, "How many orders were cancelled in 2026?");
      assert.equal(await one.locator(".figure .value").innerText(), "24");
      const names = await ask(page, "Which customers have no orders?");
      await names.getByRole("tab", { name: "Chart" }).click();
      await names.getByText("No suitable chart").waitFor();
    }));
});
