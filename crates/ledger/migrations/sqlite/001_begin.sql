-- Spec 001 §8 names the first twelve; the rest is what explains and replays a run.
-- The digest of a capsule covers its columns in this order: new ones are added at the end.
CREATE TABLE run_capsules (
    run_id               TEXT PRIMARY KEY,
    created_at           TEXT NOT NULL,
    dataset_id           TEXT NOT NULL,
    dataset_version_hash TEXT,
    question             TEXT,
    query_mode           TEXT,
    plan_json            TEXT,
    compiled_sql         TEXT,
    status               TEXT NOT NULL,
    result_json          TEXT,
    error_json           TEXT,
    exec_time_ms         REAL,
    session_id           TEXT NOT NULL,
    thread_id            TEXT,
    request_id           TEXT NOT NULL,
    door                 TEXT NOT NULL,
    purpose              TEXT NOT NULL,
    actor                TEXT NOT NULL,
    role                 TEXT NOT NULL,
    reading              TEXT,
    planner              TEXT,
    sql_text             TEXT,
    params_json          TEXT NOT NULL,
    proposal_hash        TEXT,
    policy_fingerprint   TEXT NOT NULL,
    contracts_json       TEXT NOT NULL,
    filtered_by_json     TEXT NOT NULL,
    assistant_message    TEXT NOT NULL,
    clarification_json   TEXT,
    plan_ms              REAL,
    check_ms             REAL,
    run_ms               REAL,
    sandbox_tier         TEXT,
    unenforced_json      TEXT NOT NULL,
    cost_usd             REAL
) STRICT;

CREATE INDEX runs_by_time ON run_capsules (created_at, run_id);
CREATE INDEX runs_by_actor ON run_capsules (actor, created_at, run_id);
CREATE INDEX runs_by_dataset ON run_capsules (dataset_id, created_at, run_id);
CREATE INDEX runs_by_status ON run_capsules (status, created_at, run_id);
CREATE INDEX runs_by_session ON run_capsules (session_id, created_at, run_id);
CREATE INDEX runs_by_thread ON run_capsules (thread_id, created_at, run_id) WHERE thread_id IS NOT NULL;

-- hash = SHA-256 of the text prev_hash followed by the text entry_json, in lowercase hex.
-- What can be read from the entry is read from the entry: a column cannot say something else.
CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY,
    at         TEXT AS (entry_json ->> '$.at') VIRTUAL,
    kind       TEXT AS (entry_json ->> '$.kind') VIRTUAL,
    actor      TEXT AS (entry_json ->> '$.actor') VIRTUAL,
    role       TEXT AS (entry_json ->> '$.role') VIRTUAL,
    door       TEXT AS (entry_json ->> '$.door') VIRTUAL,
    run_id     TEXT AS (entry_json ->> '$.run_id') VIRTUAL,
    request_id TEXT AS (entry_json ->> '$.request_id') VIRTUAL,
    entry_json TEXT NOT NULL,
    prev_hash  TEXT NOT NULL,
    hash       TEXT NOT NULL
) STRICT;

CREATE TABLE audit_heads (
    seq       INTEGER PRIMARY KEY,
    hash      TEXT NOT NULL,
    at        TEXT NOT NULL,
    key       TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;

-- A net under honest mistakes. The proof is the hashes and the signed heads.
CREATE TRIGGER audit_keeps_entries BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit chain is append-only'); END;
CREATE TRIGGER audit_keeps_all BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit chain is append-only'); END;
CREATE TRIGGER heads_keep_entries BEFORE UPDATE ON audit_heads
BEGIN SELECT RAISE(ABORT, 'signed heads are append-only'); END;
CREATE TRIGGER heads_keep_all BEFORE DELETE ON audit_heads
BEGIN SELECT RAISE(ABORT, 'signed heads are append-only'); END;

-- Of every secret only its SHA-256 is kept.
CREATE TABLE tokens (
    id          TEXT PRIMARY KEY,
    hash        TEXT NOT NULL,
    actor       TEXT NOT NULL,
    role        TEXT NOT NULL,
    claims_json TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    expires_at  TEXT,
    revoked_at  TEXT
) STRICT;

-- One-time sign-in codes (`login`) and the cookies that they are changed for (`session`).
CREATE TABLE sign_ins (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('login', 'session')),
    hash       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    role       TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;

-- Written to find out whether writing works.
CREATE TABLE pulse (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    at      TEXT NOT NULL,
    ballast BLOB NOT NULL
) STRICT;
