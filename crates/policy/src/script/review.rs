//! A proposal, read to its ends.

use super::approved::ApprovedScript;
use super::arguments::{Call, Checker};
use super::commands;
use super::environment::is_dangerous_variable;
use super::manifest;
use super::paths::Paths;
use super::refuse::refuse;
use super::risk::{Reason, Reasons};
use super::settings::ScriptSettings;
use super::variables::Variables;
use super::walk::{self, Invocation, Walked};
use super::words::Argument;
use super::{crosscheck, parse};
use domain::{Fault, Interpreter, Risk, ScriptProposal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which scripts may be proposed, approved and run. Immutable; the same on both sides, each with its own settings.
#[derive(Debug, Clone, Default)]
pub struct ScriptPolicy {
    pub(super) settings: ScriptSettings,
}

/// What the sandbox of one device can give, as the device says when it enrols.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    pub network: bool,
    pub capabilities: Vec<String>,
    /// Directories and files that it may open for writing, and what is below them.
    pub writable_roots: Vec<String>,
}

impl Grants {
    pub fn writable(&self, path: &str) -> bool {
        self.writable_roots.iter().any(|root| {
            path.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// What policy thinks of a proposal: the validation report of spec 003.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What the approval would be bound to.
    pub digest: String,
    /// Empty if it may run. Those of the rollback have `in: rollback` among their details.
    pub violations: Vec<Fault>,
    pub risk: Risk,
    pub reasons: Vec<Reason>,
    /// Every command that it may run.
    pub commands: Vec<String>,
}

impl ScriptPolicy {
    pub fn new(settings: ScriptSettings) -> Self {
        Self { settings }
    }

    /// The commands that scripts may run, by name.
    pub fn commands(&self) -> Vec<String> {
        let ScriptSettings { allowed_binaries, denied_binaries, .. } = &self.settings;
        let names = match allowed_binaries {
            Some(names) => names.clone(),
            None => commands::names().map(str::to_owned).collect(),
        };
        names.into_iter().filter(|name| !denied_binaries.contains(name)).collect()
    }

    pub fn settings(&self) -> &ScriptSettings {
        &self.settings
    }

    /// All that there is to say about a proposal, for a device with these grants.
    pub fn review(&self, proposal: &ScriptProposal, grants: &Grants) -> Report {
        let paths = || Paths { settings: &self.settings, manifest: &proposal.manifest };
        let (mut violations, mut reasons) = (Vec::new(), Reasons::default());
        manifest::check(&paths(), grants, &mut violations, &mut reasons);
        let mut used = BTreeSet::new();
        let texts = [("script", Some(&proposal.script)), ("rollback", proposal.rollback.as_ref())];
        for (part, text) in texts.into_iter().filter_map(|(part, text)| Some((part, text?))) {
            let checked = parse::with_stack(|| self.text(text, paths(), proposal.manifest.interpreter));
            violations.extend(checked.refusals.into_iter().map(|fault| fault.detail("in", part)));
            // Whoever may run the rollback may run it alone: it makes the whole as risky as it is.
            for reason in checked.reasons.0 {
                let of = if part == "script" { "" } else { "in the rollback: " };
                reasons.add(reason.risk, &reason.code, reason.line, format!("{of}{}", reason.message));
            }
            used.extend(checked.used);
        }
        if reasons.risk() > Risk::Low && proposal.rollback.is_none() {
            reasons.add(Risk::High, "no_rollback", 0, "changes something and has no rollback".to_owned());
        }
        if proposal.intent.trim().is_empty() {
            violations.push(refuse("intent_missing", 0, "intent", "is empty", "say in a sentence what it is for"));
        }
        Report {
            digest: proposal.digest(),
            violations,
            risk: reasons.risk(),
            reasons: reasons.0,
            commands: used.into_iter().collect(),
        }
    }

    /// The proposal as it may run on a device with these grants, or the first violation.
    pub fn check(&self, proposal: &ScriptProposal, grants: &Grants) -> Result<ApprovedScript, Fault> {
        let report = self.review(proposal, grants);
        match report.violations.into_iter().next() {
            Some(violation) => Err(violation),
            None => Ok(ApprovedScript {
                script: proposal.script.clone(),
                manifest: proposal.manifest.clone(),
                rollback: proposal.rollback.clone(),
                intent: proposal.intent.clone(),
                digest: report.digest,
                risk: report.risk,
            }),
        }
    }

    fn text(&self, text: &str, paths: Paths<'_>, interpreter: Interpreter) -> Checked {
        let walked = match shebang(text, interpreter).and_then(|()| walk::walk(text, interpreter)) {
            Ok(walked) => walked,
            Err(fault) => {
                let refusals = std::iter::once(fault).chain(parse::unbroken(text).err()).collect();
                return Checked { refusals, ..Checked::default() };
            }
        };
        let variables = Variables::of(&walked, &paths.manifest.env);
        let functions: BTreeSet<String> = walked.functions.iter().map(|(_, name)| name.clone()).collect();
        let mut checker = Checker {
            paths,
            variables: &variables,
            functions: &functions,
            places: Vec::new(),
            refusals: Vec::new(),
            reasons: Reasons::default(),
            used: BTreeSet::new(),
        };
        checker.refusals.extend(parse::unbroken(text).err());
        checker.refusals.extend(crosscheck::crosscheck(text, &walked).err());
        every_part(&mut checker, &walked);
        let mut refusals = walked.refusals;
        refusals.extend(checker.refusals);
        Checked { refusals, reasons: checker.reasons, used: checker.used }
    }
}

#[derive(Default)]
struct Checked {
    refusals: Vec<Fault>,
    reasons: Reasons,
    used: BTreeSet<String>,
}

/// Where the shell keeps to POSIX, these come before functions of their name.
const OF_THE_SHELL: [&str; 22] = [
    "alias", "bash", "builtin", "command", "dash", "enable", "eval", "exec", "exit", "export", "hash", "readonly",
    "return", "set", "sh", "shift", "source", "times", "trap", "type", "unalias", "unset",
];

fn every_part(checker: &mut Checker<'_>, walked: &Walked) {
    for (line, name) in &walked.functions {
        if commands::is_known(name)
            || OF_THE_SHELL.contains(&name.as_str())
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            || is_dangerous_variable(name)
        {
            let hint = "give the function a name of its own";
            checker.refuse("function_shadows", *line, name, "is the name of a command, or no plain name", hint);
        }
    }
    checker.places = places(checker, walked);
    for invocation in &walked.invocations {
        for (name, value) in &invocation.assignments {
            environment(checker, invocation.line, name);
            evaluated(checker, invocation.line, value.as_ref());
        }
        command(checker, invocation);
    }
    for name in walked.loops.iter().map(|(name, _)| name).chain(&walked.set) {
        environment(checker, 0, name);
    }
    walked.texts.iter().for_each(|(line, text)| checker.never(*line, text));
    walked.redirections.iter().for_each(|redirection| checker.redirection(redirection));
}

/// Where `cd` may lead: relative paths are looked at in each of these places.
fn places(checker: &mut Checker<'_>, walked: &Walked) -> Vec<String> {
    let mut places = Vec::new();
    for invocation in walked.invocations.iter().filter(|i| i.name.as_ref().is_some_and(|name| name.raw == "cd")) {
        let target = invocation.arguments.iter().find(|word| !word.prefix().starts_with("--"));
        match target.and_then(|target| checker.variables.resolve(target)) {
            Some(targets) if targets.iter().all(|t| !t.is_empty() && t != "-") => places.extend(targets),
            _ => {
                let hint = "name the directory";
                checker.refuse(
                    "path_not_literal",
                    invocation.line,
                    "cd",
                    "goes where nobody knows before it runs",
                    hint,
                );
            }
        }
    }
    let known: Vec<String> = places.iter().map(|place| place.trim_end_matches('/').to_owned()).collect();
    for place in &places {
        if let Err(no) = checker.paths.read(place) {
            checker.no(no, 0, place, "entered");
        }
    }
    known
}

fn command(checker: &mut Checker<'_>, invocation: &Invocation) {
    let Some(name) = &invocation.name else { return };
    if !name.is_plain() || name.has_pattern() && name.raw != "[" {
        return not_plain(checker, invocation.line, name);
    }
    if name.raw.contains('/') {
        let hint = "name the command without its directory";
        return checker.refuse("command_by_path", invocation.line, &name.raw, "names a program by its path", hint);
    }
    checker.call(&Call { line: invocation.line, name: &name.raw, words: &invocation.arguments });
}

/// A command whose name is only known when it runs, or is written so that one must look twice.
pub(super) fn not_plain(checker: &mut Checker<'_>, line: usize, name: &Argument) {
    let hint = "write the command's name itself, without quotes, escapes, patterns or variables";
    checker.refuse("command_not_plain", line, &name.raw, "is no plain name of a command", hint);
}

/// A variable that the script sets.
pub(super) fn environment(checker: &mut Checker<'_>, line: usize, name: &str) {
    let splits_lines = name == "IFS";
    if is_dangerous_variable(name) && !splits_lines {
        let hint = "use a name of its own";
        checker.refuse("env_not_allowed", line, name, "is a variable that changes what runs", hint);
    }
}

/// `x='PATH=5'`: where arithmetic names `x`, it sets `PATH`.
fn evaluated(checker: &mut Checker<'_>, line: usize, value: Option<&Argument>) {
    let text = value.and_then(Argument::literal).unwrap_or_default();
    let name = text
        .split('=')
        .next()
        .unwrap_or_default()
        .trim()
        .trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '_');
    if text.contains('=') && is_dangerous_variable(name) {
        let hint = "leave out the name of that variable";
        checker.refuse("hidden_code", line, &text, "would set a variable where a number is evaluated", hint);
    }
}

/// `#!` may only say what the manifest says.
fn shebang(text: &str, interpreter: Interpreter) -> Result<(), Fault> {
    let Some(line) = text.strip_prefix("#!") else { return Ok(()) };
    let line = line.lines().next().unwrap_or_default().trim();
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/bin/env bash"];
    let sh = ["/bin/sh", "/usr/bin/sh", "/usr/bin/env sh"];
    let fits = match interpreter {
        Interpreter::Bash => bash.contains(&line) || sh.contains(&line),
        Interpreter::Sh => sh.contains(&line),
    };
    if fits {
        return Ok(());
    }
    Err(refuse("interpreter", 1, line, "is not the manifest's interpreter", "use bash or sh, without options"))
}
