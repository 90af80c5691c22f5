# writing
INSERT INTO cars VALUES (9, 'x')
UPDATE cars SET model = 'x'
DELETE FROM cars
DROP TABLE cars
CREATE TABLE t (a)
CREATE TEMP TABLE t (a)
VACUUM INTO '$DIR/copy.sqlite'
REINDEX
WITH x AS (SELECT 1) DELETE FROM cars
# other files
ATTACH '$DIR/other.sqlite' AS o
ATTACH ':memory:' AS m
SELECT load_extension('$DIR/x.so')
SELECT readfile('/etc/passwd')
SELECT writefile('$DIR/x', 'y')
# settings and internals
PRAGMA query_only = 0
PRAGMA writable_schema = 1
PRAGMA journal_mode = WAL
PRAGMA table_info(cars)
SELECT * FROM sqlite_schema
SELECT * FROM sqlite_master
SELECT * FROM pragma_table_info('cars')
BEGIN IMMEDIATE
EXPLAIN DELETE FROM cars
# bombs
SELECT zeroblob(1000000000)
SELECT randomblob(100000000)
SELECT printf('%.*c', 900000000, 'x')
# a name in double quotes is a name, never a string
SELECT "no_such_column" FROM cars
