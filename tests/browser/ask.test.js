/** Ask: signing in, datasets, schema, the suggested questions of each dataset. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { comparable, golden } from "./harness/golden.js";
import { ask, browser, server, visit } from "./harness/visit.js";

describe("ask", () => {
  test("a sign-in link opens the page, once", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto(server.link);
    await page.getByText("owner · admin").waitFor();
    assert.equal(new URL(page.url()).pathname, "/");
    const again = await context.request.get(server.link);
    assert.equal(again.status(), 401);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto(server.link);
    await page.getByText("Link already used").waitFor();
    await context.close();
  });

  test("datasets come with description and tables, and choosing one changes the questions", () =>
    visit({}, async (page) => {
      await page.getByText("Offline planner").waitFor();
      assert.equal(await page.getByRole("radio").count(), 4);
      await page.getByRole("radio", { name: "Web shop" }).check();
      // Without a size: of what this caller does not see it would tell, too.
      await page.getByText("4 tables", { exact: true }).waitFor();
      await page.getByText("The database of a web shop").waitFor();
      await page.getByRole("button", { name: "Total quantity by category" }).waitFor();
      assert.equal(await page.locator("#question").getAttribute("placeholder"), "Ask about Web shop");
    }));

  test("who sees all of a dataset is told its size", () =>
    visit({ role: "admin" }, async (page) => {
      await page.getByRole("radio", { name: "Web shop" }).check();
      await page.locator(".weight").filter({ hasText: /tables · \d/ }).first().waitFor();
    }));

  test("the schema shows columns, types and values, and nothing hidden", () =>
    visit({ dataset: "shop" }, async (page) => {
      const customers = page.locator(".tables details").filter({ hasText: "customers" }).first();
      await customers.getByText("84 rows").waitFor();
      const columns = await customers.locator(".column-name").allTextContents();
      assert.deepEqual(columns, ["id", "name", "tier", "created_at"]);
      assert.match(await customers.locator("li").nth(2).innerText(), /tier\s+string\s+free/);
    }));

  for (const dataset of ["sales", "support", "energy", "shop"]) {
    const { question, rows } = /** @type {import("./harness/golden.js").Golden} */ (
      golden.find((line) => line.dataset === dataset && line.kind === "table" && line.check === "rows"));
    test(`${dataset}: “${question}” is answered right`, () =>
      visit({ dataset }, async (page) => {
        await page.getByRole("button", { name: question }).click();
        const turn = page.locator("article.turn");
        await turn.locator(".answer-text").waitFor();
        assert.equal(await turn.locator("tbody tr").count(), rows.length);
        const saved = page.waitForEvent("download");
        await turn.getByRole("button", { name: "JSON", exact: true }).click();
        const text = readFileSync(await (await saved).path(), "utf8");
        const seen = JSON.parse(text).map((/** @type {object} */ row) => Object.values(row));
        assert.deepEqual(comparable(seen), comparable(rows));
      }));
  }

  test("a follow-up leans on its thread", () =>
    visit({}, async (page) => {
      await ask(page, "Total revenue by region");
      const second = await ask(page, "and by channel?");
      await second.getByRole("columnheader", { name: /channel/ }).waitFor();
      assert.match(page.url(), /\/t\/[0-9a-f-]{36}$/);
    }));

  test("the text stays when the server cannot be reached", () =>
    visit({ expected: /ERR_INTERNET_DISCONNECTED/, fresh: true }, async (page, context) => {
      // The page itself is there before the line is cut.
      await page.locator("#question").waitFor();
      await context.setOffline(true);
      await ask(page, "Total revenue by region");
      await page.getByText("The server could not be reached.").waitFor();
      assert.equal(await page.locator("#question").inputValue(), "Total revenue by region");
      await context.setOffline(false);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator(".answer-text").waitFor();
    }));
});
