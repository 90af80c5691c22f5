//! What a request says of itself before anything of it is read: whom it is for, and how long it is. Over raw sockets, since
//! no decent client sends these.

use crate::support::server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use testkit::{Server, certificates};

/// The head of the answer to what is sent, in small letters.
fn told(server: &Server, request: &str) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    let request = request.replace("HERE", address);
    socket.write_all(request.as_bytes()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).unwrap_or_default() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).to_lowercase()
}

#[test]
fn a_request_names_one_host_and_names_it_well() {
    let server = server().start();
    let good = ["GET /livez HTTP/1.1\r\nhost: HERE", "GET http://HERE/livez HTTP/1.1\r\nhost: HERE"];
    for request in good {
        let told = told(&server, &format!("{request}\r\n\r\n"));
        assert!(told.starts_with("http/1.1 200"), "{request}: {told}");
    }
    let bad = [
        "GET /livez HTTP/1.1\r\nhost: HERE\r\nhost: HERE",
        "GET /livez HTTP/1.1\r\nhost: HERE\r\nhost: evil.example",
        "GET /livez HTTP/1.1\r\nhost: evil.example\r\nhost: HERE",
        "GET http://evil.example/livez HTTP/1.1\r\nhost: HERE",
        "GET http://HERE/livez HTTP/1.1\r\nhost: evil.example",
        "GET http://HERE/livez HTTP/1.1\r\nhost: localhost:1",
        "GET http://evil@HERE/livez HTTP/1.1\r\nhost: HERE",
        "GET http://HERE/livez HTTP/1.1",
        "GET /livez HTTP/1.1\r\nhost: HERE:80",
        "GET /livez HTTP/1.1\r\nhost: localhost:80:80",
        "GET /livez HTTP/1.1\r\nhost: localhost:",
        "GET /livez HTTP/1.1\r\nhost: localhost:http",
        "GET /livez HTTP/1.1\r\nhost: localhost:65536",
        "GET /livez HTTP/1.1\r\nhost: localhost, evil.example",
        "GET /livez HTTP/1.1\r\nhost: localhost evil.example",
        "GET /livez HTTP/1.1\r\nhost: evil.example@localhost",
        "GET /livez HTTP/1.1\r\nhost: localhost/../evil.example",
        "GET /livez HTTP/1.1\r\nhost: [::1",
        "GET /livez HTTP/1.1\r\nhost: [::1]evil.example",
        "GET /livez HTTP/1.1\r\nhost: loc\u{e4}lhost",
        "GET /livez HTTP/1.1",
        "POST /chat HTTP/1.1\r\nhost: HERE\r\nhost: HERE\r\ncontent-length: 0",
    ];
    for request in bad {
        let told = told(&server, &format!("{request}\r\n\r\n"));
        assert!(told.starts_with("http/1.1 400"), "{request}: {told}");
    }
}

/// Whoever sends it, wherever to, and before any of it comes.
#[test]
fn a_body_that_says_it_is_too_long_is_refused_unread() {
    let server = server().demo().env("GATEHOUSE_SERVER_BODY_LIMIT_BYTES", "2048").start();
    let token = server.token("ann", "analyst");
    let known = format!("authorization: Bearer {token}\r\n");
    let paths = [
        "/chat",
        "/datasets/shop/query",
        "/v1/chat/completions",
        "/agent/db",
        "/api/v2/scan",
        "/api/v1/ai/diagnostics",
        "/api/v1/devices/enrol",
        "/mcp",
        "/tokens",
        "/login",
        "/livez",
        "/nowhere",
    ];
    for path in paths {
        for who in ["", &known, "expect: 100-continue\r\n"] {
            for length in ["2049", "999999999999"] {
                let request = format!("POST {path} HTTP/1.1\r\nhost: HERE\r\n{who}content-length: {length}\r\n\r\n");
                let told = told(&server, &request);
                assert!(told.starts_with("http/1.1 413") && told.contains("connection: close"), "{path}: {told}");
            }
        }
    }
    let fits = "POST /livez HTTP/1.1\r\nhost: HERE\r\nexpect: 100-continue\r\ncontent-length: 2048\r\n\r\n";
    assert!(told(&server, fits).starts_with("http/1.1 405"));
}

/// A frame of HTTP/2 on the first stream, or on none.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// A field of a header, spelled out.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

/// What HTTP/2 answers to a request with these fields: the index of its status in HPACK's table.
fn status_of(address: &str, fields: &[(&str, &str)]) -> Option<u8> {
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-alpn", "h2", "-connect", address])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl to run");
    let block: Vec<u8> = fields.iter().flat_map(|(name, value)| field(name, value)).collect();
    let (mut to, mut from) = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
    let asked = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(4, 0, 0, &[]), frame(1, 5, 1, &block)].concat();
    to.write_all(&asked).unwrap();
    let mut status = None;
    let mut head = [0; 9];
    while from.read_exact(&mut head).is_ok() {
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        from.read_exact(&mut payload).unwrap();
        if head[3] == 1 {
            // Past a change of the table's size, should there be one.
            status = payload.iter().copied().find(|byte| byte & 0xe0 != 0x20);
            break;
        }
        if head[3] == 3 || head[3] == 7 {
            break;
        }
    }
    drop(to);
    let _ = client.kill();
    let _ = client.wait();
    status
}

#[test]
fn http2_names_one_host_too() {
    let certificates = certificates();
    let path = |name: &str| certificates.path().join(name).to_str().unwrap().to_owned();
    let (cert, key) = (path("server.crt"), path("server.key"));
    let server = server().env("GATEHOUSE_TLS_CERT", &cert).env("GATEHOUSE_TLS_KEY", &key).start();
    let address = server.url.strip_prefix("https://").unwrap();
    let get = [(":method", "GET"), (":scheme", "https"), (":path", "/livez")];
    let status = |more: &[(&str, &str)]| status_of(address, &[&get[..], more].concat());
    const OK: u8 = 0x88;
    const BAD_REQUEST: u8 = 0x8c;
    assert_eq!(status(&[(":authority", address)]), Some(OK));
    assert_eq!(status(&[(":authority", address), ("host", address)]), Some(OK));
    assert_eq!(status(&[(":authority", address), ("host", "evil.example")]), Some(BAD_REQUEST));
    assert_eq!(status(&[(":authority", "evil.example"), ("host", address)]), Some(BAD_REQUEST));
    assert_eq!(status(&[(":authority", address), ("host", address), ("host", address)]), Some(BAD_REQUEST));
    assert_eq!(status(&[]), Some(BAD_REQUEST));
}
