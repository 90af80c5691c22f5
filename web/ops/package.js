/** Where an approved script is, what it said, and how it ended: while it happens. */
import { getPackage, propose } from "../api/ops.js";
import { navigate } from "../router.js";
import { strings as common } from "../strings.js";
import { Failure, useAttempt } from "../ui/attempt.js";
import { CopyButton } from "../ui/copy.js";
import { duration, momentOf, size } from "../ui/format.js";
import { announce } from "../ui/live.js";
import { useLoaded } from "../ui/load.js";
import { usePoll } from "../ui/poll.js";
import { html, useEffect, useRef } from "../vendor/preact.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/ops-types.js").Package} Parcel */
/** @typedef {import("../api/ops-types.js").Result} Result */

const STEPS = /** @type {const} */ (["queued", "claimed", "done"]);
/** While something happens, and when only a late word or a rollback may still come. */
const LOOK_MS = 1000;
const SELDOM_MS = 5000;

/**
 * @param {object} props
 * @param {string} props.id
 * @param {boolean} props.hasRollback
 * @param {boolean} props.engineer whether a rollback may be proposed
 * @param {() => void} props.onFetched
 */
export function Package({ id, hasRollback, engineer, onFetched }) {
  const { value: parcel, error, reload } = useLoaded(() => getPackage(id), [id]);
  usePoll(reload, parcel === undefined || isMoving(parcel) ? LOOK_MS : mayChange(parcel, hasRollback) ? SELDOM_MS : null);
  const ended = parcel?.result && endingOf(parcel.result);
  const wasMoving = useRef(false);
  useEffect(() => {
    if (ended && wasMoving.current) announce(strings.ended(ended));
    wasMoving.current = parcel !== undefined && isMoving(parcel);
  }, [ended, parcel?.state]);
  useEffect(() => {
    if (parcel && parcel.state !== "queued") onFetched();
  }, [parcel?.state]);
  return html`<section class="panel parcel" aria-labelledby="parcel" aria-busy=${parcel ? isMoving(parcel) : true}>
    <h2 id="parcel">${strings.package}</h2>
    <${Failure} error=${error} />
    ${parcel && html`<${Whole} parcel=${parcel} hasRollback=${hasRollback} engineer=${engineer} />`}
  </section>`;
}

/** @param {Parcel} parcel */
const isMoving = ({ state }) => state === "queued" || state === "claimed";

/**
 * @param {Parcel} parcel
 * @param {boolean} hasRollback
 */
const mayBeUndone = ({ state, undone, result }, hasRollback) =>
  (state === "done" || state === "unheard") && hasRollback && !undone && result?.ending !== "refused";

/**
 * @param {Parcel} parcel
 * @param {boolean} hasRollback
 */
const mayChange = (parcel, hasRollback) => parcel.state === "unheard" || mayBeUndone(parcel, hasRollback);

/** @param {{parcel: Parcel, hasRollback: boolean, engineer: boolean}} props */
function Whole({ parcel, hasRollback, engineer }) {
  const { state, result, undone } = parcel;
  return html`
    <${Steps} state=${state} />
    ${!result && html`<p class=${state === "unheard" ? "ending bad" : undefined}>${strings.packageStates[state]}</p>`}
    ${state === "unheard" && parcel.heard_at && html`<p>${strings.lastHeard(momentOf(parcel.heard_at))}</p>`}
    ${result && html`<${Ended} result=${result} parcel=${parcel} />`}
    ${(result || parcel.log) && html`<${Log} title=${strings.log} text=${parcel.log} ended=${Boolean(result)} />`}
    ${undone && html`<${Undone} result=${undone} log=${parcel.undone_log} />`}
    ${mayBeUndone(parcel, hasRollback) && html`<${Undo} id=${parcel.package_id} engineer=${engineer} />`}`;
}

/** @param {{state: Parcel["state"]}} props */
function Steps({ state }) {
  const at = STEPS.findIndex((step) => step === state);
  if (at < 0) return null;
  const stateOf = (/** @type {number} */ i) => (i < at || state === "done" ? "done" : i === at ? "active" : "pending");
  return html`<ol class="steps">${STEPS.map((step, i) => html`<li key=${step} data-state=${stateOf(i)}
    aria-current=${i === at ? "step" : undefined}>${strings.steps[step]}</li>`)}</ol>`;
}

/** @param {Result} result */
const endingOf = ({ ending, exit_code: code }) => strings.endings[ending](code);
/** @param {Result} result */
const isGood = ({ ending, exit_code: code }) => ending === "exited" && code === 0;

/** @param {{result: Result, parcel: Parcel}} props */
function Ended({ result, parcel }) {
  /** @type {[string, unknown][]} */
  const facts = [
    [strings.facts.code, result.code && html`<code>${result.code}</code>`],
    [strings.facts.started, momentOf(result.started_at)],
    [strings.facts.took, result.duration_ms > 0 && duration(result.duration_ms)],
    [strings.facts.cpu, result.usage.cpu_ms > 0 && duration(result.usage.cpu_ms)],
    [strings.facts.memory, result.usage.memory_peak_kb && size(result.usage.memory_peak_kb * 1024)],
    [strings.facts.said, result.usage.output_bytes > 0 && size(result.usage.output_bytes)],
    [strings.facts.sandbox, [result.sandbox_tier, result.unenforced.length > 0 && strings.unenforced(result.unenforced)].filter(Boolean).join(" · ")],
    [strings.facts.fetched, parcel.claims > 1 && strings.times(parcel.claims)],
    [strings.facts.run, html`<a href=${`/r/${parcel.run_id}`}><code>${parcel.run_id}</code></a>`],
    [strings.facts.package, html`<code>${parcel.package_id}</code>`],
  ];
  return html`<p class=${`ending ${isGood(result) ? "good" : "bad"}`}>${endingOf(result)}</p>
    ${result.truncated && html`<p class="notice">${strings.truncated}</p>`}
    <dl class="figures">${facts.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** @param {{result: Result, log: string}} props */
function Undone({ result, log }) {
  return html`<h3>${strings.undone}</h3>
    <p class=${`ending ${isGood(result) ? "good" : "bad"}`}>${endingOf(result)} <span class="muted small">${momentOf(result.started_at)}</span></p>
    <${Log} title=${strings.logOfRollback} text=${log} ended=${true} />`;
}

/** Whoever sits at the device may undo it; from here it is proposed like any other script. @param {{id: string, engineer: boolean}} props */
function Undo({ id, engineer }) {
  const { attempt, busy, failed } = useAttempt();
  const command = `gatehouse-device --rollback ${id}`;
  const ask = () => attempt(async () => navigate(`/ops/proposals/${(await propose({ rollback_of: id })).proposal_id}`));
  return html`${engineer && html`<p><button type="button" class="secondary" disabled=${busy} onClick=${ask}>${strings.proposeRollback}</button></p><${Failure} error=${failed} />`}
    <p class="muted small">${strings.toRollBack}</p>
    <p class="command"><code>${command}</code> <${CopyButton} text=${command} label=${common.copyThis(command)}>${common.copy}<//></p>`;
}

/** @param {{title: string, text: string, ended: boolean}} props */
function Log({ title, text, ended }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // What comes last is what is watched; an end is read from its beginning.
    if (box.current && !ended) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return html`<section class="block">
    <header><h3>${title}</h3>${text && html`<${CopyButton} text=${text} label=${common.copyThis(title)}>${common.copy}<//>`}</header>
    <pre class="log" tabindex="0" aria-label=${title} ref=${box}>${text || (ended ? strings.silent : strings.noLog)}</pre>
  </section>`;
}
