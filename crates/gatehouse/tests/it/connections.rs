//! Kept connections: a request that is refused before it is read to its end leaves one that the next can use, or says so.

use crate::support::server;
use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::Server;

const BODY: &str = r#"{"message":"how many orders?"}"#;

fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap()
}

/// All but the body.
fn begin(socket: &mut TcpStream, path: &str, more: &str) {
    let host = socket.peer_addr().unwrap();
    let length = BODY.len();
    write!(socket, "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n{more}\r\n").unwrap();
}

/// The head of the next answer, its body read too.
fn answer(socket: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).unwrap_or_else(|e| panic!("{e} after {}", String::from_utf8_lossy(&head)));
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head.split_once("content-length: ").unwrap().1.split("\r\n").next().unwrap().parse().unwrap();
    socket.read_exact(&mut vec![0; length]).unwrap();
    head
}

#[test]
fn a_refusal_that_comes_before_the_body_does_not_close_the_connection() {
    let server = server().demo().start();
    for path in ["/chat", "/api/v2/scan", "/mcp/nothing", "/nowhere"] {
        let mut socket = connect(&server);
        begin(&mut socket, path, "");
        // The refusal is ready long before this one is answered.
        assert_eq!(testkit::Client::new(&server.url).get("/livez").status, 200);
        socket.write_all(BODY.as_bytes()).unwrap();
        let head = answer(&mut socket);
        assert!(head.starts_with("http/1.1 40") && !head.contains("connection: close"), "{path}: {head}");
        let host = socket.peer_addr().unwrap();
        write!(socket, "GET /livez HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
        assert!(answer(&mut socket).starts_with("http/1.1 200"), "{path}");
    }
}

#[test]
fn a_refusal_whose_request_does_not_end_says_that_the_connection_does() {
    let server = server().demo().start();
    // One that waits to be told to send its body, and one whose body does not come.
    for more in ["expect: 100-continue\r\n", ""] {
        let mut socket = connect(&server);
        begin(&mut socket, "/chat", more);
        let head = answer(&mut socket);
        assert!(head.starts_with("http/1.1 401") && head.contains("connection: close"), "{more}: {head}");
        assert_eq!(socket.read(&mut [0]).unwrap(), 0, "closed");
    }
}
