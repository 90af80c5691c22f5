/** Own: the policy tester, the audit chain, tokens. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { server, visit } from "./harness/visit.js";

describe("own", () => {
  test("administration is for admins", () =>
    visit({ path: "/admin/policy" }, async (page) => {
      await page.getByText("This part is for the role admin.").waitFor();
      assert.equal(await page.getByRole("link", { name: "Admin" }).count(), 0);
    }));

  test("the policy tester shows the statement, or the exact rule", () =>
    visit({ actor: "root", role: "admin", path: "/admin/policy" }, async (page) => {
      await page.getByRole("option", { name: "agent" }).waitFor({ state: "attached" });
      await page.getByLabel("Role").selectOption("agent");
      await page.getByLabel("Dataset").selectOption("sales");
      await page.getByLabel("SQL or QueryPlan JSON").fill("SELECT count(*) FROM sales_orders");
      await page.getByRole("button", { name: "Test" }).click();
      await page.getByRole("heading", { name: "Allowed for agent" }).waitFor();
      await page.getByText("only some rows of sales_orders").waitFor();
      await page.getByLabel("SQL or QueryPlan JSON").fill("SELECT email FROM accounts");
      await page.getByRole("button", { name: "Test" }).click();
      await page.getByText("sql.unknown_column").waitFor();
      const plan = { version: "1", from: { resource: "sales_orders" }, select: [{ expr: { field: "region" } }] };
      await page.getByLabel("SQL or QueryPlan JSON").fill(JSON.stringify(plan));
      await page.getByRole("button", { name: "Test" }).click();
      await page.getByRole("heading", { name: "Allowed for agent" }).waitFor();
    }));

  test("the audit chain is verified", () =>
    visit({ actor: "root", role: "admin", path: "/admin/audit" }, async (page) => {
      await page.getByRole("button", { name: "Verify the chain" }).click();
      await page.getByRole("heading", { name: "The chain is whole" }).waitFor();
      await page.getByText("audit.verified").first().waitFor();
    }));

  test("a token is given, shown once, and taken", () =>
    visit({ actor: "root", role: "admin", path: "/admin/tokens" }, async (page, context) => {
      await page.getByLabel("Actor").fill("robot");
      await page.getByLabel("Role").fill("agent");
      await page.getByRole("button", { name: "Create token" }).click();
      const secret = await page.locator(".secret code").innerText();
      const use = () => context.request.get(`${server.url}/session`, { headers: { authorization: `Bearer ${secret}` } });
      assert.equal((await (await use()).json()).actor, "robot");
      const row = page.getByRole("row", { name: /robot/ });
      await row.getByRole("button", { name: /^Revoke/ }).click();
      await row.getByRole("button", { name: /^Revoke/ }).click();
      await row.getByText("revoked").waitFor();
      assert.equal((await use()).status(), 401);
    }));
});
