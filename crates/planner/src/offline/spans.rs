//! Which words of a question mean what. All meanings of a stretch of words are kept; which
//! stretches to read is chosen by how much they explain, longest first.

use super::Index;
use super::catalog::{ColumnId, TableId, singular};
use super::cues::{self, Cue};
use super::degrees::degree;
use super::english::{is_change, is_linking, is_stop};
use super::lexicon::{self, Target, weight};
use super::numbers::{self, Number};
use super::relations::{self, is_verb};
use super::text::{Shape, Token, fold};
use super::time::When;
use super::values::{self, Owned};
use super::{time_words, values::ValueIndex};
use domain::plan::{DateUnit, Direction, Operator};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    Table(TableId, f32),
    Column(ColumnId, f32),
    /// Quantity × price, for "revenue" where no column holds it.
    Product(ColumnId, ColumnId, f32),
    Value(Owned, f32),
    /// Quoted text: a value, known or not.
    Literal(String),
    Number(Number),
    Time(When),
    /// Days of the week, 1 (Monday) to 7.
    Weekdays(Vec<i64>),
    Unit(DateUnit),
    Cue(Cue),
    /// "cheapest": the end of an order by one of these measures.
    Superlative(&'static [&'static str], Direction),
    /// "older than": a comparison of one of these measures.
    Comparative(&'static [&'static str], Operator),
    Stop,
    /// A verb that the schema does not know: it may tie its subject to its object.
    Verb,
    Unknown,
}

/// A stretch of words and everything that it may mean.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    /// The token after its last one.
    pub end: usize,
    pub text: String,
    pub capitalised: bool,
    pub meanings: Vec<Meaning>,
}

impl Span {
    pub fn tables(&self) -> impl Iterator<Item = (TableId, f32)> {
        self.meanings.iter().filter_map(|m| if let Meaning::Table(t, w) = m { Some((*t, *w)) } else { None })
    }
    pub fn columns(&self) -> impl Iterator<Item = (ColumnId, f32)> {
        self.meanings.iter().filter_map(|m| if let Meaning::Column(c, w) = m { Some((*c, *w)) } else { None })
    }
    pub fn values(&self) -> impl Iterator<Item = (&Owned, f32)> {
        self.meanings.iter().filter_map(|m| if let Meaning::Value(v, w) = m { Some((v, *w)) } else { None })
    }
    pub fn cue(&self) -> Option<Cue> {
        self.meanings.iter().find_map(|m| if let Meaning::Cue(cue) = m { Some(*cue) } else { None })
    }
    pub fn number(&self) -> Option<Number> {
        self.meanings.iter().find_map(|m| if let Meaning::Number(n) = m { Some(*n) } else { None })
    }
    pub fn time(&self) -> Option<&When> {
        self.meanings.iter().find_map(|m| if let Meaning::Time(t) = m { Some(t) } else { None })
    }
    pub fn weekdays(&self) -> Option<&[i64]> {
        self.meanings.iter().find_map(|m| if let Meaning::Weekdays(d) = m { Some(d.as_slice()) } else { None })
    }
    pub fn unit(&self) -> Option<DateUnit> {
        self.meanings.iter().find_map(|m| if let Meaning::Unit(u) = m { Some(*u) } else { None })
    }
    pub fn literal(&self) -> Option<&str> {
        self.meanings.iter().find_map(|m| if let Meaning::Literal(text) = m { Some(text.as_str()) } else { None })
    }
    /// Names something of the schema.
    pub fn is_noun(&self) -> bool {
        self.meanings.iter().any(|m| matches!(m, Meaning::Table(..) | Meaning::Column(..) | Meaning::Product(..)))
    }
    pub fn is_unknown(&self) -> bool {
        self.meanings.contains(&Meaning::Unknown)
    }
    pub fn is_stop(&self) -> bool {
        self.meanings == [Meaning::Stop]
    }
}

/// The question as a row of spans that explains as much of it as can be.
pub(crate) fn annotate(index: &Index, tokens: &[Token]) -> Vec<Span> {
    let mut best: Vec<Option<(f32, Span)>> = vec![None; tokens.len() + 1];
    let mut scores: Vec<f32> = vec![0.0; tokens.len() + 1];
    for start in (0..tokens.len()).rev() {
        for (span, score) in candidates(index, tokens, start) {
            let total = score + scores.get(span.end).copied().unwrap_or_default();
            if let Some(slot) = best.get_mut(start)
                && slot.as_ref().is_none_or(|(known, _)| total > *known)
            {
                *slot = Some((total, span));
            }
        }
        if let (Some(Some((total, _))), Some(score)) = (best.get(start), scores.get_mut(start)) {
            *score = *total;
        }
    }
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(Some((_, span))) = best.get(at) {
        spans.push(span.clone());
        at = span.end;
    }
    spans
}

