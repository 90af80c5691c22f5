/** A real device: `gatehouse-device` with a state of its own, and a directory that scripts may write in. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { PROGRAM } from "./server.js";

const DEVICE = process.env.GATEHOUSE_DEVICE ?? join(dirname(PROGRAM), "gatehouse-device");

export class Device {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  #state = mkdtempSync(join(tmpdir(), "gatehouse-device-"));

  constructor() {
    // A place that policy lets scripts write in, under whatever user they run.
    this.shared = mkdtempSync("/var/tmp/gatehouse-page-");
    chmodSync(this.shared, 0o777);
  }

  /** @param {string[]} words */
  async do(...words) {
    const { stdout } = await promisify(execFile)(DEVICE, ["--state", this.#state, ...words]);
    return stdout;
  }

  /**
   * @param {string} url
   * @param {string} code
   */
  enrol(url, code) {
    return this.do("enrol", url, code, "--writable", this.shared);
  }

  /**
   * Says something in the device's place, with its token.
   * @param {string} url
   * @param {string} path
   * @param {object} body
   */
  async post(url, path, body) {
    const { token } = JSON.parse(readFileSync(join(this.#state, "device.json"), "utf8"));
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const reply = await fetch(`${url}/api/v1/devices/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
    return reply.status === 204 ? null : reply.json();
  }

  /** Asks for packages and runs them, until closed. */
  run() {
    this.#process = spawn(DEVICE, ["--state", this.#state, "run"], { stdio: ["ignore", "ignore", "inherit"] });
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  write(name, text) {
    writeFileSync(join(this.shared, name), text);
    chmodSync(join(this.shared, name), 0o666);
  }

  /** @param {string} name */
  has(name) {
    return existsSync(join(this.shared, name));
  }

  async close() {
    const child = this.#process;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill();
      await gone;
    }
    for (const dir of [this.#state, this.shared]) rmSync(dir, { recursive: true, force: true });
  }
}
