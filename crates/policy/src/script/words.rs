//! What a word of a script is, once quotes are taken off: a literal, or something that is only known when it runs.

use super::parse::{caught, options};
use super::refuse::refuse;
use brush_parser::ast::UnexpandedArithmeticExpr;
use brush_parser::word::{self, Parameter, ParameterExpr, SpecialParameter, WordPiece, WordPieceWithSource};
use domain::Fault;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Exactly this text. `bare` where `*`, `?` and `[` in it are patterns.
    Text { text: String, bare: bool },
    /// The value of this variable.
    Variable(String),
    /// Something else that is only known when it runs.
    Unknown,
}

/// A word, and the scripts that stand in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    pub parts: Vec<Part>,
    /// As it is written.
    pub raw: String,
    /// Whether something in it is only known when it runs and may then be several words.
    pub splits: bool,
    /// Words that stand inside of its expansions: `${x:-/etc/hosts}`.
    pub inside: Vec<String>,
}

/// What stands inside of words, to be checked like all else.
#[derive(Debug, Default)]
pub struct Inner {
    /// Code.
    pub code: Vec<String>,
    /// Variables that arithmetic sets.
    pub set: Vec<String>,
    /// Forms that only bash knows: `sh` reads something else there, or nothing.
    pub only_bash: Vec<String>,
}

impl Argument {
    /// As if it were written in quotes.
    pub fn text(text: &str) -> Self {
        let parts = vec![Part::Text { text: text.to_owned(), bare: false }];
        Self { parts, raw: text.to_owned(), ..Self::default() }
    }

    /// The text, if the word is nothing else.
    pub fn literal(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| if let Part::Text { text, .. } = part { Some(text.as_str()) } else { None })
            .collect()
    }

    /// Whether it is written without any quote, escape or expansion.
    pub fn is_plain(&self) -> bool {
        self.literal().is_some_and(|text| text == self.raw)
    }

    /// Text before anything that is only known when it runs.
    pub fn prefix(&self) -> String {
        let texts = self.parts.iter().map_while(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// `a[$(id)]` in quotes: harmless as text, and run wherever a shell evaluates a number or the name of a variable.
    pub fn hides_code(&self) -> bool {
        let hides = |text: &str| {
            text.split('[').zip(text.split('[').skip(1)).any(|(before, inside)| {
                let named = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                let inside = inside.split(']').next().unwrap_or_default();
                named && (inside.contains("$(") || inside.contains('`'))
            })
        };
        self.parts.iter().any(|part| matches!(part, Part::Text { text, .. } if hides(text)))
    }

    /// Whether brackets are open from one part into the next: `{a"b",c}` and `{$x,c}` are several words.
    pub fn has_open_braces(&self) -> bool {
        let open = |part: &Part| match part {
            Part::Text { text, bare: true } => text.matches('{').count() != text.matches('}').count(),
            _ => false,
        };
        self.parts.len() > 1 && self.parts.iter().any(open)
    }

    /// Anything below it.
    pub fn below(&self) -> Self {
        let mut below = self.clone();
        below.parts.push(Part::Text { text: "/*".to_owned(), bare: true });
        below
    }

    /// As a pattern: `*` stands for what is only known when it runs.
    pub fn pattern(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text { text, .. } => text.as_str(),
            _ => "*",
        });
        texts.collect()
    }

    /// Whether it finds files by their names.
    pub fn has_wildcard(&self) -> bool {
        let wild = |part: &Part| matches!(part, Part::Text { text, bare: true } if text.contains(['*', '?', '[']));
        self.parts.iter().any(wild)
    }

    pub fn has_pattern(&self) -> bool {
        let pattern =
            |part: &Part| matches!(part, Part::Text { text, bare: true } if text.contains(['*', '?', '[', '{']));
        self.parts.iter().any(pattern)
    }
}

/// Reads one word. `line` is for refusals.
pub fn read(raw: &str, line: usize, inner: &mut Inner) -> Result<Argument, Fault> {
    let pieces = caught(|| word::parse(raw, &options()).ok())
        .flatten()
        .ok_or_else(|| refuse("syntax", line, raw, "is no word that can be read", "use plain quoting"))?;
    let mut reader = Reader { raw, line, inner, parts: Vec::new(), splits: false, inside: Vec::new() };
    reader.pieces(&pieces, false)?;
    let Reader { parts, splits, inside, .. } = reader;
    let argument = Argument { parts, raw: raw.to_owned(), splits, inside };
    inner.only_bash.extend(super::sh::foreign(&argument));
    Ok(argument)
}

