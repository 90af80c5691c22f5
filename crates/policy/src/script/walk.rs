//! The tree, walked to its ends: every command that a script can run, wherever it stands.

mod redirects;

use super::refuse::refuse;
use super::words::{self, Argument, Inner};
use super::{parse, sh};
use brush_parser::ast::{
    AndOr, Assignment, AssignmentName, AssignmentValue, CaseItemPostAction, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, ExtendedTestExpr, Pipeline, SeparatorOperator, SimpleCommand, UnaryPredicate, Word,
};
use domain::{Fault, Interpreter};

/// Substitutions within substitutions.
const MAX_DEPTH: usize = 4;

/// These run nothing: functions may be defined after them.
const SETTERS: [&str; 4] = ["set", "readonly", "export", "umask"];

/// One command as it is written.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    pub line: usize,
    /// None where only variables are set.
    pub name: Option<Argument>,
    pub arguments: Vec<Argument>,
    /// Variables that are set for it, or for all that follows.
    pub assignments: Vec<(String, Option<Argument>)>,
}

/// A file that is opened by the shell itself.
#[derive(Debug, Clone)]
pub struct Redirection {
    pub line: usize,
    pub target: Argument,
    pub writes: bool,
}

/// All that was found.
#[derive(Debug, Default)]
pub struct Walked {
    pub invocations: Vec<Invocation>,
    pub redirections: Vec<Redirection>,
    pub functions: Vec<(usize, String)>,
    /// What `for NAME in …` goes through.
    pub loops: Vec<(String, Option<Vec<Argument>>)>,
    /// Texts that a command may get by a way that nobody follows: through an array, a here string, a default.
    pub texts: Vec<(usize, String)>,
    /// Variables that arithmetic sets.
    pub set: Vec<String>,
    pub refusals: Vec<Fault>,
}

/// Walks a whole script, substitutions included.
pub fn walk(text: &str, interpreter: Interpreter) -> Result<Walked, Fault> {
    let mut walker = Walker { line: 1, posix: interpreter == Interpreter::Sh, ..Walker::default() };
    let mut todo = vec![text.to_owned()];
    for depth in 0.. {
        if todo.is_empty() {
            break;
        }
        if depth > MAX_DEPTH {
            let what = format!("nests substitutions deeper than {MAX_DEPTH}");
            return Err(refuse("too_deep", 0, "script", &what, "use variables for what comes between"));
        }
        for code in std::mem::take(&mut todo) {
            let program = parse::parse(&code)?;
            if code.contains("|&") {
                walker.only_bash("|&");
            }
            walker.text = code;
            program.complete_commands.iter().for_each(|list| walker.list(list));
        }
        walker.within = true;
        todo = std::mem::take(&mut walker.inner.code);
    }
    walker.found.set.append(&mut walker.inner.set);
    Ok(walker.found)
}

#[derive(Default)]
struct Walker {
    found: Walked,
    inner: Inner,
    line: usize,
    /// Inside of how many compound commands this is.
    nested: usize,
    /// Whether this is the body of a function, which runs when it is called.
    defining: bool,
    /// Whether something has run by now.
    running: bool,
    /// Inside of a substitution lines are counted anew: the line of the whole is the better one.
    within: bool,
    /// Whether `sh` will run it, which knows less than bash and reads some of that in another way.
    posix: bool,
    /// What is being walked, as it is written.
    text: String,
}

impl Walker {
    fn refuse(&mut self, code: &str, part: &str, what: &str, hint: &str) {
        let fault = refuse(code, self.line, part, what, hint);
        self.found.refusals.push(fault);
    }

