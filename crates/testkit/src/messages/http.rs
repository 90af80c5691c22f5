//! As much HTTP/1.1 as the server needs: one request, one reply, whole or in chunks.

use super::State;
use super::said::{Said, Upset};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

pub(super) struct Request {
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

pub(super) fn read(connection: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(connection);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let fields = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
    let headers: HashMap<_, _> = fields.map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned())).collect();
    let length = headers.get("content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, headers, body })
}

pub(super) struct Responder<'s> {
    connection: TcpStream,
    state: &'s State,
}

impl<'s> Responder<'s> {
    pub fn new(connection: TcpStream, state: &'s State) -> Self {
        // A token must not wait for the next one.
        connection.set_nodelay(true).expect("a connection");
        Self { connection, state }
    }

    pub fn whole(&mut self, status: u16, headers: &[(String, String)], body: &str) -> Result<()> {
        let length = format!("content-length: {}\r\ncontent-type: application/json\r\n", body.len());
        self.head(status, headers, &length)?;
        self.connection.write_all(body.as_bytes())
    }

    /// The events one by one, until what the reply says goes wrong. `error` writes the event for an error of a type.
    pub fn stream(&mut self, reply: &Said, events: &[Event], error: impl Fn(&str) -> Event) -> Result<()> {
        self.head(200, &[], "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n")?;
        let mut told = false;
        for (at, event) in events.iter().enumerate() {
            match &reply.upset {
                Some(Upset::Cut(after)) if *after == at => return Ok(()),
                Some(Upset::Stall(after)) if *after == at => return self.stall(),
                Some(Upset::Error(after, kind)) if *after == at => {
                    self.chunk(&error(kind).text)?;
                    return self.chunk("");
                }
                _ => {}
            }
            thread::sleep(reply.pace);
            if event.is_text && !told {
                told = true;
                super::lock(&self.state.first_texts).push(Instant::now());
            }
            self.chunk(&event.text)?;
        }
        self.chunk("")
    }

    fn head(&mut self, status: u16, headers: &[(String, String)], more: &str) -> Result<()> {
        let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\nrequest-id: req_scripted\r\n{more}");
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        self.connection.write_all(format!("{head}\r\n").as_bytes())
    }

    fn chunk(&mut self, text: &str) -> Result<()> {
        self.connection.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    /// Reads until there is nobody to read from.
    fn stall(&mut self) -> Result<()> {
        let mut byte = [0];
        while matches!(self.connection.read(&mut byte), Ok(1)) {}
        self.state.saw_departure();
        Err(Error::other("the client left"))
    }
}

/// One server-sent event, as it is written.
pub(super) struct Event {
    pub text: String,
    /// Whether it brings text of the answer.
    pub is_text: bool,
}
