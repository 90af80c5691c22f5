/** A result as a table: sortable, walked with the arrow keys, drawn only as far as it is seen. */
import { strings } from "../strings.js";
import { CopyButton, copyText } from "../ui/copy.js";
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { isRounded, plainText } from "./cells.js";
import { tsvRow } from "./export.js";

/** @typedef {import("../api/types.js").Cell} Cell */
/** @typedef {import("./cells.js").Column} Column */
/** @typedef {{row: number, column: number}} Place */

/** Up to this many rows, all are drawn. */
const ALL = 120;
/** The height of a row, as style/result.css sets it. */
const ROW_PX = 36;
/** Rows drawn beyond what is seen. */
const SPARE = 15;

/**
 * @param {object} props
 * @param {Column[]} props.columns
 * @param {Cell[][]} props.rows
 * @param {string} props.question
 * @param {import("./sort.js").Order} props.order
 * @param {(column: number) => void} props.onSort
 */
export function TableView({ columns, rows, question, order, onSort }) {
  const scroll = useRef(/** @type {HTMLElement | null} */ (null));
  const [top, setTop] = useState(0);
  const [place, setPlace] = useState(/** @type {Place | null} */ (null));
  /** Where the keys have led, until the focus has followed. */
  const walked = useRef(/** @type {Place | null} */ (null));
  const few = rows.length <= ALL;
  const fixed = useMemo(() => (few ? [] : widths(columns, rows)), [columns]);
  const from = few ? 0 : Math.max(0, Math.floor(top / ROW_PX) - SPARE);
  const seen = Math.ceil((scroll.current?.clientHeight ?? 480) / ROW_PX) + 2 * SPARE;
  const to = few ? rows.length : Math.min(rows.length, from + seen);

  useEffect(() => {
    // The cell may be drawn only after the table has been scrolled to it.
    if (walked.current && focusCell(scroll.current, walked.current)) walked.current = null;
  }, [place, from]);

  const walk = (/** @type {KeyboardEvent} */ event) => {
    if (!place || !(event.target instanceof Element) || !event.target.closest("td")) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "c" && !String(getSelection())) {
      event.preventDefault();
      void copyText(plainText(rows[place.row]?.[place.column] ?? null));
      return;
    }
    const next = step(event, place, rows.length, columns.length);
    if (!next) return;
    event.preventDefault();
    walked.current = next;
    reveal(scroll.current, next.row);
    setPlace(next);
  };
  const cells = { columns, place, setPlace };
  return html`
    <div class="scroll" ref=${scroll} onScroll=${(/** @type {Event} */ event) => setTop(/** @type {HTMLElement} */ (event.currentTarget).scrollTop)}>
      <table role="grid" aria-rowcount=${rows.length + 1} class=${few ? "" : "wide"} onKeyDown=${walk}>
        <caption class="sr-only">${strings.resultOf(question)}</caption>
        ${!few && html`<colgroup>${fixed.map((ch) => html`<col style=${{ width: `${ch}ch` }} />`)}</colgroup>`}
        <thead><tr aria-rowindex="1">${columns.map((column, i) => html`<${Head} key=${i} column=${column} index=${i} order=${order} onSort=${onSort} />`)}</tr></thead>
        <tbody>
          ${from > 0 && html`<tr aria-hidden="true" class="spacer" style=${{ height: `${from * ROW_PX}px` }}></tr>`}
          ${rows.slice(from, to).map((row, i) => html`<${Row} key=${from + i} index=${from + i} row=${row} ...${cells} />`)}
          ${to < rows.length && html`<tr aria-hidden="true" class="spacer" style=${{ height: `${(rows.length - to) * ROW_PX}px` }}></tr>`}
        </tbody>
      </table>
    </div>
    <${Foot} columns=${columns} rows=${rows} place=${place} />`;
}

/** @param {{column: Column, index: number, order: import("./sort.js").Order, onSort: (column: number) => void}} props */
function Head({ column, index, order, onSort }) {
  const sort = order?.column !== index ? "none" : order.descending ? "descending" : "ascending";
  return html`<th scope="col" aria-sort=${sort} class=${column.numeric ? "number" : ""}>
    <button type="button" onClick=${() => onSort(index)}>${column.name}<span class="type">${column.type}</span></button>
  </th>`;
}

