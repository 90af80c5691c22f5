/** Small signs; their words say what their colours do. */
import { html } from "../vendor/preact.js";
import { strings } from "./strings.js";

/** @param {{risk: import("../api/ops-types.js").Risk}} props */
export function RiskBadge({ risk }) {
  return html`<span class=${`mark risk-${risk}`}>${strings.risks[risk]}</span>`;
}

/** @param {{state: import("../api/ops-types.js").ProposalState}} props */
export function StateBadge({ state }) {
  return html`<span class=${`mark state-${state}`}>${strings.states[state]}</span>`;
}

/** @param {{severity: import("../api/ops-types.js").Finding["severity"]}} props */
export function SeverityBadge({ severity }) {
  return html`<span class=${`mark severity-${severity}`}>${strings.severities[severity]}</span>`;
}
