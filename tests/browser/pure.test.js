/** The page's parts that need no browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvents } from "../../web/api/events.js";
import { columnsOf } from "../../web/result/cells.js";
import { csv, json, tsv } from "../../web/result/export.js";
import { nextOrder, sorted } from "../../web/result/sort.js";
import { diffLines, folded } from "../../web/ops/diff.js";
import { shellLines, shellTokens } from "../../web/ops/shell.js";
import { formatSql, tokens } from "../../web/run/sql.js";

test("a stream is read as the standard says, wherever it is cut", async () => {
  const text = "id: 1\r\nevent: status\r\ndata: {\"a\":1}\r\n\r\n: comment\n\nevent:x\ndata:one\ndata: two\n\n";
  for (const size of [1, 3, 1000]) {
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
        controller.close();
      },
    });
    const events = [];
    for await (const event of readEvents(body)) events.push(event);
    assert.deepEqual(events, [
      { id: "1", event: "status", data: '{"a":1}' },
      { id: "", event: "x", data: "one\ntwo" },
    ], `in pieces of ${size}`);
  }
});

const columns = columnsOf({
  columns: ["name", "n", "n"], types: ["string", "integer", "decimal"], row_count: 2, truncated: false, chart: null,
  exec_time_ms: null, error: null, rows: [["=1+1", -5, "12345678901234567.89"], ['say "hi", you', 1000, null]],
});
const rows = [["=1+1", -5, "12345678901234567.89"], ['say "hi",\nyou', 1000, null]];

test("a spreadsheet runs no formula, and numbers stay numbers", () => {
  assert.equal(csv(columns, rows), 'name,n,n\r\n\'=1+1,-5,12345678901234567.89\r\n"say ""hi"",\nyou",1000,\r\n');
  assert.equal(tsv(columns, rows), "name\tn\tn\n'=1+1\t-5\t12345678901234567.89\nsay \"hi\", you\t1000\t");
  for (const start of ["=", "+", "-", "@", "\t", "\r"]) {
    assert.match(csv(columns, [[`${start}x`, 1, 1]]), /\n"?'/, JSON.stringify(start));
  }
});

test("JSON keeps every digit and every column", () => {
  const text = json(columns, rows);
  assert.match(text, /"n": -5, "n_2": 12345678901234567\.89/);
  assert.deepEqual(Object.keys(JSON.parse(text)[0]), ["name", "n", "n_2"]);
});

test("numbers of a column have the same decimals, keys no separators", () => {
  const result = { row_count: 2, truncated: false, chart: null, exec_time_ms: null, error: null };
  const shown = columnsOf({ ...result, columns: ["amount", "order_id"], types: ["decimal", "integer"], rows: [[1234.5, 10001], [7, 2]] });
  assert.equal(shown[0]?.show(1234.5), "1,234.5");
  assert.equal(shown[0]?.show(7), "7.0");
  assert.equal(shown[1]?.show(10001), "10001");
});

test("sorting puts what is missing last, and comes back to the server's order", () => {
  const unsorted = [[3], [null], [10], [2]];
  assert.deepEqual(sorted(unsorted, { column: 0, descending: false }, true), [[2], [3], [10], [null]]);
  assert.deepEqual(sorted(unsorted, { column: 0, descending: true }, true), [[10], [3], [2], [null]]);
  let order = nextOrder(null, 0);
  order = nextOrder(order, 0);
  assert.deepEqual(order, { column: 0, descending: true });
  assert.equal(nextOrder(order, 0), null);
});

test("laying SQL out changes nothing but white space", () => {
  const statements = [
    `SELECT "a", count(*) AS "n" FROM (SELECT "a" FROM "main"."t" WHERE "a" > 'x  y') AS "t" LEFT JOIN "u" ON "t"."id" = "u"."id" WHERE (("a" = $1) AND ("b" IN (SELECT "c" FROM "v"))) GROUP BY 1 ORDER BY "n" DESC NULLS LAST LIMIT 1001`,
    "SELECT 1 UNION ALL SELECT 2",
  ];
  for (const statement of statements) {
    const laid = formatSql(statement);
    assert.equal(laid.replaceAll(/\s+/g, ""), statement.replaceAll(/\s+/g, ""));
    assert.ok(laid.split("\n").length > 1, laid);
    assert.equal(tokens(laid).map(({ text }) => text).join(""), laid);
  }
  assert.match(formatSql(statements[0] ?? ""), /\nLEFT JOIN /);
  assert.match(formatSql(statements[0] ?? ""), /'x  y'/);
});

test("the words of a script are told apart, and none is lost", () => {
  const script = "# look\nfor f in /var/log/*.log; do\n  du -sh \"$f: x\" | sort -h # biggest\ndone\nX=1 A=$2 cp 'a b' \\\n  c#d > /dev/null 2>&1 && { echo ok; }\n";
  assert.equal(shellTokens(script).map(({ text }) => text).join(""), script);
  const of = (/** @type {string} */ kind) => shellTokens(script).filter((token) => token.kind === kind).map(({ text }) => text);
  assert.deepEqual(of("comment"), ["# look", "# biggest"]);
  assert.deepEqual(of("command"), ["du", "sort", "cp", "echo"]);
  assert.deepEqual(of("keyword"), ["for", "in", "do", "done", "{", "}"]);
  assert.deepEqual(of("variable"), ["$f", "$2"]);
  assert.deepEqual(of("string"), ['"', ': x"', "'a b'"]);
  assert.equal(shellLines(script).length, 6);
  for (const odd of ["", "'", '"', "$", "${", "a\\", "`x`", "<<EOF\n$x\nEOF", "\u0000#", "é=1"]) {
    assert.equal(shellTokens(odd).map(({ text }) => text).join(""), odd);
  }
});

test("a difference gives both texts back, and folds what is the same", () => {
  const pairs = [["", ""], ["", "a"], ["a\nb\nc\n", "a\nx\nc\n"], ["a\nb", "b\na"], ["1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\n5\n6\n7\n8\nnine"]];
  for (const [before = "", after = ""] of pairs) {
    const lines = diffLines(before, after);
    const side = (/** @type {string} */ other) => lines.filter(({ kind }) => kind !== other).map(({ text }) => text).join("\n");
    assert.equal(side("added"), before.replace(/\n$/, ""));
    assert.equal(side("removed"), after.replace(/\n$/, ""));
  }
  const [before = "", after = ""] = pairs[4] ?? [];
  assert.deepEqual(folded(diffLines(before, after)).map((line) => (line.kind === "gap" ? line.count : line.kind)), [5, "same", "same", "same", "removed", "added"]);
});
