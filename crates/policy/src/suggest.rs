//! "Did you mean": only ever from what the caller may see.

/// The nearest of the known names, or a few of them where none is near.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>, what: &str) -> String {
    let ranked = ranked(name, known);
    if let Some(hint) = nearest(name, &ranked) {
        return hint;
    }
    let some: Vec<String> = ranked.iter().take(8).map(|(_, k)| format!("`{k}`")).collect();
    match some.is_empty() {
        true => format!("there are no {what} here that you may read"),
        false => format!("{what} here: {}", some.join(", ")),
    }
}

/// The nearest of names that are too many to list, or else what may be said in general.
pub fn did_you_mean_or<'a>(name: &str, known: impl Iterator<Item = &'a str>, general: &str) -> String {
    nearest(name, &ranked(name, known)).unwrap_or_else(|| general.to_owned())
}

fn nearest(name: &str, ranked: &[(usize, &str)]) -> Option<String> {
    let (distance, best) = ranked.first()?;
    (*distance <= 1 + name.len() / 5).then(|| format!("did you mean `{best}`?"))
}

fn ranked<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    // An attacker's name may be long; distances to it are of no use to anybody.
    let lower: String = name.chars().take(64).collect::<String>().to_lowercase();
    let mut ranked: Vec<(usize, &str)> =
        known.map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k)).collect();
    ranked.sort_unstable();
    ranked.dedup_by(|a, b| a.1.eq_ignore_ascii_case(b.1));
    ranked
}
