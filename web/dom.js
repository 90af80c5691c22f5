// @ts-check
/** The few helpers that everything drawn on the page goes through. Text is only ever set as text. */

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * Makes an element. A property that starts with `on` is a listener; `true` and `false` set or leave
 * out an attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child != null && child !== false) element.append(child);
  return element;
}

/**
 * The element with this id; the page is broken without it.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`index.html has no \`${id}\``);
  return element;
}

/**
 * A sentence in which backticks mark names, as the server's messages have them.
 * @param {string} text
 * @returns {DocumentFragment}
 */
export function prose(text) {
  const parts = text.split("`");
  const fragment = new DocumentFragment();
  // An even number of parts means a backtick without its partner: then nothing is marked.
  if (parts.length % 2 === 0) fragment.append(text);
  else parts.forEach((part, i) => part && fragment.append(i % 2 ? h("code", {}, part) : part));
  return fragment;
}

/**
 * @param {number} ms
 * @returns {string}
 */
export function duration(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(1)} s`;
}

/**
 * @param {number} bytes
 * @returns {string}
 */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
