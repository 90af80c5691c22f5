/** What was found in a device's diagnostics, with the lines that say so. */
import { getAnalysis, getRunbooks, propose } from "../api/ops.js";
import { navigate } from "../router.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { Prose, sentence } from "../ui/prose.js";
import { html, useState } from "../vendor/preact.js";
import { SeverityBadge } from "./badges.js";
import { isApprover, isEngineer } from "./roles.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {import("../api/ops-types.js").Finding} Finding */

/** @param {{id: string, session: Session}} props */
export function AnalysisPage({ id, session }) {
  const [revealed, setRevealed] = useState(false);
  const { value: analysis, error } = useLoaded(() => getAnalysis(id, revealed), [id, revealed]);
  const { value: runbooks } = useLoaded(getRunbooks, []);
  const { attempt, busy, failed } = useAttempt();
  const ask = (/** @type {number} */ finding) =>
    attempt(async () => navigate(`/ops/proposals/${(await propose({ analysis_id: id, finding })).proposal_id}`));
  const byModel = session.planner !== "offline";
  const title = (/** @type {Finding} */ { runbook }) => runbooks?.find((known) => known.id === runbook?.id)?.title ?? runbook?.id;
  const hidden = analysis?.findings.some(({ evidence }) => evidence.some((line) => /<[A-Z]+_\d+>/.test(line)));
  return html`
    ${analysis && html`<p><a class="quiet back" href=${`/ops/devices/${analysis.device_id}`}>← ${strings.back.device(analysis.device_id)}</a></p>`}
    <header class="heading"><h1>${strings.analysis}</h1>
      ${analysis && html`<p class="muted">${strings.foundBy(analysis.planner, momentOf(analysis.at))}</p>`}</header>
    <${Failure} error=${failed ?? error} />
    ${analysis?.findings.length === 0 && html`<p class="notice calm">${strings.noFindings}</p>`}
    <ol class="findings">${analysis?.findings.map((finding, i) => html`<li key=${i}>
      <${Item} finding=${finding} runbook=${title(finding)} busy=${busy} byModel=${byModel} onPropose=${isEngineer(session) ? () => ask(i) : undefined} />
    </li>`)}</ol>
    ${isApprover(session) && (hidden || revealed) && html`<p class="reveal"><button type="button" class="secondary" aria-describedby="reveal" onClick=${() => setRevealed(!revealed)}>${revealed ? strings.hide : strings.reveal}</button>
      <span id="reveal" class="muted small">${strings.revealNote}</span></p>`}`;
}

/** @param {{finding: Finding, runbook?: string, busy: boolean, byModel: boolean, onPropose?: () => void}} props */
function Item({ finding, runbook, busy, byModel, onPropose }) {
  const { title, severity, confidence, evidence, id } = finding;
  return html`<article class=${`panel finding severity-${severity}`}>
    <header><h2><${Prose} text=${sentence(title)} /></h2>
      <p class="marks"><${SeverityBadge} severity=${severity} />
        <span class="sureness"><meter min="0" max="1" value=${confidence} aria-label=${strings.confidence(confidence)}></meter> <span class="small">${strings.confidence(confidence)}</span></span>
        <code class="muted small">${id}</code></p></header>
    ${evidence.length > 0 && html`<pre tabindex="0" aria-label=${strings.evidence}>${evidence.join("\n")}</pre>`}
    <footer>
      <span class="muted">${runbook ? strings.runbook(runbook) : strings.noRunbook}</span>
      ${(runbook || byModel) && onPropose && html`<button type="button" class="primary" disabled=${busy} onClick=${onPropose}>${runbook ? strings.propose : strings.byModel}</button>`}
    </footer>
  </article>`;
}
