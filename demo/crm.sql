-- The records of a small law firm. Agents read and write them through Records; keys and times are made here.
CREATE TABLE cases (
    id           TEXT PRIMARY KEY DEFAULT ('case_' || lower(hex(randomblob(6)))),
    case_no      TEXT NOT NULL UNIQUE,
    client_id    TEXT NOT NULL,
    title        TEXT NOT NULL,
    status       TEXT NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'IN_REVIEW', 'ON_HOLD', 'CLOSED')),
    priority     TEXT NOT NULL DEFAULT 'NORMAL' CHECK (priority IN ('LOW', 'NORMAL', 'HIGH', 'URGENT')),
    assigned_to  TEXT,
    claim_amount REAL CHECK (claim_amount >= 0),
    due_date     DATE,
    client_email TEXT,
    created_at   TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    closed_at    TIMESTAMP,
    updated_at   TIMESTAMP NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    deleted_at   TIMESTAMP
);

CREATE INDEX cases_by_client ON cases (client_id);

-- Every change moves the version on.
CREATE TRIGGER cases_touched AFTER UPDATE ON cases WHEN NEW.updated_at = OLD.updated_at BEGIN
    UPDATE cases SET updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = NEW.id;
END;

CREATE TABLE client_communications (
    id              TEXT PRIMARY KEY DEFAULT (lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
        substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
    case_id         TEXT NOT NULL REFERENCES cases (id),
    direction       TEXT NOT NULL CHECK (direction IN ('INBOUND', 'OUTBOUND')),
    channel         TEXT NOT NULL CHECK (channel IN ('EMAIL', 'PHONE', 'LETTER', 'MEETING')),
    subject         TEXT NOT NULL,
    body            TEXT,
    sent_by         TEXT,
    recipient_email TEXT,
    sent_at         TIMESTAMP DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    follow_up_on    DATE,
    UNIQUE (case_id, direction, channel, subject)
);

CREATE TABLE document_analysis (
    id            TEXT PRIMARY KEY DEFAULT (lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
        substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
    case_id       TEXT NOT NULL REFERENCES cases (id),
    document_name TEXT NOT NULL,
    document_type TEXT NOT NULL CHECK (document_type IN ('CONTRACT', 'INVOICE', 'LETTER', 'ID_DOCUMENT')),
    status        TEXT NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'COMPLETE', 'FAILED')),
    risk_level    TEXT CHECK (risk_level IN ('LOW', 'MEDIUM', 'HIGH')),
    confidence    REAL CHECK (confidence BETWEEN 0 AND 1),
    page_count    INTEGER CHECK (page_count > 0),
    reviewed      BOOLEAN NOT NULL DEFAULT 0 CHECK (reviewed IN (0, 1)),
    summary       TEXT,
    analysed_at   TIMESTAMP,
    UNIQUE (case_id, document_name)
);
