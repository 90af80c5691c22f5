/** Yes or no, to exactly the digest that is shown. */
import { say, withdraw } from "../api/ops.js";
import { strings as common } from "../strings.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { CopyButton } from "../ui/copy.js";
import { momentOf } from "../ui/format.js";
import { announce } from "../ui/live.js";
import { html, useState } from "../vendor/preact.js";
import { isApprover, mayDecide, mayEdit, mayWithdraw } from "./roles.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/types.js").Session} Session */
/** @typedef {import("../api/ops-types.js").Proposal} Proposal */

/**
 * @param {object} props
 * @param {Proposal} props.proposal
 * @param {Session} props.session
 * @param {boolean} props.fetched whether its device has it: then it cannot be taken back
 * @param {(proposal: Proposal) => void} props.onChanged
 * @param {() => void} props.onEdit
 * @param {() => void} props.onReload
 */
export function Verdict({ proposal, session, fetched, onChanged, onEdit, onReload }) {
  const { attempt, busy, failed } = useAttempt();
  const [comment, setComment] = useState("");
  const [sure, setSure] = useState(false);
  const act = (/** @type {"approve" | "reject" | "withdraw"} */ what) => attempt(async () => {
    onChanged(await (what === "withdraw" ? withdraw(proposal.proposal_id) : say(what, proposal, comment)));
    announce(strings.said[what]);
  });
  const given = proposal.approvals.some(({ actor, void: isVoid }) => actor === session.actor && !isVoid);
  const decides = mayDecide(session, proposal) && !given;
  return html`<section class="panel decision" aria-labelledby="decision">
    <h2 id="decision">${strings.verdict}</h2>
    <${Digest} digest=${proposal.digest} />
    <${Approvals} proposal=${proposal} />
    ${proposal.state === "waiting" && !decides && html`<p class="muted">${why(session, proposal, given)}</p>`}
    ${decides && html`<label class="comment">${strings.comment}
      <textarea name="comment" rows="2" maxlength="2000" value=${comment} onInput=${(/** @type {Event} */ e) => setComment(/** @type {HTMLTextAreaElement} */ (e.target).value)}></textarea></label>`}
    <${Failure} error=${failed}><p><button type="button" class="secondary" onClick=${onReload}>${strings.readAgain}</button></p><//>
    <p class="buttons">
      ${decides && html`<button type="button" class="primary" disabled=${busy} onClick=${() => act("approve")}>${strings.approveThis(proposal.digest.slice(0, 8))}</button>
        <button type="button" class="secondary" disabled=${busy} onClick=${() => act("reject")}>${strings.reject}</button>`}
      ${mayEdit(session, proposal) && html`<button type="button" class="secondary" disabled=${busy} onClick=${onEdit}>${strings.edit}</button>`}
      ${mayWithdraw(session, proposal) && !fetched && html`<button type="button" class=${sure ? "danger large" : "secondary"} disabled=${busy} onBlur=${() => setSure(false)}
        onClick=${() => (sure ? act("withdraw") : setSure(true))}>${sure ? strings.withdrawSure : strings.withdraw}</button>`}
    </p>
  </section>`;
}

/**
 * @param {Session} session
 * @param {Proposal} proposal
 * @param {boolean} given
 */
function why(session, { requester }, given) {
  if (given) return strings.youApproved;
  return isApprover(session) || requester === session.actor ? strings.own : strings.notYours;
}

/** @param {{digest: string}} props */
function Digest({ digest }) {
  return html`<div class="digest">
    <p class="small muted">${strings.digest} <${CopyButton} text=${digest} label=${common.copyThis(strings.digest)}>${common.copy}<//></p>
    <p><code>${digest.match(/.{1,8}/g)?.map((part, i) => html`<span key=${i}>${part}</span>`)}</code></p>
    <p class="small muted">${strings.digestNote}</p>
  </div>`;
}

/** @param {{proposal: Proposal}} props */
function Approvals({ proposal: { approvals, approvals_needed: needed } }) {
  const given = approvals.filter((approval) => !approval.void).length;
  return html`<div>
    <h3>${strings.approvals} <span class="muted">${strings.approvalsOf(given, needed)}</span></h3>
    ${approvals.length === 0
      ? html`<p class="muted small">${strings.nobodyYet}</p>`
      : html`<ul class="approvals">${approvals.map((approval) => html`<li key=${approval.actor + approval.digest} class=${approval.void ? "void" : ""}>
          <span>${strings.approvedBy(approval.actor, momentOf(approval.at))}</span> <code>${approval.digest.slice(0, 8)}</code>
          ${approval.void && html` <span class="muted small">${strings.void}</span>`}
          ${approval.comment && html`<q>${approval.comment}</q>`}
        </li>`)}</ul>`}
  </div>`;
}
