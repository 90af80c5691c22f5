"""Values of every type as pyarrow reads them: python scan_types.py URL TOKEN, one SQL expression a line on stdin.

Prints a line for each: its Arrow type and its value, or what the server said instead.
"""

import io
import sys

import pyarrow as pa
import requests



def values(column):
    try:
        return column.to_pylist()
    except ValueError:  # Python's own types end at microseconds
        return [value.value for value in column]


url, token = sys.argv[1:]
session = requests.Session()
session.headers = {"authorization": f"Bearer {token}", "accept": "application/vnd.apache.arrow.stream"}
for line in sys.stdin.read().splitlines():
    reply = session.post(f"{url}/api/query", json={"sql": line})
    if reply.status_code != 200:
        print(f"{reply.status_code} {reply.json()['message']}")
        continue
    table = pa.ipc.open_stream(io.BytesIO(reply.content)).read_all()
    print(f"{table.schema.types[0]} {values(table.column(0))!r}")
