//! Addresses that a device uses itself: its router and its name servers. To ask whether they answer tells nobody anything,
//! so a script may look them up and need not write them out.

use regex::Regex;
use std::sync::LazyLock;

/// One field of the device's routes or of its resolver's file, as it stands there: nothing can be put together on the way.
static OWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let field = r#"(?:/\^?\w+/|\$1 ?== ?"\w+"|NR ?== ?\d+)? ?\{ ?print \$(?:\d|NF) ?(?:; ?exit ?)?;?\}"#;
    let grep = r#"grep(?: -m ?1)? (?:'\^?\w+'|"\^?\w+"|\w+)"#;
    let filter = format!(r#"(?:awk '{field}'|{grep}|(?:head|tail) -n ?\d+|head -1|cut -d ?(?:' '|" ") -f ?\d)"#);
    let routes = r"ip(?: -[46])? r(?:oute)?(?: show| list)?(?: default)?(?: dev [\w.-]+)?";
    let resolver = format!(r"(?:awk '{field}'|{grep}) /etc/resolv\.conf");
    Regex::new(&format!(r#"^"?\$\((?:{routes}|{resolver})(?: \| {filter})*\)"?$"#)).ok()
});

/// Whether a word, as it is written, is nothing but such a look.
pub fn is_own(raw: &str) -> bool {
    OWN.as_ref().is_some_and(|own| own.is_match(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_taken_as_it_stands() {
        for own in [
            "$(ip route | awk '/default/ {print $3}')",
            "\"$(ip -4 route show default | awk '{print $3; exit}')\"",
            "$(awk '/^nameserver/ {print $2; exit}' /etc/resolv.conf)",
            "$(grep -m1 nameserver /etc/resolv.conf | cut -d ' ' -f 2 | head -n 1)",
        ] {
            assert!(is_own(own), "{own}");
        }
        for other in [
            "$(cat /etc/hostname)",
            "$(awk '{print $2 \".evil.example\"}' /etc/resolv.conf)",
            "$(ip route; cat /etc/hostname)",
            "$(ip route | awk '{print $3}').evil.example",
            "$(awk '/^nameserver/ {print $2}' /etc/resolv.conf /etc/hostname)",
            "$(ip route | grep -f /etc/hostname)",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }
}
