//! Text that may not grow without end.

use std::io::{self, ErrorKind, Write};

/// The kind of the error that ends what grew too large.
pub const EXCEEDED: ErrorKind = ErrorKind::FileTooLarge;

/// A few bytes of Arrow can mean a lot of text: a struct's names come again in every row, views and
/// dictionaries may point at one long value a million times.
pub struct Capped {
    bytes: Vec<u8>,
    most: usize,
}

impl Capped {
    /// Room for every honest result of this size: bits become words, columns of NULL have no size.
    pub fn for_result(ipc_bytes: usize) -> Self {
        Self::new(ipc_bytes.saturating_mul(8).saturating_add(64 * 1024 * 1024))
    }

    fn new(most: usize) -> Self {
        Self { bytes: Vec::new(), most }
    }

    /// For a value inside this one, with the room that is left.
    pub fn inner(&self) -> Self {
        Self::new(self.most - self.bytes.len())
    }

    /// Sets apart all items but the first.
    pub fn comma_after(&mut self, items: usize) -> io::Result<()> {
        if items > 0 { self.write_all(b",") } else { Ok(()) }
    }

    pub fn into_text(self) -> io::Result<String> {
        String::from_utf8(self.bytes).map_err(io::Error::other)
    }
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.most - self.bytes.len() {
            return Err(EXCEEDED.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
