/** A result: as a table, or as the picture that the server found to suit it. */
import { strings } from "../strings.js";
import { CopyButton } from "../ui/copy.js";
import { html, useMemo, useState } from "../vendor/preact.js";
import { columnsOf } from "./cells.js";
import { ChartView } from "./chart.js";
import { csv, download, json, tsv } from "./export.js";
import { nextOrder, sorted } from "./sort.js";
import { TableView } from "./table.js";

/** @typedef {import("../api/types.js").Result} Result */
/** @typedef {"table" | "chart"} View */

/** The view that was last asked for: the next result opens in it, if it has one. @type {View} */
let preferred = "table";

/** @param {{result: Result, question: string, runId: string}} props */
export function ResultView({ result, question, runId }) {
  const [view, setView] = useState(/** @type {View} */ (first(result)));
  const [order, setOrder] = useState(/** @type {import("./sort.js").Order} */ (null));
  const columns = useMemo(() => columnsOf(result), [result]);
  const rows = useMemo(() => sorted(result.rows, order, columns[order?.column ?? 0]?.numeric ?? false), [result, order]);
  const choose = (/** @type {View} */ chosen) => {
    preferred = chosen;
    setView(chosen);
  };
  const file = `gatehouse-${runId.slice(0, 8)}`;
  const id = `result-${runId}`;
  return html`<div class="result">
    <header class="tools">
      <${Tabs} id=${id} view=${view} onChoose=${choose} />
      ${view === "table" && html`<div class="saves">
        <${CopyButton} text=${() => tsv(columns, rows)}>${strings.copyTable}<//>
        <button type="button" class="quiet" onClick=${() => download(`${file}.csv`, new Blob([csv(columns, rows)], { type: "text/csv" }))}>CSV</button>
        <button type="button" class="quiet" onClick=${() => download(`${file}.json`, new Blob([json(columns, rows)], { type: "application/json" }))}>JSON</button>
      </div>`}
    </header>
    <div role="tabpanel" id=${`${id}-panel`} aria-labelledby=${`${id}-${view}`}>
      ${view === "table"
        ? html`<${TableView} columns=${columns} rows=${rows} question=${question} order=${order}
            onSort=${(/** @type {number} */ column) => setOrder(nextOrder(order, column))} />`
        : html`<${ChartView} result=${result} columns=${columns} question=${question} file=${file} />`}
    </div>
  </div>`;
}

/**
 * A single figure says more than a table of one cell.
 * @param {Result} result
 * @returns {View}
 */
function first({ chart }) {
  if (chart?.kind === "number") return "chart";
  return chart ? preferred : "table";
}

/** @param {{id: string, view: View, onChoose: (view: View) => void}} props */
function Tabs({ id, view, onChoose }) {
  const move = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = view === "table" ? "chart" : "table";
    onChoose(other);
    document.getElementById(`${id}-${other}`)?.focus();
  };
  const tab = (/** @type {View} */ name) => html`<button type="button" role="tab" id=${`${id}-${name}`} aria-selected=${view === name}
    aria-controls=${`${id}-panel`} tabindex=${view === name ? 0 : -1} onClick=${() => onChoose(name)}>${strings.views[name]}</button>`;
  return html`<div role="tablist" aria-label=${strings.viewAs} onKeyDown=${move}>${tab("table")}${tab("chart")}</div>`;
}
