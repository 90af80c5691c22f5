//! General English that no schema needs to know: words without content here, light verbs,
//! abbreviations that people use in names.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that carry no condition of their own.
const STOP: &str = "\
    a about across actually all along also altogether am an any anybody anyone anything are as associated at available be been being \
    between both calculate can certain compute corresponding could currently data database dataset determine did \
    display do does down during each entire ever every exactly exist existing exists find following for from get give \
    given had happen happened has have having he her here hers him his i identify if in into is it \
    its just kindly know let like list look many me much must my need of on once one ones our ours out over overall \
    own please provide really record recorded records related report respective respectively result results \
    retrieve return see select she should show so some such table take taken tell that the their them then there \
    these they thing things this those to together took up us usd various want was we well were what when where which \
    while who whole whom whose will with within would yet you your";

/// Verbs that only tie things together which the question names anyway: "orders placed by customers".
const LINKING: &str = "\
    account accounted affiliated appear appears assigned attend attended attending based belong belonging \
    belongs bought bring brings brought buy buys called came come comes contain containing contains correspond directed \
    earn earned earns enrolled entitled generate generated go going got handled held hold holds include included includes \
    including involve involved involving listed live lived lives living located made make makes named occur \
    occurred offered ordered own owned owning owns participate participated participating place placed places \
    play played plays posted produce produced produces provided purchased receive received registered released \
    sell sells situated sold stored submitted taught teach teaches titled use used uses using went work worked working \
    works worth write written wrote";

/// Stems of verbs for a change of state: where the data does not know them, leaving them out would
/// answer another question ("orders cancelled in Germany").
const CHANGES: &str = "\
    abandon accept activ approv archiv ban block cancel churn close complet decline delay delet deliv die discontinu \
    discount dismiss drop escal expir fail fire graduat hire leav left lose lost miss open paid pay pend qualifi quit \
    reject refund renew resign resolv retir return ship start stop suspend termin unsubscrib upgrad void win won";

/// What abbreviations in names of tables and columns stand for.
const ABBREVIATIONS: &[(&str, &[&str])] = &[
    ("acct", &["account"]),
    ("addr", &["address"]),
    ("amt", &["amount"]),
    ("avg", &["average"]),
    ("cat", &["category"]),
    ("cnt", &["count"]),
    ("cust", &["customer"]),
    ("dept", &["department"]),
    ("desc", &["description"]),
    ("dob", &["birth", "date"]),
    ("dt", &["date"]),
    ("emp", &["employee"]),
    ("fname", &["first", "name"]),
    ("lname", &["last", "name"]),
    ("loc", &["location"]),
    ("max", &["maximum"]),
    ("mgr", &["manager"]),
    ("min", &["minimum"]),
    ("msg", &["message"]),
    ("no", &["number"]),
    ("num", &["number"]),
    ("org", &["organization"]),
    ("pct", &["percent"]),
    ("prod", &["product"]),
    ("qty", &["quantity"]),
    ("tel", &["telephone"]),
    ("temp", &["temperature"]),
    ("univ", &["university"]),
    ("usr", &["user"]),
    ("yr", &["year"]),
];

type Words = LazyLock<HashSet<&'static str>>;

pub(crate) fn is_stop(lower: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| STOP.split_whitespace().collect());
    WORDS.contains(lower)
}

pub(crate) fn is_linking(lower: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| LINKING.split_whitespace().collect());
    WORDS.contains(lower)
}

/// Whether a word, by its stem, says that something changed.
pub(crate) fn is_change(stem: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| CHANGES.split_whitespace().collect());
    WORDS.contains(stem) || WORDS.contains(stem.trim_end_matches('e'))
}

/// The full words of an abbreviation; the word itself where it is none.
pub(crate) fn expand(word: &str) -> Vec<&str> {
    match ABBREVIATIONS.iter().find(|(short, _)| *short == word) {
        Some((_, full)) => full.to_vec(),
        None => vec![word],
    }
}

/// Measures of these words are added up when nothing else is said: "revenue by month".
const ADDITIVE: &str = "\
    amount budget clicks consumption conversions cost costs donation downloads energy expense expenses hours \
    impressions income kwh minutes orders output pageviews payment payments production profit quantity revenue \
    sales sessions spend spending total turnover units usage views visitors visits volume";

pub(crate) fn is_additive(word: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| ADDITIVE.split_whitespace().collect());
    WORDS.contains(word) || WORDS.contains(format!("{word}s").as_str())
}

/// Numbers that people write as words.
pub(crate) fn number_word(lower: &str) -> Option<i64> {
    const WORDS: &[(&str, i64)] = &[
        ("zero", 0),
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("dozen", 12),
        ("fifteen", 15),
        ("twenty", 20),
        ("thirty", 30),
        ("fifty", 50),
        ("hundred", 100),
        ("thousand", 1_000),
        ("million", 1_000_000),
    ];
    WORDS.iter().find(|(word, _)| *word == lower).map(|(_, n)| *n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_expand() {
        assert_eq!(expand("qty"), ["quantity"]);
        assert_eq!(expand("fname"), ["first", "name"]);
        assert_eq!(expand("price"), ["price"]);
    }
}
