-- Instants are text of one width, so that text order (of bytes: COLLATE "C") is time order.
-- Spec 001 §8 names the first twelve; the rest is what explains and replays a run.
-- The digest of a capsule covers its columns in this order: new ones are added at the end.
CREATE TABLE run_capsules (
    run_id               TEXT COLLATE "C" PRIMARY KEY,
    created_at           TEXT COLLATE "C" NOT NULL,
    dataset_id           TEXT NOT NULL,
    dataset_version_hash TEXT,
    question             TEXT,
    query_mode           TEXT,
    plan_json            TEXT,
    compiled_sql         TEXT,
    status               TEXT NOT NULL,
    result_json          TEXT,
    error_json           TEXT,
    exec_time_ms         DOUBLE PRECISION,
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
    plan_ms              DOUBLE PRECISION,
    check_ms             DOUBLE PRECISION,
    run_ms               DOUBLE PRECISION,
    sandbox_tier         TEXT,
    unenforced_json      TEXT NOT NULL,
    cost_usd             DOUBLE PRECISION
);

CREATE INDEX runs_by_time ON run_capsules (created_at, run_id);
CREATE INDEX runs_by_actor ON run_capsules (actor, created_at, run_id);
-- Refused runs may name what is no dataset and too long for an index.
CREATE INDEX runs_by_dataset ON run_capsules (left(dataset_id, 200), created_at, run_id);
CREATE INDEX runs_by_status ON run_capsules (status, created_at, run_id);
CREATE INDEX runs_by_session ON run_capsules (session_id, created_at, run_id);
CREATE INDEX runs_by_thread ON run_capsules (thread_id, created_at, run_id) WHERE thread_id IS NOT NULL;

-- hash = SHA-256 of the text prev_hash followed by the text entry_json, in lowercase hex.
-- No column says again what the entry says: it could say something else.
CREATE TABLE audit (
    seq        BIGINT PRIMARY KEY,
    entry_json TEXT NOT NULL,
    prev_hash  TEXT NOT NULL,
    hash       TEXT NOT NULL
);

CREATE TABLE audit_heads (
    seq       BIGINT PRIMARY KEY,
    hash      TEXT NOT NULL,
    at        TEXT NOT NULL,
    key       TEXT NOT NULL,
    signature TEXT NOT NULL
);

-- A net under honest mistakes. The proof is the hashes and the signed heads.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
CREATE TRIGGER audit_keeps_all BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER heads_keep_all BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_heads
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Of every secret only its SHA-256 is kept.
CREATE TABLE tokens (
    id          TEXT PRIMARY KEY,
    hash        TEXT NOT NULL,
    actor       TEXT NOT NULL,
    role        TEXT NOT NULL,
    claims_json TEXT NOT NULL,
    created_at  TEXT COLLATE "C" NOT NULL,
    expires_at  TEXT,
    revoked_at  TEXT
);

-- One-time sign-in codes (`login`) and the cookies that they are changed for (`session`).
CREATE TABLE sign_ins (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('login', 'session')),
    hash       TEXT NOT NULL,
    actor      TEXT NOT NULL,
    role       TEXT NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL
);

-- Written to find out whether writing works.
CREATE TABLE pulse (
    one     SMALLINT PRIMARY KEY CHECK (one = 1),
    at      TEXT NOT NULL,
    ballast BYTEA NOT NULL
);
