//! A second parser reads the same text. Where the two see different commands, somebody is being misled.

use super::refuse::refuse;
use super::walk::Walked;
use domain::Fault;
use std::collections::BTreeMap;
use tree_sitter::{Node, Parser};

/// What the grammar of tree-sitter has nodes of their own for.
const DECLARATIONS: [&str; 8] = ["declare", "typeset", "export", "readonly", "local", "unset", "unsetenv", "["];

/// Names of commands, and how often each is run.
type Names = BTreeMap<String, usize>;

pub fn crosscheck(text: &str, walked: &Walked) -> Result<(), Fault> {
    let seen = names_by_tree_sitter(text).ok_or_else(|| Fault::internal("script.cross_check"))?;
    let seen = seen.map_err(|line| disagree(line, "text", "can be read in more than one way"))?;
    let mut ours = Names::new();
    for invocation in &walked.invocations {
        if let Some(name) = &invocation.name {
            count(&mut ours, &name.raw);
        }
    }
    match ours.iter().find(|(name, times)| seen.get(*name) != Some(times)).map(|(name, _)| name) {
        Some(name) => Err(disagree(0, name, "is a command for one parser and not for another")),
        None => match seen.keys().find(|name| !ours.contains_key(*name)) {
            Some(name) => Err(disagree(0, name, "is a command for one parser and not for another")),
            None => Ok(()),
        },
    }
}

fn disagree(line: usize, part: &str, what: &str) -> Fault {
    refuse("parsers_disagree", line, part, what, "write it in a plainer way: one command a line, plain quotes")
}

fn count(names: &mut Names, name: &str) {
    if !DECLARATIONS.contains(&name) {
        *names.entry(name.to_owned()).or_default() += 1;
    }
}

/// `None` if there is no parser; an error is the line of what it can't read.
fn names_by_tree_sitter(text: &str) -> Option<Result<Names, usize>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(text, None)?;
    let mut names = Names::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(Err(node.start_position().row + 1));
        }
        if node.kind() == "command_name" {
            count(&mut names, text_of(node, text));
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        while cursor.goto_parent() {
            if cursor.goto_next_sibling() {
                break;
            }
        }
        if cursor.depth() == 0 {
            return Some(Ok(names));
        }
    }
}

fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}
