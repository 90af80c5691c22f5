/** The addresses of the Ops door, one function each. */
import { getJson, postJson, putJson } from "./http.js";

/** @typedef {import("./ops-types.js").Proposal} Proposal */

const AI = "/api/v1/ai";
const id = encodeURIComponent;

/** @returns {Promise<import("./ops-types.js").Device[]>} */
export const getDevices = async () => (await getJson("/api/v1/devices")).devices;

/**
 * Makes a device known, or gives a known one a new code.
 * @param {{device_id: string, name: string}} device
 * @returns {Promise<import("./ops-types.js").EnrolCode>}
 */
export const expectDevice = (device) => postJson("/api/v1/devices", device);

/**
 * @param {string} device
 * @returns {Promise<import("./ops-types.js").DiagnosticsLine[]>}
 */
export const getDiagnostics = async (device) => (await getJson(`${AI}/diagnostics?device_id=${id(device)}`)).diagnostics;

/**
 * @param {string} device
 * @param {{command: string, text: string}[]} outputs
 * @returns {Promise<{diagnostics_id: string, redacted: number}>}
 */
export const submitDiagnostics = (device, outputs) => postJson(`${AI}/diagnostics`, { device_id: device, outputs });

/**
 * @param {string} diagnostics
 * @returns {Promise<import("./ops-types.js").Analysis>}
 */
export const analyse = (diagnostics) => postJson(`${AI}/analyses`, { diagnostics_id: diagnostics });

/**
 * @param {string} analysis
 * @param {boolean} reveal whether placeholders are turned back; that somebody looked goes on record
 * @returns {Promise<import("./ops-types.js").Analysis>}
 */
export const getAnalysis = (analysis, reveal) => getJson(`${AI}/analyses/${id(analysis)}${reveal ? "?reveal=true" : ""}`);

/** @returns {Promise<import("./ops-types.js").Runbook[]>} */
export const getRunbooks = async () => (await getJson(`${AI}/runbooks`)).runbooks;

/**
 * @param {string} state empty for all
 * @returns {Promise<import("./ops-types.js").ProposalLine[]>}
 */
export const getProposals = async (state) => (await getJson(`${AI}/proposals${state && `?state=${id(state)}`}`)).proposals;

/**
 * @param {string} proposal
 * @returns {Promise<Proposal>}
 */
export const getProposal = (proposal) => getJson(`${AI}/proposals/${id(proposal)}`);

/**
 * @param {{analysis_id: string, finding: number} | {device_id: string, runbook: import("./ops-types.js").RunbookCall} | {device_id: string, script: object} | {rollback_of: string}} wish
 * @returns {Promise<Proposal>}
 */
export const propose = (wish) => postJson(`${AI}/proposals`, wish);

/**
 * @param {string} proposal
 * @param {object} script
 * @returns {Promise<Proposal>}
 */
export const editProposal = (proposal, script) => putJson(`${AI}/proposals/${id(proposal)}`, script);

/**
 * @param {"approve" | "reject"} verdict
 * @param {{proposal_id: string, digest: string}} seen
 * @param {string} comment
 * @returns {Promise<Proposal>}
 */
export const say = (verdict, { proposal_id, digest }, comment) =>
  postJson(`${AI}/proposals/${id(proposal_id)}/${verdict}`, { digest, comment });

/**
 * @param {string} proposal
 * @returns {Promise<Proposal>}
 */
export const withdraw = (proposal) => postJson(`${AI}/proposals/${id(proposal)}/withdraw`, {});

/**
 * @param {string} parcel
 * @returns {Promise<import("./ops-types.js").Package>}
 */
export const getPackage = (parcel) => getJson(`${AI}/packages/${id(parcel)}`);