const LONGEST: usize = if values::MAX_WORDS > lexicon::MAX_WORDS { values::MAX_WORDS } else { lexicon::MAX_WORDS };

/// Every stretch that starts here and means something, with how much it explains.
fn candidates(index: &Index, tokens: &[Token], start: usize) -> Vec<(Span, f32)> {
    let mut found: Vec<(Span, f32)> = Vec::new();
    let longest = LONGEST.min(tokens.len() - start);
    for length in 1..=longest {
        let end = start + length;
        let Some(words) = tokens.get(start..end) else { break };
        let mut meanings = Vec::new();
        let mut score = 0.0_f32;
        for (meaning, weight) in meanings_of(index, tokens, start, words) {
            score = score.max(weight * length as f32 + 0.15 * (length as f32 - 1.0));
            meanings.push(meaning);
        }
        if !meanings.is_empty() {
            found.push((span(start, end, words, meanings), score));
        }
    }
    if let Some((when, taken)) = time_words::read(tokens.get(start..).unwrap_or_default(), year_expected(tokens, start))
    {
        let end = start + taken;
        let words = tokens.get(start..end).unwrap_or_default();
        let mut meanings = vec![Meaning::Time(when)];
        if let Some((number, _)) = numbers::read(words).filter(|(_, n)| *n == taken) {
            meanings.push(Meaning::Number(number));
        }
        found.push((span(start, end, words, meanings), 1.12 * taken as f32));
    }
    related(index, tokens, start, &mut found);
    partial(index, tokens, start, &mut found);
    if found.is_empty() {
        found.extend(tokens.get(start..start + 1).map(|words| last_resort(index, start, words)));
    }
    found
}

/// The longest name that is replaced word by word.
const RELATED_WORDS: usize = 3;

/// Names said in other words: only where a word of the question means nothing by itself.
fn related(index: &Index, tokens: &[Token], start: usize, found: &mut Vec<(Span, f32)>) {
    for length in 1..=RELATED_WORDS {
        let end = start + length;
        let Some(words) = tokens.get(start..end) else { break };
        let known = found.iter().any(|(s, _)| s.end == end);
        let proper = words.iter().enumerate().any(|(at, t)| t.is_capitalised() && start + at > 0);
        if known || proper || !words.iter().any(|t| is_foreign(index, t)) {
            continue;
        }
        let mut names = index.lexicon.related(words);
        names.sort_by(|a, b| b.1.total_cmp(&a.1));
        let Some((_, best)) = names.first().copied() else { continue };
        let meanings = names.into_iter().map(|(t, w)| meaning(t, w)).collect();
        found.push((span(start, end, words, meanings), best * length as f32));
    }
}

/// The most words of a longer value that are recognised.
const PARTIAL_WORDS: usize = 3;

/// Some words of a longer value: written as a name, or behind "the" and of no other meaning.
fn partial(index: &Index, tokens: &[Token], start: usize, found: &mut Vec<(Span, f32)>) {
    for length in (1..=PARTIAL_WORDS).rev() {
        let end = start + length;
        let Some(words) = tokens.get(start..end) else { continue };
        let content = |t: &Token| t.shape == Shape::Word && !is_stop(&t.lower) && cues::lookup(&t.lower).is_none();
        let written = words.first().is_some_and(Token::is_capitalised) && start > 0;
        let behind_the = start.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|t| t.lower == "the");
        let nameless = length == 1 && behind_the && words.iter().all(|t| is_foreign(index, t));
        let taken = found.iter().any(|(s, _)| if length == 1 { s.end >= end } else { s.end == end });
        if taken || !words.iter().all(content) || !(written || nameless) {
            continue;
        }
        let stems: Vec<&str> = words.iter().map(|t| t.stem.as_str()).collect();
        let values = index.values.with_words(&stems);
        if !values.is_empty() {
            let meanings = values.into_iter().map(|o| Meaning::Value(o, weight::RELATED)).collect();
            let score = if length == 1 { 0.6 } else { 1.05 * length as f32 };
            found.push((span(start, end, words, meanings), score));
        }
    }
}

/// A word that neither English grammar nor the schema has a use for.
fn is_foreign(index: &Index, token: &Token) -> bool {
    token.shape == Shape::Word
        && !is_stop(&token.lower)
        && !is_linking(&token.lower)
        && cues::lookup(&token.lower).is_none()
        && index.lexicon.get(&[&token.stem], &[&token.lower]).is_empty()
        && index.values.exact(&token.lower).is_empty()
}

