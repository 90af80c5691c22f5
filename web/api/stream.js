/** A question and its stream, which is taken up again when it breaks. */
import { strings } from "../strings.js";
import { readEvents } from "./events.js";
import { ApiError, send } from "./http.js";
import { parseJson } from "./json.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./types.js").Stage} Stage */

/** Waits before each new try; a server that restarts is back within these. */
const RETRY_MS = [250, 500, 1000, 2000, 3000, 4000, 5000];

/**
 * @typedef {object} Listener
 * @property {(stage: Stage, runId: string) => void} onStage
 * @property {(lost: boolean) => void} onLost the stream broke, or is there again
 */

/**
 * Asks a question and follows it to its end.
 * @param {{dataset_id: string, message: string, thread_id?: string | null}} question
 * @param {Listener} listener
 * @param {AbortSignal} signal
 * @returns {Promise<Run>}
 */
export async function ask(question, listener, signal) {
  const stream = new RunStream(listener, signal);
  const run = await stream.read(send("/chat/stream", { method: "POST", body: JSON.stringify(question), signal }));
  return run ?? stream.resume();
}

class RunStream {
  /**
   * @param {Listener} listener
   * @param {AbortSignal} signal
   */
  constructor(listener, signal) {
    this.listener = listener;
    this.signal = signal;
    this.seen = 0;
    /** @type {string | undefined} */
    this.runId = undefined;
  }

  /**
   * The run, or nothing if the stream broke before its end.
   * @param {Promise<Response>} opened
   * @returns {Promise<Run | undefined>}
   */
  async read(opened) {
    const response = await opened;
    if (!response.body) return undefined;
    try {
      for await (const { id, event, data } of readEvents(response.body)) {
        this.seen = Number(id) || this.seen;
        if (event === "result") return parseJson(data);
        if (event !== "status") continue;
        const status = parseJson(data);
        this.runId = status.run_id;
        this.listener.onStage(status.status, status.run_id);
      }
    } catch (error) {
      if (this.signal.aborted) throw error;
    }
    return undefined;
  }

  /** @returns {Promise<Run>} */
  async resume() {
    if (!this.runId) throw new ApiError(strings.faults.streamBroken, 0);
    this.listener.onLost(true);
    const path = `/runs/${encodeURIComponent(this.runId)}/events`;
    for (const wait of RETRY_MS) {
      await pause(wait, this.signal);
      const run = await this.attempt(path);
      if (run) return run;
    }
    throw new ApiError(strings.faults.streamLost(this.runId), 0);
  }

  /** @param {string} path */
  async attempt(path) {
    const headers = { "last-event-id": String(this.seen) };
    try {
      const opened = await send(path, { headers, signal: this.signal });
      this.listener.onLost(false);
      return await this.read(Promise.resolve(opened));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The server is back and has never heard of it: it ended before the run was recorded.
      if (error.status === 404) throw new ApiError(strings.faults.runLost, 404);
      if (error.status > 0 && error.status < 500) throw error;
      return undefined;
    }
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
