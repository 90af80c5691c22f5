/** History: runs on record, found by words, dataset and outcome. */
import { listRuns } from "../api/endpoints.js";
import { asApiError } from "../api/http.js";
import { strings } from "../strings.js";
import { dayOf, duration, timeOf } from "../ui/format.js";
import { Problem } from "../ui/problem.js";
import { html, useEffect, useState } from "../vendor/preact.js";

/** @typedef {import("../api/types.js").RunSummary} RunSummary */
/** @typedef {import("../api/types.js").Dataset} Dataset */
/** @typedef {{q: string, dataset_id: string, status: string, everybody: boolean}} Filter */

/** Typing is let come to rest before the server is asked. */
const REST_MS = 200;
const PAGE = "50";

/** @param {{session: import("../api/types.js").Session, datasets: Dataset[]}} props */
export default function HistoryPage({ session, datasets }) {
  const [filter, setFilter] = useState(/** @type {Filter} */ ({ q: "", dataset_id: "", status: "", everybody: false }));
  const { runs, more, error, loading, loadMore } = useRuns(filter, session);
  useEffect(() => void (document.title = strings.title(strings.history)), []);
  return html`<main id="main" class="single history">
    <link rel="stylesheet" href="/assets/style/pages.css" />
    <h1>${strings.history}</h1>
    <${Filters} filter=${filter} onChange=${setFilter} datasets=${datasets} admin=${session.role === "admin"} />
    ${error && html`<${Problem} fault=${error.fault} requestId=${error.requestId} />`}
    ${!loading && !error && runs.length === 0 && html`<p class="muted empty">${strings.noRuns}</p>`}
    <div aria-busy=${loading}>${byDay(runs).map(([day, list]) => html`<section key=${day}>
      <h2 class="eyebrow">${day}</h2>
      <ul class="runs">${list.map((run) => html`<${Item} key=${run.run_id} run=${run} datasets=${datasets} who=${filter.everybody} />`)}</ul>
    </section>`)}</div>
    ${more && html`<p><button type="button" class="secondary" disabled=${loading} onClick=${loadMore}>${strings.more}</button></p>`}
  </main>`;
}

/**
 * @param {Filter} filter
 * @param {import("../api/types.js").Session} session
 */
function useRuns({ q, dataset_id, status, everybody }, session) {
  const [state, setState] = useState({
    runs: /** @type {RunSummary[]} */ ([]), more: /** @type {string | null} */ (null), loading: true,
    error: /** @type {import("../api/http.js").ApiError | undefined} */ (undefined),
  });
  const query = { q: q.trim(), dataset_id, status, actor: everybody ? undefined : session.actor, limit: PAGE };
  const load = async (/** @type {string | undefined} */ cursor, /** @type {() => boolean} */ wanted) => {
    try {
      const page = await listRuns({ ...query, cursor });
      if (wanted()) setState(({ runs }) => ({ runs: cursor ? [...runs, ...page.runs] : page.runs, more: page.next_cursor, loading: false, error: undefined }));
    } catch (error) {
      if (wanted()) setState((before) => ({ ...before, loading: false, error: asApiError(error) }));
    }
  };
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => load(undefined, () => current), q ? REST_MS : 0);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [q, dataset_id, status, everybody]);
  return { ...state, loadMore: () => void load(state.more ?? undefined, () => true) };
}

/** @param {{filter: Filter, onChange: (filter: Filter) => void, datasets: Dataset[], admin: boolean}} props */
function Filters({ filter, onChange, datasets, admin }) {
  const set = (/** @type {Partial<Filter>} */ part) => onChange({ ...filter, ...part });
  const value = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).value;
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <input type="search" aria-label=${strings.search} placeholder=${strings.search} value=${filter.q} onInput=${(/** @type {Event} */ e) => set({ q: value(e) })} />
    <select aria-label=${strings.dataset} value=${filter.dataset_id} onChange=${(/** @type {Event} */ e) => set({ dataset_id: value(e) })}>
      <option value="">${strings.allDatasets}</option>
      ${datasets.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
    </select>
    <select aria-label=${strings.facts.status} value=${filter.status} onChange=${(/** @type {Event} */ e) => set({ status: value(e) })}>
      <option value="">${strings.allOutcomes}</option>
      ${Object.entries(strings.status).map(([id, name]) => html`<option key=${id} value=${id}>${name}</option>`)}
    </select>
    ${admin && html`<label class="check"><input type="checkbox" checked=${filter.everybody}
      onChange=${(/** @type {Event} */ e) => set({ everybody: /** @type {HTMLInputElement} */ (e.target).checked })} /> ${strings.everybody}</label>`}
  </form>`;
}

/** @param {{run: RunSummary, datasets: Dataset[], who: boolean}} props */
function Item({ run, datasets, who }) {
  const dataset = datasets.find(({ id }) => id === run.dataset_id)?.name ?? run.dataset_id;
  const facts = [timeOf(run.created_at), dataset, who && run.actor, run.exec_time_ms !== null && duration(run.exec_time_ms)];
  return html`<li><a href=${`/r/${run.run_id}`}>
    <span class=${`dot ${run.status}`} aria-hidden="true"></span>
    <span class="asked">${run.question ?? strings.ownStatement[run.query_mode ?? "plan"]}</span>
    <span class="facts">${[strings.status[run.status], ...facts].filter(Boolean).join(" · ")}</span>
  </a></li>`;
}

/**
 * @param {RunSummary[]} runs
 * @returns {[string, RunSummary[]][]}
 */
function byDay(runs) {
  /** @type {Map<string, RunSummary[]>} */
  const days = new Map();
  for (const run of runs) {
    const day = dayOf(run.created_at);
    days.set(day, [...(days.get(day) ?? []), run]);
  }
  return [...days];
}
