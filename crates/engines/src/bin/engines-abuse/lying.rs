//! A worker that somebody has taken over: it says that its results are in its window, asked or not, and the same pane twice.

use crate::frames::{request, tell};
use std::io;

pub fn run() -> io::Result<()> {
    while let Some(request) = request()? {
        if request.get("Query").is_none() {
            tell(b'D', br#""Opened""#)?;
            continue;
        }
        tell(b'C', b"[]")?;
        for _ in 0..2 {
            let (pane, length) = (0_u32, 8_u32);
            tell(b'W', &[pane.to_le_bytes(), length.to_le_bytes()].concat())?;
        }
        tell(b'D', br#"{"Queried":{"columns":[],"row_count":1,"truncated":false,"exec_ms":0.0}}"#)?;
    }
    Ok(())
}
