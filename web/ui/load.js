/** Something from the server that a part of the page shows: loading, there, or not to be had. */
import { asApiError } from "../api/http.js";
import { useCallback, useEffect, useState } from "../vendor/preact.js";

/**
 * @template T
 * @typedef {{value?: T, error?: import("../api/http.js").ApiError, loading: boolean, reload: () => void}} Loaded
 */

/**
 * Loads when shown, and again when a dependency changes. What comes too late is dropped.
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} dependencies
 * @returns {Loaded<T>}
 */
export function useLoaded(load, dependencies) {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState(/** @type {Omit<Loaded<T>, "reload">} */ ({ loading: true }));
  useEffect(() => {
    let current = true;
    setState(({ value }) => ({ value, loading: true }));
    load().then(
      (value) => current && setState({ value, loading: false }),
      (error) => current && setState({ error: asApiError(error), loading: false }),
    );
    return () => void (current = false);
  }, [...dependencies, turn]);
  return { ...state, reload: useCallback(() => setTurn((n) => n + 1), []) };
}
