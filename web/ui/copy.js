/** Copying, with a word that says it was done. */
import { strings } from "../strings.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { announce } from "./live.js";

const SAID_MS = 1500;

/** @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce(strings.copied);
    return true;
  } catch {
    announce(strings.copyFailed);
    return false;
  }
}

/**
 * @param {{text: string | (() => string), children: string, label?: string, class?: string}} props
 */
export function CopyButton({ text, children, label, class: classes = "quiet" }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => setDone(await copyText(typeof text === "string" ? text : text()));
  return html`<button type="button" class=${classes} aria-label=${label} onClick=${copy}>
    ${done ? strings.copied : children}
  </button>`;
}
