"""The server that our scans are measured against: FastAPI, DuckDB and pyarrow. python scan_server.py FILE

Prints its address, then serves. `/usual` gathers the result and sends it; `/tuned` streams batches as they come.
"""

import io
import socket
import sys

import duckdb
import pyarrow as pa
import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

file = sys.argv[1]
connection = duckdb.connect()
connection.execute(f"CREATE VIEW numbers AS FROM read_parquet('{file}')")
app = FastAPI()
ARROW = "application/vnd.apache.arrow.stream"


class Scan(BaseModel):
    rows: int


def select(scan: Scan):
    # Not `sql()`: with parameters it makes Python objects of all rows first.
    return connection.cursor().execute("SELECT n, share, name FROM numbers WHERE n < ?", [scan.rows])


@app.post("/usual")
def usual(scan: Scan):
    table = select(scan).to_arrow_table()
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return Response(sink.getvalue(), media_type=ARROW)


class Pieces(io.RawIOBase):
    """What is written, to be taken piece by piece."""

    def __init__(self):
        self.pieces = []

    def writable(self):
        return True

    def write(self, data):
        self.pieces.append(bytes(data))
        return len(data)

    def take(self):
        taken, self.pieces = b"".join(self.pieces), []
        return taken


@app.post("/tuned")
def tuned(scan: Scan):
    reader = select(scan).to_arrow_reader(65_536)

    def pieces():
        sink = Pieces()
        with pa.ipc.new_stream(sink, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
                yield sink.take()
        yield sink.take()

    return StreamingResponse(pieces(), media_type=ARROW)


listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
