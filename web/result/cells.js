/** Values as text: numbers to the digit, the same number of decimals down a column. */

/** @typedef {import("../api/types.js").Cell} Cell */
/** @typedef {import("../api/types.js").Result} Result */

const NUMERIC = new Set(["number", "decimal", "integer"]);
const CODE = new Set(["uuid", "json", "bytes", "list", "struct", "other"]);
/** Numbers that name something are not quantities: no thousands separators. */
const NAMES = /(^|_)(id|year|no|number|code|key|zip)$/i;
const MAX_FRACTION = 4;

/** @typedef {{name: string, type: string, numeric: boolean, code: boolean, show: (value: Cell) => string}} Column */

/**
 * @param {Result} result
 * @returns {Column[]}
 */
export function columnsOf({ columns, types, rows }) {
  return columns.map((name, i) => {
    const type = types[i] ?? "other";
    if (!NUMERIC.has(type)) return { name, type, numeric: false, code: CODE.has(type), show: plainText };
    const most = rows.reduce((digits, row) => Math.max(digits, fractionDigits(row[i] ?? null)), 0);
    const fraction = Math.min(MAX_FRACTION, most);
    const grouped = !NAMES.test(name);
    return { name, type, numeric: true, code: false, show: (value) => numberText(value, fraction, grouped) };
  });
}

/** @param {Cell} value */
export function plainText(value) {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * What is shown is not all that there is: the rest stands in the title.
 * @param {Cell} value
 * @param {string} shown
 */
export function isRounded(value, shown) {
  return Number(shown.replaceAll(",", "")) !== Number(plainText(value));
}

const DIGITS = /^(-?)(\d+)(?:\.(\d+))?$/;

/** @param {Cell} value */
function fractionDigits(value) {
  return value === null ? 0 : (DIGITS.exec(String(value))?.[3]?.length ?? 0);
}

/**
 * Works on the digits, not on a float: a decimal or a large integer that came as text stays exact.
 * @param {Cell} value
 * @param {number} fraction digits after the point, the same for the whole column
 * @param {boolean} grouped
 */
function numberText(value, fraction, grouped) {
  const long = fractionDigits(value) > fraction;
  const parts = DIGITS.exec(long ? Number(value).toFixed(fraction) : String(value));
  if (!parts) return plainText(value);
  const [, sign, whole = "", rest = ""] = parts;
  const integer = grouped ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return fraction ? `${sign}${integer}.${rest.padEnd(fraction, "0")}` : `${sign}${integer}`;
}
