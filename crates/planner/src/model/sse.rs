//! Server-sent events out of bytes that come in pieces.

/// One event: its data, where it has any. Names are not needed: both dialects say it in the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub data: String,
}

/// Holds what has come of the next event. How much that can be is bounded by whoever feeds it.
#[derive(Default)]
pub(crate) struct Parser {
    bytes: Vec<u8>,
    /// Where the unread part begins.
    read: usize,
    /// How far the unread part is known to have no line end.
    searched: usize,
    data: Vec<String>,
}

impl Parser {
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.read);
        self.searched -= self.read;
        self.read = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next event that has come whole.
    pub fn next(&mut self) -> Option<Event> {
        while let Some(line) = self.line() {
            if let Some(data) = line.strip_prefix("data:") {
                self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
            } else if line.is_empty() && !self.data.is_empty() {
                let data = std::mem::take(&mut self.data).join("\n");
                return Some(Event { data });
            }
        }
        None
    }

    fn line(&mut self) -> Option<String> {
        let unsearched = self.bytes.get(self.searched..)?;
        let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.bytes.len();
            return None;
        };
        let end = self.searched + end;
        let line = self.bytes.get(self.read..end)?;
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        self.read = end + 1;
        self.searched = self.read;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<String> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in pieces {
            parser.feed(piece);
            events.extend(std::iter::from_fn(|| parser.next()).map(|event| event.data));
        }
        events
    }

    #[test]
    fn events_are_what_the_standard_says() {
        let cases: [(&str, &[&str]); 8] = [
            ("data: a\n\n", &["a"]),
            ("data:a\n\n", &["a"]),
            ("event: x\r\ndata: a\r\n\r\n", &["a"]),
            ("data: a\ndata: b\n\n", &["a\nb"]),
            (": keepalive\n\ndata: a\n\n", &["a"]),
            ("event: empty\n\n", &[]),
            ("data: a\n\ndata: unfinished\n", &["a"]),
            ("data: ä\n\nid: 7\nretry: 5\ndata: b\n\n", &["ä", "b"]),
        ];
        for (text, events) in cases {
            assert_eq!(parse([text.as_bytes()]), events, "{text:?}");
        }
    }

    proptest! {
        /// However the network cuts it, the events are the same, and no bytes make it panic.
        #[test]
        fn pieces_do_not_matter(text in "((data: ?)?[a-zä:]{0,5}(\r?\n){0,2}){0,40}", size in 1usize..20) {
            prop_assert_eq!(parse(text.as_bytes().chunks(size)), parse([text.as_bytes()]));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1usize..20) {
            parse(bytes.chunks(size));
        }
    }
}
