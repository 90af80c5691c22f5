/** What the chosen dataset holds, as far as this caller may see it: tables, columns, some values. */
import { getSchema } from "../api/endpoints.js";
import { plainText } from "../result/cells.js";
import { strings } from "../strings.js";
import { useLoaded } from "../ui/load.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../api/types.js").SchemaTable} SchemaTable */
/** @typedef {import("../api/types.js").SchemaColumn} SchemaColumn */

/** On a small screen it would stand between the reader and the question. */
const roomy = matchMedia("(min-width: 52.01rem)");

/** @param {{dataset: import("../api/types.js").Dataset}} props */
export function SchemaPanel({ dataset }) {
  const [open, setOpen] = useState(roomy.matches);
  const toggle = (/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open);
  return html`<details class="schema" open=${open} onToggle=${toggle}>
    <summary class="eyebrow">${strings.schema}</summary>
    ${open && html`<${Tables} dataset=${dataset} />`}
  </details>`;
}

/** @param {{dataset: import("../api/types.js").Dataset}} props */
function Tables({ dataset }) {
  const { value, error, loading } = useLoaded(() => getSchema(dataset.id), [dataset.id, dataset.version_hash]);
  if (error) return html`<p class="muted small">${strings.schemaMissing}</p>`;
  if (!value) return html`<p class="muted small" aria-busy=${loading}>${strings.loading}</p>`;
  return html`<div class="tables">
    ${value.tables.map((table, i) => html`<${TableView} key=${table.name} table=${table} open=${i === 0} />`)}
  </div>`;
}

/** @param {{table: SchemaTable, open: boolean}} props */
function TableView({ table, open }) {
  return html`<details open=${open}>
    <summary title=${table.description}>
      <span class="table-name">${table.name}</span>
      <span class="count">${table.row_count === null ? "" : strings.rows(table.row_count)}</span>
    </summary>
    <ul>${table.columns.map((column) => html`<${ColumnView} key=${column.name} column=${column} sample=${table.sample ?? []} />`)}</ul>
  </details>`;
}

/** @param {{column: SchemaColumn, sample: Record<string, import("../api/types.js").Cell>[]}} props */
function ColumnView({ column, sample }) {
  const values = sample.map((row) => row[column.name]).filter((value) => value != null).map(plainText);
  const shown = [...new Set(values)].join(", ");
  return html`<li title=${column.description || undefined}>
    <span class="column-name">${column.name}</span> <span class="type">${column.type}</span>
    ${shown && html`<span class="values">${shown}</span>`}
  </li>`;
}
