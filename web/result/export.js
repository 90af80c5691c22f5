/** A result as TSV, CSV and JSON. */
import { plainText } from "./cells.js";

/** @typedef {import("../api/types.js").Cell} Cell */
/** @typedef {import("./cells.js").Column} Column */

/**
 * A spreadsheet would run text that begins like this as a formula: an apostrophe keeps it text. Numbers stay numbers.
 * @param {Cell} value
 * @param {Column} column
 */
function guarded(value, { numeric }) {
  const text = plainText(value);
  return !numeric && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/**
 * @param {Column[]} columns
 * @param {Cell[]} row
 */
export function tsvRow(columns, row) {
  return columns.map((column, i) => guarded(row[i] ?? null, column).replace(/[\t\r\n]+/g, " ")).join("\t");
}

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 */
export function tsv(columns, rows) {
  return [columns.map(({ name }) => name).join("\t"), ...rows.map((row) => tsvRow(columns, row))].join("\n");
}

/** @param {string} text */
const csvCell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 */
export function csv(columns, rows) {
  const names = columns.map((column) => csvCell(guarded(column.name, { ...column, numeric: false })));
  const lines = rows.map((row) => columns.map((column, i) => csvCell(guarded(row[i] ?? null, column))).join(","));
  return [names.join(","), ...lines].join("\r\n") + "\r\n";
}

/**
 * An array of objects, with every digit that the server sent.
 * @param {Column[]} columns
 * @param {Cell[][]} rows
 */
export function json(columns, rows) {
  const keys = unique(columns.map(({ name }) => name)).map((name) => JSON.stringify(name));
  const member = (/** @type {Cell} */ value, /** @type {number} */ i) => {
    // A number that came as its digits (api/json.js) is a number again.
    const digits = columns[i]?.numeric && typeof value === "string" && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value);
    return `${keys[i]}: ${digits ? value : JSON.stringify(value)}`;
  };
  return `[\n${rows.map((row) => `  {${row.map(member).join(", ")}}`).join(",\n")}\n]\n`;
}

/** @param {string[]} names */
function unique(names) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return names.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name}_${times}`;
  });
}

/**
 * @param {string} name
 * @param {Blob} content
 */
export function download(name, content) {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
