/** Planning → validating → executing, with the time that each takes: the page's clock while it runs, the server's after. */
import { strings } from "../strings.js";
import { duration } from "../ui/format.js";
import { html, useEffect, useState } from "../vendor/preact.js";

/** @typedef {import("../ask/conversation.js").Turn} Turn */
/** @typedef {import("../api/types.js").Stage} Stage */

/** @type {Stage[]} */
const STAGES = ["planning", "validating", "executing"];
const TICK_MS = 100;

/** @param {{turn: Turn}} props */
export function Progress({ turn }) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (turn.ended) return;
    const timer = setInterval(() => tick((n) => n + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [turn.ended]);
  const steps = turn.run ? recorded(turn.run) : watched(turn);
  if (steps.length === 0) return null;
  return html`<ol class="steps">
    ${steps.map(({ stage, state, time }) => html`<li key=${stage} data-stage=${stage} data-state=${state}>
      <span>${label(turn, stage, state)}</span>${time !== undefined && html`<span class="time">${time}</span>`}
    </li>`)}
  </ol>`;
}

/** @typedef {{stage: Stage, state: "pending" | "active" | "done" | "ended", time?: string}} Step */

/**
 * @param {Turn} turn
 * @returns {Step[]}
 */
function watched(turn) {
  const current = [...turn.entered.keys()].at(-1);
  const now = turn.endedAt ?? performance.now();
  return STAGES.flatMap((stage, i) => {
    /** @type {(step: Step) => Step[]} */
    const one = (step) => [step];
    const from = turn.entered.get(stage);
    if (from === undefined) return turn.ended ? [] : one({ stage, state: "pending" });
    const next = STAGES.slice(i + 1).map((later) => turn.entered.get(later)).find((at) => at !== undefined);
    const state = stage !== current ? "done" : turn.ended ? "ended" : "active";
    return one({ stage, state, time: `${(((next ?? now) - from) / 1000).toFixed(1)} s` });
  });
}

/**
 * Only stages that were reached; the one in which it ended without an answer is not called done.
 * @param {import("../api/types.js").Run} run
 * @returns {Step[]}
 */
function recorded({ status, details: { timings, compiled_sql: compiled } }) {
  const spent = { planning: timings.plan_ms, validating: timings.check_ms, executing: timings.run_ms };
  const reached = STAGES.filter((stage) => spent[stage] > 0 || (stage === "validating" && compiled !== null));
  return reached.map((stage, i) => {
    const last = i === reached.length - 1 && status !== "succeeded";
    return { stage, state: last ? "ended" : "done", time: duration(spent[stage]) };
  });
}

/**
 * @param {Turn} turn
 * @param {Stage} stage
 * @param {Step["state"]} state
 */
function label(turn, stage, state) {
  if (state === "active" && turn.stopped) return strings.stopping;
  if (state === "active" && turn.lost) return strings.reconnecting;
  return state === "done" ? strings.stagesDone[stage] : strings.stages[stage];
}
