/** The server's addresses, one function each. */
import { getJson, postJson, send } from "./http.js";

const id = encodeURIComponent;

/** @returns {Promise<import("./types.js").Session>} */
export const getSession = () => getJson("/session");

export const signOut = () => send("/logout", { method: "POST" });

/** @returns {Promise<import("./types.js").Dataset[]>} */
export const getDatasets = async () => (await getJson("/datasets")).datasets;

/**
 * @param {string} dataset
 * @returns {Promise<import("./types.js").Schema>}
 */
export const getSchema = (dataset) => getJson(`/datasets/${id(dataset)}/schema?sample=3`);

/**
 * @param {string} run
 * @returns {Promise<import("./types.js").Run | {run_id: string, status: "running"}>}
 */
export const getRun = (run) => getJson(`/runs/${id(run)}`);

/**
 * The statement of a run as its reader could write it.
 * @param {string} run
 * @returns {Promise<{dataset_id: string, sql: string}>}
 */
export const getRunSql = (run) => getJson(`/runs/${id(run)}/sql`);

/** @param {string} run */
export const cancelRun = (run) => send(`/runs/${id(run)}`, { method: "DELETE" });

/**
 * @param {Record<string, string | undefined>} filter
 * @returns {Promise<import("./types.js").RunPage>}
 */
export function listRuns(filter) {
  const given = Object.entries(filter).filter(([, value]) => value);
  return getJson(`/runs?${new URLSearchParams(/** @type {[string, string][]} */ (given))}`);
}

/** @returns {Promise<import("./types.js").PolicyState>} */
export const getPolicy = () => getJson("/policy");

/**
 * @param {object} request
 * @returns {Promise<import("./types.js").Decision>}
 */
export const checkPolicy = (request) => postJson("/policy/check", request);

/** @returns {Promise<import("./types.js").AuditState>} */
export const getAudit = () => getJson("/audit");

/** @returns {Promise<import("./types.js").ChainReport>} */
export const verifyAudit = () => postJson("/audit/verify", {});

/** @returns {Promise<import("./types.js").Token[]>} */
export const getTokens = async () => (await getJson("/tokens")).tokens;

/**
 * @param {{actor: string, role: string, expires?: string}} request
 * @returns {Promise<{token: import("./types.js").Token, secret: string}>}
 */
export const createToken = (request) => postJson("/tokens", request);

/** @param {string} token */
export const revokeToken = (token) => send(`/tokens/${id(token)}`, { method: "DELETE" });
