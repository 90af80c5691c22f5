/** A chart as a file. */
import { download } from "./export.js";

const SCALE = 2;
const MARGIN = 16;

/**
 * @param {SVGSVGElement} svg
 * @param {string} file
 * @param {"svg" | "png"} kind
 */
export async function save(svg, file, kind) {
  const text = standalone(svg);
  const content = kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await png(text);
  if (content) download(`${file}.${kind}`, content);
}

/**
 * The picture with everything that the page's style sheets give it, written into it.
 * @param {SVGSVGElement} svg
 */
function standalone(svg) {
  const style = getComputedStyle(svg);
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const { width, height } = svg.viewBox.baseVal;
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name, value } of [...element.attributes]) {
      if (value.includes("var(")) element.setAttribute(name, resolved(value, style));
    }
  }
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("color", style.color);
  copy.setAttribute("font-family", style.fontFamily);
  copy.setAttribute("font-size", style.fontSize);
  copy.setAttribute("width", String(width + 2 * MARGIN));
  copy.setAttribute("height", String(height + 2 * MARGIN));
  copy.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`);
  copy.removeAttribute("style");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const place = { x: -MARGIN, y: -MARGIN, width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor };
  for (const [name, value] of Object.entries(place)) paper.setAttribute(name, String(value));
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/**
 * @param {string} value
 * @param {CSSStyleDeclaration} style
 */
function resolved(value, style) {
  return value.replace(/var\((--[\w-]+)\)/g, (all, name) => colour(style.getPropertyValue(name)) || all);
}

/**
 * Viewers other than browsers know neither `light-dark()` nor its like.
 * @param {string} value
 */
function colour(value) {
  const probe = document.createElement("i");
  probe.style.color = value;
  document.body.append(probe);
  const plain = getComputedStyle(probe).color;
  probe.remove();
  return plain;
}

/**
 * @param {string} svg
 * @returns {Promise<Blob | null>}
 */
async function png(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * SCALE;
  canvas.height = image.height * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
