/** Looking again and again, for as long as there is something to see. */
import { useEffect } from "../vendor/preact.js";

/**
 * @param {() => void} look
 * @param {number | null} ms null: no longer
 */
export function usePoll(look, ms) {
  useEffect(() => {
    if (ms === null) return;
    // A page that nobody sees asks nothing.
    const timer = setInterval(() => document.visibilityState === "visible" && look(), ms);
    return () => clearInterval(timer);
  }, [look, ms]);
}
