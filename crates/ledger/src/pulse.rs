//! Whether writing works.

use crate::store::args;
use crate::{Ledger, LedgerError, time};
use jiff::Timestamp;

const BALLAST: usize = 32 * 1024;

impl Ledger {
    /// Finds out by writing, about as much as a run takes.
    pub async fn writable(&self) -> Result<(), LedgerError> {
        let sql = "INSERT INTO pulse (one, at, ballast) VALUES (1, $1, $2) \
                   ON CONFLICT (one) DO UPDATE SET at = excluded.at, ballast = excluded.ballast";
        let now = time::text(Timestamp::now());
        self.write(move |conn| conn.execute(sql, args![&now, vec![0; BALLAST]]).map(drop)).await
    }
}