/// Reads the body of a here document whose delimiter is not quoted.
pub fn read_document(raw: &str, line: usize, inner: &mut Inner) -> Result<(), Fault> {
    let pieces = caught(|| word::parse_heredoc(raw, &options()).ok())
        .flatten()
        .ok_or_else(|| refuse("syntax", line, "<<", "opens a text that can't be read", "quote the delimiter"))?;
    Reader { raw, line, inner, parts: Vec::new(), splits: false, inside: Vec::new() }.pieces(&pieces, true)
}

/// Arithmetic may hold code in subscripts and substitutions.
pub fn read_arithmetic(text: &str, line: usize, inner: &mut Inner) -> Result<(), Fault> {
    if text.contains(['`', '[', '\'', '"', '\\']) || text.contains("${!") {
        let hint = "use numbers, variables and operators only";
        return Err(refuse("arithmetic_not_plain", line, text, "can hide code in arithmetic", hint));
    }
    // Expansions in it are read like those of a word in double quotes.
    let quoted = format!("\"{text}\"");
    inner.set.extend(set_by(text));
    read(&quoted, line, inner).map(|_| ())
}

/// Names beside a sign that gives them a value: `x = 5`, `x += 1`, `++x`. More than there are, never fewer.
fn set_by(arithmetic: &str) -> Vec<String> {
    let compares = ["==", "!=", "<=", ">="]
        .iter()
        .fold(arithmetic.replace("<<=", "=").replace(">>=", "="), |text, sign| text.replace(sign, " "));
    if !compares.contains('=') && !compares.contains("++") && !compares.contains("--") {
        return Vec::new();
    }
    let names = arithmetic.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).map(str::to_owned).collect()
}

struct Reader<'a> {
    raw: &'a str,
    line: usize,
    inner: &'a mut Inner,
    parts: Vec<Part>,
    splits: bool,
    inside: Vec<String>,
}

