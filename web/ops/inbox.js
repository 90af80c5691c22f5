/** The inbox: scripts that wait for somebody, and what became of the others. */
import { getProposals } from "../api/ops.js";
import { momentOf } from "../ui/format.js";
import { useLoaded } from "../ui/load.js";
import { usePoll } from "../ui/poll.js";
import { Prose } from "../ui/prose.js";
import { Failure } from "../ui/attempt.js";
import { html, useState } from "../vendor/preact.js";
import { StateBadge, RiskBadge } from "./badges.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/ops-types.js").ProposalLine} ProposalLine */

/** New ones come in while somebody looks. */
const LOOK_MS = 5000;

export function InboxPage() {
  const [state, setState] = useState("waiting");
  const { value: proposals, error, reload } = useLoaded(() => getProposals(state), [state]);
  usePoll(reload, LOOK_MS);
  const choose = (/** @type {Event} */ event) => setState(/** @type {HTMLSelectElement} */ (event.target).value);
  return html`
    <h1>${strings.pages.approvals}</h1>
    <p class="muted">${strings.inboxLead}</p>
    <div class="filters"><label class="check">${strings.show}
      <select name="state" value=${state} onChange=${choose}>
        ${Object.entries(strings.states).map(([id, name]) => html`<option key=${id} value=${id}>${name}</option>`)}
        <option value="">${strings.all}</option>
      </select></label>
    </div>
    <${Failure} error=${error} />
    ${proposals?.length === 0 && html`<p class="muted empty">${state === "waiting" ? strings.inboxEmpty : strings.noneSuch}</p>`}
    ${proposals && proposals.length > 0 && html`<ul class="cards">${proposals.map((line) => html`<${Item} key=${line.proposal_id} line=${line} />`)}</ul>`}`;
}

/** @param {{line: ProposalLine}} props */
function Item({ line }) {
  return html`<li><a href=${`/ops/proposals/${line.proposal_id}`}>
    <span class="about"><${Prose} text=${line.intent} /></span>
    <span class="marks"><${RiskBadge} risk=${line.risk} />${line.state !== "waiting" && html`<${StateBadge} state=${line.state} />`}</span>
    <span class="facts">${strings.line(line.device_id, line.requester, momentOf(line.at))}${line.version > 1 && ` · ${strings.version(line.version)}`}</span>
  </a></li>`;
}
