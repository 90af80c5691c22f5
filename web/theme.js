/** Light, dark, or as the system has it. */
import { strings } from "./strings.js";
import { html, useState } from "./vendor/preact.js";

const KEY = "gatehouse.theme";
const THEMES = /** @type {const} */ (["system", "light", "dark"]);

/** @typedef {typeof THEMES[number]} Theme */

/** @returns {Theme} */
function kept() {
  const value = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === value) ?? "system";
}

/** @param {Theme} theme */
function apply(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

apply(kept());

export function ThemeButton() {
  const [theme, setTheme] = useState(kept());
  const next = () => {
    const following = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
    localStorage.setItem(KEY, following);
    apply(following);
    setTheme(following);
  };
  const label = strings.theme(strings.themes[theme]);
  return html`<button type="button" class="icon" aria-label=${label} title=${label} onClick=${next}>
    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">${picture[theme]}</svg>
  </button>`;
}

const picture = {
  system: html`<path d="M10 3a7 7 0 1 0 0 14z" fill="currentColor" /><circle cx="10" cy="10" r="7" />`,
  light: html`<circle cx="10" cy="10" r="3.5" /><path d="M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.5 1.5M14.2 14.2l1.5 1.5M4.3 15.7l1.5-1.5M14.2 5.8l1.5-1.5" />`,
  dark: html`<path d="M16.5 11.8A7 7 0 0 1 8.2 3.5a7 7 0 1 0 8.3 8.3z" />`,
};