fn span(start: usize, end: usize, words: &[Token], meanings: Vec<Meaning>) -> Span {
    let text = words.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join(" ");
    let capitalised = start > 0 && words.first().is_some_and(Token::is_capitalised);
    Span { end, text, capitalised, meanings }
}

/// A number behind "in", "since", "for" … may be a year.
fn year_expected(tokens: &[Token], start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| tokens.get(at)).map(|t| t.lower.as_str()).unwrap_or("in");
    let asks = [
        "in", "for", "during", "of", "about", "year", "by", "only", "and", "or", "to", "on", "month", "within", ",",
        "vs", "versus",
    ];
    let compared = tokens.get(start + 1).is_some_and(|t| matches!(t.lower.as_str(), "vs" | "versus" | "compared"));
    let ends = tokens.len() == start + 1;
    compared
        || asks.contains(&before)
        || (ends && !matches!(before, "than" | "over" | "above" | "below" | "under" | "is"))
}

fn meanings_of(index: &Index, tokens: &[Token], start: usize, words: &[Token]) -> Vec<(Meaning, f32)> {
    let lowers: Vec<&str> = words.iter().map(|t| t.lower.as_str()).collect();
    let mut found = Vec::new();
    if let [only] = words {
        single(only, &mut found);
    }
    if let Some((number, _)) = numbers::read(words).filter(|(_, n)| *n == words.len()) {
        found.push((Meaning::Number(number), 1.0));
    }
    if words.len() <= cues::MAX_WORDS
        && let Some(cue) = cues::lookup(&lowers.join(" "))
    {
        found.push((Meaning::Cue(cue), 1.0));
    }
    found.extend(degree(&lowers).map(|m| (m, 1.05)));
    if words.len() <= lexicon::MAX_WORDS {
        names(index, words, &lowers, &mut found);
    }
    value_meanings(&index.values, tokens, start, words, &mut found);
    found
}

fn single(token: &Token, found: &mut Vec<(Meaning, f32)>) {
    match token.shape {
        Shape::Quoted => found.push((Meaning::Literal(token.text.clone()), 1.0)),
        Shape::Mark => found.push((Meaning::Cue(Cue::Comma), 1.0)),
        // A country, not a pronoun.
        _ if token.text == "US" => {}
        _ if is_stop(&token.lower) || is_linking(&token.lower) => found.push((Meaning::Stop, 0.3)),
        _ => {}
    }
    if let Some(days) = time_words::weekdays(&token.lower) {
        found.push((Meaning::Weekdays(days), 0.9));
    }
    if let Some(unit) = time_words::unit(&token.lower).filter(|_| !token.lower.ends_with("ly")) {
        found.push((Meaning::Unit(unit), 0.8));
    }
}

fn names(index: &Index, words: &[Token], lowers: &[&str], found: &mut Vec<(Meaning, f32)>) {
    if words.iter().any(|t| matches!(t.shape, Shape::Mark | Shape::Quoted)) {
        return;
    }
    let function_word = matches!(lowers, [only] if is_stop(only) || is_linking(only));
    if function_word && lowers.concat().len() <= 3 {
        return;
    }
    let stems: Vec<&str> = words.iter().map(|t| t.stem.as_str()).collect();
    // "length in feet" of `length_feet`, "year of opening" of `opening_year`.
    if let ([a, _, b], [x, tie @ ("in" | "of"), y]) = (stems.as_slice(), lowers) {
        let (turned, words) = if *tie == "of" { ([*b, *a], [*y, *x]) } else { ([*a, *b], [*x, *y]) };
        let whole = index.lexicon.get(&turned, &words).into_iter().filter(|(_, w)| *w >= weight::NOUN);
        found.extend(whole.map(|(target, w)| (meaning(target, w - 0.02), w - 0.02)));
    }
    for (target, w) in index.lexicon.get(&stems, lowers) {
        // A word that English needs for itself names something only if that is its whole name, or the
        // verb of a table: "customers who ordered".
        let only_named = function_word || matches!(lowers, [only] if cues::lookup(only).is_some());
        let verb = matches!(target, Target::Table(_)) && w >= weight::NAME * weight::INFLECTED - 0.01;
        if !only_named || verb || w >= weight::NAME - 0.05 {
            let bonus = if only_named && function_word {
                -0.4
            } else if words.len() > 1 && w >= weight::NAME - 0.11 {
                0.12
            } else {
                0.05
            };
            found.push((meaning(target, w), w + bonus));
        }
    }
}

