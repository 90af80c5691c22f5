//! A few groups of everyday words that people use for one another. A schema's own words and the
//! synonyms of its contracts always outrank them.

const GROUPS: &[&[&str]] = &[
    &["revenue", "sales", "turnover"],
    &["customer", "client", "buyer", "shopper"],
    &["product", "item", "article", "good", "merchandise"],
    &["employee", "staff", "worker"],
    &["country", "nation"],
    &["city", "town"],
    &["type", "kind", "category"],
    &["order", "purchase"],
    &["quantity", "unit"],
    &["ticket", "issue", "case"],
    &["status", "state"],
    &["salary", "wage", "pay"],
    &["price", "cost"],
    &["phone", "telephone"],
    &["email", "mail"],
    &["company", "firm", "business"],
    &["picture", "photo", "image"],
    &["person", "people", "individual"],
    &["author", "writer"],
    &["supplier", "vendor"],
    &["invoice", "bill"],
    &["shop", "store"],
    &["user", "member"],
    &["duration", "length"],
    &["score", "rating", "grade"],
    &["consumption", "usage"],
    &["visit", "session"],
    &["device", "machine"],
    &["teacher", "instructor"],
    &["student", "pupil"],
    &["movie", "film"],
    &["song", "track"],
    &["car", "vehicle"],
    &["job", "position", "occupation"],
    &["begin", "start"],
    &["end", "finish"],
    &["description", "detail"],
    &["gender", "sex"],
    &["address", "location"],
    &["birthday", "birthdate"],
    &["priority", "severity", "urgency"],
    &["channel", "medium"],
    &["agent", "assignee"],
];

/// The other words of the groups that a word (singular) is in.
pub(crate) fn synonyms(word: &str) -> impl Iterator<Item = &'static str> {
    GROUPS.iter().filter(move |g| g.contains(&word)).flat_map(|g| g.iter().copied()).filter(move |w| *w != word)
}

/// Names of several words that people use for one another.
const PHRASES: &[&[&str]] = &[
    &["first name", "forename", "given name", "fore name"],
    &["last name", "surname", "family name", "second name"],
    &["birth date", "birthday", "birthdate", "date of birth", "day of birth", "dob"],
    &["phone", "phone number", "telephone", "telephone number", "mobile number", "cellphone", "cell phone", "mobile"],
    &["m2", "square metre", "square meter", "sqm"],
    &["m3", "cubic metre", "cubic meter"],
    &["zip code", "zip", "postal code", "postcode", "post code"],
    &["email", "email address", "mail address", "e mail", "mail"],
];

/// Other ways to say a phrase (singular).
pub(crate) fn phrases(phrase: &str) -> impl Iterator<Item = &'static str> {
    PHRASES.iter().filter(move |g| g.contains(&phrase)).flat_map(|g| g.iter().copied()).filter(move |p| *p != phrase)
}

/// Adjectives that are measured by a column: "expensive" by a price. The flag is true where more of
/// the adjective is less of the measure ("young": a small age).
const ADJECTIVES: &[(&[&str], &[&str], bool)] = &[
    (&["expensive", "costly", "pricey"], &["price", "cost", "fee"], false),
    (&["cheap", "inexpensive", "affordable"], &["price", "cost", "fee"], true),
    (&["old", "aged"], &["age"], false),
    (&["young"], &["age"], true),
    (&["long"], &["length", "duration"], false),
    (&["short"], &["length", "duration", "height"], true),
    (&["tall"], &["height"], false),
    (&["heavy"], &["weight"], false),
    (&["light"], &["weight"], true),
    (&["fast", "quick"], &["speed"], false),
    (&["slow"], &["speed"], true),
    (&["hot", "warm"], &["temperature"], false),
    (&["cold"], &["temperature"], true),
    (&["populous", "populated"], &["population"], false),
];

/// The measures of an adjective, and whether more of it means less of them.
pub(crate) fn measured_by(adjective: &str) -> Option<(&'static [&'static str], bool)> {
    ADJECTIVES.iter().find(|(words, _, _)| words.contains(&adjective)).map(|(_, measures, less)| (*measures, *less))
}
