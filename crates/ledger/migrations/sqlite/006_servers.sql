-- Servers that share this ledger. Whose work is under way says so by `server`; a server that is dead leaves it behind.
CREATE TABLE servers (
    id           TEXT PRIMARY KEY,
    -- Where it is, for people.
    name         TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    -- Goes up while it lives.
    beat         INTEGER NOT NULL,
    -- Its requests on their way: whose each run is.
    running_json TEXT NOT NULL
) STRICT;

ALTER TABLE scans_under_way ADD COLUMN server TEXT NOT NULL DEFAULT '';

-- What a version left behind that did not know of servers.
INSERT INTO servers SELECT '', 'an earlier version', '', 0, '{}' WHERE EXISTS (SELECT 1 FROM scans_under_way);

-- The public half of the key that heads of this chain are signed with: the same on every server.
CREATE TABLE audit_key (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    public TEXT NOT NULL
) STRICT;
