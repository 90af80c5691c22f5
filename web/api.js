// @ts-check
/** The server as this page sees it: JSON over fetch, and the stream of one question. */
import { strings } from "./strings.js";

/** @typedef {"planning" | "validating" | "executing"} Stage */
/** @typedef {"succeeded" | "failed" | "refused" | "clarify" | "cancelled"} Status */
/** @typedef {{type: string, code: string, message: string, hint?: string | null}} Fault */
/** @typedef {{actor: string, role: string, planner: string}} Session */
/** @typedef {{table: string, path: string, bytes: number}} DatasetFile */
/**
 * @typedef {object} Dataset
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {string[]} prompts
 * @property {string} version_hash
 * @property {string[]} tables
 * @property {DatasetFile[]} files
 */
/**
 * @typedef {object} Result
 * @property {string[]} columns
 * @property {string[]} types
 * @property {unknown[][]} rows
 * @property {number} row_count
 * @property {boolean} truncated
 * @property {number | null} exec_time_ms
 * @property {Fault | null} error
 */
/**
 * @typedef {object} Details
 * @property {"plan" | "sql" | null} [query_mode]
 * @property {unknown} [plan_json]
 * @property {string | null} [compiled_sql]
 * @property {unknown[]} [params]
 * @property {string | null} [reading]
 * @property {string | null} [planner]
 * @property {{resource: string, version: string}[]} [contracts]
 * @property {string | null} [policy_fingerprint]
 * @property {string | null} [sandbox_tier]
 * @property {string[]} [unenforced]
 * @property {string | null} [dataset_version_hash]
 * @property {{plan_ms: number, check_ms: number, run_ms: number} | null} [timings]
 * @property {(string | {run_id: string})[]} [runs]
 */
/**
 * @typedef {object} Payload
 * @property {string} assistant_message
 * @property {string} run_id
 * @property {string} thread_id
 * @property {Status} status
 * @property {Result | null} result
 * @property {{question: string, choices: string[]} | null} [clarification]
 * @property {Details} details
 * @property {string[]} [filtered_by]
 * @property {string} [request_id]
 */

/** A request that did not become a run: the server refused it, or could not be reached. */
export class ApiError extends Error {
  /**
   * @param {Fault} fault
   * @param {number} status the HTTP status, 0 when there was no reply
   * @param {string} [requestId]
   */
  constructor(fault, status, requestId) {
    super(fault.message);
    this.fault = fault;
    this.status = status;
    this.requestId = requestId;
  }
}

/** @returns {Promise<Session>} */
export const getSession = () => getJson("/session");

/** @returns {Promise<Dataset[]>} */
export const getDatasets = async () => (await getJson("/datasets")).datasets;

export const signOut = () => send("/logout", { method: "POST" });

/** @param {string} runId */
export const cancelRun = (runId) => send(`/runs/${encodeURIComponent(runId)}`, { method: "DELETE" });

/**
 * Asks a question and follows it to its end.
 * @param {{dataset_id: string, message: string, thread_id?: string}} question
 * @param {(stage: Stage, runId: string) => void} onStage
 * @param {AbortSignal} signal
 * @returns {Promise<Payload>}
 */
export async function ask(question, onStage, signal) {
  const response = await send("/chat/stream", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(question),
    signal,
  });
  if (!response.body) throw new ApiError(strings.badReply(response.status), response.status);

  /** @type {string | undefined} */
  let runId;
  try {
    for await (const { event, data } of readEvents(response.body)) {
      if (event === "result") return parseJson(data);
      if (event !== "status") continue;
      const status = parseJson(data);
      runId = status.run_id;
      onStage(status.status, status.run_id);
    }
  } catch (error) {
    if (signal.aborted || error instanceof SyntaxError) throw error;
  }
  throw new ApiError(strings.brokenStream(runId), 0);
}

/**
 * Server-sent events by the rules of the HTML standard, as far as a POST needs them (no reconnection).
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<{event: string, data: string}>}
 */
async function* readEvents(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = "";
  let event = "message";
  /** @type {string[]} */
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += decoder.decode(value, { stream: true });
      // A carriage return at the very end may be half of a CRLF: it waits for the next chunk.
      const lines = buffer.split(/\r\n|\n|\r(?!$)/);
      buffer = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("event:")) event = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        else if (line === "") {
          if (data.length) yield { event, data: data.join("\n") };
          event = "message";
          data = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {string} path */
async function getJson(path) {
  const response = await send(path, { headers: { accept: "application/json" } });
  try {
    return parseJson(await response.text());
  } catch {
    throw new ApiError(strings.badReply(response.status), response.status);
  }
}

/**
 * @param {string} path
 * @param {RequestInit} options
 */
async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(strings.connection, 0);
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw new ApiError(body?.error ?? strings.badReply(response.status), response.status, body?.request_id);
}

/**
 * JSON in which an integer too large for a JavaScript number stays as its digits, so that no key or
 * sum is shown wrong. Browsers that do not hand out the source text round, as they always did.
 * @param {string} text
 */
function parseJson(text) {
  /** @type {(key: string, value: any, context?: {source?: string}) => any} */
  const exact = (_key, value, context) => {
    const tooLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
    return tooLarge && /^-?\d+$/.test(context?.source ?? "") ? context?.source : value;
  };
  return JSON.parse(text, exact);
}
