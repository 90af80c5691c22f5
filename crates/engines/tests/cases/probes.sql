# Questions whose answer, or failure, would tell of a row that a filter hides: hidden cases have numbers that are no
# numbers, amounts without a logarithm, JSON that is none, and priorities that overflow.
SELECT count(*) FROM cases WHERE CAST(case_no AS INTEGER) > 0
SELECT id FROM cases WHERE CASE WHEN amount < -5 THEN CAST(owner AS INTEGER) ELSE 1 END = 1
SELECT id FROM cases WHERE (CASE WHEN owner LIKE 'eve%' THEN CAST(owner AS INTEGER) ELSE 1 END) = 1 ORDER BY id
SELECT count(*) FROM cases WHERE ln(amount) > 0
SELECT count(*) FROM cases WHERE ln(amount) > 0 AND CAST(case_no AS INTEGER) > 0 OR is_urgent
SELECT count(*) FROM cases WHERE priority * 2147483647 * 4294967296 > 0
SELECT count(*) FROM cases WHERE abs(priority - 2147483647 - 9223372036854775807) > 0
SELECT count(*) FROM cases WHERE json_extract(payload, '$.a.b') IS NOT NULL
SELECT count(*) FROM cases WHERE payload ->> '$.kind' = 'k1'
SELECT max(CAST(case_no AS INTEGER)), min(ln(amount)), sum(priority + 1) FROM cases
SELECT CAST(case_no AS INTEGER) AS n, count(*) FROM cases GROUP BY n ORDER BY n
SELECT id FROM cases ORDER BY CAST(case_no AS INTEGER) DESC
SELECT id FROM cases ORDER BY CAST(case_no AS INTEGER), id LIMIT 1
SELECT DISTINCT CAST(case_no AS INTEGER) AS n FROM cases ORDER BY n
SELECT id, row_number() OVER (ORDER BY CAST(case_no AS INTEGER)) AS n FROM cases ORDER BY n
SELECT sum(CAST(case_no AS INTEGER)) OVER (PARTITION BY ln(amount) > 3 ORDER BY id) AS n, id FROM cases ORDER BY id
SELECT count(*) FROM cases JOIN clients ON clients.id = CAST(case_no AS INTEGER) - 1000
SELECT count(*) FROM clients LEFT JOIN cases ON clients.id = client_id AND CAST(case_no AS INTEGER) > 3
SELECT name FROM clients WHERE id IN (SELECT CAST(case_no AS INTEGER) - 1000 FROM cases) ORDER BY name
SELECT name FROM clients c WHERE EXISTS (SELECT 1 FROM cases k WHERE c.id = CAST(k.case_no AS INTEGER) - 1000) ORDER BY name
SELECT name, (SELECT max(CAST(case_no AS INTEGER)) FROM cases k WHERE k.client_id = c.id) AS n FROM clients c ORDER BY name
SELECT a.id FROM cases a JOIN cases b ON CAST(a.case_no AS INTEGER) = CAST(b.case_no AS INTEGER) ORDER BY a.id
SELECT CAST(case_no AS INTEGER) AS n FROM cases UNION SELECT 1 ORDER BY n
SELECT CAST(case_no AS INTEGER) AS n FROM cases EXCEPT SELECT 1 ORDER BY n
WITH t AS (SELECT CAST(case_no AS INTEGER) AS n, owner FROM cases) SELECT max(n) FROM t WHERE n > 0 AND owner <> 'x'
SELECT max(n) FROM (SELECT CAST(case_no AS INTEGER) AS n, amount FROM cases WHERE ln(amount) > 0) t WHERE n * 1000000 > 0
SELECT count(*) FILTER (WHERE CAST(case_no AS INTEGER) > 0) AS n FROM cases
SELECT count(*) FROM cases HAVING max(CAST(case_no AS INTEGER)) > 0
SELECT coalesce(max(amount), -1), count(DISTINCT client_id), min(opened_on), max(created_at) FROM cases
SELECT count(*) FROM cases WHERE substr(case_no, 1, 1) BETWEEN '0' AND '9' AND CAST(case_no AS INTEGER) % 2 = 0
