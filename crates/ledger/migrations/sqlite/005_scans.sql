-- Scans that have begun and not ended: what they hold of their actor's quota, and what a crash left behind.
CREATE TABLE scans_under_way (
    run_id     TEXT PRIMARY KEY,
    actor      TEXT NOT NULL,
    request_id TEXT NOT NULL,
    at         TEXT NOT NULL,
    -- Bytes that it may still fetch, set aside until it ends.
    reserved   INTEGER NOT NULL
) STRICT;

CREATE INDEX scans_by_actor ON scans_under_way (actor);

-- Bytes fetched by each actor, by day (UTC).
CREATE TABLE scan_days (
    actor TEXT NOT NULL,
    day   TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (actor, day)
) STRICT, WITHOUT ROWID;
