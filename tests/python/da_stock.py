"""Opens what `da` made with nothing of ours: da_stock.py DATABASE SNAPSHOT. Prints what it saw as JSON."""

import json
import sys

import duckdb
import polars
import pyarrow.parquet

database, snapshot = sys.argv[1:]
with duckdb.connect(database, read_only=True) as connection:
    views = connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()
    rows = connection.sql("SELECT count(*) FROM cz").fetchall()[0][0]
print(
    json.dumps(
        {
            "views": [name for (name,) in views],
            "rows": rows,
            "pyarrow": pyarrow.parquet.read_table(snapshot).num_rows,
            "polars": polars.read_parquet(snapshot).height,
        }
    )
)
