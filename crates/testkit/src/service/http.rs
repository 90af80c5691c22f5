//! As much HTTP/1.1 as the service needs: one request, one reply.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

pub fn read(connection: &mut TcpStream) -> Option<Request> {
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
    let mut first = lines.first()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let fields = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
    let headers: HashMap<_, _> = fields.map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned())).collect();
    let mut body = vec![0; headers.get("content-length").and_then(|v| v.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, target, headers, body })
}

/// A client that has left is not this server's trouble.
pub fn respond(connection: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &str) {
    let mut head = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    let _ = connection.write_all(format!("{head}\r\n{body}").as_bytes());
}

pub fn wait_for_departure(connection: &mut TcpStream) {
    let mut byte = [0];
    while matches!(connection.read(&mut byte), Ok(1)) {}
}
