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
    <pre tabindex="0" aria-label=${title}><code class=${language}>${coloured(text, language)}</code></pre>
  </section>`;
}

/**
 * @param {string} text
 * @param {"sql" | "json"} language
 */
function coloured(text, language) {
  if (text.length > MOST_COLOURED) return text;
  const all = tokens(text);
  return all.map(({ kind, text: part }, i) => {
    if (kind === "plain") return part;
    // In JSON a quoted word is a name only before a colon.
    const value = language === "json" && kind === "name" && all[i + 1]?.text !== ":";
    return html`<span class=${`t-${value ? "string" : kind}`}>${part}</span>`;
  });
}
