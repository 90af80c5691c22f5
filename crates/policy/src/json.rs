//! How deeply JSON is nested, found out before anything recursive looks at it.

use serde_json::Value;

/// Brackets within brackets of a text.
pub fn bracket_depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The same of JSON that is parsed already. What is deeper than `most` is not followed further.
pub fn value_depth(json: &Value, depth: usize, most: usize) -> usize {
    if depth > most {
        return depth;
    }
    let deeper = |v: &Value| value_depth(v, depth + 1, most);
    match json {
        Value::Array(items) => items.iter().map(deeper).max().unwrap_or(depth + 1),
        Value::Object(map) => map.values().map(deeper).max().unwrap_or(depth + 1),
        _ => depth,
    }
}
