// @ts-check
/** A result as a table: types in the head, numbers to the right, exact values kept as titles. */
import { h } from "./dom.js";
import { strings } from "./strings.js";

/** @typedef {import("./api.js").Result} Result */

const NUMERIC = new Set(["number", "decimal", "integer"]);
const CODE = new Set(["uuid", "json", "bytes", "list", "struct", "other"]);
/** Numbers that name something are not quantities: no thousands separators. */
const NAMES = /(^|_)(id|year|no|number|code|key|zip)$/i;
const MAX_FRACTION = 4;
/** Text up to this length stays on one line. */
const SHORT_TEXT = 32;
/** More rows than this are drawn only when asked for. */
const FIRST_ROWS = 200;

/**
 * @param {Result} result
 * @param {string} question
 * @returns {HTMLElement}
 */
export function resultTable(result, question) {
  const columns = result.columns.map((name, i) => column(name, result.types[i] ?? "other", result.rows, i));
  const body = h("tbody", {}, ...drawRows(result.rows.slice(0, FIRST_ROWS), columns));
  const table = h(
    "table",
    {},
    h("caption", { class: "sr-only" }, strings.resultOf(question)),
    h("thead", {}, h("tr", {}, ...columns.map(headCell))),
    body,
  );
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": strings.resultOf(question) };
  return h("div", { class: "result" }, h("div", scroll, table), foot(result, body, columns));
}

/** @typedef {{name: string, type: string, numeric: boolean, show: (value: unknown) => string}} Column */

/**
 * @param {string} name
 * @param {string} type
 * @param {unknown[][]} rows
 * @param {number} index
 * @returns {Column}
 */
function column(name, type, rows, index) {
  const numeric = NUMERIC.has(type);
  if (!numeric) return { name, type, numeric, show: plainText };
  const fraction = Math.min(MAX_FRACTION, Math.max(0, ...rows.map((row) => fractionDigits(row[index]))));
  const grouped = !NAMES.test(name);
  return { name, type, numeric, show: (value) => numberText(value, fraction, grouped) };
}

/** @param {Column} column */
function headCell({ name, type, numeric }) {
  return h("th", { scope: "col", class: numeric && "number" }, name, h("span", { class: "type" }, type));
}

/**
 * @param {unknown[][]} rows
 * @param {Column[]} columns
 */
function drawRows(rows, columns) {
  return rows.map((row) => h("tr", {}, ...columns.map((column, i) => cell(row[i], column))));
}

/**
 * @param {unknown} value
 * @param {Column} column
 */
function cell(value, { type, numeric, show }) {
  if (value == null) {
    return h("td", { class: numeric ? "number none" : "none" }, h("span", { "aria-hidden": "true" }, "–"),
      h("span", { class: "sr-only" }, strings.noValue));
  }
  const text = show(value);
  const exact = plainText(value);
  const rounded = numeric && text.replaceAll(",", "") !== exact && Number(text.replaceAll(",", "")) !== Number(exact);
  const classes = [numeric && "number", CODE.has(type) && "code", text.length > SHORT_TEXT && "long"].filter(Boolean);
  return h("td", { class: classes.join(" ") || null, title: rounded && exact }, text);
}

/**
 * @param {Result} result
 * @param {HTMLElement} body
 * @param {Column[]} columns
 */
function foot(result, body, columns) {
  const all = result.rows.length;
  if (all === 0) return h("p", { class: "foot" }, strings.noRows);
  if (all <= FIRST_ROWS) return h("p", { class: "foot" }, strings.rows(all));
  const line = h("p", { class: "foot" }, strings.shown(FIRST_ROWS, all));
  const more = () => {
    body.append(...drawRows(result.rows.slice(FIRST_ROWS), columns));
    line.replaceChildren(strings.rows(all));
  };
  line.append(h("button", { type: "button", class: "quiet", onclick: more }, strings.showAll(all)));
  return line;
}

/** @param {unknown} value */
function plainText(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const DIGITS = /^(-?)(\d+)(?:\.(\d+))?$/;

/** @param {unknown} value */
function fractionDigits(value) {
  return value == null ? 0 : (DIGITS.exec(String(value))?.[3]?.length ?? 0);
}

/**
 * Works on the digits, not on a float: a decimal or a large integer that came as text stays exact.
 * @param {unknown} value
 * @param {number} fraction digits after the point, the same for the whole column
 * @param {boolean} grouped
 */
function numberText(value, fraction, grouped) {
  const long = fractionDigits(value) > fraction;
  const parts = DIGITS.exec(long ? Number(value).toFixed(fraction) : String(value));
  if (!parts) return plainText(value);
  const [, sign, whole = "", rest = ""] = parts;
  const integer = grouped ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return fraction ? `${sign}${integer}.${rest.padEnd(fraction, "0")}` : `${sign}${integer}`;
}