impl Reader<'_> {
    fn pieces(&mut self, pieces: &[WordPieceWithSource], quoted: bool) -> Result<(), Fault> {
        pieces.iter().try_for_each(|piece| self.piece(&piece.piece, quoted))
    }

    fn piece(&mut self, piece: &WordPiece, quoted: bool) -> Result<(), Fault> {
        self.splits |= !quoted
            && matches!(
                piece,
                WordPiece::ParameterExpansion(_)
                    | WordPiece::CommandSubstitution(_)
                    | WordPiece::BackquotedCommandSubstitution(_)
            );
        match piece {
            WordPiece::Text(text) => self.text(text, !quoted),
            WordPiece::SingleQuotedText(text) => self.text(text, false),
            WordPiece::EscapeSequence(text) => {
                let text = text.strip_prefix('\\').unwrap_or(text);
                // A line that goes on in the next: nothing is left of it.
                let text = if text == "\n" { "" } else { text };
                self.text(text, false);
            }
            WordPiece::AnsiCQuotedText(text) => {
                let hint = "write the characters themselves, in plain quotes";
                return Err(refuse("ansi_c_quoting", self.line, text, "hides characters behind `$'…'`", hint));
            }
            WordPiece::GettextDoubleQuotedSequence(_) => {
                return Err(refuse(
                    "ansi_c_quoting",
                    self.line,
                    "$\"…\"",
                    "is translated before it runs",
                    "use plain quotes",
                ));
            }
            WordPiece::DoubleQuotedSequence(pieces) => self.pieces(pieces, true)?,
            WordPiece::TildeExpansion(_) => {
                let hint = "write an absolute path, or one below the work directory";
                return Err(refuse("tilde", self.line, "~", "is somebody's home", hint));
            }
            WordPiece::ParameterExpansion(expression) => self.parameter(expression)?,
            WordPiece::CommandSubstitution(code) => self.code(code),
            // A backslash in these is taken off before the code is read: `\$(…)` runs, though it looks like text.
            WordPiece::BackquotedCommandSubstitution(code) if code.contains('\\') => {
                let hint = "write $(…)";
                return Err(refuse("hidden_code", self.line, code, "has a backslash between backquotes", hint));
            }
            WordPiece::BackquotedCommandSubstitution(code) => self.code(code),
            WordPiece::ArithmeticExpression(UnexpandedArithmeticExpr { value }) => {
                if self.raw.contains("$[") {
                    let hint = "write $((…))";
                    return Err(refuse(
                        "arithmetic_not_plain",
                        self.line,
                        "$[…]",
                        "is arithmetic for some shells only",
                        hint,
                    ));
                }
                read_arithmetic(value, self.line, self.inner)?;
                self.parts.push(Part::Unknown);
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, bare: bool) {
        self.parts.push(Part::Text { text: text.to_owned(), bare });
    }

    fn code(&mut self, code: &str) {
        self.inner.code.push(code.to_owned());
        self.parts.push(Part::Unknown);
    }

    /// `${…}` in its many forms. Words inside of it are read too.
    fn parameter(&mut self, expression: &ParameterExpr) -> Result<(), Fault> {
        use ParameterExpr as E;
        self.inner.only_bash.extend(super::sh::foreign_parameter(expression));
        let (parameter, indirect, words): (&Parameter, bool, Vec<Option<&String>>) = match expression {
            E::Parameter { parameter, indirect } | E::ParameterLength { parameter, indirect } => {
                (parameter, *indirect, vec![])
            }
            E::AssignDefaultValues { .. } => {
                // A variable must not get a value that nobody sees it get.
                let hint = "write name=\"${name:-value}\" on a line of its own";
                return Err(refuse("hidden_assignment", self.line, "${…:=…}", "sets a variable in passing", hint));
            }
            E::UseDefaultValues { parameter, indirect, default_value: word, .. }
            | E::IndicateErrorIfNullOrUnset { parameter, indirect, error_message: word, .. }
            | E::UseAlternativeValue { parameter, indirect, alternative_value: word, .. }
            | E::RemoveSmallestSuffixPattern { parameter, indirect, pattern: word }
            | E::RemoveLargestSuffixPattern { parameter, indirect, pattern: word }
            | E::RemoveSmallestPrefixPattern { parameter, indirect, pattern: word }
            | E::RemoveLargestPrefixPattern { parameter, indirect, pattern: word }
            | E::UppercaseFirstChar { parameter, indirect, pattern: word }
            | E::UppercasePattern { parameter, indirect, pattern: word }
            | E::LowercaseFirstChar { parameter, indirect, pattern: word }
            | E::LowercasePattern { parameter, indirect, pattern: word } => (parameter, *indirect, vec![word.as_ref()]),
            E::ReplaceSubstring { parameter, indirect, pattern, replacement, .. } => {
                (parameter, *indirect, vec![Some(pattern), replacement.as_ref()])
            }
            E::Substring { parameter, indirect, offset, length } => {
                read_arithmetic(&offset.value, self.line, self.inner)?;
                if let Some(length) = length {
                    read_arithmetic(&length.value, self.line, self.inner)?;
                }
                (parameter, *indirect, vec![])
            }
            E::Transform { .. } | E::VariableNames { .. } | E::MemberKeys { .. } => return Err(self.indirection()),
        };
        if indirect {
            return Err(self.indirection());
        }
        for word in words.into_iter().flatten() {
            // It may have spaces in it; as if quoted, nothing that runs is overlooked.
            let quoted = format!("\"{word}\"");
            let read = read(if word.contains(['"', '\\']) { word } else { &quoted }, self.line, self.inner)?;
            self.inside.extend(read.inside.iter().cloned().chain(read.literal()));
        }
        // `"$@"` is as many words as there are, quoted or not.
        self.splits |= matches!(
            parameter,
            Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate: false })
                | Parameter::NamedWithAllIndices { concatenate: false, .. }
        );
        let plain = matches!(expression, E::Parameter { .. });
        self.parts.push(match parameter {
            Parameter::Named(name) if plain => Part::Variable(name.clone()),
            Parameter::NamedWithIndex { index, .. } => {
                read_arithmetic(index, self.line, self.inner)?;
                Part::Unknown
            }
            _ => Part::Unknown,
        });
        Ok(())
    }

    fn indirection(&self) -> Fault {
        let hint = "name the variable itself";
        refuse("indirection", self.line, "${!…}", "reaches a variable that is only known when it runs", hint)
    }
}
