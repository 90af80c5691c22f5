/** Drawing with Observable Plot. Loaded with the first chart. */
import * as Plot from "../vendor/plot.js";
import { plainText } from "./cells.js";
import { readable } from "./chart.js";

/** @typedef {import("../api/types.js").Result} Result */
/** @typedef {import("../api/types.js").Chart} Chart */
/** @typedef {import("./cells.js").Column} Column */
/** What is drawn, and what is said of it where it is pointed at. @typedef {{x: any, y: number | null, series: string | null, title: string}} Point */

const COLOURS = Array.from({ length: 10 }, (_, i) => `var(--chart-${i})`);
const BAR_PX = 30;
const LETTER_PX = 6.6;

/**
 * The names of the legend, in the order of their colours.
 * @param {Result} result
 * @param {Chart} chart
 */
export function seriesOf({ rows }, { series }) {
  return series === null ? [] : [...new Set(rows.map((row) => name(row[series] ?? null)))].toSorted((a, b) => a.localeCompare(b));
}

/** @param {import("../api/types.js").Cell} value */
const name = (value) => (value === null ? "–" : plainText(value));

/**
 * @param {Result} result
 * @param {Column[]} columns
 * @param {Chart} chart
 * @param {number} width
 * @returns {Element}
 */
export function draw(result, columns, chart, width) {
  const { x, y, series } = chart;
  const [across, up] = [columns[x ?? 0], columns[y]];
  const points = result.rows.map((row) => /** @type {Point} */ ({
    x: x === null ? null : chart.kind === "bar" ? name(row[x] ?? null) : value(row[x] ?? null, across),
    y: row[y] == null ? null : Number(row[y]),
    series: series === null ? null : name(row[series] ?? null),
    title: [series, x, y].filter((i) => i !== null).map((i) => said(row[i] ?? null, columns[i])).join("\n"),
  }));
  const labels = { x: readable(across?.name ?? ""), y: readable(up?.name ?? "") };
  const shared = {
    width,
    marginRight: 24,
    style: { fontSize: "12px", fontFamily: "inherit", background: "none", overflow: "visible" },
    color: { type: /** @type {const} */ ("categorical"), domain: seriesOf(result, chart), range: COLOURS },
  };
  if (chart.kind === "line") return line(points, labels, shared);
  if (chart.kind === "scatter") return scatter(points, labels, shared);
  return across?.numeric ? columnsUp(points, labels, shared) : bars(points, labels, shared);
}

/**
 * @param {import("../api/types.js").Cell} cell
 * @param {Column | undefined} column
 */
const said = (cell, column) => `${readable(column?.name ?? "")}: ${cell === null ? "–" : column?.show(cell)}`;

/**
 * @param {import("../api/types.js").Cell} cell
 * @param {Column | undefined} column
 */
function value(cell, column) {
  if (cell === null) return null;
  return column?.numeric ? Number(cell) : new Date(String(cell));
}

/** @typedef {{x: string, y: string}} Labels */
/** @typedef {import("../vendor/plot.js").PlotOptions} Options */

const tip = { stroke: "var(--line-strong)", textPadding: 10, fontSize: 12 };
const colour = (/** @type {Point[]} */ points) => (points.some(({ series }) => series !== null) ? "series" : COLOURS[0]);

/** @type {(points: Point[], labels: Labels, shared: Options) => Element} */
function line(points, labels, shared) {
  const dots = points.length <= 60;
  const byTime = points.toSorted((a, b) => Number(a.x) - Number(b.x));
  return Plot.plot({
    ...shared, height: 320, ...marginFor(points),
    x: { type: "utc", label: null },
    y: { grid: true, label: labels.y, nice: true, zero: true, ticks: 5, tickFormat: short },
    marks: [
      Plot.ruleY([0], { strokeOpacity: 0.3 }),
      Plot.lineY(byTime, { x: "x", y: "y", z: "series", stroke: colour(points), strokeWidth: 2, title: "title", tip }),
      ...(dots ? [Plot.dot(byTime, { x: "x", y: "y", fill: colour(points), r: 3 })] : []),
    ],
  });
}

/** @type {(points: Point[], labels: Labels, shared: Options) => Element} */
function scatter(points, labels, shared) {
  return Plot.plot({
    ...shared, height: 360, ...marginFor(points), grid: true,
    x: { label: labels.x, ticks: 6, tickFormat: short },
    y: { label: labels.y, ticks: 5, tickFormat: short },
    marks: [
      Plot.dot(points, { x: "x", y: "y", stroke: COLOURS[0], fill: COLOURS[0], fillOpacity: 0.35, r: 3.5, title: "title", tip }),
    ],
  });
}

/** Names are read from left to right: their bars lie. @type {(points: Point[], labels: Labels, shared: Options) => Element} */
function bars(points, labels, shared) {
  const order = [...new Set(points.map(({ x }) => x))];
  const longest = Math.max(...order.map((word) => Math.min(26, word.length)));
  return Plot.plot({
    ...shared, height: order.length * BAR_PX + 50, marginLeft: longest * LETTER_PX + 20, marginBottom: 34, marginTop: 8,
    x: { grid: true, label: labels.y, labelAnchor: "right", ticks: 5, tickFormat: short, nice: true },
    y: { domain: order, label: null, tickSize: 0, tickFormat: (word) => (word.length > 26 ? `${word.slice(0, 25)}…` : word), padding: 0.25 },
    marks: [
      Plot.barX(points, { x: "y", y: "x", fill: colour(points), insetTop: 1, insetBottom: 1, rx: 2, title: "title", tip }),
      Plot.ruleX([0], { strokeOpacity: 0.3 }),
    ],
  });
}

/** Years and weeks stand in a row. @type {(points: Point[], labels: Labels, shared: Options) => Element} */
function columnsUp(points, labels, shared) {
  const order = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => Number(a) - Number(b));
  return Plot.plot({
    ...shared, height: 320, ...marginFor(points),
    x: { domain: order, label: labels.x, tickSize: 0, padding: 0.3 },
    y: { grid: true, label: labels.y, ticks: 5, tickFormat: short, nice: true },
    marks: [
      Plot.barY(points, { x: "x", y: "y", fill: colour(points), rx: 2, title: "title", tip }),
      Plot.ruleY([0], { strokeOpacity: 0.3 }),
    ],
  });
}

/** @param {Point[]} points */
function marginFor(points) {
  const longest = Math.max(...points.map(({ y }) => short(y ?? 0).length));
  return { marginLeft: Math.max(40, longest * LETTER_PX + 22), marginTop: 28, marginBottom: 32 };
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** @param {number} n */
const short = (n) => compact.format(n);
