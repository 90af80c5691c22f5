use sqlparser::{dialect::DuckDbDialect, parser::Parser, tokenizer::Tokenizer};
fn main() {
    let input = "SELECT c.name, count(*) AS n, sum(k.amount) FROM cases k JOIN clients c ON c.id = k.client_id WHERE k.status = 'ACTIVE' AND k.created_at >= '2024-01-01' GROUP BY c.name HAVING count(*) > 1 ORDER BY n DESC LIMIT 20";
    let output = r#"SELECT c.name, count(*) AS n, sum(k.amount) FROM (SELECT "id", "case_no", "client_id", "owner", "status", "priority", "amount", "is_urgent", "opened_on", "created_at", "payload" FROM "main"."cases") AS k JOIN (SELECT "id", "name", "region", "since" FROM "main"."clients") AS c ON c.id = k.client_id WHERE k.status = 'ACTIVE' AND k.created_at >= '2024-01-01' GROUP BY c.name HAVING count(*) > 1 ORDER BY n DESC LIMIT 20"#;
    for (n, t) in [("in", input), ("out", output)] {
        let time = |f: &mut dyn FnMut()| { for _ in 0..500 { f() } let s = std::time::Instant::now(); for _ in 0..3000 { f() } s.elapsed().as_secs_f64() * 1e6 / 3000.0 };
        let tok = time(&mut || { std::hint::black_box(Tokenizer::new(&DuckDbDialect, t).tokenize_with_location().unwrap()); });
        let all = time(&mut || { std::hint::black_box(Parser::parse_sql(&DuckDbDialect, t).unwrap()); });
        let ast = Parser::parse_sql(&DuckDbDialect, t).unwrap();
        let ren = time(&mut || { std::hint::black_box(ast[0].to_string()); });
        let eq = time(&mut || { std::hint::black_box(ast == ast.clone()); });
        eprintln!("{n}: tokenize {tok:.1} tokenize+parse {all:.1} render {ren:.1} clone+eq {eq:.1}");
    }
}
