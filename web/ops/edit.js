/** Another text under the same proposal: a new version. */
import { editProposal } from "../api/ops.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/ops-types.js").Proposal} Proposal */

/** @param {{proposal: Proposal, onSaved: (proposal: Proposal) => void, onCancel: () => void}} props */
export function Edit({ proposal, onSaved, onCancel }) {
  const { attempt, busy, failed } = useAttempt();
  const [unreadable, setUnreadable] = useState(false);
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  const { proposal: script } = proposal;
  const save = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const manifest = parsed(String(form.get("manifest")));
    setUnreadable(manifest === undefined);
    if (manifest === undefined) return;
    const text = (/** @type {string} */ name) => String(form.get(name)).replaceAll("\r\n", "\n");
    void attempt(async () => onSaved(await editProposal(proposal.proposal_id, {
      script: text("script"), rollback: text("rollback").trim() ? text("rollback") : null, intent: text("intent"), manifest,
    })));
  };
  return html`<h1 tabindex="-1" ref=${heading}>${strings.editing}</h1>
    <p class="muted">${strings.editNote}</p>
    <form class="tester" onSubmit=${save}>
      <label class="statement plain">${strings.intent} <textarea name="intent" rows="2" required>${script.intent}</textarea></label>
      <label class="statement">${strings.script} <textarea name="script" rows="12" spellcheck=${false} required>${script.script}</textarea></label>
      <label class="statement">${strings.rollback} <textarea name="rollback" rows="5" spellcheck=${false}>${script.rollback ?? ""}</textarea></label>
      <label class="statement">${strings.manifestJson} <textarea name="manifest" rows="14" spellcheck=${false} required>${JSON.stringify(script.manifest, null, 2)}</textarea></label>
      <button type="submit" class="primary" disabled=${busy}>${strings.save}</button>
      <button type="button" class="secondary" onClick=${onCancel}>${strings.cancel}</button>
    </form>
    <div aria-live="polite">${unreadable && html`<p class="notice">${strings.badManifest}</p>`}</div>
    <${Failure} error=${failed} />`;
}

/** @param {string} json */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
