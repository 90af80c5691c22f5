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

    /// What follows each `da ` in code: between backticks, or on a line of a block.
    fn calls(text: &str) -> impl Iterator<Item = &str> {
        text.match_indices("da ").filter_map(|(at, _)| {
            let before = text[..at].chars().next_back().unwrap_or('\n');
            let call = text[at + 3..].split(['\n', '`', '|', '#']).next()?;
            let block = text[..at].rsplit('\n').next()?.trim().is_empty();
            (before == '`' || block).then_some(call)
        })
    }

    /// A call of a command that exists, with flags that it has.
    fn must_work(call: &str, page: &str) {
        let mut command = Cli::command();
        command.build();
        let mut words = call.split_whitespace().peekable();
        while command.has_subcommands()
            && let Some(word) = words.next_if(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            let inner = command.find_subcommand(word).cloned();
            command = inner.unwrap_or_else(|| panic!("{page}: `da {call}`: there is no command `{word}`"));
        }
        let has = |flag: &str| match flag.strip_prefix("--") {
            Some(long) => command.get_arguments().any(|argument| argument.get_long() == Some(long)),
            None => command.get_arguments().any(|argument| argument.get_short() == flag.chars().nth(1)),
        };
        for flag in words.filter(|word| word.starts_with('-')).filter_map(|word| word.split('=').next()) {
            assert!(has(flag), "{page}: `da {call}`: there is no flag `{flag}`");
        }
    }

    #[test]
    fn what_is_taught_exists() {
        let page = include_str!("../../../../docs/DA.md");
        let (skill, part) = (skill(), with_part(""));
        assert!(skill.lines().count() < 200);
        for (name, text, least) in [("the skill", &*skill, 40), ("CLAUDE.md", &*part, 20), ("docs/DA.md", page, 20)] {
            assert!(!text.contains("{commands}") && !text.contains("{exit_codes}"), "{name} has a gap");
            let found = calls(text).inspect(|call| must_work(call, name)).count();
            assert!(found >= least, "{name}: only {found} calls were found");
        }
    }

    /// The commands, their arguments and what they do are those of this program.
    #[test]
    fn the_table_is_what_help_says() {
        let help = Cli::command().render_help().to_string();
        for command in Cli::command().get_subcommands() {
            let about = command.get_about().unwrap().to_string();
            assert!(help.contains(&about), "{about}");
            assert!(command.has_subcommands() || commands().contains(&format!("| {about} |")), "{about}");
        }
        assert!(commands().contains("| `da fetch TABLE` | Fetch some columns"), "{}", commands());
        assert!(exit_codes().starts_with("0 done, 1 unexpected") && exit_codes().ends_with("130 interrupted"));
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
