/** One question and what came of it. */
import { ApiError } from "../api/http.js";
import { strings } from "../strings.js";
import { Problem } from "../ui/problem.js";
import { html } from "../vendor/preact.js";
import { Code } from "./code.js";
import { Details } from "./details.js";
import { Outcome } from "./outcome.js";
import { Progress } from "./progress.js";

/**
 * @param {object} props
 * @param {import("../ask/conversation.js").Turn} props.turn
 * @param {boolean} props.open whether the conversation can go on from here: a choice of an earlier turn would answer another question
 * @param {(message: string) => void} props.onAsk
 * @param {(runId: string) => void} props.onEdit
 */
export function TurnView({ turn, open, onAsk, onEdit }) {
  const again = () => onAsk(turn.question);
  return html`<article class="turn" aria-busy=${!turn.ended}>
    <${Question} text=${turn.question} />
    <${Progress} turn=${turn} />
    ${turn.error && html`<${Failed} error=${turn.error} open=${open} onRetry=${again} />`}
    ${turn.run && html`<${RunView} run=${turn.run} stopped=${turn.stopped} open=${open} onAsk=${onAsk} onAgain=${again}
      onEdit=${() => onEdit(/** @type {string} */ (turn.runId))} />`}
  </article>`;
}

/** @param {{error: ApiError, open: boolean, onRetry: () => void}} props */
function Failed({ error, open, onRetry }) {
  return html`<${Problem} fault=${error.fault} requestId=${error.requestId}>
    <p><button type="button" class="secondary" disabled=${!open} onClick=${onRetry}>${strings.tryAgain}</button></p>
  <//>`;
}

/** @param {{text: string}} props */
export function Question({ text }) {
  const sql = /^\s*(sql:|```sql|select\b|with\b)/i.test(text);
  if (!sql) return html`<h2>${text}</h2>`;
  return html`<h2 class="sr-only">${strings.sqlQuestion}</h2><${Code} language="sql" text=${text} title=${strings.sqlQuestion} />`;
}

/**
 * A run that has ended, here or long ago.
 * @param {object} props
 * @param {import("../api/types.js").Run} props.run
 * @param {boolean} [props.stopped] whether whoever looks at it has stopped it
 * @param {boolean} props.open
 * @param {(message: string) => void} props.onAsk
 * @param {() => void} props.onAgain
 * @param {() => void} props.onEdit
 */
export function RunView({ run, stopped = false, open, onAsk, onAgain, onEdit }) {
  return html`<div class="answer">
    <${Outcome} run=${run} stopped=${stopped} open=${open} onAsk=${onAsk} />
    <${Details} run=${run} onAgain=${onAgain} onEdit=${onEdit} />
  </div>`;
}
