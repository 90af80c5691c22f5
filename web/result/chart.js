/** The picture of a result. What draws it is fetched when the first one is wanted. */
import { strings } from "../strings.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { isRounded, plainText } from "./cells.js";

/** @typedef {import("../api/types.js").Result} Result */
/** @typedef {import("../api/types.js").Chart} Chart */
/** @typedef {import("./cells.js").Column} Column */
/** @typedef {{result: Result, columns: Column[], question: string, file: string}} Props */

/** @param {Props} props */
export function ChartView(props) {
  const { chart } = props.result;
  if (!chart) return html`<p class="no-chart muted">${strings.noChart}</p>`;
  return chart.kind === "number" ? html`<${Figure} ...${props} chart=${chart} />` : html`<${Plot} ...${props} chart=${chart} />`;
}

/** One number, large. @param {Props & {chart: Chart}} props */
function Figure({ result, columns, chart }) {
  const row = result.rows[0] ?? [];
  const measure = columns[chart.y];
  const value = row[chart.y] ?? null;
  const shown = value === null ? "–" : measure?.show(value) ?? "";
  const of = chart.x === null ? null : plainText(row[chart.x] ?? null);
  return html`<figure class="figure">
    <p class="value" title=${value !== null && isRounded(value, shown) ? plainText(value) : undefined}>${shown}</p>
    <figcaption>${readable(measure?.name ?? "")}${of && html` · <b>${of}</b>`}</figcaption>
  </figure>`;
}

/** @param {Props & {chart: Chart}} props */
function Plot({ result, columns, chart, question, file }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [missing, setMissing] = useState(false);
  const [names, setNames] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    let width = 0;
    const watch = new ResizeObserver(async () => {
      if (box.clientWidth === width || box.clientWidth === 0) return;
      width = box.clientWidth;
      try {
        const { draw, seriesOf } = await import("./draw.js");
        setNames(seriesOf(result, chart));
        const picture = draw(result, columns, chart, width);
        // The box has a name of its own; those of the picture's parts would only be noise.
        picture.setAttribute("aria-hidden", "true");
        box.replaceChildren(picture);
      } catch (error) {
        console.error(error);
        setMissing(true);
      }
    });
    watch.observe(box);
    return () => watch.disconnect();
  }, [result]);
  const save = async (/** @type {"svg" | "png"} */ kind) => {
    const svg = place.current?.querySelector("svg");
    if (svg) (await import("./picture.js")).save(svg, file, kind);
  };
  const label = strings.chartOf[/** @type {"line" | "bar" | "scatter"} */ (chart.kind)](question);
  return html`<figure class="chart">
    ${names.length > 0 && html`<ul class="legend">${names.map((name, i) => html`<li key=${name} class=${`series-${i}`}>${name}</li>`)}</ul>`}
    ${missing && html`<p class="notice">${strings.chartMissing}</p>`}
    <div class="drawing" role="img" aria-label=${label} ref=${place}></div>
    <figcaption class="foot">
      <span>${caption(columns, chart)}</span>
      <span class="saves">
        <button type="button" class="quiet" onClick=${() => save("svg")}>SVG</button>
        <button type="button" class="quiet" onClick=${() => save("png")}>PNG</button>
      </span>
    </figcaption>
  </figure>`;
}

/**
 * @param {Column[]} columns
 * @param {Chart} chart
 */
function caption(columns, { x, y, series }) {
  const name = (/** @type {number | null} */ i) => (i === null ? "" : readable(columns[i]?.name ?? ""));
  return strings.chartCaption(name(y), name(x), name(series));
}

/** @param {string} name */
export const readable = (name) => name.replaceAll("_", " ");
