/** The audit chain: where it stands, and whether it is whole. */
import { getAudit, verifyAudit } from "../api/admin.js";
import { asApiError } from "../api/http.js";
import { strings } from "../strings.js";
import { grouped, momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { Problem } from "../ui/problem.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../api/types.js").ChainReport} ChainReport */
/** @typedef {import("../api/types.js").AuditState} AuditState */

export function AuditPage() {
  const { value: state, error, reload } = useLoaded(getAudit, []);
  const [report, setReport] = useState(/** @type {ChainReport | null} */ (null));
  const [failed, setFailed] = useState(/** @type {import("../api/http.js").ApiError | null} */ (null));
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    try {
      setReport(await verifyAudit());
      setFailed(null);
    } catch (thrown) {
      setFailed(asApiError(thrown));
    }
    setBusy(false);
    reload();
  };
  const problem = failed ?? error;
  return html`
    <p class="muted">${strings.auditLead}</p>
    ${state && html`<${State} state=${state} />`}
    <p><button type="button" class="primary" disabled=${busy} onClick=${verify}>${busy ? strings.verifying : strings.verify}</button></p>
    <div aria-live="polite">
      ${problem && html`<${Problem} fault=${problem.fault} requestId=${problem.requestId} />`}
      ${report && html`<${Report} report=${report} />`}
    </div>
    ${state && html`<${Entries} recent=${state.recent} />`}`;
}

/** @param {{state: AuditState}} props */
function State({ state: { entries, head } }) {
  return html`<dl class="figures">
    <div><dt>${strings.entries}</dt><dd>${grouped(entries)}</dd></div>
    <div><dt>${strings.lastHead}</dt><dd>${head ? strings.headAt(grouped(head.seq), momentOf(head.at)) : strings.noHead}</dd></div>
    ${head && html`<div><dt>${strings.key}</dt><dd><code>${head.key}</code></dd></div>`}
  </dl>`;
}

/** @param {{report: ChainReport}} props */
function Report({ report }) {
  const facts = strings.verified(grouped(report.entries), grouped(report.heads), grouped(report.capsules));
  const tail = report.unsigned_since && strings.unsignedTail(report.entries - report.signed, momentOf(report.unsigned_since));
  const lost = report.reexported && strings.reexported(grouped(report.reexported.seq), momentOf(report.reexported.at));
  if (report.whole) return html`<section class="verdict allowed"><h2>${strings.whole}</h2><p class="muted">${facts} ${tail} ${lost}</p></section>`;
  const where = report.flaw?.seq ? strings.atEntry(grouped(report.flaw.seq)) : "";
  return html`<section class="verdict broken"><h2>${strings.broken}</h2><p>${where}${report.flaw?.message}</p><p class="muted">${facts} ${lost}</p></section>`;
}

/** @param {{recent: AuditState["recent"]}} props */
function Entries({ recent }) {
  return html`<h2>${strings.lastEntries}</h2>
    <div class="scroll listing" tabindex="0" role="region" aria-label=${strings.lastEntries}><table>
      <thead><tr><th scope="col" class="number">${strings.number}</th><th scope="col">${strings.when}</th><th scope="col">${strings.what}</th>
        <th scope="col">${strings.who}</th><th scope="col">${strings.run}</th><th scope="col">${strings.hash}</th></tr></thead>
      <tbody>${recent.map((entry) => html`<tr key=${entry.seq}>
        <td class="number">${grouped(entry.seq)}</td><td>${momentOf(entry.at)}</td><td><code>${entry.kind}</code></td>
        <td>${entry.actor && strings.role(entry.actor, entry.role ?? "")}</td>
        <td>${entry.run_id && html`<a href=${`/r/${entry.run_id}`}><code>${entry.run_id.slice(0, 8)}</code></a>`}</td>
        <td title=${entry.hash}><code>${entry.hash.slice(0, 12)}</code></td>
      </tr>`)}</tbody>
    </table></div>`;
}
