//! What a worker hears and says: a tag, a length, a payload.

use serde_json::Value;
use std::io::{self, Read, Write};

/// `None` at the end of the pipe.
pub fn request() -> io::Result<Option<Value>> {
    let mut head = [0u8; 5];
    let mut stdin = io::stdin().lock();
    if stdin.read_exact(&mut head).is_err() {
        return Ok(None);
    }
    let [_, length @ ..] = head;
    let mut payload = vec![0; u32::from_le_bytes(length) as usize];
    stdin.read_exact(&mut payload)?;
    Ok(Some(serde_json::from_slice(&payload)?))
}

pub fn tell(tag: u8, payload: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(&[tag])?;
    stdout.write_all(&u32::try_from(payload.len()).map_err(io::Error::other)?.to_le_bytes())?;
    stdout.write_all(payload)?;
    stdout.flush()
}
