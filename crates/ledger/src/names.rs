//! The names that tokens and sign-ins keep of their actors.

use crate::LedgerError;
use crate::store::{Conn, Row, args};
use domain::{Actor, Names, Origin, fold};

/// How names are kept, whichever origin configuration says is the bare one: it may say another tomorrow.
pub(crate) const KEPT: Names = Names::bare(Origin::Token);

/// The actor of an admin who signs in by the link that a server prints.
const OWNER: &str = "owner";

/// The whole name of a row's actor.
pub(crate) fn kept(row: &Row, written: Names) -> Result<String, LedgerError> {
    Ok(written.write(&KEPT.read(&row.get::<String>("actor")?)))
}

/// Whether the name that a row keeps is that of an entry, which is written as configuration had it then, or as names were
/// before origins were a part of them.
pub(crate) fn is_same(kept: &str, said: &str) -> bool {
    let kept = KEPT.read(kept);
    KEPT.read(said) == kept || said == kept.subject
}

/// Refuses a new name that people would take for one that is known, or for one of another origin. A name that is known
/// already may get further tokens.
pub(crate) fn check(conn: &dyn Conn, actor: &Actor) -> Result<(), LedgerError> {
    let subject = &actor.subject;
    if Origin::resembled_by(subject).is_some() {
        return Err(LedgerError::NameReserved(subject.clone()));
    }
    let rows = conn.query("SELECT actor FROM tokens UNION SELECT actor FROM sign_ins ORDER BY actor", args![])?;
    let mut known = vec![OWNER.to_owned()];
    for row in &rows {
        let Actor { origin, subject } = KEPT.read(&row.get::<String>("actor")?);
        known.extend((origin == Origin::Token).then_some(subject));
    }
    if known.contains(subject) {
        return Ok(());
    }
    let folded = fold(subject);
    match known.into_iter().find(|other| fold(other) == folded) {
        Some(taken) => Err(LedgerError::NameTaken { name: subject.clone(), taken }),
        None => Ok(()),
    }
}
