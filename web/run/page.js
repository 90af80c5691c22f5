/** `/r/{run_id}`: one run, whole, for whoever may see it. */
import { conversations } from "../ask/conversations.js";
import { getRun, getRunSql } from "../api/endpoints.js";
import { navigate } from "../router.js";
import { strings } from "../strings.js";
import { useLoaded } from "../ui/load.js";
import { Problem } from "../ui/problem.js";
import { momentOf } from "../ui/format.js";
import { html, useEffect } from "../vendor/preact.js";
import { Turn } from "../ask/conversation.js";
import { Progress } from "./progress.js";
import { formatSql } from "./sql.js";
import { Question, RunView } from "./turn.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Dataset} Dataset */

/** While it runs, it is looked at again this often. */
const LOOK_MS = 1000;

/** @param {{id: string, session: import("../api/types.js").Session, datasets: Dataset[]}} props */
export default function RunPage({ id, session, datasets }) {
  const { value: run, error, reload } = useLoaded(() => getRun(id), [id]);
  const running = run?.status === "running";
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(reload, LOOK_MS);
    return () => clearInterval(timer);
  }, [running]);
  return html`<main id="main" class="single">
    ${error && html`<h1 class="sr-only">${strings.run}</h1><${Problem} fault=${error.fault} requestId=${error.requestId} />`}
    ${running && html`<h1>${strings.run}</h1><p class="sentence muted" aria-busy="true">${strings.stillRunning}</p>`}
    ${run && !running && html`<${Ended} run=${/** @type {Run} */ (run)} session=${session} datasets=${datasets} />`}
  </main>`;
}

/** @param {{run: Run, session: import("../api/types.js").Session, datasets: Dataset[]}} props */
function Ended({ run, session, datasets }) {
  const dataset = datasets.find(({ id }) => id === run.details.dataset_id);
  const own = run.details.actor === session.actor;
  useEffect(() => void (document.title = strings.title(run.question ?? strings.run)), [run.run_id]);
  const take = (/** @type {string} */ draft) => {
    if (!dataset) return undefined;
    // Somebody else's thread is theirs: the question begins a new one.
    const conversation = conversations.take(dataset, own ? run.thread_id : null, draft);
    navigate("/");
    return conversation;
  };
  const ask = (/** @type {string} */ message) => void take("")?.ask(message);
  return html`
    <p class="eyebrow">${strings.runOf(dataset?.name ?? run.details.dataset_id, momentOf(run.created_at))}</p>
    <h1 class="sr-only">${strings.run}</h1>
    <article class="turn">
      <${Question} text=${run.question ?? run.details.sql_text ?? strings.planQuestion} />
      <${Progress} turn=${Turn.of(run)} />
      <${RunView} run=${run} open=${dataset !== undefined} onAsk=${ask} onAgain=${() => ask(run.question ?? "")}
        onEdit=${async () => take(formatSql((await getRunSql(run.run_id)).sql))} />
    </article>
    ${own && run.thread_id && html`<p><a href=${`/t/${run.thread_id}`}>${strings.openThread}</a></p>`}`;
}
