//! Answer, ask or refuse.

use super::bind::bind;
use super::clarify::{self, Choice};
use super::compile::Compiler;
use super::draft::Draft;
use super::explain::{Explain, explain};
use super::query::{Pick, Query, Trouble};
use super::spans::{Meaning, Span, annotate};
use super::text::{Token, tokenise};
use super::{Context, Index, Planned, ellipsis, followup, grammar, reading, refuse, sql};
use domain::{Fault, QueryPlan, Turn};

/// A question with what its words mean.
pub(crate) struct Read {
    pub draft: Draft,
    pub spans: Vec<Span>,
    pub hints: Vec<String>,
}

pub(crate) fn read(index: &Index, tokens: &[Token]) -> Read {
    let tokens = ellipsis::write_out(&index.lexicon, tokens.to_vec());
    let spans = annotate(index, &tokens);
    let draft = grammar::read(index, &spans);
    Read { draft, spans, hints: tokens.iter().map(|t| t.stem.clone()).collect() }
}

pub(crate) fn plan(index: &Index, question: &str, context: &Context<'_>) -> Planned {
    if let Some(text) = sql::in_message(question) {
        return Planned::Sql { text };
    }
    if let Some((asked, picks)) = settled(index, question, context) {
        return finish(index, asked, &picks, context);
    }
    let tokens = tokenise(question);
    if let Some(fault) = refuse::unreadable(&tokens) {
        return Planned::Refuse(fault);
    }
    let read = followup::merged(index, read(index, &tokens), context.history);
    finish(index, read, &[], context)
}

/// The question of the thread that this message answers a clarification of, with everything chosen.
fn settled(index: &Index, reply: &str, context: &Context<'_>) -> Option<(Read, Vec<Pick>)> {
    let last = context.history.last()?;
    last.clarification.as_ref()?;
    // Several clarifications in a row: each turn before the reply was a choice of its own.
    let open = context.history.iter().rposition(|t| t.clarification.is_some() && !is_choice(context.history, t))?;
    let (before, rest) = context.history.split_at_checked(open)?;
    let first = rest.first()?;
    let tokens = tokenise(&first.question);
    let asked = followup::merged(index, read(index, &tokens), before);
    let mut picks = Vec::new();
    let replies = rest.iter().skip(1).map(|t| t.question.as_str()).chain([reply]);
    for reply in replies {
        let (_, choices) = trouble_of(index, &asked, &picks, context)?;
        picks.push(clarify::chosen(reply, &choices)?);
    }
    Some((asked, picks))
}

/// Whether a turn's question was a choice offered by the turn before it.
fn is_choice(history: &[Turn], turn: &Turn) -> bool {
    let at = history.iter().position(|t| std::ptr::eq(t, turn));
    let before = at.and_then(|at| at.checked_sub(1)).and_then(|at| history.get(at));
    before.and_then(|t| t.clarification.as_ref()).is_some_and(|c| c.choices.contains(&turn.question))
}

fn trouble_of(index: &Index, read: &Read, picks: &[Pick], context: &Context<'_>) -> Option<(String, Vec<Choice>)> {
    match attempt(index, read, picks, context) {
        Ok(_) => None,
        Err(trouble) => clarify::question(index, &trouble),
    }
}

fn attempt(index: &Index, read: &Read, picks: &[Pick], context: &Context<'_>) -> Result<(Query, QueryPlan), Trouble> {
    let chosen = picks.iter().any(|p| matches!(p, Pick::Table(..)));
    let draft = if chosen { grammar::read(index, &narrowed(&read.spans, picks)) } else { read.draft.clone() };
    if let Some((text, tables)) = draft.which_table.clone() {
        return Err(Trouble::WhichTable(text, tables));
    }
    let mut query = bind(index, &draft, context.today, picks)?;
    if index.cut_short {
        query.notes.push(format!("{CUT_SHORT}, so a name may have been missed"));
    }
    let mut hints = read.hints.clone();
    hints.extend(picks.iter().flat_map(|p| if let Pick::Key(words) = p { words.clone() } else { Vec::new() }));
    let plan = Compiler { catalog: &index.catalog, hints: &hints }.plan(&mut query)?;
    Ok((query, plan))
}

/// The spans with only the chosen table left where a choice was made.
fn narrowed(spans: &[Span], picks: &[Pick]) -> Vec<Span> {
    let narrow = |span: &Span| {
        let pick = |p: &Pick| match p {
            Pick::Table(text, table) if span.text.eq_ignore_ascii_case(text) => Some(*table),
            _ => None,
        };
        let mut span = span.clone();
        if let Some(chosen) = picks.iter().find_map(pick) {
            span.meanings.retain(|m| matches!(m, Meaning::Table(t, _) if *t == chosen));
        }
        span
    };
    spans.iter().map(narrow).collect()
}

/// The reading if the closest choice had gone the other way.
fn runner_up(index: &Index, read: &Read, picks: &[Pick], query: &Query, context: &Context<'_>) -> Option<String> {
    let (text, thing, _) = query.rival.clone()?;
    let picks: Vec<Pick> = picks.iter().cloned().chain([Pick::Thing(text, thing)]).collect();
    attempt(index, read, &picks, context).ok().map(|(other, _)| reading::in_words(&index.catalog, &other))
}

/// Why a question is read as it is, whatever becomes of it.
pub(crate) fn explained(index: &Index, question: &str, context: &Context<'_>) -> Explain {
    match plan(index, question, context) {
        Planned::Plan { explain, .. } => explain,
        Planned::Sql { .. } => Explain::default(),
        Planned::Clarify(_) | Planned::Refuse(_) => {
            let read = read(index, &tokenise(question));
            explain(index, &read.spans, &read.draft)
        }
    }
}

/// What is said where an index is not whole.
pub(crate) const CUT_SHORT: &str = "not all values of the data could be read";

fn finish(index: &Index, read: Read, picks: &[Pick], context: &Context<'_>) -> Planned {
    if let Some(fault) = refuse::unexplained(index, &read.draft) {
        return refused(index, fault);
    }
    match attempt(index, &read, picks, context) {
        Ok((query, plan)) => {
            let reading = reading::in_words(&index.catalog, &query);
            let mut explain = explain(index, &read.spans, &read.draft);
            explain.runner_up = runner_up(index, &read, picks, &query, context).filter(|other| *other != reading);
            explain.margin = query.rival.as_ref().map(|(_, _, margin)| *margin);
            explain.reading = Some(reading.clone());
            Planned::Plan { plan: Box::new(plan), reading, explain }
        }
        Err(trouble) => match clarify::question(index, &trouble) {
            Some((question, choices)) => Planned::Clarify(clarify::clarification(question, &choices)),
            None => refused(index, refuse::trouble(index, &trouble)),
        },
    }
}

/// A word that is not understood may be a value that was not read yet.
fn refused(index: &Index, fault: Fault) -> Planned {
    let hint = format!("{}; {CUT_SHORT}: ask again", fault.hint);
    Planned::Refuse(if index.cut_short { Fault { hint, ..fault } } else { fault })
}
