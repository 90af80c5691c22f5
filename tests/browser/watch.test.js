/** Watch: progress, stopping, questions back, refusals, broken streams. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { wireTo } from "./harness/cut.js";
import { Server } from "./harness/server.js";
import { ask, cookieOf, server, visit } from "./harness/visit.js";

/** A statement that runs until it is stopped, and one that takes a while. */
const ENDLESS = "SELECT count(*) AS n FROM sales_orders a, sales_orders b, sales_orders c WHERE a.quantity + b.quantity < c.quantity";
const SLOW = "SELECT count(*) AS n FROM sales_orders a, sales_orders b WHERE a.quantity + b.quantity * a.quantity < b.quantity";

/** @param {import("playwright-core").Page} page */
async function askEndless(page) {
  await page.locator("#question").fill(ENDLESS);
  await page.locator("#question").press("Control+Enter");
  await page.locator('[data-stage="executing"][data-state="active"]').waitFor();
}

describe("watch", () => {
  test("planning, validating and executing are told in this order, with times", () =>
    visit({}, async (page) => {
      await page.evaluate(() => {
        const heard = /** @type {string[]} */ ([]);
        Object.assign(window, { heard });
        const listen = new MutationObserver((changes) =>
          changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => heard.push(node.textContent ?? ""))));
        listen.observe(/** @type {Node} */ (document.getElementById("live")), { childList: true });
      });
      const turn = await ask(page, "Total revenue by region");
      const heard = /** @type {string[]} */ (await page.evaluate("heard"));
      const stages = [...new Set(heard)].slice(0, 3);
      assert.deepEqual(stages, ["Planning", "Validating", "Executing"]);
      assert.match(heard.at(-1) ?? "", /3 rows\.$/);
      assert.match(await turn.locator(".steps").innerText(), /Planned\s+[\d.]+ m?s\s+Validated\s+[\d.]+ ms\s+Executed\s+[\d.]+ m?s/);
    }));

  for (const [how, stop] of /** @type {const} */ ([["Stop", "button"], ["Esc", "key"]])) {
    test(`${how} cancels on the server`, () =>
      visit({}, async (page, context) => {
        await askEndless(page);
        if (stop === "key") await page.keyboard.press("Escape");
        else await page.getByRole("button", { name: "Stop" }).click();
        await page.getByText("Nothing more runs for this question.").waitFor();
        const path = await page.locator("a", { hasText: "Permalink" }).getAttribute("href");
        const run = await (await context.request.get(`${server.url}/runs/${path?.split("/").pop()}`)).json();
        assert.equal(run.status, "cancelled");
      }));
  }

  test("a question back is answered with a click", () =>
    visit({ dataset: "shop" }, async (page) => {
      const turn = await ask(page, "best products");
      await turn.getByText("By what should").waitFor();
      await turn.getByRole("button", { name: "price" }).click();
      await page.locator("article.turn").nth(1).locator("table").waitFor();
      assert.equal(await turn.getByRole("button", { name: "price" }).isDisabled(), true, "it has been answered");
    }));

  test("a refusal names the words and says what to do", () =>
    visit({}, async (page) => {
      const turn = await ask(page, "purple elephants");
      await turn.getByRole("heading", { name: "Refused" }).waitFor();
      assert.deepEqual((await turn.locator(".problem .sentence code").allTextContents()), ["purple", "elephants"]);
      await turn.getByText("What to do:").waitFor();
    }));

  test("refused SQL names the rule and the place", () =>
    visit({ dataset: "shop" }, async (page) => {
      const turn = await ask(page, "SELECT name, email FROM customers");
      assert.match(await turn.locator(".names").innerText(), /^sql\.\w+ · line 1, column 14$/);
    }));

  test("a broken stream is taken up again", async () => {
    const wire = await wireTo(server.port);
    await visit({ url: wire.url, fresh: true, expected: /ERR_(EMPTY_RESPONSE|CONNECTION|INCOMPLETE)/ }, async (page) => {
      await page.locator("#question").fill(SLOW);
      await page.locator("#question").press("Enter");
      await page.locator('[data-stage="executing"][data-state="active"]').waitFor();
      wire.cut();
      await page.getByText("reconnecting").first().waitFor();
      await page.locator(".figure .value").waitFor();
      assert.equal(await page.locator(".figure .value").innerText(), "0");
      assert.equal(await page.locator("article.turn").count(), 1);
    });
    wire.close();
  });

  test("an ended session asks to sign in and keeps the question", () =>
    visit({ expected: /401/, fresh: true }, async (page, context) => {
      await page.locator("#question").fill("Total revenue by region");
      await context.clearCookies();
      await page.locator("#question").press("Enter");
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await context.addCookies(await cookieOf(server, "ann", "analyst"));
      await page.getByRole("button", { name: "I have signed in" }).click();
      await page.locator("#question").waitFor();
      assert.equal(await page.locator("#question").inputValue(), "Total revenue by region");
    }));

  test("a server that is restarted in mid-stream is found again", async () => {
    const own = await Server.start();
    try {
      await visit({ at: own, fresh: true, expected: /ERR_(EMPTY_RESPONSE|CONNECTION|INCOMPLETE)|404/ }, async (page) => {
        await askEndless(page);
        await own.end("SIGKILL");
        await page.getByText("reconnecting").first().waitFor();
        await own.begin();
        await page.getByText("The server was restarted before this question had an answer.").waitFor();
        await page.locator("#question").fill("");
        await ask(page, "Total revenue by region");
        await page.locator(".answer-text").waitFor();

        await askEndless(page);
        await own.end("SIGTERM");
        await page.getByText("This question was stopped before it had an answer.").waitFor();
      });
    } finally {
      await own.close();
    }
  });
});
