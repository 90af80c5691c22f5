/** The server's sentences. */
import { html } from "../vendor/preact.js";

/**
 * A sentence in which backticks mark names.
 * @param {{text: string}} props
 */
export function Prose({ text }) {
  const parts = text.split("`");
  // An even number of parts means a backtick without its partner: then nothing is marked.
  if (parts.length % 2 === 0) return html`<span>${text}</span>`;
  return html`<span>${parts.map((part, i) => (i % 2 ? html`<code>${part}</code>` : part))}</span>`;
}

/**
 * Messages are lowercase fragments, made to stand in a log line; here they stand alone.
 * @param {string} text
 */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!`…]$/.test(text) ? "" : ".");
}
