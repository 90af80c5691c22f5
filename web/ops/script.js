/** A script, coloured and numbered, and what has changed in one. */
import { strings as common } from "../strings.js";
import { CopyButton } from "../ui/copy.js";
import { html } from "../vendor/preact.js";
import { diffLines, folded } from "./diff.js";
import { shellLines } from "./shell.js";
import { strings } from "./strings.js";

/** @typedef {import("../api/ops-types.js").Script} Script */

/** Beyond this, colours would cost more than they tell. */
const MOST_COLOURED = 50_000;

/**
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.text
 * @param {Map<number, string>} [props.marked] lines that policy has something to say about
 */
export function ScriptView({ title, text, marked = new Map() }) {
  const lines = text.length > MOST_COLOURED ? text.split("\n").map((line) => [{ kind: "plain", text: line }]) : shellLines(text);
  return html`<section class="block script">
    <header><h2>${title}</h2><${CopyButton} text=${text} label=${common.copyThis(title)}>${common.copy}<//></header>
    <pre tabindex="0" aria-label=${title}><code>${lines.map((tokens, i) => html`<span class=${`line ${marked.get(i + 1) ?? ""}`}>${tokens.map(({ kind, text: part }) =>
      (kind === "plain" ? part : html`<span class=${`s-${kind}`}>${part}</span>`))}${"\n"}</span>`)}</code></pre>
  </section>`;
}

/** @param {{before: Script, after: Script, version: number}} props */
export function Changes({ before, after, version }) {
  const json = (/** @type {Script} */ { manifest }) => JSON.stringify(manifest, null, 2);
  /** @type {[string, string, string][]} */
  const parts = [
    [strings.changesIn.intent, before.intent, after.intent],
    [strings.changesIn.script, before.script, after.script],
    [strings.changesIn.rollback, before.rollback ?? "", after.rollback ?? ""],
    [strings.changesIn.manifest, json(before), json(after)],
  ];
  const changed = parts.filter(([, old, now]) => old !== now);
  return html`<section class="changes" aria-labelledby="changes">
    <h2 id="changes">${strings.changes(version - 1, version)}</h2>
    ${changed.length === 0 && html`<p class="muted">${strings.unchanged}</p>`}
    ${changed.map(([name, old, now]) => html`<${Diff} key=${name} title=${name} before=${old} after=${now} />`)}
  </section>`;
}

/** @param {{title: string, before: string, after: string}} props */
function Diff({ title, before, after }) {
  return html`<section class="block script">
    <header><h3>${title}</h3></header>
    <pre tabindex="0" aria-label=${title}><code>${folded(diffLines(before, after)).map((line) => {
      if (line.kind === "gap") return html`<span class="diff gap">${strings.gap(line.count)}${"\n"}</span>`;
      const word = line.kind === "same" ? "" : strings[line.kind];
      return html`<span class=${`diff ${line.kind}`}>${word && html`<span class="sr-only">${word}: </span>`}${line.text}${"\n"}</span>`;
    })}</code></pre>
  </section>`;
}
