//! Large results come through the window of their worker, and are what its pipe would bring.

use crate::cases::{contracts, sql};
use crate::firm::{Firm, callers};
use crate::jail::{quick_engines, sandbox};
use domain::{Dialect, Limits};
use engines::{Caps, Engines, Form, Next, Packing, Settings};
use sandbox::{Jail, JailLimits, Jailed};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;

/// What a worker said to one request: how often in which way, and the bytes of the result.
#[derive(Default)]
struct Heard {
    by_pipe: usize,
    by_window: usize,
    bytes: Vec<u8>,
}

fn ask(jailed: &mut Jailed, request: &Value) -> Heard {
    let (payload, stdin) = (request.to_string(), jailed.stdin.as_mut().unwrap());
    stdin.write_all(b"Q").unwrap();
    stdin.write_all(&u32::try_from(payload.len()).unwrap().to_le_bytes()).unwrap();
    stdin.write_all(payload.as_bytes()).unwrap();
    let mut heard = Heard::default();
    loop {
        let stdout = jailed.stdout.as_mut().unwrap();
        let mut head = [0; 5];
        stdout.read_exact(&mut head).unwrap();
        let [tag, length @ ..] = head;
        let mut payload = vec![0; u32::from_le_bytes(length) as usize];
        stdout.read_exact(&mut payload).unwrap();
        match tag {
            b'A' => {
                heard.by_pipe += 1;
                heard.bytes.extend(payload);
            }
            b'W' => {
                heard.by_window += 1;
                let [pane, length] = payload.as_chunks().0 else { panic!("{payload:?}") };
                let window = jailed.window.as_ref().unwrap();
                let view = window.look(u32::from_le_bytes(*pane), u32::from_le_bytes(*length)).unwrap();
                heard.bytes.extend_from_slice(view.as_ref());
            }
            b'D' => return heard,
            _ => panic!("{}", String::from_utf8_lossy(&payload)),
        }
    }
}

fn opened(tier: &str, file: &Path) -> Option<Jailed> {
    let limits = JailLimits { cpus: 2.0, ..JailLimits::default() };
    let jail = Jail { read: vec![file.to_owned()], window: true, limits, ..Jail::default() };
    let mut jailed = sandbox(tier, "runner")?.spawn(&jail, &[]).unwrap();
    let table = json!({ "name": "many", "path": jailed.inside(file).unwrap(), "copy": null });
    ask(&mut jailed, &json!({ "Open": { "engine": { "Files": [table] }, "memory_bytes": 400 << 20, "threads": 2 } }));
    Some(jailed)
}

#[test]
fn both_ways_bring_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("many.parquet");
    let rows = "SELECT range AS n, 'row ' || range AS name FROM range(200000)";
    let duck = duckdb::Connection::open_in_memory().unwrap();
    duck.execute_batch(&format!("COPY ({rows}) TO '{}'", file.display())).unwrap();
    let mut tried = 0;
    let packed = json!({ "Packed": { "compression": "Lz4", "dictionary": false } });
    for mut jailed in ["T1", "T2"].into_iter().filter_map(|tier| opened(tier, &file)) {
        for form in [json!("Arrow"), packed.clone(), json!("Parquet"), json!("Csv"), json!("Json")] {
            let mut scan = |sql: &str, window: bool| {
                let query = json!({ "sql": sql, "params": [], "rows": 1_000_000, "bytes": 1 << 30, "form": form,
                    "window": window });
                ask(&mut jailed, &json!({ "Query": query }))
            };
            let sql = "SELECT * FROM many ORDER BY n";
            let (window, pipe) = (scan(sql, true), scan(sql, false));
            assert!(window.by_window > 0 && pipe.by_window == 0, "{form}: {} {}", window.by_window, pipe.by_window);
            assert!(window.bytes == pipe.bytes, "{form}: {} and {} bytes", window.bytes.len(), pipe.bytes.len());
            // What is short is gathered by its reader, and is not worth a pane.
            let short = scan("SELECT * FROM many ORDER BY n LIMIT 100", true);
            assert_eq!((short.by_window, short.by_pipe > 0), (0, true), "{form}");
            tried += 1;
        }
    }
    assert!(tried > 0, "no tier");
}

/// Bytes that a worker can still change are taken only where nobody decides by them, and each pane once.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_lies_about_its_window_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    let source = Firm::new().source(Dialect::DuckDb, dir.path());
    let schema = quick_engines().describe(&source).await.unwrap();
    let limits = Limits { rows: 10, bytes: 1 << 20, seconds: 60 };
    let [analyst, ..] = callers();
    let approved = contracts().check(&analyst, &schema, &sql("SELECT name FROM clients"), &limits).unwrap();
    let sandbox = sandbox("T1", "lying").or_else(|| sandbox("T2", "lying"));
    let engines = Engines::new(sandbox.unwrap(), Settings::default());
    let caps = Caps { rows: u64::MAX, bytes: u64::MAX };
    for (form, believed) in [
        (Form::Arrow, 1),
        (Form::Packed(Packing::default()), 0),
        (Form::Parquet, 0),
        (Form::Csv, 0),
        (Form::Json, 0),
        (Form::Estimate, 0),
    ] {
        let mut streaming = engines.stream(&source, &approved, form, caps, ()).await.unwrap();
        let mut pieces = Vec::new();
        let refused = loop {
            match streaming.next().await {
                Ok(Next::Bytes(bytes)) => pieces.push(bytes),
                Ok(Next::End(_)) => panic!("{form:?}: a lie was believed"),
                Err(fault) => break fault,
            }
        };
        assert_eq!(pieces.len(), believed, "{form:?}: {refused}");
    }
}

/// Somebody who does not take the end of a result keeps panes of its worker. It serves nobody else until they are read.
#[tokio::test(flavor = "multi_thread")]
async fn who_reads_slowly_holds_up_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let (engines, source) = (quick_engines(), Firm::new().source(Dialect::DuckDb, dir.path()));
    let schema = engines.describe(&source).await.unwrap();
    let limits = Limits { rows: 1_000_000, bytes: 1 << 30, seconds: 60 };
    let text = "SELECT a.name, b.name AS b, c.name AS c, d.name AS d, e.name AS e
        FROM clients AS a CROSS JOIN clients AS b CROSS JOIN clients AS c CROSS JOIN clients AS d CROSS JOIN clients AS e";
    let [analyst, ..] = callers();
    let approved = contracts().check(&analyst, &schema, &sql(text), &limits).unwrap();
    let caps = Caps { rows: u64::MAX, bytes: u64::MAX };
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut streaming = engines.stream(&source, &approved, Form::Arrow, caps, ()).await.unwrap();
        let mut last = None;
        let total = loop {
            match streaming.next().await.unwrap() {
                Next::Bytes(bytes) if bytes.len() >= 256 * 1024 => last = Some(bytes),
                Next::Bytes(_) => {}
                Next::End(total) => break total,
            }
        };
        assert_eq!(total.rows, 12_u64.pow(5));
        kept.push(last.expect("a large piece"));
    }
    assert_eq!(kept.len(), 3);
}
