-- Devices: known by name, enrolled with a code that is good once.
CREATE TABLE devices (
    id              TEXT PRIMARY KEY,
    name            TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    created_by      TEXT NOT NULL,
    -- The code that has not been used yet.
    code_id         TEXT,
    code_hash       TEXT,
    code_expires_at TEXT,
    -- What the device said when it enrolled; its token is one of `tokens`.
    token_id        TEXT,
    enrolled_at     TEXT,
    grants_json     TEXT,
    sandbox_tier    TEXT,
    version         TEXT,
    seen_at         TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX devices_by_code ON devices (code_id) WHERE code_id IS NOT NULL;

-- What devices said about themselves, redacted; `masks_json` has what the placeholders stand for.
CREATE TABLE diagnostics (
    id              TEXT PRIMARY KEY,
    device_id       TEXT NOT NULL,
    actor           TEXT NOT NULL,
    at              TEXT NOT NULL,
    submission_json TEXT NOT NULL,
    masks_json      TEXT NOT NULL
) STRICT;

CREATE TABLE analyses (
    id             TEXT PRIMARY KEY,
    diagnostics_id TEXT NOT NULL,
    device_id      TEXT NOT NULL,
    actor          TEXT NOT NULL,
    at             TEXT NOT NULL,
    planner        TEXT NOT NULL,
    findings_json  TEXT NOT NULL,
    -- What it took: time, and what a model has used.
    account_json   TEXT NOT NULL
) STRICT;

-- Scripts that wait for people, and what became of them.
CREATE TABLE script_proposals (
    id            TEXT PRIMARY KEY,
    device_id     TEXT NOT NULL,
    analysis_id   TEXT,
    requester     TEXT NOT NULL,
    at            TEXT NOT NULL,
    -- Counts edits: an approval is of one version.
    version       INTEGER NOT NULL,
    digest        TEXT NOT NULL,
    proposal_json TEXT NOT NULL,
    -- As it was before the last edit.
    previous_json TEXT,
    report_json   TEXT NOT NULL,
    risk          TEXT NOT NULL,
    state         TEXT NOT NULL,
    expires_at    TEXT NOT NULL
) STRICT;

CREATE INDEX script_proposals_by_state ON script_proposals (state, at);

CREATE TABLE script_approvals (
    proposal_id TEXT NOT NULL,
    version     INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    digest      TEXT NOT NULL,
    at          TEXT NOT NULL,
    comment     TEXT NOT NULL,
    PRIMARY KEY (proposal_id, version, actor)
) STRICT, WITHOUT ROWID;

-- The queue of each device, and what came back.
CREATE TABLE packages (
    id          TEXT PRIMARY KEY,
    proposal_id TEXT NOT NULL UNIQUE,
    device_id   TEXT NOT NULL,
    digest      TEXT NOT NULL,
    signed_json TEXT NOT NULL,
    -- The run as far as it has come: it is put on record with the result.
    run_json    TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    state       TEXT NOT NULL,
    claim_hash  TEXT,
    lease_until TEXT,
    claims      INTEGER NOT NULL,
    result_json TEXT,
    undone_json TEXT
) STRICT;

CREATE INDEX packages_by_device ON packages (device_id, state, created_at);

CREATE TABLE package_logs (
    package_id TEXT NOT NULL,
    rollback   INTEGER NOT NULL,
    at_byte    INTEGER NOT NULL,
    text       TEXT NOT NULL,
    PRIMARY KEY (package_id, rollback, at_byte)
) STRICT, WITHOUT ROWID;
