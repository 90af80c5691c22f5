/** SQL or JSON, coloured, with a button to copy it. */
import { strings } from "../strings.js";
import { CopyButton } from "../ui/copy.js";
import { html } from "../vendor/preact.js";
import { tokens } from "./sql.js";

/** Beyond this, colours would cost more than they tell. */
const MOST_COLOURED = 20_000;

/** @param {{title: string, text: string, language: "sql" | "json", copy?: string}} props */
export function Code({ title, text, language, copy = text }) {
  return html`<section class="block">
    <header><h3>${title}</h3><${CopyButton} text=${copy} label=${strings.copyThis(title)}>${strings.copy}<//></header>
    <pre tabindex="0" aria-label=${title}><code class=${language}>${coloured(text)}</code></pre>
  </section>`;
}

/** @param {string} text */
function coloured(text) {
  if (text.length > MOST_COLOURED) return text;
  return tokens(text).map(({ kind, text: part }) => (kind === "plain" ? part : html`<span class=${`t-${kind}`}>${part}</span>`));
}
