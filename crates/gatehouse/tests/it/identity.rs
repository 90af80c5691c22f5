//! Who may come in: tokens, the page's cookie, hosts and origins, sizes and rates.

use crate::support::{demo, server};
use serde_json::json;
use testkit::Client;

#[test]
fn every_api_needs_a_token() {
    let stranger = demo().stranger();
    for path in [
        "/datasets",
        "/datasets/shop/schema",
        "/runs",
        "/runs/00000000-0000-0000-0000-000000000000",
        "/tools",
        "/session",
        "/metrics",
    ] {
        let reply = stranger.get(path);
        assert_eq!((reply.status, reply.code().as_str()), (401, "auth.refused"), "{path}");
        assert_eq!(reply.header("www-authenticate"), "Bearer");
    }
    for path in ["/chat", "/chat/stream", "/datasets/shop/query", "/tools/list_datasets"] {
        assert_eq!(stranger.post(path, &json!({})).status, 401, "{path}");
    }
}

#[test]
fn a_revoked_token_is_refused_at_once() {
    let server = demo();
    let token = server.token("temp", "analyst");
    let client = Client::new(&server.url).bearer(&token);
    assert_eq!(client.get("/datasets").status, 200);
    let id = token.split('_').nth(1).unwrap();
    assert!(server.command(&["tokens", "revoke", id]).status.success());
    assert_eq!(client.get("/datasets").status, 401);
    let listed = server.command(&["tokens", "list", "--json"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains(id) && !listed.contains(&token), "ids, never secrets");
    assert_eq!(server.command(&["tokens", "revoke", "nope"]).status.code(), Some(5));
}

#[test]
fn wrong_tokens_are_refused_whatever_they_look_like() {
    let good = demo().token("bob", "analyst");
    let wrong = format!("{}x", &good[..good.len() - 1]);
    for token in ["", "x", "gh_", &wrong, "gh_0000000000000000_00", &"a".repeat(5000)] {
        assert_eq!(Client::new(&demo().url).bearer(token).get("/datasets").status, 401, "{token}");
    }
    let basic = demo().stranger().header("authorization", "Basic eDp5");
    assert_eq!(basic.get("/datasets").status, 401);
}

/// Ten guesses at one token, and then not even the right one is looked at; everybody else is served.
#[test]
fn guessing_a_token_is_slow() {
    let server = server().start();
    let good = server.token("bob", "analyst");
    let wrong = format!("{}{}", &good[..good.len() - 64], "0".repeat(64));
    let others = server.client("ann", "analyst");
    let ask = |token: &str| Client::new(&server.url).bearer(token).get("/datasets");
    let start = std::time::Instant::now();
    let statuses: Vec<_> = (0..12).map(|_| ask(&wrong).status).collect();
    assert_eq!(statuses, [[401; 10].as_slice(), &[429; 2]].concat());
    let refused = ask(&good);
    assert_eq!((refused.status, refused.code().as_str()), (429, "auth.too_many_attempts"), "even the right one");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(others.get("/datasets").status, 200, "others behind the same address");

    let many: Vec<_> = (0..68).map(|i| ask(&format!("gh_{i:016x}_{}", "0".repeat(64))).status).collect();
    let looked_at = many.iter().filter(|status| **status == 401).count();
    assert!(many.contains(&429) && looked_at as f64 <= 51.0 + start.elapsed().as_secs_f64(), "{many:?}");
    let codes = [(); 3].map(|()| server.stranger().get("/login?code=ghl_0_0").status);
    assert!(codes.contains(&429), "sign-in codes count too: {codes:?}");
    assert_eq!(others.get("/datasets").status, 200);
    testkit::tally(
        "house",
        "wrong tokens from one address",
        statuses.len() + many.len(),
        "guesses beyond the limit",
        0,
    );
}

#[test]
fn an_expired_token_is_refused_at_once() {
    let server = demo();
    let created = server.command(&["tokens", "create", "--actor", "brief", "--role", "analyst", "--expires", "1s"]);
    let token = String::from_utf8_lossy(&created.stdout).trim().to_owned();
    let client = Client::new(&server.url).bearer(&token);
    let start = std::time::Instant::now();
    while client.get("/datasets").status == 200 {
        assert!(start.elapsed().as_secs() < 5, "it still opens");
    }
    assert_eq!(client.get("/datasets").code(), "auth.refused");
}

/// `SameSite` knows no ports: a page on another port of this machine makes the browser send the cookie along.
#[test]
fn a_cookie_is_useless_from_another_origin() {
    let server = server().demo().start();
    let link = server.welcome[0].split_whitespace().nth(1).unwrap().to_owned();
    let signed_in = server.stranger().get(link.strip_prefix(&server.url).unwrap());
    assert_eq!(signed_in.header("cross-origin-resource-policy"), "same-origin");
    let page = server.stranger().header("cookie", signed_in.header("set-cookie").split(';').next().unwrap());
    for (site, status) in [("same-origin", 200), ("none", 200), ("same-site", 401), ("cross-site", 401), ("", 401)] {
        assert_eq!(page.clone().header("sec-fetch-site", site).get("/datasets").status, status, "`{site}`");
    }
    for origin in ["null", "http://127.0.0.1:1", "http://localhost", &format!("{}.evil.example", server.url)] {
        let reply = page.clone().header("origin", origin).post("/chat", &json!({}));
        assert_eq!((reply.status, reply.code().as_str()), (403, "request.origin"), "{origin}");
    }
}

#[test]
fn another_actors_runs_are_as_if_they_were_not_there() {
    let server = demo();
    let (ann, eve) = (server.client("ann-runs", "analyst"), server.client("eve", "analyst"));
    let run = crate::support::sql(&ann, "shop", "SELECT 1 AS one")["run_id"].as_str().unwrap().to_owned();
    let none = "018f0000-0000-7000-8000-000000000000";
    for path in ["/runs/{}", "/runs/{}/events"] {
        let told = [run.as_str(), none].map(|id| {
            let reply = eve.get(&path.replace("{}", id));
            let error = reply.json()["error"].to_string().replace(id, "ID");
            (reply.status, error)
        });
        assert_eq!(told[0], told[1], "{path}");
        assert_eq!(told[0].0, 404);
    }
    assert_eq!(eve.delete(&format!("/runs/{run}")).status, 404);
    assert!(!eve.get("/runs").text().contains(&run));
    assert_eq!(eve.get("/runs?actor=ann-runs").status, 403);
    assert_eq!(ann.get(&format!("/runs/{run}")).status, 200);
}

#[test]
fn the_sign_in_link_works_once_and_gives_a_strict_cookie() {
    let server = server().demo().start();
    let link = server.welcome[0].split_whitespace().nth(1).unwrap().to_owned();
    let path = link.strip_prefix(&server.url).unwrap();
    let first = server.stranger().get(path);
    assert_eq!(first.status, 200);
    let cookie = first.header("set-cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(server.stranger().get(path).status, 401, "used");

    let page = server.stranger().header("cookie", cookie.split(';').next().unwrap());
    assert_eq!(page.get("/session").json()["role"], "admin");
    let own = page.clone().header("origin", &server.url);
    assert_eq!(own.get("/datasets").status, 200);
    let foreign = page.clone().header("origin", "https://evil.example");
    assert_eq!(foreign.post("/chat", &json!({})).code(), "request.origin");
    assert_eq!(page.post("/logout", &json!({})).status, 303);
    assert_eq!(page.get("/session").status, 401, "the session has ended");
}

#[test]
fn a_host_that_is_not_ours_is_refused() {
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""] {
        let reply = demo().stranger().header("host", host).get("/healthz");
        assert_eq!((reply.status, reply.code().as_str()), (403, "request.host"), "{host}");
    }
    assert_eq!(demo().stranger().header("host", "localhost:1").get("/healthz").status, 200);
}

#[test]
fn large_bodies_and_wrong_methods_are_refused() {
    let server = server().env("GATEHOUSE_SERVER_BODY_LIMIT_BYTES", "1024").start();
    let client = server.client("big", "analyst");
    let reply = client.post("/chat", &json!({ "dataset_id": "shop", "message": "x".repeat(2_000) }));
    assert_eq!((reply.status, reply.code().as_str()), (413, "request.too_large"));
    let reply = client.get("/chat");
    assert_eq!((reply.status, reply.code().as_str()), (405, "request.method"));
}

#[test]
fn one_actor_cannot_take_all_the_turns() {
    let server =
        server().demo().env("GATEHOUSE_LIMITS_REQUESTS_PER_SECOND", "1").env("GATEHOUSE_LIMITS_BURST", "3").start();
    let greedy = server.client("greedy", "analyst");
    let replies: Vec<_> = (0..6).map(|_| greedy.get("/tools")).collect();
    let limited = replies.iter().find(|r| r.status == 429).expect("a 429");
    assert_eq!(limited.code(), "request.rate_limited");
    assert!(limited.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(server.client("modest", "analyst").get("/tools").status, 200, "others are served");
}

#[test]
fn one_role_cannot_take_all_the_turns() {
    let server = server().demo().env("GATEHOUSE_LIMITS_ROLES", "agent=1/6,reader=1/1").start();
    let agents = &[server.client("bob", "agent"), server.client("eve", "agent")];
    let start = std::time::Instant::now();
    // At once: who is told to wait is told so late.
    let replies: Vec<_> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..24).map(|i| scope.spawn(move || agents[i % 2].get("/tools"))).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    let admitted = replies.iter().filter(|reply| reply.status == 200).count();
    let earned = start.elapsed().as_secs() as usize + 1;
    assert!((6..=6 + earned).contains(&admitted), "{admitted} in {:?}", start.elapsed());
    let limited = replies.iter().find(|reply| reply.status == 429).expect("a 429");
    assert_eq!(limited.code(), "request.rate_limited");
    assert!(limited.text().contains("the role `agent`"), "{}", limited.text());
    assert!(limited.header("retry-after").parse::<u64>().unwrap() >= 1);
    let of_records = agents[0].post("/agent/db", &json!({ "natural_language": "Show case_987" }));
    assert!(of_records.status == 200 || of_records.json()["error"]["type"] == "RATE_LIMITED", "{}", of_records.text());
    for role in ["analyst", "reader"] {
        assert_eq!(server.client("ann", role).get("/tools").status, 200, "other roles are served");
    }
}

/// Over TLS real clients speak HTTP/2, which has no `Host` header.
#[test]
fn tls_works_with_a_real_client() {
    let data = tempfile::tempdir().unwrap();
    let path = |name: &str| data.path().join(name).to_str().unwrap().to_owned();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let made = std::process::Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-keyout", &key, "-out", &cert])
        .output()
        .expect("openssl to run");
    assert!(made.status.success());
    let server = server().env("GATEHOUSE_TLS_CERT", &cert).env("GATEHOUSE_TLS_KEY", &key).start();
    assert!(server.url.starts_with("https://"), "{}", server.url);
    for version in ["--http1.1", "--http2"] {
        let output = std::process::Command::new("curl")
            .args(["-sS", version, "--cacert", &cert, &format!("{}/healthz", server.url)])
            .output()
            .expect("curl to run");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("\"status\":\"ok\""), "{version}: {said} {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn metrics_are_for_admins() {
    assert_eq!(demo().client("ann", "analyst").get("/metrics").status, 403);
    let text = demo().client("root", "admin").get("/metrics").text();
    assert!(text.contains("gatehouse_http_requests_total"), "{text}");
}

#[test]
fn replies_carry_the_headers_that_browsers_need() {
    let reply = demo().stranger().get("/");
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-security-policy").contains("script-src 'self'"));
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    assert!(demo().stranger().get("/assets/main.js").header("content-type").starts_with("text/javascript"));
    assert_eq!(demo().stranger().get("/assets/../Cargo.toml").status, 404);
}

#[test]
fn a_slow_client_is_let_go() {
    use std::io::{Read, Write};
    let server = server().env("GATEHOUSE_SERVER_HEADER_TIMEOUT_SECONDS", "1").start();
    let mut socket = std::net::TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    socket.write_all(b"GET /livez HTTP/1.1\r\nHost: loc").unwrap();
    let mut silent = std::net::TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    silent.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    silent.read_to_end(&mut Vec::new()).expect("the server to close a connection that says nothing");
    let mut said = Vec::new();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    socket.read_to_end(&mut said).expect("the server to close the connection");
}
