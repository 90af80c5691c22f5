/** A proposal from a runbook with its parameters, or of one's own. */
import { getRunbooks, propose } from "../api/ops.js";
import { navigate } from "../router.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { useLoaded } from "../ui/load.js";
import { html, useState } from "../vendor/preact.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/ops-types.js").Runbook} Runbook */

/** @param {{device: string}} props */
export function Propose({ device }) {
  const { value: runbooks, error } = useLoaded(getRunbooks, []);
  const [chosen, setChosen] = useState("");
  const { attempt, busy, failed } = useAttempt();
  const runbook = runbooks?.find(({ id }) => id === chosen);
  const send = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const wish = runbook ? { runbook: { id: runbook.id, parameters: parameters(runbook, form) } } : { script: script(form) };
    void attempt(async () => navigate(`/ops/proposals/${(await propose({ device_id: device, ...wish })).proposal_id}`));
  };
  return html`<details class="panel"><summary><h2>${strings.proposeFor}</h2></summary>
    <p class="muted">${strings.proposeLead}</p>
    <form class="tester" onSubmit=${send}>
      <label class="statement">${strings.runbookLabel}
        <select name="runbook" value=${chosen} onChange=${(/** @type {Event} */ event) => setChosen(/** @type {HTMLSelectElement} */ (event.target).value)}>
          <option value="">${strings.ownScript}</option>
          ${runbooks?.map(({ id, title }) => html`<option key=${id} value=${id}>${title}</option>`)}
        </select></label>
      ${runbook ? html`<${Parameters} key=${chosen} runbook=${runbook} />` : html`<${Own} />`}
      <button type="submit" class="primary" disabled=${busy}>${strings.proposeNow}</button>
    </form>
    <${Failure} error=${failed ?? error} />
  </details>`;
}

/** @param {{runbook: Runbook}} props */
function Parameters({ runbook }) {
  return html`<p class="statement muted">${runbook.intent.replace(/\{\{(\w+)\}\}/g, "‹$1›")}</p>
    ${Object.entries(runbook.parameters).map(([name, { describe, default: value }]) => html`<label key=${name}>${name}: ${describe}
      <input name=${`p-${name}`} autocomplete="off" required value=${value ?? ""} /></label>`)}`;
}

function Own() {
  return html`
    <label class="statement plain">${strings.intent} <textarea name="intent" rows="2" required></textarea></label>
    <label class="statement">${strings.script} <textarea name="script" rows="8" spellcheck=${false} required></textarea></label>
    <label class="statement">${strings.rollback} <textarea name="rollback" rows="3" spellcheck=${false}></textarea></label>
    <label class="statement">${strings.writable} <textarea name="writable" rows="2" spellcheck=${false}></textarea></label>
    <label class="check statement"><input type="checkbox" name="network" /> ${strings.usesNetwork}</label>`;
}

/**
 * @param {Runbook} runbook
 * @param {FormData} form
 */
function parameters(runbook, form) {
  return Object.fromEntries(Object.keys(runbook.parameters).map((name) => [name, String(form.get(`p-${name}`)).trim()]));
}

/** @param {FormData} form */
function script(form) {
  const text = (/** @type {string} */ name) => String(form.get(name)).replaceAll("\r\n", "\n");
  const writable = text("writable").split("\n").map((path) => path.trim()).filter(Boolean);
  return {
    script: text("script"),
    rollback: text("rollback").trim() ? text("rollback") : null,
    intent: text("intent").trim(),
    manifest: { network: form.get("network") ? "host" : "none", writable_paths: writable },
  };
}