fn meaning(target: Target, weight: f32) -> Meaning {
    match target {
        Target::Table(table) => Meaning::Table(table, weight),
        Target::Column(column) => Meaning::Column(column, weight),
        Target::Product(quantity, price) => Meaning::Product(quantity, price, weight),
    }
}

fn value_meanings(
    values: &ValueIndex,
    tokens: &[Token],
    start: usize,
    words: &[Token],
    found: &mut Vec<(Meaning, f32)>,
) {
    if words.len() > 1 && words.iter().any(|t| matches!(t.shape, Shape::Quoted)) {
        return;
    }
    let text = words.iter().map(|t| t.lower.as_str()).collect::<Vec<_>>().join(" ");
    let exact = values.exact(&fold(&text));
    if let [only] = words {
        let common = is_stop(&only.lower)
            || is_linking(&only.lower)
            || cues::lookup(&only.lower).is_some()
            || only.lower.len() < 2;
        let written_as_name = only.is_capitalised() && start > 0 || only.shape == Shape::Quoted;
        if common && !written_as_name {
            return;
        }
        if exact.is_empty() && only.shape == Shape::Word && tokens.len() > 1 {
            let near = values.by_stem(&only.stem).iter().filter(|o| !is_deed(&only.lower, &o.value));
            let near = near.filter(|o| !is_several(&only.lower, &o.value) || !heads(tokens, start));
            found.extend(near.map(|o| (Meaning::Value(o.clone(), 0.85), 0.85)));
        }
    }
    let weight = if words.len() > 1 { 1.15 } else { 1.02 };
    // An everyday word is not meant for one of a thousand names, unless it is written as a name.
    let named = words.len() > 1 || words.iter().any(|t| t.shape != Shape::Word || t.is_capitalised());
    let meant = exact.iter().filter(|o| named || values.is_category(o.column));
    found.extend(meant.map(|owned| (Meaning::Value(owned.clone(), 1.0), weight)));
}

/// "products" are several of a product, which happens to be a value, too.
fn is_several(word: &str, value: &str) -> bool {
    let value = fold(value);
    word != value && singular(word) == value
}

/// "the price of all products": a noun that something is said of, rather than a word that limits the next one.
fn heads(tokens: &[Token], start: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| tokens.get(at));
    let opens = before.is_some_and(|t| ["of", "the", "all", "many", "for"].contains(&t.lower.as_str()));
    let limits = |t: &Token| t.shape == Shape::Word && !is_stop(&t.lower) && cues::lookup(&t.lower).is_none();
    opens && !tokens.get(start + 1).is_some_and(limits)
}

/// "opened" is what somebody did, `open` how it stands now: the stem alone does not make one the other.
fn is_deed(word: &str, value: &str) -> bool {
    ["ed", "ing"].iter().any(|ending| word.ends_with(ending) && !value.to_lowercase().ends_with(ending))
}

/// A word that means nothing as it stands: misspelt, or unknown.
fn last_resort(index: &Index, start: usize, words: &[Token]) -> (Span, f32) {
    let mut meanings = Vec::new();
    if let [only] = words
        && only.shape == Shape::Word
    {
        meanings.extend(index.lexicon.misspelt(&only.lower).into_iter().map(|(t, w)| meaning(t, w)));
        let near = index.values.misspelt(&only.lower);
        let near = near.into_iter().filter(|o| only.is_capitalised() || index.values.is_category(o.column));
        meanings.extend(near.map(|owned| Meaning::Value(owned, weight::MISSPELT)));
        if meanings.is_empty() && only.is_capitalised() && start > 0 {
            let same = relations::related(&only.lower).into_iter().filter(|(_, score)| *score >= 0.8);
            let named = same.flat_map(|(other, _)| index.values.exact(other).iter().cloned());
            meanings.extend(named.map(|owned| Meaning::Value(owned, weight::RELATED)));
        }
    }
    if let ([only], true) = (words, meanings.is_empty())
        && only.shape == Shape::Word
        && !relations::is_word(&only.lower)
    {
        meanings.extend(cues::misspelt(&only.lower).map(Meaning::Cue));
    }
    if meanings.is_empty() {
        let verb = words.iter().all(|t| t.shape == Shape::Word && is_verb(&t.lower) && !is_change(&t.stem));
        let meanings = if verb { vec![Meaning::Unknown, Meaning::Verb] } else { vec![Meaning::Unknown] };
        return (span(start, start + 1, words, meanings), 0.0);
    }
    (span(start, start + 1, words, meanings), 0.5)
}
