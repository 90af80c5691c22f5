"""Runs statements over `probe`, a directory of Parquet files, in DataFusion.

A statement stands in a line of standard input as JSON. The reply is a line, {"Ok": digest of the rows} or {"Err": why not}.
"""

import hashlib
import json
import sys

import datafusion

context = datafusion.SessionContext()
context.register_parquet("probe", sys.argv[1])
for line in sys.stdin:
    try:
        rows = context.sql(json.loads(line)).to_arrow_table()
        reply = {"Ok": hashlib.sha256(f"{rows.schema}{rows.to_pylist()}".encode()).hexdigest()}
    except Exception as error:  # whatever it is, it is compared
        reply = {"Err": str(error)}
    print(json.dumps(reply), flush=True)
