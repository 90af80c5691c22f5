/** Ask: datasets and what they hold beside the conversation about one of them. */
import { getRunSql } from "../api/endpoints.js";
import { TurnView } from "../run/turn.js";
import { useStore } from "../store.js";
import { strings } from "../strings.js";
import { useLoaded } from "../ui/load.js";
import { Problem } from "../ui/problem.js";
import { html, useEffect, useRef } from "../vendor/preact.js";
import { formatSql } from "../run/sql.js";
import { Composer } from "./composer.js";
import { conversations } from "./conversations.js";
import { DatasetList } from "./datasets.js";
import { Invitation } from "./invitation.js";
import { SchemaPanel } from "./schema.js";

/** @typedef {import("../api/types.js").Dataset} Dataset */
/** @typedef {import("./conversation.js").Conversation} Conversation */

/** @param {{thread?: string, visit: number, datasets: Dataset[]}} props */
export function AskPage({ thread, visit, datasets }) {
  useStore(conversations);
  const opened = useLoaded(async () => (thread ? conversations.open(thread, datasets) : undefined), [thread]);
  useEffect(() => {
    // Only now is it known which dataset the thread is about. Without one, the last conversation goes on.
    if (opened.value) conversations.choose(opened.value.dataset);
    else if (!thread) conversations.choose(conversations.chosen(datasets));
  }, [opened.value, visit]);
  useEffect(() => void (document.title = strings.title()), []);
  const missing = thread && !opened.loading && !opened.value && location.pathname !== "/";
  const dataset = conversations.chosen(datasets);
  return html`<div class="shell">
    <aside class="data" aria-label=${strings.datasets}>
      <${DatasetList} datasets=${datasets} chosen=${dataset} />
      <${SchemaPanel} key=${dataset.id} dataset=${dataset} />
    </aside>
    ${thread && opened.loading && !opened.value
      ? html`<main id="main" aria-busy="true"></main>`
      : html`<${Talk} key=${dataset.id} conversation=${conversations.about(dataset)} lost=${missing ? opened.error?.fault ?? strings.faults.noThread : undefined} />`}
  </div>`;
}

/** @param {{conversation: Conversation, lost?: import("../api/types.js").Fault}} props */
function Talk({ conversation, lost }) {
  useStore(conversation);
  const { dataset, turns, running } = conversation;
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const last = turns.at(-1);
  useEffect(() => {
    if (turns.length > 1 || running) list.current?.lastElementChild?.scrollIntoView({ block: "start" });
  }, [last?.key]);
  useEffect(() => revealIfSeen(list.current?.lastElementChild), [last?.ended]);
  const send = (/** @type {string} */ text) => void conversation.ask(text);
  return html`<main id="main" class="talk">
    <h1 class="sr-only">${strings.pageTitle}</h1>
    ${lost && html`<${Problem} fault=${lost} />`}
    ${turns.length === 0 && html`<${Invitation} dataset=${dataset} onPrompt=${send} />`}
    <div class="turns" ref=${list}>
      ${turns.map((turn) => html`<${TurnView} key=${turn.key} turn=${turn} open=${turn === last && !running}
        onAsk=${send} onEdit=${(/** @type {string} */ id) => edit(conversation, id)} />`)}
    </div>
    <${Composer} conversation=${conversation} />
  </main>`;
}

/**
 * Puts a run's statement into the field, to be changed.
 * @param {Conversation} conversation
 * @param {string} runId
 */
async function edit(conversation, runId) {
  const { sql } = await getRunSql(runId);
  conversation.write(formatSql(sql));
  document.getElementById("question")?.focus();
}

/**
 * Somebody who has scrolled away to read something else stays there.
 * @param {Element | null | undefined} element
 */
function revealIfSeen(element) {
  if (!element) return;
  const { top, bottom } = element.getBoundingClientRect();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (bottom > 0 && top < innerHeight) element.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}
