use domain::*;
use std::path::Path;
#[path = "../tests/it/fixture.rs"]
#[allow(dead_code)]
mod fixture;
fn main() {
    let caller = fixture::analyst();
    let p = fixture::policy();
    for (d, n) in [(Dialect::DuckDb, "duckdb"), (Dialect::Sqlite, "sqlite")] {
        let s = fixture::source(d);
        for f in ["both", n] {
            for text in fixture::cases(&format!("cases/sql/accept/{f}.txt")) {
                let prop = Proposal::Sql { source: "crm".into(), text: text.clone() };
                let a = p.check(&caller, &s, &prop, &Limits::default()).unwrap();
                println!("{}", serde_json::json!({"d": n, "text": text, "sql": a.sql(), "params": a.params()}));
            }
        }
        let mut found: Vec<(String, String)> = Vec::new();
        for line in fixture::text("cases/plan/accept/both.txt").lines() {
            match (line.strip_prefix("# "), found.last_mut()) {
                (Some(name), _) => found.push((name.to_owned(), String::new())),
                (None, Some((_, json))) => json.push_str(line),
                (None, None) => {}
            }
        }
        for (name, json) in found {
            let a = fixture::plan_as(&caller, d, &json).unwrap();
            println!(
                "{}",
                serde_json::json!({"d": n, "text": format!("plan {name}"), "sql": a.sql(), "params": a.params()})
            );
        }
    }
    let _ = Path::new("x");
    // timing
    let s = fixture::source(Dialect::DuckDb);
    for text in [
        "SELECT c.name, count(*) AS n, sum(k.amount) FROM cases k JOIN clients c ON c.id = k.client_id WHERE k.status = 'ACTIVE' AND k.created_at >= '2024-01-01' GROUP BY c.name HAVING count(*) > 1 ORDER BY n DESC LIMIT 20",
        "SELECT count(*) FROM cases",
        "WITH a AS (SELECT owner, date_trunc('month', created_at) m, sum(amount) s FROM cases GROUP BY 1, 2) SELECT owner, m, s, sum(s) OVER (PARTITION BY owner ORDER BY m) FROM a ORDER BY 1, 2",
    ] {
        let prop = Proposal::Sql { source: "crm".into(), text: text.into() };
        let n = 5000;
        for _ in 0..500 {
            p.check(&caller, &s, &prop, &Limits::default()).unwrap();
        }
        let t = std::time::Instant::now();
        for _ in 0..n {
            std::hint::black_box(p.check(&caller, &s, &prop, &Limits::default()).unwrap());
        }
        eprintln!("{:.1} µs  {}", t.elapsed().as_secs_f64() * 1e6 / n as f64, &text[..40.min(text.len())]);
    }
    for (name, text) in [
        ("parens", format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000))),
        ("plus", format!("SELECT {}1", "1+".repeat(32000))),
        ("plus1900", format!("SELECT {}1", "1+".repeat(1900))),
        ("from", format!("SELECT * FROM {}clients", "(".repeat(40))),
        ("fromsel", format!("SELECT * FROM {}SELECT 1", "(".repeat(40))),
        ("columns", format!("SELECT {} FROM clients", vec!["id"; 10000].join(","))),
        ("not", format!("SELECT {} 1", "NOT ".repeat(10000))),
        ("minus", format!("SELECT {}1", "- ".repeat(5000))),
        ("union", format!("SELECT 1{}", " UNION SELECT 1".repeat(1000))),
        ("isdist", format!("SELECT 1{}", " IS DISTINCT FROM 1".repeat(3000))),
        ("case", format!("SELECT {}1{}", "CASE WHEN 1 THEN ".repeat(40), " END".repeat(40))),
        ("brack", format!("SELECT {}1{}", "[".repeat(40), "]".repeat(40))),
        ("nest47", format!("SELECT {}1{}", "(SELECT ".repeat(45), ")".repeat(45))),
        ("cast", format!("SELECT 1{}", "::int".repeat(5000))),
        ("lambda", format!("SELECT {}1", "x -> ".repeat(300))),
        ("interval", format!("SELECT {}1", "INTERVAL ".repeat(300))),
        ("in", format!("SELECT 1 IN ({})", vec!["1"; 20000].join(","))),
        ("fnnest", format!("SELECT {}1{}", "abs(".repeat(45), ")".repeat(45))),
        ("or", format!("SELECT 1 FROM cases WHERE {}", vec!["status = 'x'"; 480].join(" OR "))),
        ("case_un", "CASE ".repeat(10000)),
        ("dots", format!("SELECT {}a", "a.".repeat(10000))),
        ("types", format!("SELECT CAST(1 AS {}INT{})", "STRUCT(a ".repeat(30), ")".repeat(30))),
    ] {
        let prop = Proposal::Sql { source: "crm".into(), text };
        let t = std::time::Instant::now();
        let r = p.check(&caller, &s, &prop, &Limits::default());
        eprintln!(
            "{name}: {:.2} ms {:?}",
            t.elapsed().as_secs_f64() * 1e3,
            r.map(|a| a.sql().len()).map_err(|e| e.code)
        );
    }
}
