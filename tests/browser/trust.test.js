/** Trust and keep: details, editing, permalinks, threads, history. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ask, visit } from "./harness/visit.js";

describe("trust", () => {
  test("the details say what was understood, decided and run, and where", () =>
    visit({ actor: "dora" }, async (page) => {
      const turn = await ask(page, "Revenue by category in October 2026");
      await turn.getByText("How this was answered").click();
      const facts = await turn.locator(".inside dl").innerText();
      for (const part of [
        /Understood as\s+total amount per category/, /Outcome\s+Answered/, /by dora, as analyst/, /Planned [\d.]+ m?s · Validated/,
        /Planner\s+offline/, /Policy\s+Allowed · catalog \(version 1\), sales_orders \(version 1\)/, /Policy fingerprint\s+[0-9a-f]{64}/,
        /Sandbox tier\s+T[12]/, /Data version\s+[0-9a-f]{64}/, /Run\s+[0-9a-f-]{36}/,
      ]) assert.match(facts, part);
      const sql = turn.locator(".block").filter({ hasText: "SQL that ran" });
      assert.ok((await sql.locator(".t-keyword").count()) > 5, "its words are told apart");
      await sql.getByRole("button", { name: "Copy SQL that ran" }).click();
      await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("SELECT "));
      const plan = await turn.locator(".block").filter({ hasText: "Plan" }).locator("code").innerText();
      assert.equal(JSON.parse(plan).from.resource, "sales_orders");
    }));

  test("rows that policy holds back are told", () =>
    visit({ actor: "agent7", role: "agent" }, async (page) => {
      const turn = await ask(page, "Total revenue by region");
      await turn.getByText("Your role sees only some rows of").waitFor();
      assert.match(await turn.locator(".figure figcaption").innerText(), /EMEA/);
    }));

  test("a question is run again, and its SQL edited under the SQL policy", () =>
    visit({}, async (page) => {
      const turn = await ask(page, "Revenue by category in October 2026");
      await turn.getByRole("button", { name: "Run again" }).click();
      const again = page.locator("article.turn").nth(1);
      await again.locator(".answer-text").waitFor();
      await again.getByRole("button", { name: "Edit SQL" }).click();
      await page.waitForFunction(() => /** @type {HTMLTextAreaElement} */ (document.getElementById("question")).value.includes("'2026-10-01'"));
      await page.locator("#question").press("Control+Enter");
      const edited = page.locator("article.turn").nth(2);
      await edited.locator("tbody tr").nth(5).waitFor();
      await edited.getByText("How this was answered").click();
      assert.match(await edited.locator(".inside dl").innerText(), /Query mode\s+SQL/);
    }));
});

describe("keep", () => {
  test("a permalink shows the whole run after a reload, to those who may see it", async () => {
    let link = "";
    await visit({ actor: "pia" }, async (page) => {
      const turn = await ask(page, "Monthly revenue in 2026");
      await turn.getByRole("link", { name: "Permalink" }).click();
      await page.waitForURL(/\/r\/[0-9a-f-]{36}$/);
      link = new URL(page.url()).pathname;
      await page.reload();
      await page.getByRole("heading", { name: "Monthly revenue in 2026" }).waitFor();
      assert.equal(await page.locator("tbody tr").count(), 10);
      await page.getByText("How this was answered").click();
      await page.getByText("SQL that ran").waitFor();
      assert.match(await page.title(), /^Monthly revenue in 2026/);
      await page.getByRole("link", { name: "Open the whole conversation" }).click();
      await page.locator("article.turn").waitFor();
      await ask(page, "only in EMEA");
    });
    await visit({ actor: "eve", path: link, expected: /404/ }, async (page) => {
      await page.getByText("There is no run").waitFor();
    });
    await visit({ actor: "root", role: "admin", path: link }, async (page) => {
      await page.locator("tbody tr").nth(9).waitFor();
    });
  });

  test("a conversation is there again after a reload, and goes on", () =>
    visit({ dataset: "shop" }, async (page) => {
      await ask(page, "How many customers are there per tier?");
      await ask(page, "purple elephants");
      await page.reload();
      await page.locator("article.turn").nth(1).waitFor();
      assert.deepEqual(await page.locator("article.turn h2").allTextContents(), ["How many customers are there per tier?", "purple elephants"]);
      await page.getByRole("link", { name: "History" }).click();
      await page.getByRole("link", { name: "Ask", exact: true }).click();
      await page.locator("article.turn").nth(1).waitFor();
      assert.match(page.url(), /\/t\//, "where it was");
      await page.getByRole("button", { name: "New conversation" }).click();
      await page.getByText("What would you like to know?").waitFor();
      assert.equal(new URL(page.url()).pathname, "/");
    }));

  test("history is searched and filtered", () =>
    visit({ actor: "hal", dataset: "shop" }, async (page) => {
      await ask(page, "How many customers are there per tier?");
      await ask(page, "purple elephants");
      await page.getByRole("link", { name: "History" }).click();
      const runs = page.locator(".runs li");
      await runs.nth(1).waitFor();
      assert.equal(await runs.count(), 2, "one's own only");
      await page.getByRole("searchbox").fill("TIER");
      await page.waitForFunction(() => document.querySelectorAll(".runs li").length === 1);
      await page.getByRole("searchbox").fill("");
      await page.getByRole("combobox", { name: "Outcome" }).selectOption("refused");
      await page.waitForFunction(() => document.querySelector(".runs li")?.textContent?.includes("elephants"));
      await page.getByRole("combobox", { name: "Dataset" }).selectOption("sales");
      await page.getByText("No runs match.").waitFor();
      await page.getByRole("combobox", { name: "Dataset" }).selectOption("shop");
      await runs.first().getByRole("link").click();
      await page.getByRole("heading", { name: "Refused" }).waitFor();
    }));
});
