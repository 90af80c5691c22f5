/** Why an answer can be trusted: what was understood, what ran, under which policy, in which sandbox. */
import { strings } from "../strings.js";
import { CopyButton } from "../ui/copy.js";
import { duration, momentOf } from "../ui/format.js";
import { html } from "../vendor/preact.js";
import { Code } from "./code.js";
import { formatSql } from "./sql.js";

/** @typedef {import("../api/types.js").Run} Run */

/** @param {{run: Run, onAgain: () => void, onEdit: () => void}} props */
export function Details({ run, onAgain, onEdit }) {
  const ran = run.details.compiled_sql !== null;
  const link = `/r/${run.run_id}`;
  return html`<div class="trust">
    <details class="details">
      <summary>${run.status === "succeeded" ? strings.details : strings.detailsNoAnswer}</summary>
      <div class="inside"><${Facts} run=${run} /><${Statements} ...${run.details} /></div>
    </details>
    <p class="actions">
      <span class="seal">${seal(run)}</span>
      ${run.question && html`<button type="button" class="quiet" onClick=${onAgain}>${strings.runAgain}</button>`}
      ${ran && html`<button type="button" class="quiet" onClick=${onEdit}>${strings.editSql}</button>`}
      ${location.pathname !== link && html`<a class="quiet" href=${link}>${strings.permalink}</a>`}
      <${CopyButton} text=${() => location.origin + link}>${strings.copyLink}<//>
    </p>
  </div>`;
}

/**
 * In one line: what stood between the question and the data.
 * @param {Run} run
 */
function seal({ details: { contracts, sandbox_tier: tier, timings } }) {
  const total = timings.plan_ms + timings.check_ms + timings.run_ms;
  return [
    contracts.length > 0 && strings.contracts(contracts.length),
    tier && strings.sandboxTier(tier),
    duration(total),
  ].filter(Boolean).join(" · ");
}

/** @param {{run: Run}} props */
function Facts({ run }) {
  const { details } = run;
  const code = (/** @type {string | null} */ text) =>
    text && html`<code>${text}</code> <${CopyButton} text=${text} label=${strings.copyThis(text)}>${strings.copy}<//>`;
  /** @type {[string, unknown][]} */
  const facts = [
    [strings.facts.reading, details.reading],
    [strings.facts.status, strings.status[run.status]],
    [strings.facts.asked, strings.askedBy(momentOf(run.created_at), details.actor, details.role)],
    [strings.facts.runtime, runtime(run)],
    [strings.facts.planner, details.planner],
    [strings.facts.mode, details.query_mode && strings.queryModes[details.query_mode]],
    [strings.facts.policy, policy(run)],
    [strings.facts.fingerprint, code(details.policy_fingerprint)],
    [strings.facts.sandbox, sandbox(run)],
    [strings.facts.dataVersion, code(details.dataset_version_hash)],
    [strings.facts.run, code(run.run_id)],
    [strings.facts.request, code(run.request_id)],
  ];
  const known = facts.filter(([, value]) => value);
  return html`<dl>${known.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** @param {Run} run */
function runtime({ details: { timings }, result }) {
  const { planning, validating, executing } = strings.stagesDone;
  const parts = /** @type {const} */ ([[planning, timings.plan_ms], [validating, timings.check_ms], [executing, timings.run_ms]]);
  const spent = parts.filter(([, ms]) => ms > 0).map(([name, ms]) => `${name} ${duration(ms)}`);
  if (result.exec_time_ms !== null) spent.push(strings.inWorker(duration(result.exec_time_ms)));
  return spent.join(" · ");
}

/** @param {Run} run */
function policy({ details: { contracts, compiled_sql: compiled }, filtered_by: filteredBy, status }) {
  const decision = compiled !== null ? strings.allowed : status === "refused" ? strings.notAllowed : "";
  const used = contracts.map(({ resource, version }) => strings.contract(resource, version)).join(", ");
  const filtered = filteredBy.length ? strings.filteredShort(filteredBy) : "";
  return [decision, used, filtered].filter(Boolean).join(" · ");
}

/** @param {Run} run */
function sandbox({ details: { sandbox_tier: tier, unenforced } }) {
  return [tier, unenforced.length > 0 && strings.unenforced(unenforced)].filter(Boolean).join(" · ");
}

/** @param {import("../api/types.js").Details} props */
function Statements({ compiled_sql: sql, params, plan_json: plan, sql_text: text }) {
  const values = params.map((value, i) => `${i + 1}  ${JSON.stringify(value)}`).join("\n");
  return html`
    ${text && html`<${Code} language="sql" title=${strings.sqlSent} text=${text} />`}
    ${sql && html`<${Code} language="sql" title=${strings.sqlRun} text=${formatSql(sql)} copy=${sql} />`}
    ${values && html`<${Code} language="json" title=${strings.params} text=${values} />`}
    ${plan != null && html`<${Code} language="json" title=${strings.plan} text=${JSON.stringify(plan, null, 2)} />`}`;
}
