//! Placeholders turned back, for devices and for people who may see; and values turned into placeholders for the others.

use domain::{Fault, Manifest, ScriptProposal};
use policy::redact::Masks;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// What placeholders stand for, as it was kept with the diagnostics.
pub type Values = BTreeMap<String, String>;

pub fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What in a script is somebody's text: its other words are ours, whatever they look like.
pub fn each_text_of(script: &mut ScriptProposal, change: &mut impl FnMut(&mut String)) {
    let ScriptProposal { script, manifest, rollback, intent } = script;
    let Manifest {
        interpreter: _,
        env,
        timeout_seconds: _,
        work_dir,
        network: _,
        writable_paths,
        capabilities: _,
        resources: _,
    } = manifest;
    let texts = [script, intent, work_dir].into_iter().chain(rollback).chain(env.values_mut()).chain(writable_paths);
    texts.for_each(change);
}

/// With the values in all of its texts.
pub fn restored<T: Serialize + DeserializeOwned>(values: &Values, thing: &T) -> Result<T, Fault> {
    let masks = Masks::keeping(values.clone());
    let mut json = serde_json::to_value(thing).map_err(|_| Fault::internal("ops.restore"))?;
    each_text(&mut json, &mut |text| *text = masks.restore(text));
    serde_json::from_value(json).map_err(|_| Fault::internal("ops.restore"))
}

/// With placeholders where the values stand as words of their own, the longest first.
pub fn hidden(values: &Values, text: &str) -> String {
    let mut pairs: Vec<(&String, &String)> = values.iter().collect();
    pairs.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    pairs.into_iter().fold(text.to_owned(), |text, (placeholder, value)| replaced(&text, value, placeholder))
}

fn replaced(text: &str, value: &str, placeholder: &str) -> String {
    let (mut result, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(value).filter(|_| !value.is_empty()) {
        let (before, here) = rest.split_at(at);
        let after = here.get(value.len()..).unwrap_or_default();
        let is_word = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let whole = is_word(before.chars().next_back().or(result.chars().next_back())) && is_word(after.chars().next());
        result.push_str(before);
        result.push_str(if whole { placeholder } else { value });
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hidden_where_they_are_words() {
        let pairs = [("<USER_1>", "pi"), ("<HOST_1>", "pump-ctl-2"), ("<HOST_2>", "pump"), ("<IP_1>", "203.0.113.9")];
        let values: Values = pairs.iter().map(|(p, v)| ((*p).to_owned(), (*v).to_owned())).collect();
        let cases = [
            ("ping pump-ctl-2 as pi", "ping <HOST_1> as <USER_1>"),
            ("/home/pi/pump/203.0.113.91", "/home/<USER_1>/<HOST_2>/203.0.113.91"),
            ("pip pi", "pip <USER_1>"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(hidden(&values, text), expected);
            assert_eq!(Masks::keeping(values.clone()).restore(expected), text);
        }
    }
}
