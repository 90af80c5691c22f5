/** What the demo's suggested questions must answer: demo/golden.jsonl. */
import { readFileSync } from "node:fs";

/** @typedef {{dataset: string, question: string, kind: string, check: string, rows: (string | number)[][]}} Golden */

/** @type {Golden[]} */
export const golden = readFileSync(new URL("../../../demo/golden.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));

/**
 * Numbers are numbers whether they came as digits or not, and a sum of floats has no last digit.
 * @param {unknown[][]} rows
 */
export function comparable(rows) {
  const cell = (/** @type {unknown} */ value) =>
    value !== "" && value !== null && Number.isFinite(Number(value)) ? Number(Number(value).toPrecision(10)) : value;
  return rows.map((row) => row.map(cell)).sort((a, b) => String(a).localeCompare(String(b)));
}
