//! Results as JSON: an Arrow IPC stream in, `[[cell, …], …]` out.
//!
//! Every value keeps what the engine knew: integers and decimals are written digit by digit, never
//! by way of a float; what JSON has no word for (dates, NaN, bytes) becomes text.
//!
//! The stream comes from a worker that hostile data may have taken over, so nothing that it can
//! say breaks the server: not a damaged stream, nor a small one that means a huge text.

#[cfg(test)]
mod tests;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use domain::{Fault, Kind, Rows};
use engines::json::{self, Capped};
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// All rows, each an array of its cells, with exact values.
pub fn to_json(rows: &Rows) -> Result<Box<RawValue>, Fault> {
    let json = write(rows, usize::MAX)?;
    RawValue::from_string(json).map_err(|e| unreadable(&e))
}

/// The first `n` rows, to talk about them. Numbers beyond an `f64` are rounded to one here; what is
/// shown and recorded comes from [`to_json`].
pub fn head(rows: &Rows, n: usize) -> Result<Vec<Vec<serde_json::Value>>, Fault> {
    let json = write(rows, n)?;
    serde_json::from_str(&json).map_err(|e| unreadable(&e))
}

fn write(rows: &Rows, most: usize) -> Result<String, Fault> {
    // Arrow's decoder panics on some damaged streams. Nothing that it touched outlives the call.
    match catch_unwind(AssertUnwindSafe(|| write_rows(rows, most))) {
        Ok(Ok(json)) => Ok(json),
        Ok(Err(error)) if error.kind() == json::EXCEEDED => Err(Fault::new(
            Kind::ResourceExceeded,
            "engine.result_too_large",
            "the result is too large to be written as JSON",
        )),
        Ok(Err(error)) => Err(unreadable(&error)),
        Err(_) => Err(unreadable(&io::Error::other("the decoder panicked"))),
    }
}

fn write_rows(rows: &Rows, most: usize) -> io::Result<String> {
    let mut out = Capped::for_result(rows.ipc.len());
    let mut left = most;
    let mut decoder = StreamDecoder::new();
    let mut ipc = Buffer::from(rows.ipc.clone());
    out.write_all(b"[")?;
    while left > 0
        && let Some(batch) = decoder.decode(&mut ipc).map_err(io::Error::other)?
    {
        left -= write_batch(&mut out, &batch, left, left == most)?;
    }
    if left > 0 {
        decoder.finish().map_err(io::Error::other)?;
        let written = (most - left) as u64;
        // The decoder takes a stream that ends between two batches for a whole one.
        if written != rows.row_count {
            return Err(io::Error::other(format!("{written} rows in a result of {}", rows.row_count)));
        }
    }
    out.write_all(b"]")?;
    out.into_text()
}

/// Writes at most `most` rows and says how many they were.
fn write_batch(out: &mut Capped, batch: &RecordBatch, most: usize, first: bool) -> io::Result<usize> {
    let schema = batch.schema();
    let count = batch.num_rows().min(most);
    for row in 0..count {
        out.write_all(if first && row == 0 { b"[" } else { b",[" })?;
        for (index, (field, column)) in schema.fields().iter().zip(batch.columns()).enumerate() {
            out.comma_after(index)?;
            json::write_cell(out, field, column, row)?;
        }
        out.write_all(b"]")?;
    }
    Ok(count)
}

fn unreadable(error: &dyn std::error::Error) -> Fault {
    tracing::error!(%error, "a result cannot be written as JSON");
    Fault::internal("engine.result_unreadable")
}
