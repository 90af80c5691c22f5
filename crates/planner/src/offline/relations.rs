//! The embedded thesaurus: which words mean the same, or nearly, in general English.
//!
//! A cut of WordNet (see `data/LICENSE.wordnet`), made by `scripts/thesaurus.py`: lines sorted by
//! their word, searched where they lie, so that nothing has to be loaded.

use super::catalog::singular;

static LINES: &str = include_str!("../../data/thesaurus.txt");

/// Words related to any form of this one, each with how nearly it means the same, up to 1.
pub(crate) fn related(lower: &str) -> Vec<(&'static str, f32)> {
    let mut found: Vec<(&str, f32)> = Vec::new();
    for form in base_forms(lower) {
        let Some(line) = line(&form) else { continue };
        for (other, score) in line.split(' ').skip(1).filter_map(|entry| entry.split_once(':')) {
            let score = score.parse::<f32>().unwrap_or_default() / 99.0;
            match found.iter_mut().find(|(known, _)| *known == other) {
                Some((_, known)) => *known = known.max(score),
                None => found.push((other, score)),
            }
        }
    }
    found
}

/// Whether a word can be a verb, in whatever form.
pub(crate) fn is_verb(lower: &str) -> bool {
    let marked = |form: &str| line(form).is_some_and(|l| l.split(' ').next().is_some_and(|w| w.ends_with("/v")));
    marked(lower) || verb_forms(lower).iter().any(|form| marked(form))
}

/// Whether there is such a word.
pub(crate) fn is_word(lower: &str) -> bool {
    base_forms(lower).iter().any(|form| line(form).is_some())
}

/// Whether a word is an irregular form of a verb: "built", "taught".
pub(crate) fn is_irregular_verb(lower: &str) -> bool {
    line(lower)
        .is_some_and(|l| l.split_once(' ').is_some_and(|(word, rest)| word.ends_with("/v") && rest.contains(":97")))
}

/// The line of a word, by bisection over the sorted lines.
fn line(word: &str) -> Option<&'static str> {
    let (mut low, mut high) = (0, LINES.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = LINES.get(..middle)?.rfind('\n').map_or(0, |at| at + 1);
        let end = LINES.get(middle..)?.find('\n').map_or(LINES.len(), |at| middle + at);
        let line = LINES.get(start..end)?;
        let key = line.split([' ', '/']).next()?;
        match key.cmp(word) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

/// The word itself and what it may be the plural of.
fn base_forms(lower: &str) -> Vec<String> {
    let mut forms = vec![lower.to_owned()];
    for form in [singular(lower), lower.strip_suffix("es").unwrap_or(lower).to_owned()] {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

/// What a word may be an inflected form of: "carries" → "carry", "used" → "use", "running" → "run".
fn verb_forms(lower: &str) -> Vec<String> {
    let mut forms = vec![singular(lower)];
    for ending in ["es", "ed", "ing", "d", "s"] {
        let Some(bare) = lower.strip_suffix(ending).filter(|b| b.len() > 2) else { continue };
        forms.extend([bare.to_owned(), format!("{bare}e")]);
        forms.extend(bare.strip_suffix('i').map(|b| format!("{b}y")));
        let mut last = bare.chars().rev();
        if let (Some(a), Some(b)) = (last.next(), last.next())
            && a == b
        {
            forms.extend(bare.get(..bare.len() - a.len_utf8()).map(str::to_owned));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_are_related() {
        let score = |a: &str, b: &str| related(a).iter().find(|(w, _)| *w == b).map_or(0.0, |(_, s)| *s);
        assert!(score("pupils", "student") > 0.9);
        assert!(score("wages", "salary") > 0.9);
        assert!(score("children", "child") > 0.9);
        assert!(score("nations", "country") > 0.9);
        assert!(score("pupils", "salary") == 0.0);
        assert!(related("xyzzy").is_empty());
    }

    #[test]
    fn verbs_are_known_in_every_form() {
        for verb in ["operates", "carried", "running", "taught", "use", "climbing"] {
            assert!(is_verb(verb), "{verb}");
        }
        for other in ["region", "expensive", "xyzzy", "customers"] {
            assert!(!is_verb(other), "{other}");
        }
    }

    #[test]
    fn the_first_and_the_last_line_are_found() {
        let word = |line: &'static str| line.split([' ', '/']).next().unwrap_or_default();
        for edge in [LINES.lines().next(), LINES.lines().last()] {
            assert_eq!(line(word(edge.unwrap())), edge);
        }
    }
}
