//! General English that no schema needs to know: words without content here, light verbs,
//! abbreviations that people use in names.

/// Words that carry no condition of their own.
const STOP: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "any", "are", "as", "at", "available", "be", "been", "being", "between",
    "can", "could", "currently", "data", "database", "dataset", "did", "do", "does", "during", "ever", "exist",
    "exists", "existing", "following", "for", "from", "get", "give", "had", "has", "have", "having", "he", "her",
    "here", "hers", "him", "his", "i", "in", "information", "into", "is", "it", "its", "just", "know", "let", "list",
    "many", "me", "much", "my", "of", "on", "one", "ones", "our", "ours", "out", "over", "overall", "please",
    "record", "records", "recorded", "result", "results", "return", "retrieve", "select", "she", "so", "some", "such",
    "table", "tell", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "us",
    "want", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "will", "with", "would",
    "you", "your", "find", "show", "display", "see", "need", "like", "look", "compute", "calculate", "determine",
    "identify", "provide", "report", "if", "while", "both", "own", "within", "corresponding", "respective",
    "respectively", "along", "together", "well", "each", "every", "associated", "related", "given", "certain",
    "various", "exactly", "has", "must", "should", "whole", "entire", "kindly", "actually", "really", "across",
    "altogether", "thing", "things", "happen", "happened", "take", "taken", "took",
];

/// Verbs that only tie things together which the question names anyway: "orders placed by customers".
const LINKING: &[&str] = &[
    "belong", "belongs", "belonging", "contain", "contains", "containing", "include", "includes", "included",
    "including", "involve", "involved", "involving", "made", "make", "makes", "placed", "place", "places", "located",
    "come", "comes", "came", "live", "lives", "living", "hold", "holds", "held", "own", "owns", "owned", "named",
    "called", "used", "use", "uses", "using", "work", "works", "working", "bought", "buy", "buys", "purchased",
    "sold", "sell", "sells", "received", "receive", "assigned", "appear", "appears", "offered", "provided",
    "generated", "generate", "earned", "earn", "earns", "bring", "brought", "occurred", "occur", "registered",
    "stored", "listed", "based", "situated", "correspond", "account", "accounted", "enrolled", "participated",
    "participate", "participating", "lived", "worked", "produced", "produce", "produces", "taught", "teach",
    "teaches", "written", "wrote", "write", "directed", "owning", "attended", "attend", "attending", "affiliated",
    "ordered", "handled", "submitted", "posted", "released", "got", "go", "going", "went", "play", "played", "plays",
];

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

pub(crate) fn is_stop(lower: &str) -> bool {
    STOP.contains(&lower)
}

pub(crate) fn is_linking(lower: &str) -> bool {
    LINKING.contains(&lower)
}

/// The full words of an abbreviation; the word itself where it is none.
pub(crate) fn expand(word: &str) -> Vec<&str> {
    match ABBREVIATIONS.iter().find(|(short, _)| *short == word) {
        Some((_, full)) => full.to_vec(),
        None => vec![word],
    }
}

/// Measures of these words are added up when nothing else is said: "revenue by month".
const ADDITIVE: &[&str] = &[
    "amount", "revenue", "sales", "turnover", "quantity", "units", "total", "spend", "spending", "profit", "cost",
    "costs", "expense", "expenses", "income", "volume", "consumption", "energy", "kwh", "hours", "minutes", "visits",
    "views", "visitors", "sessions", "clicks", "pageviews", "impressions", "orders", "payment", "payments", "budget",
    "production", "usage", "downloads", "conversions", "output", "donation",
];

pub(crate) fn is_additive(word: &str) -> bool {
    ADDITIVE.contains(&word) || ADDITIVE.contains(&format!("{word}s").as_str())
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
