/** Ops with a model: what it writes, what it says against it, and what becomes of it on a device. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { accessible } from "./harness/axe.js";
import { Device } from "./harness/device.js";
import { Model } from "./harness/model.js";
import { Server } from "./harness/server.js";
import { browser, visit } from "./harness/visit.js";

const HOST = "pump-ctl-2.plant.example.com";
const LOG = `Nov 16 03:14:09 ${HOST} app[811]: write failed: No space left on device`;
const ANSWERS = [
  { findings: [{ id: "disk.full", title: "The disk of <HOST_1> is full", severity: "critical", confidence: 0.9, evidence: ["No space left on device"], runbook: null }] },
  { script: "df -h\necho <HOST_1>\n", rollback: "echo back\n", intent: "Look at what fills the disk of <HOST_1>.", network: "none", writable_paths: [], timeout_seconds: 30 },
  { hints: [{ severity: "warning", message: "`df` says nothing of inodes.", line: 1 }] },
];

describe("ops with a model", () => {
  const model = new Model(ANSWERS);
  const device = new Device();
  /** @type {Server} */
  let at;
  let [proposal, undo] = ["", ""];
  const engineer = () => ({ actor: "eva", role: "engineer", at });
  const approver = () => ({ actor: "bea", role: "approver", at });

  /** An enrolment code for the device, from an admin. */
  const code = async () => {
    const admin = await browser.newContext({ baseURL: at.url });
    await admin.request.get(at.signInLink("root", "admin"));
    const made = await (await admin.request.post("/api/v1/devices", { data: { device_id: "pump-1" } })).json();
    await admin.close();
    return made.code;
  };

  before(async () => {
    at = await Server.start(await model.start());
    await device.enrol(at.url, await code());
  });
  after(async () => {
    await device.close();
    await at.close();
    model.close();
  });

  test("a model finds a fault and writes a script, and says what speaks against it", () =>
    visit({ ...engineer(), path: "/ops/devices/pump-1" }, async (page) => {
      await page.getByText("Submit diagnostics").click();
      await page.getByLabel("Command").fill("journalctl -n 1");
      await page.getByLabel("Its output").fill(LOG);
      await page.getByRole("button", { name: "Submit and analyse" }).click();
      const finding = page.getByRole("article").filter({ hasText: "The disk of <HOST_1> is full" });
      await finding.getByText("There is no runbook for this.").waitFor();
      await page.getByText("By scripted, ").waitFor();
      await finding.getByRole("button", { name: "Let the model write a script" }).click();
      await page.waitForURL(/\/ops\/proposals\//);
      proposal = new URL(page.url()).pathname;
      await page.getByRole("heading", { name: "Look at what fills the disk of <HOST_1>." }).waitFor();
      const critique = page.getByRole("region", { name: "What scripted, which wrote it, says against it" });
      assert.equal((await critique.getByRole("listitem").innerText()).replace(/\s+/g, " "), "Warning df says nothing of inodes. line 1");
      assert.ok(!(await page.locator("body").innerText()).includes(HOST), "an engineer sees placeholders");
      assert.ok(!model.asked.join("").includes(HOST), "and so does the model");
      await accessible(page, "a proposal of a model");
    }));

  test("an approver sees what placeholders stand for, and it runs", () =>
    visit({ ...approver(), path: proposal }, async (page) => {
      await page.getByRole("heading", { name: `Look at what fills the disk of ${HOST}.` }).waitFor();
      await page.getByText("which wrote it, says against it").waitFor();
      await page.getByRole("button", { name: /^Approve/ }).click();
      await page.getByText("Signed and waiting for the device to fetch it.").waitFor();
      await device.do("run", "--once");
      await page.getByText("Ran to its end", { exact: true }).waitFor();
      assert.equal(await page.getByRole("button", { name: "Propose the rollback" }).count(), 0, "that is for engineers");
    }));

  test("an engineer proposes its rollback, for somebody else to approve", () =>
    visit({ ...engineer(), path: proposal }, async (page) => {
      await page.getByRole("button", { name: "Propose the rollback" }).click();
      await page.getByRole("heading", { name: /^Undo / }).waitFor();
      undo = new URL(page.url()).pathname;
      assert.notEqual(undo, proposal);
      await page.getByText("You have asked for this: somebody else must approve it.").waitFor();
      assert.match(await page.locator(".script").first().innerText(), /echo back/);
      assert.ok(!(await page.locator("body").innerText()).includes(HOST), "what was hidden stays hidden");
    }));

  test("a script whose device is not heard of again may have run, and its late result is shown", () =>
    visit({ ...approver(), path: undo }, async (page, context) => {
      await page.getByRole("button", { name: /^Approve/ }).click();
      await page.getByText("Signed and waiting for the device to fetch it.").waitFor();
      const claimed = await device.post(at.url, "claim", {});
      await page.getByText("The device has fetched it.").waitFor();
      // Whatever it had before, it may have lost.
      await device.enrol(at.url, await code());
      await page.getByText("The device fetched it and never told its end: it may have run. It is not sent again.").waitFor();
      await page.getByText("Last heard of: ").waitFor();
      await accessible(page, "a package that is not heard of");
      const { package_id: id } = await (await context.request.get(`/api/v1/ai/proposals/${undo.split("/").at(-1)}`)).json();
      const { digest } = await (await context.request.get(`/api/v1/ai/packages/${id}`)).json();
      await device.post(at.url, "result", {
        claim_token: claimed.claim_token,
        result: {
          package_id: id, digest, rollback: false, ending: "exited", code: null, exit_code: 0, started_at: new Date().toISOString(), duration_ms: 12,
          usage: { cpu_ms: 1, output_bytes: 0 }, sandbox_tier: "T1", unenforced: [], truncated: false,
        },
      });
      await page.getByText("Ran to its end", { exact: true }).waitFor();
    }));
});
