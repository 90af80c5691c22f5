/** One proposal: everything that an approver must have seen before the button. */
import { getProposal } from "../api/ops.js";
import { strings as common } from "../strings.js";
import { Failure } from "../ui/attempt.js";
import { momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { usePoll } from "../ui/poll.js";
import { Prose, sentence } from "../ui/prose.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { StateBadge } from "./badges.js";
import { Edit } from "./edit.js";
import { Critique, ManifestInWords, Risk, Violations } from "./judgement.js";
import { Package } from "./package.js";
import { isEngineer, mayDecide } from "./roles.js";
import { Changes, ScriptView } from "./script.js";
import { strings } from "./strings.js";
import { Verdict } from "./verdict.js";

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {import("../api/ops-types.js").Proposal} Proposal */

const LOOK_MS = 2000;

/** @param {{id: string, session: Session}} props */
export function ProposalPage({ id, session }) {
  const { value, error, reload } = useLoaded(() => getProposal(id), [id]);
  const [changed, setChanged] = useState(/** @type {Proposal | null} */ (null));
  const [editing, setEditing] = useState(false);
  useEffect(() => setChanged(null), [value]);
  const proposal = changed ?? value;
  // Whoever is about to say yes must have read what is on the page: for them it does not change by itself.
  const watches = proposal?.state === "waiting" && !mayDecide(session, proposal) && !editing;
  usePoll(reload, watches ? LOOK_MS : null);
  useEffect(() => {
    if (proposal) document.title = common.title(proposal.proposal.intent);
  }, [proposal?.digest]);
  const done = (/** @type {Proposal} */ next) => {
    setChanged(next);
    setEditing(false);
    scrollTo(0, 0);
  };
  return html`
    <p><a class="quiet back" href="/ops/approvals">← ${strings.back.approvals}</a></p>
    <${Failure} error=${error} />
    ${proposal && (editing
      ? html`<${Edit} proposal=${proposal} onSaved=${done} onCancel=${() => setEditing(false)} />`
      : html`<${Whole} proposal=${proposal} session=${session} onChanged=${done} onEdit=${() => setEditing(true)} onReload=${reload} />`)}`;
}

/** @param {{proposal: Proposal, session: Session, onChanged: (proposal: Proposal) => void, onEdit: () => void, onReload: () => void}} props */
function Whole({ proposal, session, onChanged, onEdit, onReload }) {
  const { proposal: script, previous, report, state } = proposal;
  const [fetched, setFetched] = useState(false);
  const marked = new Map(report.reasons.filter(({ line }) => line > 0).map(({ line, risk }) => [line, `marked risk-${risk}`]));
  for (const { span, details } of report.violations) if (span && details?.in !== "rollback") marked.set(span.line, "marked violation");
  return html`
    <header class="heading">
      <h1><${Prose} text=${script.intent} /></h1>
      <p class="muted"><${Prose} text=${strings.askedBy(proposal.requester, proposal.device_id, momentOf(proposal.at))} /></p>
      <p class="marks"><${StateBadge} state=${state} /> <span class="mark">${strings.version(proposal.version)}</span>
        ${state === "waiting" && html`<span class="muted small">${strings.expiresAt(momentOf(proposal.expires_at))}</span>`}
        ${proposal.analysis_id && html`<a class="quiet" href=${`/ops/analyses/${proposal.analysis_id}`}>${strings.fromFinding}</a>`}</p>
    </header>
    ${proposal.package_id && html`<${Package} id=${proposal.package_id} hasRollback=${script.rollback !== null} engineer=${isEngineer(session)} onFetched=${() => setFetched(true)} />`}
    ${report.violations.length > 0 && html`<${Violations} violations=${report.violations} />`}
    <${Risk} proposal=${proposal} />
    ${report.critique && html`<${Critique} critique=${report.critique} />`}
    <${ManifestInWords} manifest=${script.manifest} />
    ${previous && html`<${Changes} before=${previous} after=${script} version=${proposal.version} />`}
    <${ScriptView} title=${strings.script} text=${script.script} marked=${marked} />
    ${script.rollback === null
      ? html`<section class="block"><header><h2>${strings.rollback}</h2></header><p class="muted">${sentence(strings.noRollback)}</p></section>`
      : html`<${ScriptView} title=${strings.rollback} text=${script.rollback} />`}
    <${Verdict} proposal=${proposal} session=${session} fetched=${fetched} onChanged=${onChanged} onEdit=${onEdit} onReload=${onReload} />`;
}
