//! What reaches a model, whoever asks: over Chat, over the Analyst and over Records.

use super::house::{Reader, TENANT, over, plant};
use serde_json::{Value, json};
use testkit::{Client, Messages, Said, tally};

const ALLOWED: [&str; 3] = ["lead", "clerk", "reader"];
const EVERYTHING: &str = "SELECT * FROM $t";

/// A model that looks at everything it can, and is told what came of it.
fn curious() -> Vec<Said> {
    let sql = |table: &str| json!({ "sql": EVERYTHING.replace("$t", table) });
    let in_vault = |sql: &str| json!({ "dataset_id": "vault", "sql": sql });
    let plan = json!({ "version": "1", "steps": [
        { "op": "READ", "resource": "cases", "select": ["id", "title"], "limit": 10 }] });
    vec![
        // Chat.
        Said::tool("chat_1", "get_dataset_schema", &json!({ "dataset_id": "vault" })),
        Said::tool("chat_2", "execute_sql", &in_vault("SELECT * FROM cases")),
        Said::tool("chat_3", "execute_sql", &in_vault("SELECT CAST(title AS DATE), secret_note FROM cases")),
        Said::tool("chat_4", "execute_sql", &in_vault("SELECT id, tenant, title FROM cases WHERE tenant <> 'acme'")),
        Said::text("I have seen it."),
        // Analyst.
        Said::tool("desk_1", "list_tables", &json!({})),
        Said::tool("desk_2", "describe_table", &json!({ "table": "notes" })),
        Said::tool("desk_3", "read_query", &sql("notes")),
        Said::tool("desk_4", "read_query", &sql("payroll")),
        Said::text("I have seen it."),
        // Records.
        Said::text(&json!({ "plan": plan, "question": null }).to_string()),
    ]
}

fn asked(client: &Client) {
    let chat = client.post("/chat", &json!({ "dataset_id": "vault", "message": "What is going on with our cases?" }));
    assert_eq!(chat.status, 200, "{}", chat.text());
    let messages = json!([{ "role": "user", "content": "What was written, and by whom?" }]);
    let body = json!({ "model": "claude-da/analyst", "messages": messages });
    let analyst = client.post("/v1/chat/completions", &body);
    assert_eq!(analyst.status, 200, "{}", analyst.text());
    let records = client.post("/agent/db", &json!({ "natural_language": "Show the titles of our cases" }));
    assert_eq!(records.status, 200, "{}", records.text());
}

#[test]
fn nothing_planted_reaches_a_model() {
    let dir = plant();
    let model = Messages::script(ALLOWED.iter().flat_map(|_| curious()));
    let server = over(dir.path())
        .env("GATEHOUSE_PLANNER", "claude")
        .env("ANTHROPIC_API_KEY", Messages::KEY)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .start();
    for role in ALLOWED {
        asked(&server.client(TENANT, role));
    }
    let prompts: Vec<Value> = model.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(prompts.len(), ALLOWED.len() * curious().len(), "every turn was taken");
    let all: String = prompts.iter().map(Value::to_string).collect();
    assert!(all.contains("Alpha lease"), "what they may see did reach it");
    let found: Vec<String> = prompts
        .iter()
        .map(Value::to_string)
        .filter_map(|text| Reader::Model.finds(text.as_bytes()).map(|word| format!("{word}: {text}")))
        .collect();
    tally("house", "prompts searched for planted values, by role", prompts.len(), "values found", found.len());
    assert!(found.is_empty(), "{found:#?}");
    prompts.iter().filter(|prompt| prompt.get("output_config").is_some()).for_each(small);
}

/// §4.2: of the contracts, only those of the resources that the instruction is about, in 400 to 900 tokens.
fn small(prompt: &Value) {
    let text: String = [&prompt["system"], &prompt["messages"]].iter().map(|part| part.to_string()).collect();
    let tokens = text.len() / 4;
    println!("prompt of Records: about {tokens} tokens");
    assert!((200..=900).contains(&tokens), "{tokens}: {text}");
    for other in ["\\\"notes\\\"", "\\\"visits\\\""] {
        assert!(!text.contains(other), "{text}");
    }
}
