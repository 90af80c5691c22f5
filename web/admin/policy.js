/** Tries a statement on the policy in a role's place. Nothing runs. */
import { checkPolicy, getPolicy } from "../api/admin.js";
import { asApiError } from "../api/http.js";
import { Code } from "../run/code.js";
import { formatSql } from "../run/sql.js";
import { strings } from "../strings.js";
import { useLoaded } from "../ui/load.js";
import { Problem } from "../ui/problem.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../api/types.js").Decision} Decision */
/** @typedef {import("../api/types.js").Dataset} Dataset */

/** @param {{datasets: Dataset[]}} props */
export function PolicyPage({ datasets }) {
  const { value: policy } = useLoaded(getPolicy, []);
  const [decision, setDecision] = useState(/** @type {Decision | null} */ (null));
  const [error, setError] = useState(/** @type {import("../api/http.js").ApiError | null} */ (null));
  const test = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    try {
      setDecision(await checkPolicy(request(form)));
      setError(null);
    } catch (thrown) {
      setDecision(null);
      setError(asApiError(thrown));
    }
  };
  return html`
    <p class="muted">${strings.policyLead}</p>
    ${policy?.problems.map((problem) => html`<p class="notice">${problem}</p>`)}
    <form class="tester" onSubmit=${test}>
      <label>${strings.facts.role}
        <select name="role">${(policy?.roles ?? ["admin"]).map((role) => html`<option key=${role} selected=${role === "analyst"}>${role}</option>`)}</select>
      </label>
      <label>${strings.dataset}
        <select name="dataset_id">${datasets.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}</select>
      </label>
      <label>${strings.actor} <input name="actor" autocomplete="off" placeholder=${strings.anyone} /></label>
      <label class="statement">${strings.statement}
        <textarea name="statement" rows="7" spellcheck=${false} required placeholder=${strings.statementHint}></textarea>
      </label>
      <button type="submit" class="primary">${strings.test}</button>
    </form>
    <div aria-live="polite">
      ${error && html`<${Problem} fault=${error.fault} requestId=${error.requestId} />`}
      ${decision && html`<${Verdict} decision=${decision} />`}
    </div>
    ${policy && html`<${Contracts} policy=${policy} datasets=${datasets} />`}`;
}

/**
 * Text that begins like JSON is a plan.
 * @param {FormData} form
 */
function request(form) {
  const statement = String(form.get("statement")).trim();
  const actor = String(form.get("actor")).trim();
  const asked = { dataset_id: form.get("dataset_id"), role: form.get("role"), ...(actor && { actor }) };
  if (!statement.startsWith("{")) return { ...asked, sql: statement };
  try {
    return { ...asked, plan: JSON.parse(statement) };
  } catch {
    return { ...asked, sql: statement };
  }
}

/** @param {{decision: Decision}} props */
function Verdict({ decision }) {
  if (decision.error) return html`<${Problem} fault=${decision.error} status="refused" />`;
  const used = decision.contracts.map(({ resource, version }) => strings.contract(resource, version)).join(", ");
  return html`<section class="verdict allowed">
    <h2>${strings.allowedFor(decision.role)}</h2>
    <p class="muted">${used}${decision.filtered_by.length > 0 && ` · ${strings.filteredShort(decision.filtered_by)}`}</p>
    <${Code} language="sql" title=${strings.wouldRun} text=${formatSql(decision.compiled_sql ?? "")} copy=${decision.compiled_sql ?? ""} />
    ${decision.params.length > 0 && html`<${Code} language="json" title=${strings.params} text=${decision.params.map((value, i) => `${i + 1}  ${JSON.stringify(value)}`).join("\n")} />`}
  </section>`;
}

/** @param {{policy: import("../api/types.js").PolicyState, datasets: Dataset[]}} props */
function Contracts({ policy, datasets }) {
  const name = (/** @type {string} */ id) => datasets.find((dataset) => dataset.id === id)?.name ?? id;
  return html`<h2>${strings.inForce}</h2>
    <div class="scroll listing" tabindex="0" role="region" aria-label=${strings.inForce}><table>
      <thead><tr><th scope="col">${strings.resource}</th><th scope="col">${strings.version}</th><th scope="col">${strings.dataset}</th><th scope="col">${strings.roles}</th></tr></thead>
      <tbody>${policy.contracts.map((contract) => html`<tr key=${contract.resource}>
        <td><code>${contract.resource}</code></td><td>${contract.version}</td><td>${name(contract.dataset_id)}</td>
        <td>${[contract.public && strings.public, ...contract.roles].filter(Boolean).join(", ")}</td>
      </tr>`)}</tbody>
    </table></div>
    <p class="muted small">${strings.facts.fingerprint} <code>${policy.policy_fingerprint}</code></p>`;
}
