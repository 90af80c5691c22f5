/** The server's addresses, one function each. */
import { getJson, send } from "./http.js";

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
