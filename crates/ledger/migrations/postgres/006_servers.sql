-- Servers that share this ledger. Whose work is under way says so by `server`; a server that is dead leaves it behind.
CREATE TABLE servers (
    id           TEXT PRIMARY KEY,
    -- Where it is, for people.
    name         TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    -- Goes up while it lives.
    beat         BIGINT NOT NULL,
    -- Its requests on their way: whose each run is.
    running_json TEXT NOT NULL
);

ALTER TABLE scans_under_way ADD COLUMN server TEXT NOT NULL DEFAULT '';

-- The public half of the key that heads of this chain are signed with: the same on every server.
CREATE TABLE audit_key (
    one    SMALLINT PRIMARY KEY CHECK (one = 1),
    public TEXT NOT NULL
);

-- How far ahead of its rate an actor is, in microseconds since 1970. Shared by all servers; lost in a crash of the
-- database, which costs nobody more than a burst.
CREATE UNLOGGED TABLE rates (
    who        TEXT PRIMARY KEY,
    paid_until BIGINT NOT NULL
);
