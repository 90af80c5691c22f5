//! Degrees of adjectives and verbs: what they compare, and which way.

use super::spans::Meaning;
use super::thesaurus::measured_by;
use domain::plan::{Direction, Operator};

/// "cheapest", "most expensive", "older than", "more expensive than".
pub(crate) fn degree(lowers: &[&str]) -> Option<Meaning> {
    let direction = |less: bool, most: bool| if less == most { Direction::Asc } else { Direction::Desc };
    let operator = |less: bool, more: bool| if less == more { Operator::Less } else { Operator::Greater };
    match lowers {
        [word] => {
            let (measures, less) = measured_by(&base(word, "est")?)?;
            Some(Meaning::Superlative(measures, direction(less, true)))
        }
        [best @ ("highest" | "best" | "lowest" | "worst" | "least"), "paid"] => {
            let most = matches!(*best, "highest" | "best");
            Some(Meaning::Superlative(PAY, direction(false, most)))
        }
        [verb, more @ ("more" | "less"), "than"] if paid_by(verb).is_some() => {
            Some(Meaning::Comparative(paid_by(verb)?, operator(false, *more == "more")))
        }
        [most @ ("most" | "least"), adjective] => {
            let (measures, less) = measured_by(adjective)?;
            Some(Meaning::Superlative(measures, direction(less, *most == "most")))
        }
        [word, "than"] => {
            let (measures, less) = measured_by(&base(word, "er")?)?;
            Some(Meaning::Comparative(measures, operator(less, true)))
        }
        [more @ ("more" | "less"), adjective, "than"] => {
            let (measures, less) = measured_by(adjective)?;
            Some(Meaning::Comparative(measures, operator(less, *more == "more")))
        }
        _ => None,
    }
}

const PAY: &[&str] = &["salary", "pay", "wage", "income"];

/// What the object of a verb is measured by: "who earn more than 5,000".
fn paid_by(verb: &str) -> Option<&'static [&'static str]> {
    match verb {
        "earn" | "earns" | "earned" | "earning" => Some(PAY),
        "cost" | "costs" | "costing" => Some(&["price", "cost", "fee"]),
        "weigh" | "weighs" | "weighing" => Some(&["weight"]),
        _ => None,
    }
}

/// The adjective behind an ending: "heaviest" → "heavy", "hottest" → "hot", "oldest" → "old".
fn base(word: &str, ending: &str) -> Option<String> {
    let bare = word.strip_suffix(ending)?;
    if let Some(stem) = bare.strip_suffix('i') {
        return Some(format!("{stem}y"));
    }
    let mut reversed = bare.chars().rev();
    match (reversed.next(), reversed.next()) {
        (Some(a), Some(b)) if a == b && a != 'l' => bare.get(..bare.len() - a.len_utf8()).map(str::to_owned),
        _ => Some(bare.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_name_their_measure_and_direction() {
        for (words, direction) in [
            (&["cheapest"][..], Direction::Asc),
            (&["most", "expensive"], Direction::Desc),
            (&["least", "expensive"], Direction::Asc),
            (&["heaviest"], Direction::Desc),
            (&["youngest"], Direction::Asc),
        ] {
            assert!(matches!(degree(words), Some(Meaning::Superlative(_, d)) if d == direction), "{words:?}");
        }
        for (words, operator) in [
            (&["older", "than"][..], Operator::Greater),
            (&["cost", "less", "than"], Operator::Less),
            (&["hotter", "than"], Operator::Greater),
        ] {
            assert!(matches!(degree(words), Some(Meaning::Comparative(_, o)) if o == operator), "{words:?}");
        }
        assert!(degree(&["forest"]).is_none());
    }
}
