/** What came of a run: an answer, a question back, a refusal, an error, or a stop. */
import { ResultView } from "../result/result.js";
import { strings } from "../strings.js";
import { Problem } from "../ui/problem.js";
import { Prose } from "../ui/prose.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../api/types.js").Run} Run */

/** @param {{run: Run, stopped: boolean, open: boolean, onAsk: (message: string) => void}} props */
export function Outcome({ run, stopped, open, onAsk }) {
  const { status, result, clarification, assistant_message: message } = run;
  if (clarification) return html`<${Clarify} ...${clarification} open=${open} onAsk=${onAsk} />`;
  if (status === "cancelled") return html`<p class="sentence muted">${stopped ? strings.stoppedByYou : strings.stopped}</p>`;
  if (result.error) return html`<${Problem} fault=${result.error} status=${status === "refused" ? "refused" : "failed"} />`;
  return html`<p class="sentence answer-text"><${Prose} text=${message} /></p>
    ${notices(run).map((text) => html`<p class="notice"><${Prose} text=${text} /></p>`)}
    ${result.columns.length > 0 && html`<${ResultView} result=${result} question=${run.question ?? ""} runId=${run.run_id} />`}`;
}

/** @param {Run} run */
function notices({ result, filtered_by: filteredBy }) {
  const texts = [];
  if (result.truncated) texts.push(strings.truncated(result.row_count));
  if (result.result_truncated) texts.push(strings.kept(result.rows.length, result.row_count));
  if (filteredBy.length) texts.push(strings.filteredBy(filteredBy));
  return texts;
}

/** @param {{question: string, choices: string[], open: boolean, onAsk: (message: string) => void}} props */
function Clarify({ question, choices, open, onAsk }) {
  const [chosen, setChosen] = useState("");
  const choose = (/** @type {string} */ choice) => {
    setChosen(choice);
    onAsk(choice);
  };
  return html`<section class="clarify">
    <p class="sentence"><${Prose} text=${question} /></p>
    <div class="choices" role="group" aria-label=${question.replaceAll("`", "")}>
      ${choices.map((choice) => html`<button key=${choice} type="button" class="choice" aria-pressed=${choice === chosen}
        disabled=${!open} onClick=${() => choose(choice)}>${choice}</button>`)}
    </div>
    ${open && html`<p class="muted small">${strings.chooseOne}</p>`}
  </section>`;
}
