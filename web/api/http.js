/** Requests to the server, and what goes wrong with them. */
import { strings } from "../strings.js";
import { parseJson } from "./json.js";

/** @typedef {import("./types.js").Fault} Fault */

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

/**
 * Whatever was thrown, as something that can be shown.
 * @param {unknown} error
 */
export function asApiError(error) {
  if (error instanceof ApiError) return error;
  console.error(error);
  return new ApiError(strings.faults.page, 0);
}

/** Told when the server no longer knows who asks. */
let onSignedOut = () => {};

/** @param {() => void} listener */
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
export async function send(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(strings.faults.unreachable, 0);
  }
  if (response.ok) return response;
  if (response.status === 401) onSignedOut();
  const body = await response.json().catch(() => null);
  throw new ApiError(faultOf(body?.error) ?? strings.faults.badReply(response.status), response.status, body?.request_id);
}

/**
 * The Ops door keeps hint and place among the details.
 * @param {Fault & {details?: {hint?: string, span?: import("./types.js").Span}} | undefined} error
 * @returns {Fault | undefined}
 */
function faultOf(error) {
  return error && { ...error, hint: error.hint ?? error.details?.hint, span: error.span ?? error.details?.span };
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
export async function getJson(path, options) {
  return readJson(await send(path, options));
}

/**
 * @param {string} path
 * @param {unknown} body
 */
export async function postJson(path, body) {
  return readJson(await send(path, { method: "POST", body: JSON.stringify(body) }));
}

/**
 * @param {string} path
 * @param {unknown} body
 */
export async function putJson(path, body) {
  return readJson(await send(path, { method: "PUT", body: JSON.stringify(body) }));
}

/** @param {Response} response */
async function readJson(response) {
  try {
    return parseJson(await response.text());
  } catch {
    throw new ApiError(strings.faults.badReply(response.status), response.status);
  }
}
