/** Shell scripts for people: their words told apart. For reading only; what a script means, the server's parsers decide. */

/** @typedef {"keyword" | "command" | "variable" | "string" | "option" | "operator" | "comment" | "plain"} Kind */
/** @typedef {{kind: Kind, text: string}} Token */

const KEYWORDS = new Set("if then elif else fi for while until do done case esac in function select time { } ! [[ ]]".split(" "));
/** Words that are followed by a name or a word, not by a command. */
const NAMING = new Set("for case in function select".split(" "));
const PATTERN = new RegExp(
  [
    /(?<blank>\s+)/, /(?<single>'[^']*'?)/, /(?<double>"(?:\\[\s\S]|[^"\\])*"?)/,
    /(?<variable>\$(?:\{[^}\n]*\}?|\w+|[?@#*!$-]))/, /(?<operator>\d?(?:>>|>&|>\||<<<|<<|>|<)|\|\||&&|;;|[|&;()`])/,
    /(?<word>(?:\\[\s\S]|[^\s'"$|&;<>()`\\])+)/, /(?<other>[\s\S])/,
  ].map(({ source }) => source).join("|"),
  "g",
);
const VARIABLE = /(\$(?:\{[^}\n]*\}?|\w+|[?@#*!$-]))/;

/**
 * @param {string} text
 * @returns {Token[]}
 */
export function shellTokens(text) {
  /** @type {Token[]} */
  const tokens = [];
  // Whether the next word names a command.
  let commanding = true;
  // Whether the last token ends a word: only there may a comment begin.
  let apart = true;
  let from = 0;
  while (from < text.length) {
    if (apart && text[from] === "#") {
      const end = text.indexOf("\n", from);
      const comment = text.slice(from, end < 0 ? undefined : end);
      tokens.push({ kind: "comment", text: comment });
      from += comment.length;
      continue;
    }
    PATTERN.lastIndex = from;
    const { 0: all, groups = {} } = /** @type {RegExpExecArray} */ (PATTERN.exec(text));
    from += all.length;
    if (groups.blank) {
      tokens.push({ kind: "plain", text: all });
      commanding ||= all.includes("\n") && !tokens.at(-2)?.text.endsWith("\\");
    } else if (groups.double) tokens.push(...quoted(all));
    else if (groups.word) {
      const kind = wordKind(all, commanding, apart);
      tokens.push({ kind, text: all });
      commanding = kind === "keyword" ? !NAMING.has(all) : commanding && kind === "plain" && /^\w+=/.test(all);
    } else if (groups.operator) {
      tokens.push({ kind: "operator", text: all });
      if (!/[<>]/.test(all)) commanding = all !== ")";
    } else tokens.push({ kind: groups.single ? "string" : groups.variable ? "variable" : "plain", text: all });
    // Unless it goes on with an assignment, `A=$x`, it is the command or one of its words.
    if (apart && (groups.single || groups.double || groups.variable)) commanding = false;
    apart = Boolean(groups.blank || groups.operator);
  }
  return tokens;
}

/**
 * @param {string} word
 * @param {boolean} commanding
 * @param {boolean} apart whether it begins a word
 * @returns {Kind}
 */
function wordKind(word, commanding, apart) {
  if (!apart) return "plain";
  if (commanding && KEYWORDS.has(word)) return "keyword";
  if (word === "in" || word === "do") return "keyword";
  if (commanding && /^\w+=/.test(word)) return "plain";
  if (commanding) return "command";
  return /^--?[A-Za-z]/.test(word) ? "option" : "plain";
}

/**
 * Between double quotes, variables still are.
 * @param {string} text
 * @returns {Token[]}
 */
function quoted(text) {
  const parts = text.split(VARIABLE).filter(Boolean);
  return parts.map((part) => ({ kind: VARIABLE.test(part) ? "variable" : "string", text: part }));
}

/**
 * The tokens of each line; one that goes over several is cut at their ends.
 * @param {string} text
 * @returns {Token[][]}
 */
export function shellLines(text) {
  /** @type {Token[][]} */
  const lines = [[]];
  for (const { kind, text: whole } of shellTokens(text.replace(/\n$/, ""))) {
    for (const [i, part] of whole.split("\n").entries()) {
      if (i > 0) lines.push([]);
      if (part) lines.at(-1)?.push({ kind, text: part });
    }
  }
  return lines;
}
