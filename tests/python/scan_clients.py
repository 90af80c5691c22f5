"""What pyarrow, Polars and DuckDB read of a scan: python scan_clients.py URL TOKEN REQUEST PACKING. Prints JSON."""

import io
import json
import sys

import duckdb
import polars
import pyarrow as pa
import requests

url, token, request, packing = sys.argv[1:]
headers = {
    "authorization": f"Bearer {token}",
    "accept": f"application/vnd.apache.arrow.stream;{packing}",
}
reply = requests.post(f"{url}/api/v2/scan", json=json.loads(request), headers=headers, stream=True)
reply.raise_for_status()
body = reply.content

with pa.ipc.open_stream(io.BytesIO(body)) as reader:
    table = reader.read_all()
said = {}
with pa.ipc.open_stream(io.BytesIO(body)) as reader:
    while True:
        try:
            _, metadata = reader.read_next_batch_with_custom_metadata()
        except StopIteration:
            break
        said.update(metadata or {})
frame = polars.read_ipc_stream(io.BytesIO(body))
connection = duckdb.connect()
connection.register("seen", table)
rows = connection.execute("SELECT * FROM seen").fetchall()


def plain(rows):
    return json.loads(json.dumps(rows, default=str))


print(
    json.dumps(
        {
            "pyarrow": {"names": table.column_names, "types": [str(t) for t in table.schema.types], "rows": table.num_rows},
            "polars": {"names": frame.columns, "rows": frame.height, "first": plain(frame.head(2).to_dicts())},
            "duckdb": {"names": [column[0] for column in connection.description], "rows": len(rows)},
            "said": {key.decode(): value.decode() for key, value in said.items()},
            "first": plain(table.slice(0, 2).to_pylist()),
        }
    )
)
