-- Changes that have begun and not ended: what a server that was killed leaves to be looked for.
CREATE TABLE changes_under_way (
    run_id TEXT PRIMARY KEY,
    at     TEXT NOT NULL,
    -- The run as far as it had come, and the claims of its caller.
    begun  TEXT NOT NULL,
    server TEXT NOT NULL
) STRICT, WITHOUT ROWID;
