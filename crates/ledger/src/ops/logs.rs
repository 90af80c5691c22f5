//! What scripts say, piece by piece, until their end is told.

use super::packages::{LogPiece, claimed, unknown_claim};
use super::{Answer, refuse};
use crate::store::{Conn, Row, args};
use crate::{LedgerError, time};
use domain::package::ScriptResult;
use domain::{Caller, Fault, Kind};
use serde_json::json;

/// Letters of the logs of one package, its rollback's among them.
const MOST: i64 = 16 * 1024 * 1024;

pub(super) fn hear(conn: &dyn Conn, caller: &Caller, (device, hash): (&str, &str), piece: &LogPiece) -> Answer<()> {
    let detail = json!({ "device": device, "rollback": piece.rollback });
    let Some(row) = claimed(conn, device, hash)? else {
        return refuse(conn, "script.log_refused", caller, detail, unknown_claim());
    };
    let id: String = row.get("id")?;
    let rollback = i64::from(piece.rollback);
    let sql = "SELECT text FROM package_logs WHERE package_id = $1 AND rollback = $2 AND at_byte = $3";
    let before = conn.first(sql, args![&id, rollback, piece.offset])?;
    let is_known = before.map(|row| row.get::<String>("text")).transpose()?.as_ref() == Some(&piece.text);
    if !is_known {
        if let Some(fault) = unwanted(conn, &row, piece)? {
            let detail = json!({ "package": id, "device": device, "rollback": piece.rollback });
            return refuse(conn, "script.log_refused", caller, detail, fault);
        }
        let sql = "INSERT INTO package_logs (package_id, rollback, at_byte, text) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (package_id, rollback, at_byte) DO NOTHING";
        conn.execute(sql, args![&id, rollback, piece.offset, &piece.text])?;
    }
    let sql = "UPDATE packages SET heard_at = $2 WHERE id = $1 AND state = 'claimed'";
    conn.execute(sql, args![id, time::text(piece.at)])?;
    Ok(Ok(()))
}

fn unwanted(conn: &dyn Conn, package: &Row, piece: &LogPiece) -> Result<Option<Fault>, LedgerError> {
    let end: Option<ScriptResult> = package.json_or_none(if piece.rollback { "undone_json" } else { "result_json" })?;
    if end.is_some() {
        return Ok(Some(Fault::new(Kind::Conflict, "claim.used", "the package has ended already")));
    }
    let sql = "SELECT CAST(coalesce(sum(length(text)), 0) AS BIGINT) AS kept FROM package_logs WHERE package_id = $1";
    let kept: i64 = conn.only(sql, args![package.get::<String>("id")?])?.get("kept")?;
    let too_large = || Fault::new(Kind::TooLarge, "log.too_large", "the log of this package is too large");
    Ok((kept > MOST).then(too_large))
}
