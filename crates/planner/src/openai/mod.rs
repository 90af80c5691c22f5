//! Chat completions of any compatible server: how a turn is asked for (here) and how the answer is read (`stream`).

mod stream;

pub(crate) use stream::Reader;

use crate::agent::{Entry, Role};
use crate::model::{Request, set};
use serde_json::{Value, json};

pub(crate) fn body(request: &Request<'_>) -> Value {
    let mut body = json!({
        "model": request.model,
        // The name that servers of open models know.
        "max_tokens": request.max_tokens,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages(request),
    });
    if !request.tools.is_empty() {
        let tool = |tool: &crate::Tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema});
            json!({"type": "function", "function": function})
        };
        set(&mut body, "tools", request.tools.iter().map(tool).collect());
        set(&mut body, "tool_choice", json!(if request.may_call { "auto" } else { "none" }));
    }
    if let Some(schema) = request.schema {
        let format = json!({"name": "answer", "schema": schema});
        set(&mut body, "response_format", json!({"type": "json_schema", "json_schema": format}));
    }
    body
}

fn messages(request: &Request<'_>) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system.join("\n\n")}));
    }
    for entry in request.transcript {
        match entry {
            Entry::Said(said) => {
                let role = if said.role == Role::User { "user" } else { "assistant" };
                messages.push(json!({"role": role, "content": said.text}));
            }
            Entry::Reply(echo) => messages.push(echo.clone()),
            Entry::Results(results) => messages.extend(
                results.iter().map(|result| json!({"role": "tool", "tool_call_id": result.id, "content": result.text})),
            ),
        }
    }
    messages.extend(request.note.map(|note| json!({"role": "user", "content": note})));
    Value::Array(messages)
}
