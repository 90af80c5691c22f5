SELECT i AS v FROM kinds
SELECT b AS v FROM kinds
SELECT r AS v FROM kinds
SELECT t AS v FROM kinds
SELECT x AS v FROM kinds
SELECT n AS v FROM kinds
SELECT d AS v FROM kinds
SELECT ts AS v FROM kinds
SELECT j AS v FROM kinds
SELECT mixed AS v FROM kinds
SELECT none AS v FROM kinds
SELECT i AS v FROM kinds WHERE i = 0
SELECT x AS v FROM kinds WHERE i = 0
SELECT ts AS v FROM kinds WHERE i = 0