    fn keep<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.found.refusals.push(fault)).ok()
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            if matches!(item.1, SeparatorOperator::Async) {
                self.refuse("background", "&", "leaves a command running behind the script", "run it to its end");
            }
            let (found, alone) = (self.inner.code.len(), item.0.additional.is_empty());
            self.pipeline(&item.0.first, alone);
            for next in &item.0.additional {
                let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline, false);
            }
            // A substitution runs where it stands.
            self.running |= !self.defining && self.inner.code.len() > found;
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, alone: bool) {
        let alone = alone && pipeline.seq.len() == 1;
        for command in &pipeline.seq {
            if let Command::Function(function) = command {
                self.at(&function.fname);
                let start = function.fname.loc.as_ref().map_or(0, |loc| loc.start.index);
                if sh::is_keyword_before(&self.text, start) {
                    self.only_bash("function");
                }
                self.defined(&function.fname.value, alone);
            }
            self.command(command);
        }
    }

    /// A name that a function has is not looked up as a program, so it must be certain that the function is there: always
    /// defined, in the script's own shell, and before anything runs.
    fn defined(&mut self, name: &str, alone: bool) {
        if !alone || self.nested > 0 || self.within || self.running {
            let hint = "define functions at the beginning, each on its own";
            self.refuse("function_not_certain", name, "may not be defined when it is called", hint);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.iter().flat_map(|list| &list.0));
            }
            Command::Function(function) => {
                self.at(&function.fname);
                self.found.functions.push((self.line, function.fname.value.clone()));
                let outside = std::mem::replace(&mut self.defining, true);
                let calls = self.found.invocations.len();
                self.compound(&function.body.0);
                self.defining = outside;
                self.recursion(&function.fname.value, calls);
                self.redirects(function.body.1.iter().flat_map(|list| &list.0));
            }
            Command::ExtendedTest(test, redirects) => {
                self.only_bash("[[");
                self.test(&test.expr);
                self.redirects(redirects.iter().flat_map(|list| &list.0));
            }
        }
    }

    /// A function that starts itself again starts more and more of them. `from` is the first call in its body.
    fn recursion(&mut self, name: &str, from: usize) {
        let body = self.found.invocations.iter().skip(from);
        if body.filter_map(|call| call.name.as_ref()).any(|called| called.raw == name) {
            self.refuse("function_recurses", name, "calls itself", "use a loop");
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        self.nested += 1;
        self.parts(compound);
        self.nested -= 1;
    }

    fn parts(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                self.only_bash("((");
                self.arithmetic(&arithmetic.expr.value);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.only_bash("for ((");
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.arithmetic(&part.value);
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                let values = clause.values.as_ref().map(|words| words.iter().filter_map(|w| self.word(w)).collect());
                self.found.loops.push((clause.variable_name.clone(), values));
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(case) => {
                self.word(&case.value);
                for item in &case.cases {
                    if !matches!(item.post_action, CaseItemPostAction::ExitCase) {
                        self.only_bash(";&");
                    }
                    item.patterns.iter().for_each(|pattern| drop(self.word(pattern)));
                    item.cmd.iter().for_each(|list| self.list(list));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.list(list));
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(_) => {
                self.refuse("background", "coproc", "leaves a command running beside the script", "run it to its end");
            }
        }
    }

    fn arithmetic(&mut self, text: &str) {
        let read = words::read_arithmetic(text, self.line, &mut self.inner);
        self.keep(read);
        self.foreign();
    }

    /// What `sh` takes for something else, or for nothing, must not stand in a script for it.
    fn only_bash(&mut self, part: &str) {
        if self.posix {
            let hint = "write it as POSIX has it, or ask for `\"interpreter\": \"bash\"` in the manifest";
            self.refuse("not_of_sh", part, "is known to bash only, and `sh` reads something else there", hint);
        }
    }

    fn foreign(&mut self) {
        std::mem::take(&mut self.inner.only_bash).iter().for_each(|part| self.only_bash(part));
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(a) | ExtendedTestExpr::Parenthesized(a) => self.test(a),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                let names =
                    [UnaryPredicate::ShellVariableIsSetAndAssigned, UnaryPredicate::ShellVariableIsSetAndNameRef];
                if names.iter().any(|name| std::mem::discriminant(name) == std::mem::discriminant(predicate)) {
                    let hint = "compare the value instead: [[ -n \"$name\" ]]";
                    self.refuse("hidden_code", &word.value, "is evaluated as a name, which can hide code", hint);
                }
                self.word(word);
            }
            ExtendedTestExpr::BinaryTest(_, a, b) => {
                self.word(a);
                self.word(b);
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        if let Some(name) = &simple.word_or_name {
            self.at(name);
        }
        let mut invocation = Invocation { line: self.line, ..Invocation::default() };
        invocation.name = simple.word_or_name.as_ref().and_then(|name| self.word(name));
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut before = None;
        for item in prefix.chain(suffix) {
            if let (Some(Item::Word(word)), Item::IoRedirect(_)) = (before.replace(item), item) {
                self.named_descriptor(&word.value);
            }
            match item {
                Item::IoRedirect(redirect) => self.redirects([redirect]),
                Item::Word(word) => invocation.arguments.extend(self.word(word)),
                Item::AssignmentWord(assignment, word) => {
                    self.assignment(assignment, &mut invocation);
                    // `export A=b` and `env A=b`: it is an argument as well.
                    if simple.word_or_name.is_some() {
                        // What runs in it was found just now.
                        let found = self.inner.code.len();
                        invocation.arguments.extend(self.word(word));
                        self.inner.code.truncate(found);
                    }
                }
                Item::ProcessSubstitution(_, subshell) => {
                    self.process_substitution();
                    self.list(&subshell.list);
                }
            }
        }
        invocation.line = self.line;
        let runs = invocation.name.as_ref().is_some_and(|name| !SETTERS.contains(&name.raw.as_str()));
        self.running |= runs && !self.defining;
        self.found.invocations.push(invocation);
    }

    /// `{name}>file` sets the variable to a number, `PATH` too.
    fn named_descriptor(&mut self, word: &str) {
        if word.starts_with('{') && word.ends_with('}') && !word.contains([',', '.']) && word.len() > 2 {
            let hint = "use the numbers of descriptors, or quote the word";
            self.refuse("hidden_assignment", word, "sets a variable in passing", hint);
        }
    }

    fn process_substitution(&mut self) {
        self.refuse(
            "process_substitution",
            "<(…)",
            "leaves a command running beside the script",
            "use a pipe or a file",
        );
    }

    fn assignment(&mut self, assignment: &Assignment, invocation: &mut Invocation) {
        if !self.within {
            self.line = assignment.loc.start.line;
        }
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                self.only_bash("name[…]=");
                self.arithmetic(index);
                name.clone()
            }
        };
        if assignment.append {
            self.only_bash("+=");
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let value = self.word(word).filter(|_| !assignment.append);
                invocation.assignments.push((name, value));
            }
            AssignmentValue::Array(items) => {
                self.only_bash("name=(…)");
                for (index, word) in items {
                    index.iter().for_each(|index| self.arithmetic(&index.value));
                    let item = self.word(word);
                    self.text(item.as_ref());
                }
                invocation.assignments.push((name, None));
            }
        }
    }

    fn at(&mut self, word: &Word) {
        if let Some(loc) = &word.loc
            && !self.within
        {
            self.line = loc.start.line;
        }
    }

    fn text(&mut self, word: Option<&Argument>) {
        let text = word.and_then(Argument::literal).map(|text| (self.line, text));
        self.found.texts.extend(text);
    }

    fn word(&mut self, word: &Word) -> Option<Argument> {
        self.at(word);
        let read = words::read(&word.value, self.line, &mut self.inner);
        self.foreign();
        let read = self.keep(read)?;
        self.found.texts.extend(read.inside.iter().map(|text| (self.line, text.clone())));
        if read.has_open_braces() {
            let hint = "write the words out";
            self.refuse("braces_not_plain", &word.value, "has quotes or variables between its brackets", hint);
        }
        if read.hides_code() {
            let hint = "leave out what would run";
            self.refuse("hidden_code", &word.value, "holds code where a number or a name is evaluated", hint);
        }
        Some(read)
    }
}
