//! Plausible people.

use super::rng::Rng;

#[rustfmt::skip]
const GIVEN: [&str; 40] = [
    "Amara", "Beatriz", "Carlos", "Chiara", "Daniel", "Deepa", "Elena", "Emeka", "Farah", "Felix", "Grace", "Hana",
    "Hugo", "Ingrid", "Isaac", "Jamal", "Jonas", "Julia", "Kenji", "Lars", "Leila", "Liam", "Lucia", "Marek", "Mei",
    "Nadia", "Noah", "Olga", "Omar", "Paula", "Priya", "Quentin", "Rosa", "Samir", "Sofia", "Tariq", "Tessa",
    "Viktor", "Wanda", "Yusuf",
];

#[rustfmt::skip]
const FAMILY: [&str; 40] = [
    "Abebe", "Andersson", "Baker", "Bianchi", "Chen", "Costa", "Dubois", "Eriksen", "Fischer", "Garcia", "Haddad",
    "Hughes", "Ivanov", "Jensen", "Kaya", "Kowalski", "Kumar", "Lopez", "Martin", "Meyer", "Mori", "Nakamura",
    "Novak", "Okafor", "Oliveira", "Park", "Patel", "Quinn", "Rossi", "Sato", "Schmidt", "Silva", "Singh", "Tan",
    "Taylor", "Vargas", "Walker", "Weber", "Yilmaz", "Zhang",
];

/// `count` different people (at most 1,600), in no order.
pub fn people(rng: &mut Rng, count: usize) -> Vec<String> {
    let mut all: Vec<String> =
        GIVEN.iter().flat_map(|given| FAMILY.iter().map(move |family| format!("{given} {family}"))).collect();
    rng.shuffle(&mut all);
    all.truncate(count);
    all
}

/// An address under the reserved domain `.example`, which reaches nobody.
pub fn email(name: &str, host: &str) -> String {
    format!("{}@{host}.example", name.to_lowercase().replace(' ', "."))
}
