/** Who may do what here. The server decides; this only keeps from offering what it would refuse. */

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {import("../api/ops-types.js").Proposal} Proposal */

/** @param {Session} session */
export const isEngineer = ({ role }) => role === "engineer" || role === "admin";
/** @param {Session} session */
export const isApprover = ({ role }) => role === "approver" || role === "admin";

/**
 * @param {Session} session
 * @param {Proposal} proposal
 */
export const mayDecide = (session, { state, requester }) => isApprover(session) && state === "waiting" && requester !== session.actor;

/**
 * @param {Session} session
 * @param {Proposal} proposal
 */
export const mayEdit = (session, { state, requester }) =>
  isEngineer(session) && requester === session.actor && ["waiting", "refused", "rejected"].includes(state);

/**
 * Also out of the queue, as long as the device has not fetched it: that the server knows.
 * @param {Session} session
 * @param {Proposal} proposal
 */
export const mayWithdraw = (session, { state, requester }) =>
  isEngineer(session) && (requester === session.actor || session.role === "admin") && ["waiting", "refused", "sent"].includes(state);
