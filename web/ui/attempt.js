/** Something that is asked of the server once, and may fail. */
import { asApiError } from "../api/http.js";
import { html, useState } from "../vendor/preact.js";
import { Problem } from "./problem.js";

/** @typedef {import("../api/http.js").ApiError} ApiError */

/** Who is busy, and what went wrong last. */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(/** @type {ApiError | null} */ (null));
  const attempt = async (/** @type {() => Promise<void>} */ act) => {
    setBusy(true);
    try {
      await act();
      setFailed(null);
    } catch (thrown) {
      setFailed(asApiError(thrown));
    }
    setBusy(false);
  };
  return { attempt, busy, failed };
}

/** @param {{error?: ApiError | null, children?: unknown}} props */
export function Failure({ error, children }) {
  return html`<div aria-live="polite">${error && html`<${Problem} fault=${error.fault} requestId=${error.requestId}>${children}<//>`}</div>`;
}
