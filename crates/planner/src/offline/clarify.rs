//! One question back, with the readings to choose from; and the choice, when it comes.

use super::Index;
use super::catalog::{Catalog, ColumnId, TableId};
use super::draft::Thing;
use super::lexicon::product;
use super::output::function_word;
use super::query::{BoundBy, Pick, Trouble};
use super::text::{fold, split_name, stem};
use domain::Clarification;
use domain::plan::AggregateFn;

/// A reading to choose: how it is worded, and what it settles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub words: String,
    pub pick: Pick,
}

/// The question to ask about a trouble, if asking helps.
pub(crate) fn question(index: &Index, trouble: &Trouble) -> Option<(String, Vec<Choice>)> {
    let catalog = &index.catalog;
    let (question, choices) = match trouble {
        Trouble::Ambiguous(text, things) => {
            let choice = |t: &Thing| Choice { words: in_words(catalog, *t), pick: Pick::Thing(text.clone(), *t) };
            (format!("What does `{text}` mean here?"), things.iter().map(choice).collect::<Vec<_>>())
        }
        Trouble::WhichTable(text, tables) => {
            let choice =
                |t: &TableId| Choice { words: catalog.table(*t).words.join(" "), pick: Pick::Table(text.clone(), *t) };
            (format!("Which `{text}` do you mean?"), tables.iter().map(choice).take(3).collect())
        }
        Trouble::WhichValue(text, values) => {
            let choice = |v: &String| Choice { words: v.clone(), pick: Pick::Value(text.clone(), v.clone()) };
            (format!("Which `{text}` do you mean?"), values.iter().map(choice).collect())
        }
        Trouble::PopularByWhat(table) => {
            let name = &catalog.table(*table).name;
            (format!("By what should `{name}` be ranked?"), rankings(catalog, *table, false))
        }
        Trouble::GroupsByWhat(table) => {
            (format!("By which figure of `{}`?", catalog.table(*table).name), figures(catalog, *table))
        }
        Trouble::WhichAggregate(text, _) => {
            let functions = [AggregateFn::Avg, AggregateFn::Sum, AggregateFn::Max];
            let choice = |f: AggregateFn| Choice {
                words: format!("{} {text}", function_word(f)),
                pick: Pick::Function(text.clone(), f),
            };
            (format!("Which figure of `{text}` do you mean?"), functions.into_iter().map(choice).collect())
        }
        Trouble::Ways(edges) => {
            let choice = |e: &super::catalog::Edge| {
                let words: Vec<String> = e.on.iter().flat_map(|(column, _)| split_name(column)).collect();
                let via = format!("{} of {}", words.join(" "), catalog.table(e.many).name);
                Choice { words: via, pick: Pick::Key(words.iter().map(|w| stem(w)).collect()) }
            };
            let tables =
                edges.first().map(|e| (catalog.table(e.many).name.as_str(), catalog.table(e.one).name.as_str()))?;
            (
                format!("How should `{}` and `{}` be tied together?", tables.0, tables.1),
                edges.iter().map(choice).take(3).collect(),
            )
        }
        Trouble::ChangeInWhat => {
            let choice =
                |words: &str, percent: bool| Choice { words: words.to_owned(), pick: Pick::InPercent(percent) };
            (
                "How should the change be measured?".to_owned(),
                vec![choice("in percent", true), choice("as an amount", false)],
            )
        }
        Trouble::RankedByWhat(Some(table)) => {
            (format!("By what should `{}` be ranked?", catalog.table(*table).name), rankings(catalog, *table, true))
        }
        _ => return None,
    };
    (choices.len() > 1).then_some((question, choices))
}

/// So many are offered; a reply may name others.
const OFFERED: usize = 3;

pub(crate) fn clarification(question: String, choices: &[Choice]) -> Clarification {
    Clarification { question, choices: choices.iter().take(OFFERED).map(|c| c.words.clone()).collect() }
}

