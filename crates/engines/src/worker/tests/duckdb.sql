# files that are not the source's
SELECT * FROM '$DIR/secret.csv'
SELECT * FROM read_csv('$DIR/secret.csv')
SELECT * FROM read_text('$DIR/secret.csv')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_parquet('$DIR/*.csv')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM glob('/etc/*')
SELECT * FROM sniff_csv('$DIR/secret.csv')
SELECT * FROM query('SELECT * FROM ''$DIR/secret.csv''')
SELECT getenv('HOME')
# writing
COPY cars TO '$DIR/out.csv'
COPY (SELECT 1) TO '$DIR/out.parquet' (FORMAT parquet)
EXPORT DATABASE '$DIR/out'
ATTACH '$DIR/new.duckdb' AS n
ATTACH ':memory:' AS m; CREATE TABLE m.t AS SELECT 1
# extensions, settings, network
INSTALL httpfs
LOAD httpfs
SELECT * FROM read_csv('https://example.com/x.csv')
SET enable_external_access = true
SET memory_limit = '10GB'
RESET lock_configuration
SET allowed_paths = ['/etc/passwd']
PRAGMA enable_profiling
CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET 'y')
# several statements, and what is not a read
SELECT 1; SELECT 2
SELECT 1; DROP VIEW cars
CREATE TABLE t AS SELECT 1
CREATE TEMP TABLE t AS SELECT 1
DROP VIEW cars
EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1
CHECKPOINT
CALL pragma_version()
