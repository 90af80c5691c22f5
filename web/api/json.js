/** JSON in which no digit is lost. */

/**
 * A number that a JavaScript number cannot hold (a key beyond 2⁵³, a long decimal) stays as its digits, a string.
 * Browsers that do not hand out the source text round, as they always did.
 * @param {string} text
 */
export function parseJson(text) {
  return JSON.parse(text, /** @type {(key: string, value: any) => any} */ (exact));
}

/** @type {(key: string, value: any, context?: {source?: string}) => any} */
function exact(_key, value, context) {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const digits = context.source.replace(/[eE].*|[-.]/g, "").replace(/^0+/, "").length;
  return digits > 15 && String(value) !== context.source ? context.source : value;
}