/// The choice that a reply makes: its words, its number, or words that only one of them has.
pub(crate) fn chosen(reply: &str, choices: &[Choice]) -> Option<Pick> {
    let reply = fold(reply);
    let ordinals = [
        ["1", "first", "the first", "the first one"],
        ["2", "second", "the second", "the second one"],
        ["3", "third", "the third", "the third one"],
    ];
    let at = ordinals.iter().position(|names| names.contains(&reply.as_str()));
    if let Some(choice) = at.and_then(|at| choices.get(at)) {
        return Some(choice.pick.clone());
    }
    let fits = |c: &&Choice| {
        let words = fold(&c.words);
        words == reply || (!reply.is_empty() && reply.split(' ').all(|w| words.split(' ').any(|x| stem(x) == stem(w))))
    };
    let exact = choices.iter().find(|c| fold(&c.words) == reply);
    let mut fitting = choices.iter().filter(fits);
    let only = fitting.next().filter(|_| fitting.next().is_none());
    exact.or(only).map(|c| c.pick.clone())
}

pub(crate) fn in_words(catalog: &Catalog, thing: Thing) -> String {
    match thing {
        Thing::Column(column) => {
            let info = catalog.column(column);
            format!("{} of {}", info.words.join(" "), catalog.table(info.table).words.join(" "))
        }
        Thing::Product(quantity, price) => {
            let (q, p) = (catalog.column(quantity), catalog.column(price));
            format!("{} × {} of {}", q.words.join(" "), p.words.join(" "), catalog.table(q.table).words.join(" "))
        }
    }
}

/// What rows of a table can be ranked by: measures of their own, then how many of something they have.
fn rankings(catalog: &Catalog, table: TableId, by_own: bool) -> Vec<Choice> {
    let own = catalog.table(table).columns.iter().filter(|c| catalog.column(**c).is_measure()).map(|c| Choice {
        words: catalog.column(*c).words.join(" "),
        pick: Pick::Ranking(BoundBy::Thing(Thing::Column(*c))),
    });
    let having = catalog.edges.iter().filter(|e| e.one == table).map(|e| Choice {
        words: format!("number of {}", catalog.table(e.many).words.join(" ")),
        pick: Pick::Ranking(BoundBy::Rows(e.many)),
    });
    let sums = catalog.edges.iter().filter(|e| e.one == table).flat_map(|e| {
        let behind = catalog.edges.iter().filter(|f| f.one == e.many).map(|f| f.many);
        std::iter::once(e.many).chain(behind).filter_map(|t| sum_of(catalog, t)).collect::<Vec<_>>()
    });
    own.filter(|_| by_own).take(2).chain(sums.take(1)).chain(having).take(3).collect()
}

/// What groups of rows can be ranked by: how many they are, and averages of what they measure.
fn figures(catalog: &Catalog, table: TableId) -> Vec<Choice> {
    let measures = catalog.table(table).columns.iter().filter(|c| catalog.column(**c).is_measure());
    let average = |c: &ColumnId| Choice {
        words: format!("average {}", catalog.column(*c).words.join(" ")),
        pick: Pick::Ranking(BoundBy::Aggregate(AggregateFn::Avg, Thing::Column(*c))),
    };
    let count = Choice {
        words: format!("number of {}", catalog.table(table).words.join(" ")),
        pick: Pick::Ranking(BoundBy::Rows(table)),
    };
    sum_of(catalog, table).into_iter().chain([count]).chain(measures.map(average)).take(3).collect()
}

/// The sum that rows of a table add up to: revenue, or the one measure that adds up.
fn sum_of(catalog: &Catalog, table: TableId) -> Option<Choice> {
    let ranking = |thing| Pick::Ranking(BoundBy::Aggregate(AggregateFn::Sum, thing));
    if let Some((quantity, price)) = product(catalog, table) {
        return Some(Choice { words: "total revenue".to_owned(), pick: ranking(Thing::Product(quantity, price)) });
    }
    let column = catalog.table(table).columns.iter().find(|c| catalog.column(**c).is_additive())?;
    Some(Choice {
        words: format!("total {}", catalog.column(*column).words.join(" ")),
        pick: ranking(Thing::Column(*column)),
    })
}
