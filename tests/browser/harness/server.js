/** A real server on a port of its own, with data of its own. */
import { spawn, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const PROGRAM = process.env.GATEHOUSE ?? "target/debug/gatehouse";
const SETTINGS = {
  LOG_LEVEL: "error",
  GATEHOUSE_LIMITS_REQUESTS_PER_SECOND: "10000",
  GATEHOUSE_LIMITS_BURST: "10000",
  MAX_ROWS: "10000",
};

export class Server {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #device;
  #data = mkdtempSync(join(tmpdir(), "gatehouse-page-"));

  #settings;

  /**
   * @param {number} port
   * @param {Record<string, string>} settings
   */
  constructor(port, settings) {
    this.#settings = { ...SETTINGS, ...settings };
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    /** The sign-in link of the start-up lines. */
    this.link = "";
  }

  /** @param {Record<string, string>} settings besides those of all */
  static async start(settings = {}) {
    const server = new Server(await freePort(), settings);
    await server.begin();
    return server;
  }

  /** Starts it, or starts it again on the same data and port. */
  async begin() {
    const args = ["serve", "--demo", "--listen", `127.0.0.1:${this.port}`, "--data", this.#data];
    this.#process = spawn(PROGRAM, args, { env: { ...process.env, ...this.#settings }, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: /** @type {import("node:stream").Readable} */ (this.#process.stdout) });
    for await (const line of lines) {
      if (line.startsWith("page ")) this.link = line.split(/\s+/)[1] ?? "";
      if (line.startsWith("token ")) return;
    }
    throw new Error("the server did not start");
  }

  /**
   * Ends it and waits until it is gone.
   * @param {NodeJS.Signals} signal
   */
  async end(signal = "SIGTERM") {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** The demo's device with its three faults; gives the approver's sign-in link. */
  async startDevice() {
    const args = ["demo-device", "--data", this.#data, "--url", this.url];
    this.#device = spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: /** @type {import("node:stream").Readable} */ (this.#device.stdout) });
    for await (const line of lines) if (line.startsWith("approver ")) return line.split(/\s+/)[1] ?? "";
    throw new Error("the demo's device did not start");
  }

  /** Ends the demo's device as Ctrl-C would. */
  async endDevice() {
    const device = this.#device;
    if (!device || device.exitCode !== null || device.signalCode !== null) return;
    const gone = once(device, "exit");
    device.kill("SIGINT");
    await gone;
  }

  async close() {
    await this.endDevice();
    await this.end("SIGKILL");
    rmSync(this.#data, { recursive: true, force: true });
  }

  /**
   * A sign-in link for somebody.
   * @param {string} actor
   * @param {string} role
   */
  signInLink(actor, role) {
    const args = ["tokens", "link", "--actor", actor, "--role", role, "--data", this.#data];
    const code = new URL(execFileSync(PROGRAM, args, { encoding: "utf8" }).trim()).searchParams.get("code");
    return `${this.url}/login?code=${code}`;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, "close");
  return port;
}
