//! Whom the name of an actor stands for: a subject, and where it comes from.
//!
//! Everything that compares actors (grants, `$actor`, runs, quotas, approvals) compares their names, to the letter. Names
//! are therefore written so that no two actors share one: [`Names`] is the only place that writes them.

/// Where an actor was identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Tokens and sign-in links of this house, and whoever runs its program.
    Token,
    /// JWTs, signed by somebody that this house trusts.
    Jwt,
    /// Devices, by the token that they got when they enrolled.
    Device,
}

impl Origin {
    const ALL: [Self; 3] = [Self::Token, Self::Jwt, Self::Device];

    /// The prefix of its actors' names, with the colon.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Token => "token:",
            Self::Jwt => "jwt:",
            Self::Device => "device:",
        }
    }

    /// The origin that a name begins with, and what comes after it.
    fn split(name: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|origin| name.strip_prefix(origin.prefix()).map(|rest| (origin, rest)))
    }

    /// The origin that a name begins with, or seems to begin with.
    pub fn resembled_by(name: &str) -> Option<Self> {
        let folded = fold(name);
        Self::split(&folded).map(|(origin, _)| origin)
    }
}

/// One person, agent, service or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub origin: Origin,
    /// As its origin names it.
    pub subject: String,
}

impl Actor {
    pub fn new(origin: Origin, subject: impl Into<String>) -> Self {
        Self { origin, subject: subject.into() }
    }

    /// Somebody whom a token or a sign-in link of this house is for.
    pub fn token(subject: impl Into<String>) -> Self {
        Self::new(Origin::Token, subject)
    }
}

/// How actors are written. One origin is bare: its subjects stand without a prefix, as long as they do not begin with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    bare: Origin,
}

impl Names {
    pub const fn bare(origin: Origin) -> Self {
        Self { bare: origin }
    }

    pub fn write(self, actor: &Actor) -> String {
        let Actor { origin, subject } = actor;
        if *origin == self.bare && Origin::split(subject).is_none() {
            return subject.clone();
        }
        format!("{}{subject}", origin.prefix())
    }

    /// The actor that [`Self::write`] gave this name.
    pub fn read(self, name: &str) -> Actor {
        let (origin, subject) = Origin::split(name).unwrap_or((self.bare, name));
        Actor::new(origin, subject)
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::bare(Origin::Token)
    }
}

/// What people take two names for the same by: letters without their case, no spaces at the ends.
pub fn fold(name: &str) -> String {
    // Small, large, small: `ẞ`, `ß` and `SS` are one, and so are `Σ`, `σ` and `ς`.
    let small = |c: char| c.to_lowercase();
    let letters = name.trim_matches(is_blank).chars();
    letters.flat_map(small).flat_map(char::to_uppercase).flat_map(small).collect()
}

/// A space of any width, none included.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECTS: [&str; 12] = [
        "owner",
        "Owner",
        "",
        ":",
        "jwt:owner",
        "token:owner",
        "device:owner",
        "token:jwt:owner",
        "jwt:token:owner",
        "token:token:owner",
        "https://id.example|owner",
        "JWT:owner",
    ];

    /// Whichever origin is bare: no two actors share a name, and a name leads back to its actor.
    #[test]
    fn names_are_of_one_actor_each() {
        for bare in Origin::ALL {
            let names = Names::bare(bare);
            let actors = || Origin::ALL.into_iter().flat_map(|o| SUBJECTS.map(|subject| Actor::new(o, subject)));
            for one in actors() {
                assert_eq!(names.read(&names.write(&one)), one, "{bare:?}");
                for other in actors().filter(|other| *other != one) {
                    assert_ne!(names.write(&one), names.write(&other), "{bare:?}: {one:?} and {other:?}");
                }
            }
        }
    }

    #[test]
    fn the_bare_origin_has_no_prefix_unless_it_needs_one() {
        let names = Names::default();
        let written = [
            (Actor::token("ann"), "ann"),
            (Actor::token("jwt:ann"), "token:jwt:ann"),
            (Actor::new(Origin::Jwt, "ann"), "jwt:ann"),
            (Actor::new(Origin::Device, "pump-7"), "device:pump-7"),
        ];
        for (actor, name) in written {
            assert_eq!(names.write(&actor), name);
        }
        assert_eq!(Names::bare(Origin::Jwt).write(&Actor::token("ann")), "token:ann");
        assert_eq!(Names::bare(Origin::Jwt).write(&Actor::new(Origin::Jwt, "ann")), "ann");
    }

    #[test]
    fn fold_sees_neither_case_nor_spaces_at_the_ends() {
        let alike = [
            ("ann", "ANN"),
            ("ann", " ann"),
            ("ann", "Ann\u{a0}"),
            ("ann", "\u{3000}ann\u{2003}"),
            ("ann", "ann\u{200b}"),
            ("ann", "\u{feff}ann"),
            ("straße", "STRASSE"),
            ("STRAẞE", "strasse"),
            ("ΟΔΟΣ", "οδος"),
            ("οδοσ", "οδος"),
            ("äöü", "ÄÖÜ"),
            ("kim", "\u{212a}im"),
            ("ſam", "Sam"),
            ("дарья", "ДАРЬЯ"),
            ("ǆ", "ǅ"),
        ];
        for (one, other) in alike {
            assert_eq!(fold(one), fold(other), "{one:?} and {other:?}");
        }
        for (one, other) in [("ann", "anne"), ("ann lee", "annlee"), ("ann", "änn"), ("a b", "a  b")] {
            assert_ne!(fold(one), fold(other), "{one:?} and {other:?}");
        }
    }

    #[test]
    fn what_looks_like_an_origin_is_seen() {
        for name in ["jwt:ann", "JWT:ann", " token:x", "Device:1", "\u{200b}jwt:"] {
            assert!(Origin::resembled_by(name).is_some(), "{name:?}");
        }
        for name in ["ann", "jwt", "jwts:ann", "https://id.example", "ann:jwt:"] {
            assert_eq!(Origin::resembled_by(name), None, "{name:?}");
        }
    }
}
