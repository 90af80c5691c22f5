// @ts-check
/** Why an answer can be trusted: what was understood, what ran, under which policy, in which sandbox. */
import { duration, h } from "./dom.js";
import { strings } from "./strings.js";

/** @typedef {import("./api.js").Payload} Payload */
/** @typedef {import("./api.js").Details} Details */

/**
 * @param {Payload} payload
 * @returns {HTMLElement}
 */
export function detailsPanel(payload) {
  const details = payload.details ?? {};
  const title = payload.status === "succeeded" ? strings.details : strings.detailsNoAnswer;
  return h("details", { class: "details" },
    h("summary", {}, title),
    h("div", { class: "inside" }, facts(payload, details), ...code(details)));
}

/**
 * @param {Payload} payload
 * @param {Details} details
 */
function facts(payload, details) {
  /** @type {[string, import("./dom.js").Child][]} */
  const rows = [
    [strings.reading, details.reading],
    [strings.runStatus, strings.status[payload.status] ?? payload.status],
    [strings.runtime, runtime(payload, details)],
    [strings.plannerLabel, details.planner],
    [strings.queryMode, details.query_mode && (strings.queryModes[details.query_mode] ?? details.query_mode)],
    [strings.policy, policy(details)],
    [strings.policyFingerprint, details.policy_fingerprint && h("code", {}, details.policy_fingerprint)],
    [strings.sandbox, sandbox(details)],
    [strings.dataVersion, details.dataset_version_hash && h("code", {}, details.dataset_version_hash)],
    [strings.runId, payload.run_id && runLink(payload.run_id)],
    [strings.otherRuns, otherRuns(details)],
    [strings.requestId, payload.request_id && h("code", {}, payload.request_id)],
  ];
  const shown = rows.filter(([, value]) => value);
  return h("dl", {}, ...shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** @param {Details} details */
function code({ plan_json: plan, compiled_sql: sql, params = [] }) {
  const values = params.map((value, i) => `${i + 1}  ${JSON.stringify(value)}`).join("\n");
  return [
    sql && block(strings.sql, sql),
    sql && values && block(strings.params, values),
    plan != null && block(strings.plan, typeof plan === "string" ? plan : JSON.stringify(plan, null, 2)),
  ];
}

/**
 * @param {string} title
 * @param {string} text
 */
function block(title, text) {
  return h("section", { class: "block" }, h("h3", {}, title), h("pre", { tabindex: 0 }, h("code", {}, text)));
}

/**
 * @param {Payload} payload
 * @param {Details} details
 */
function runtime({ result }, { timings }) {
  if (!timings) return result?.exec_time_ms != null && duration(result.exec_time_ms);
  const { planning, validating, executing } = strings.stagesDone;
  const parts = /** @type {const} */ ([[planning, timings.plan_ms], [validating, timings.check_ms], [executing, timings.run_ms]]);
  return strings.runtimeParts(parts.filter(([, ms]) => ms > 0).map(([name, ms]) => `${name} ${duration(ms)}`));
}

/** @param {Details} details */
function policy({ contracts = [] }) {
  return contracts.map(({ resource, version }) => strings.contract(resource, version)).join(", ");
}

/** @param {Details} details */
function sandbox({ sandbox_tier: tier, unenforced = [] }) {
  return [tier, unenforced.length > 0 && strings.unenforced(unenforced)].filter(Boolean).join(" · ");
}

/** @param {Details} details */
function otherRuns({ runs = [] }) {
  if (runs.length < 2) return null;
  const ids = runs.map((run) => (typeof run === "string" ? run : run.run_id));
  return h("ul", {}, ...ids.map((id) => h("li", {}, runLink(id))));
}

/** @param {string} id */
function runLink(id) {
  return h("a", { href: `/runs/${encodeURIComponent(id)}`, target: "_blank", rel: "noopener" }, h("code", {}, id));
}
