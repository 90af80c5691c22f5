/** Pages that are fetched when they are first visited. */
import { html, useEffect, useState } from "./vendor/preact.js";

/**
 * @param {object} props
 * @param {() => Promise<{default: import("preact").ComponentType<any>}>} props.load
 */
export function Lazy({ load, ...rest }) {
  const [Page, setPage] = useState(/** @type {{default: import("preact").ComponentType<any>} | null} */ (null));
  useEffect(() => {
    let current = true;
    load().then((module) => current && setPage(module));
    return () => void (current = false);
  }, [String(load)]);
  return Page ? html`<${Page.default} ...${rest} />` : html`<main id="main" aria-busy="true"></main>`;
}
