/** The addresses that are for admins. */
import { getJson, postJson, send } from "./http.js";

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
export const revokeToken = (token) => send(`/tokens/${encodeURIComponent(token)}`, { method: "DELETE" });
