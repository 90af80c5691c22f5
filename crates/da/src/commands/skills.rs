//! `da skills`: what a coding agent is taught, written from the commands as they are.

use super::Context;
use crate::cli::{Cli, Skills};
use crate::problem::{Problem, Result};
use crate::{files, print};
use clap::CommandFactory;
use serde_json::json;
use std::path::Path;

const SKILL: &str = include_str!("skills/skill.md");
const RAILS: &str = include_str!("skills/claude.md");
/// Between these the part of CLAUDE.md is ours.
const BEGIN: &str = "<!-- da: begin (written by `da skills install`) -->";
const END: &str = "<!-- da: end -->";

pub fn run(context: &Context, command: &Skills) -> Result<()> {
    match command {
        Skills::Show => print::line(skill().trim_end()),
        Skills::Install { project } => install(context, project),
    }
}

fn install(context: &Context, project: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Problem::file("the skill cannot be written", &error);
    let skill_path = project.join(".claude/skills/da-data-querying/SKILL.md");
    let claude_path = project.join("CLAUDE.md");
    if !project.is_dir() {
        let message = format!("`{}` is no directory", project.display());
        return Err(Problem::invalid("bad_project", message, "name the root of a project with --project"));
    }
    if let Some(dir) = skill_path.parent() {
        std::fs::create_dir_all(dir).map_err(failed)?;
    }
    files::write(&skill_path, skill().as_bytes()).map_err(failed)?;
    let before = match std::fs::read_to_string(&claude_path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    files::write(&claude_path, with_part(&before).as_bytes()).map_err(failed)?;
    if context.all.json {
        return print::json(&json!({ "written": [skill_path, claude_path] }));
    }
    print::line(format!("Wrote {} and the part of {}", skill_path.display(), claude_path.display()))
}

/// The file with our part in it: where it was, or at the end. Everything else stays.
fn with_part(before: &str) -> String {
    let part = format!("{BEGIN}\n{}{END}\n", RAILS.replace("{commands}", &commands()));
    let (head, tail) = match (before.split_once(BEGIN), before.split_once(END)) {
        (Some((head, _)), Some((_, tail))) => (head.to_owned(), tail.trim_start_matches('\n').to_owned()),
        _ if before.is_empty() => (String::new(), String::new()),
        _ => (format!("{}\n\n", before.trim_end()), String::new()),
    };
    format!("{head}{part}{tail}")
}

fn skill() -> String {
    SKILL.replace("{commands}", &commands()).replace("{exit_codes}", &exit_codes())
}

/// Every command with what it does, as `--help` says it.
fn commands() -> String {
    let mut lines = vec!["| command | what it does |".to_owned(), "|---|---|".to_owned()];
    let mut top = Cli::command();
    top.build();
    for command in top.get_subcommands().filter(|command| command.get_name() != "help") {
        let inner: Vec<_> = command.get_subcommands().filter(|inner| inner.get_name() != "help").collect();
        if inner.is_empty() {
            lines.push(line("da", command));
        }
        lines.extend(inner.into_iter().map(|inner| line(&format!("da {}", command.get_name()), inner)));
    }
    lines.join("\n")
}

fn line(before: &str, command: &clap::Command) -> String {
    let required = command.get_positionals().map(|argument| {
        let name = argument.get_id().as_str().to_uppercase();
        if argument.is_required_set() { format!(" {name}") } else { format!(" [{name}]") }
    });
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    format!("| `{before} {}{}` | {about} |", command.get_name(), required.collect::<String>())
}

/// The same words as under `da --help`.
fn exit_codes() -> String {
    let help = Cli::command().get_after_help().map(ToString::to_string).unwrap_or_default();
    let codes = help.split_once("Exit codes: ").map(|(_, codes)| codes.to_owned()).unwrap_or_default();
    codes.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skill_is_short_and_names_only_what_exists() {
        let skill = skill();
        assert!(skill.lines().count() < 200);
        assert!(!skill.contains('{') || !skill.contains("{commands}"));
        let mut top = Cli::command();
        top.build();
        let names: Vec<&str> = top.get_subcommands().map(clap::Command::get_name).collect();
        for text in [&skill, RAILS] {
            for (at, _) in text.match_indices("da ") {
                let before = text[..at].chars().next_back().unwrap_or('\n');
                let word: String = text[at + 3..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
                if matches!(before, '`' | '\n') && word.starts_with(|c: char| c.is_ascii_lowercase()) {
                    assert!(names.contains(&word.as_str()), "`da {word}` does not exist");
                }
            }
        }
    }

    #[test]
    fn a_part_is_put_in_once_and_replaced_in_place() {
        let first = with_part("# My project\n\nWords.\n");
        assert!(first.starts_with("# My project\n\nWords.\n\n<!-- da: begin"));
        let after = format!("{first}\nMore words.\n");
        assert_eq!(with_part(&after).matches(BEGIN).count(), 1);
        assert!(with_part(&after).ends_with("\nMore words.\n") || with_part(&after).ends_with("More words.\n"));
        assert_eq!(with_part(&first), first);
    }
}
