/** State that outlives what shows it. */
import { useEffect, useState } from "./vendor/preact.js";

export class Store {
  /** @type {Set<() => void>} */
  #listeners = new Set();

  changed() {
    for (const listener of this.#listeners) listener();
  }

  /** @param {() => void} listener */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/**
 * Draws again whenever the store has changed.
 * @param {Store} store
 */
export function useStore(store) {
  const [, draw] = useState(0);
  useEffect(() => store.subscribe(() => draw((n) => n + 1)), [store]);
}
