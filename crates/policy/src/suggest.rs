//! "Did you mean": only ever from what the caller may see.

/// The nearest of the known names, or a few of them where none is near.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>, what: &str) -> String {
    let lower = name.to_lowercase();
    let mut ranked: Vec<(usize, &str)> =
        known.map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k)).collect();
    ranked.sort_unstable();
    ranked.dedup_by(|a, b| a.1.eq_ignore_ascii_case(b.1));
    match ranked.first() {
        None => format!("there are no {what} here that you may read"),
        Some((distance, best)) if *distance <= 1 + name.len() / 3 => format!("did you mean `{best}`?"),
        Some(_) => {
            let some: Vec<String> = ranked.iter().take(8).map(|(_, k)| format!("`{k}`")).collect();
            format!("{what} here: {}", some.join(", "))
        }
    }
}
