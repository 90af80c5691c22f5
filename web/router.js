/** The page's addresses. Links are plain links; this follows them without loading the page anew. */
import { useEffect, useState } from "./vendor/preact.js";

/**
 * `visit` counts: going where one already is, is a visit too.
 * @typedef {Place & {visit: number}} Route
 * @typedef {{name: "ask", thread?: string}
 *   | {name: "run", id: string}
 *   | {name: "history"}
 *   | {name: "ops", page: string, id: string}
 *   | {name: "admin", page: string}} Place
 */

/**
 * @param {string} path
 * @returns {Place}
 */
function parse(path) {
  const [, first, second = "", third = ""] = path.split("/").map(decodeURIComponent);
  if (first === "r") return { name: "run", id: second };
  if (first === "t") return { name: "ask", thread: second };
  if (first === "history") return { name: "history" };
  if (first === "ops") return { name: "ops", page: second, id: third };
  if (first === "admin") return { name: "admin", page: second };
  return { name: "ask" };
}

/** @param {string} path */
export function navigate(path) {
  if (path !== location.pathname + location.search) history.pushState(null, "", path);
  dispatchEvent(new PopStateEvent("popstate"));
  scrollTo(0, 0);
}

/**
 * The address of what is shown already: nothing is drawn anew.
 * @param {string} path
 */
export function rename(path) {
  history.replaceState(null, "", path);
}

/** @returns {Route} */
export function useRoute() {
  const [{ path, visit }, setState] = useState({ path: location.pathname, visit: 0 });
  useEffect(() => {
    const follow = () => setState(({ visit: before }) => ({ path: location.pathname, visit: before + 1 }));
    addEventListener("popstate", follow);
    document.addEventListener("click", followLink);
    return () => {
      removeEventListener("popstate", follow);
      document.removeEventListener("click", followLink);
    };
  }, []);
  return { ...parse(path), visit };
}

/** @param {MouseEvent} event */
function followLink(event) {
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!plain || event.defaultPrevented || !link || link.origin !== location.origin) return;
  if (link.target || link.hasAttribute("download") || link.hash) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