/**
 * @param {object} props
 * @param {Cell[]} props.row
 * @param {number} props.index
 * @param {Column[]} props.columns
 * @param {Place | null} props.place
 * @param {(place: Place) => void} props.setPlace
 */
function Row({ row, index, columns, place, setPlace }) {
  const active = place?.row === index;
  return html`<tr aria-rowindex=${index + 2} aria-selected=${active}>
    ${columns.map((column, i) => {
      const value = row[i] ?? null;
      const text = value === null ? "–" : column.show(value);
      const here = active && place?.column === i;
      const entry = here || (place === null && index === 0 && i === 0);
      const classes = [column.numeric && "number", column.code && "code", value === null && "none", here && "here"];
      const full = column.numeric ? value !== null && isRounded(value, text) : text.length > 40;
      return html`<td key=${i} data-row=${index} data-column=${i} tabindex=${entry ? 0 : -1} class=${classes.filter(Boolean).join(" ")}
        title=${full ? plainText(value) : undefined} aria-label=${value === null ? strings.noValue : undefined}
        onFocus=${() => setPlace({ row: index, column: i })} onClick=${() => setPlace({ row: index, column: i })}>${text}</td>`;
    })}
  </tr>`;
}

/** @param {{columns: Column[], rows: Cell[][], place: Place | null}} props */
function Foot({ columns, rows, place }) {
  const row = place && rows[place.row];
  return html`<p class="foot">
    <span>${rows.length === 0 ? strings.noRows : strings.rows(rows.length)}</span>
    ${row && place && html`<span class="saves">
      <${CopyButton} text=${() => plainText(row[place.column] ?? null)}>${strings.copyCell}<//>
      <${CopyButton} text=${() => tsvRow(columns, row)}>${strings.copyRow}<//>
    </span>`}
  </p>`;
}

/**
 * Where a key leads.
 * @param {KeyboardEvent} event
 * @param {Place} place
 * @param {number} rows
 * @param {number} columns
 * @returns {Place | null}
 */
function step({ key, ctrlKey }, { row, column }, rows, columns) {
  const to = (/** @type {number} */ r, /** @type {number} */ c) => ({
    row: Math.min(rows - 1, Math.max(0, r)),
    column: Math.min(columns - 1, Math.max(0, c)),
  });
  switch (key) {
    case "ArrowUp": return to(row - 1, column);
    case "ArrowDown": return to(row + 1, column);
    case "ArrowLeft": return to(row, column - 1);
    case "ArrowRight": return to(row, column + 1);
    case "PageUp": return to(row - 10, column);
    case "PageDown": return to(row + 10, column);
    case "Home": return to(ctrlKey ? 0 : row, 0);
    case "End": return to(ctrlKey ? rows - 1 : row, columns - 1);
    default: return null;
  }
}

/**
 * @param {HTMLElement | null} scroll
 * @param {number} row
 */
function reveal(scroll, row) {
  if (!scroll) return;
  const head = scroll.querySelector("thead")?.clientHeight ?? 0;
  const [above, below] = [row * ROW_PX, (row + 1) * ROW_PX + head - scroll.clientHeight];
  if (scroll.scrollTop > above) scroll.scrollTop = above;
  else if (scroll.scrollTop < below) scroll.scrollTop = below;
}

/**
 * @param {HTMLElement | null} scroll
 * @param {Place} place
 */
function focusCell(scroll, { row, column }) {
  const cell = scroll?.querySelector(`td[data-row="${row}"][data-column="${column}"]`);
  if (!(cell instanceof HTMLElement)) return false;
  cell.focus({ preventScroll: true });
  return true;
}

/**
 * A table that is drawn in parts must not change its columns' widths while it is scrolled.
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 */
function widths(columns, rows) {
  return columns.map((column, i) => {
    const longest = rows.reduce((most, row) => Math.max(most, plainText(row[i] ?? null).length), column.name.length + 2);
    return Math.min(42, Math.max(8, longest)) + 4;
  });
}
