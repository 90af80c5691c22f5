/** SQL for people: its words told apart, its clauses on lines of their own. Good enough for JSON's words, too. */

/** @typedef {"keyword" | "string" | "name" | "number" | "comment" | "plain"} Kind */
/** @typedef {{kind: Kind, text: string}} Token */

const KEYWORDS = new Set(
  ("select from where group by order having limit offset join left right inner outer full cross on as and or not in is null like " +
    "ilike between exists case when then else end distinct union all intersect except with recursive cast asc desc nulls first last " +
    "over partition filter true false using interval date timestamp").split(" "),
);
const PATTERN = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*')|("(?:[^"]|"")*")|(\b\d+(?:\.\d+)?\b|[$?]\d+)|([A-Za-z_]\w*)|(\s+|[^\s\w'"]|.)/g;

/**
 * @param {string} text
 * @returns {Token[]}
 */
export function tokens(text) {
  return Array.from(text.matchAll(PATTERN), ([all, comment, string, name, number, word]) => {
    if (comment) return { kind: "comment", text: all };
    if (string) return { kind: "string", text: all };
    if (name) return { kind: "name", text: all };
    if (number) return { kind: "number", text: all };
    if (word && KEYWORDS.has(word.toLowerCase())) return { kind: "keyword", text: all };
    return { kind: "plain", text: all };
  });
}

/** Words that begin a line. */
const CLAUSES = new Set("select from where group order having limit offset join left right inner full cross union intersect except with".split(" "));
/** …but not after these: `LEFT JOIN`, `GROUP BY`, `UNION ALL` are one. */
const JOINED = new Set("left right inner full cross outer union".split(" "));
/** Shorter than this, what stands in brackets stays on its line. */
const SHORT = 60;

/**
 * Lays a statement out; words and their order stay what they are.
 * @param {string} text
 */
export function formatSql(text) {
  const all = tokens(text.trim()).map((token) => (/^\s+$/.test(token.text) ? { ...token, text: " " } : token));
  if (all.some(({ kind, text: part }) => kind === "comment" || part.includes("\n"))) return text.trim();
  let out = "";
  let previous = "";
  /** Whether each open bracket was broken over lines. @type {boolean[]} */
  const open = [];
  const line = () => `\n${"  ".repeat(open.filter(Boolean).length)}`;
  for (const [i, { kind, text: part }] of all.entries()) {
    const word = kind === "keyword" ? part.toLowerCase() : "";
    if (part === "(") {
      open.push(isLongQuery(all, i));
      out += open.at(-1) ? `(${line()}` : "(";
    } else if (part === ")") {
      const broken = open.pop();
      out = broken ? `${out.trimEnd()}${line()})` : `${out})`;
    } else if (CLAUSES.has(word) && !JOINED.has(previous) && open.every(Boolean)) {
      out = out.trim() && !out.endsWith(line()) ? `${out.trimEnd()}${line()}${part}` : `${out}${part}`;
    } else if (part !== " " || !/\s$/.test(out)) out += part;
    if (part !== " ") previous = word;
  }
  return out;
}

/**
 * @param {Token[]} all
 * @param {number} at the place of the opening bracket
 */
function isLongQuery(all, at) {
  if (!/^(select|with)$/i.test(all[at + 1]?.text ?? "")) return false;
  let depth = 0;
  let length = 0;
  for (const { text } of all.slice(at)) {
    length += text.length;
    if (text === "(") depth += 1;
    if (text === ")") depth -= 1;
    if (depth === 0 || length > SHORT) break;
  }
  return length > SHORT;
}
