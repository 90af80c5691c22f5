/** Rows in another order. */

/** @typedef {import("../api/types.js").Cell} Cell */
/** @typedef {{column: number, descending: boolean} | null} Order null: as the server sent them */

const words = new Intl.Collator("en", { numeric: true });

/**
 * @param {Cell[][]} rows
 * @param {Order} order
 * @param {boolean} numeric
 */
export function sorted(rows, order, numeric) {
  if (!order) return rows;
  const { column, descending } = order;
  const compare = numeric ? byNumber : byText;
  return rows.toSorted((a, b) => {
    const [left, right] = [a[column] ?? null, b[column] ?? null];
    // No value is last in both directions.
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return descending ? compare(right, left) : compare(left, right);
  });
}

/**
 * @param {Cell} a
 * @param {Cell} b
 */
const byNumber = (a, b) => Number(a) - Number(b) || byText(a, b);

/**
 * @param {Cell} a
 * @param {Cell} b
 */
const byText = (a, b) => words.compare(String(a), String(b));

/**
 * Up, down, and back to the order of the server.
 * @param {Order} order
 * @param {number} column
 * @returns {Order}
 */
export function nextOrder(order, column) {
  if (order?.column !== column) return { column, descending: false };
  return order.descending ? null : { column, descending: true };
}
