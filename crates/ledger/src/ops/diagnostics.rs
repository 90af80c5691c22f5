//! What devices said about themselves, and what was made of it.

use super::note;
use crate::store::{Conn, Row, args};
use crate::{Ledger, LedgerError, time};
use domain::Caller;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One submission, redacted.
#[derive(Debug, Clone)]
pub struct KeptDiagnostics {
    pub id: String,
    pub device_id: String,
    pub actor: String,
    pub at: Timestamp,
    pub submission: Value,
    /// What the placeholders in it stand for: for people who may see it, never for a model.
    pub masks: BTreeMap<String, String>,
}

/// A submission in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiagnosticsLine {
    pub diagnostics_id: String,
    pub device_id: String,
    pub actor: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// How many values were taken out of it.
    pub redacted: usize,
    /// The last analysis of it.
    pub analysis_id: Option<String>,
}

/// What was found in one submission.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Analysis {
    pub analysis_id: String,
    pub diagnostics_id: String,
    pub device_id: String,
    pub actor: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Who found it: `offline`, or a model's name.
    pub planner: String,
    pub findings: Value,
    /// What it took: time, and what a model has used, or why it had nothing to say.
    pub account: Value,
}

impl Ledger {
    pub async fn keep_diagnostics(&self, caller: &Caller, kept: &KeptDiagnostics) -> Result<(), LedgerError> {
        let (caller, kept) = (caller.clone(), kept.clone());
        self.write(move |conn| keep(conn, &caller, &kept)).await
    }

    pub async fn diagnostics(&self, id: &str) -> Result<Option<KeptDiagnostics>, LedgerError> {
        let id = id.to_owned();
        self.read(move |conn| {
            let found = conn.first("SELECT * FROM diagnostics WHERE id = $1", args![&id])?;
            found.as_ref().map(read).transpose()
        })
        .await
    }

    /// Of one device, the newest first.
    pub async fn diagnostics_of(&self, device: &str) -> Result<Vec<DiagnosticsLine>, LedgerError> {
        const MOST: i64 = 50;
        let device = device.to_owned();
        self.read(move |conn| {
            let sql = "SELECT id, device_id, actor, at, masks_json, (SELECT a.id FROM analyses a \
                       WHERE a.diagnostics_id = diagnostics.id ORDER BY a.at DESC, a.id DESC LIMIT 1) AS analysis_id \
                       FROM diagnostics WHERE device_id = $1 ORDER BY at DESC, id DESC LIMIT $2";
            conn.query(sql, args![&device, MOST])?.iter().map(read_line).collect()
        })
        .await
    }

    pub async fn keep_analysis(&self, caller: &Caller, analysis: &Analysis) -> Result<(), LedgerError> {
        let (caller, analysis) = (caller.clone(), analysis.clone());
        self.write(move |conn| keep_analysis(conn, &caller, &analysis)).await
    }

    /// What the placeholders of each of these analyses stand for; an analysis that there is not hides nothing, and fails.
    pub async fn masks_of(
        &self,
        analyses: BTreeSet<String>,
    ) -> Result<BTreeMap<String, BTreeMap<String, String>>, LedgerError> {
        self.read(move |conn| {
            let sql =
                "SELECT d.masks_json FROM analyses a JOIN diagnostics d ON d.id = a.diagnostics_id WHERE a.id = $1";
            analyses.iter().map(|id| Ok((id.clone(), conn.only(sql, args![id])?.json("masks_json")?))).collect()
        })
        .await
    }

    pub async fn analysis(&self, id: &str) -> Result<Option<Analysis>, LedgerError> {
        let id = id.to_owned();
        self.read(move |conn| {
            let found = conn.first("SELECT * FROM analyses WHERE id = $1", args![&id])?;
            found.as_ref().map(read_analysis).transpose()
        })
        .await
    }
}

fn keep(conn: &dyn Conn, caller: &Caller, kept: &KeptDiagnostics) -> Result<(), LedgerError> {
    let sql = "INSERT INTO diagnostics (id, device_id, actor, at, submission_json, masks_json) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let masks = serde_json::to_string(&kept.masks)?;
    let submission = kept.submission.to_string();
    conn.execute(sql, args![&kept.id, &kept.device_id, &kept.actor, time::text(kept.at), submission, masks])?;
    let detail = json!({ "diagnostics": kept.id, "device": kept.device_id, "redacted": kept.masks.len() });
    note(conn, "diagnostics.submitted", caller, detail)
}

fn keep_analysis(conn: &dyn Conn, caller: &Caller, analysis: &Analysis) -> Result<(), LedgerError> {
    let Analysis { analysis_id, diagnostics_id, device_id, actor, at, planner, findings, account } = analysis;
    let sql = "INSERT INTO analyses (id, diagnostics_id, device_id, actor, at, planner, findings_json, account_json) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (at, found, taken) = (time::text(*at), findings.to_string(), account.to_string());
    conn.execute(sql, args![analysis_id, diagnostics_id, device_id, actor, at, planner, found, taken])?;
    let count = findings.as_array().map_or(0, Vec::len);
    let detail = json!({
        "analysis": analysis_id, "diagnostics": diagnostics_id, "device": device_id, "planner": planner,
        "findings": count,
    });
    note(conn, "diagnostics.analysed", caller, detail)
}

fn read(row: &Row) -> Result<KeptDiagnostics, LedgerError> {
    Ok(KeptDiagnostics {
        id: row.get("id")?,
        device_id: row.get("device_id")?,
        actor: row.get("actor")?,
        at: time::parse("at", &row.get::<String>("at")?)?,
        submission: row.json("submission_json")?,
        masks: row.json("masks_json")?,
    })
}

fn read_line(row: &Row) -> Result<DiagnosticsLine, LedgerError> {
    Ok(DiagnosticsLine {
        diagnostics_id: row.get("id")?,
        device_id: row.get("device_id")?,
        actor: row.get("actor")?,
        at: time::parse("at", &row.get::<String>("at")?)?,
        redacted: row.json::<BTreeMap<String, String>>("masks_json")?.len(),
        analysis_id: row.get("analysis_id")?,
    })
}

fn read_analysis(row: &Row) -> Result<Analysis, LedgerError> {
    Ok(Analysis {
        analysis_id: row.get("id")?,
        diagnostics_id: row.get("diagnostics_id")?,
        device_id: row.get("device_id")?,
        actor: row.get("actor")?,
        at: time::parse("at", &row.get::<String>("at")?)?,
        planner: row.get("planner")?,
        findings: row.json("findings_json")?,
        account: row.json("account_json")?,
    })
}
