/** What has changed between two texts, line by line. */

/** @typedef {{kind: "same" | "added" | "removed", text: string}} Line */
/** @typedef {Line | {kind: "gap", count: number}} Shown */

/** More comparisons than this are not made: all of the old goes, all of the new comes. */
const MOST_CELLS = 4_000_000;
/** Lines around a change that are shown with it. */
const AROUND = 3;

/**
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function diffLines(before, after) {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const same = (/** @type {string[]} */ lines) => lines.map((text) => /** @type {Line} */ ({ kind: "same", text }));
  return [
    ...same(old.slice(0, head)),
    ...between(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...same(old.slice(old.length - tail)),
  ];
}

/** @param {string} text */
const linesOf = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/**
 * By the longest common subsequence.
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Line[]}
 */
function between(old, now) {
  if (old.length * now.length > MOST_CELLS) return [...all("removed", old), ...all("added", now)];
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Line[]} */
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      lines.push(...all("same", [old[i] ?? ""]));
      [i, j] = [i + 1, j + 1];
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(...all("removed", [old[i++] ?? ""]));
    else lines.push(...all("added", [now[j++] ?? ""]));
  }
  return [...lines, ...all("removed", old.slice(i)), ...all("added", now.slice(j))];
}

/**
 * @param {Line["kind"]} kind
 * @param {string[]} lines
 * @returns {Line[]}
 */
const all = (kind, lines) => lines.map((text) => ({ kind, text }));

/**
 * With long stretches of unchanged lines folded away.
 * @param {Line[]} lines
 * @returns {Shown[]}
 */
export function folded(lines) {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(({ kind }) => kind !== "same"));
  /** @type {Shown[]} */
  const shown = [];
  for (const [i, line] of lines.entries()) {
    const last = shown.at(-1);
    if (near[i]) shown.push(line);
    else if (last?.kind === "gap") last.count += 1;
    else shown.push({ kind: "gap", count: 1 });
  }
  return shown;
}
