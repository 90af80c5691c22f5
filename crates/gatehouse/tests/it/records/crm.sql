-- The demo's law firm in Postgres, with types that SQLite does not have. Nobody but the owner is above row-level security.
CREATE TYPE case_status AS ENUM ('ACTIVE', 'IN_REVIEW', 'ON_HOLD', 'CLOSED');

CREATE TABLE cases (
    id           text PRIMARY KEY DEFAULT 'case_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
    case_no      varchar(40) NOT NULL UNIQUE,
    client_id    text NOT NULL,
    title        text NOT NULL,
    status       case_status NOT NULL DEFAULT 'ACTIVE',
    priority     text NOT NULL DEFAULT 'NORMAL' CHECK (priority IN ('LOW', 'NORMAL', 'HIGH', 'URGENT')),
    assigned_to  text,
    claim_amount numeric(12, 2) CHECK (claim_amount >= 0),
    due_date     date,
    client_email text,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    closed_at    timestamptz,
    updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at   timestamptz
);

CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END $$;
CREATE TRIGGER cases_touched BEFORE UPDATE ON cases FOR EACH ROW EXECUTE FUNCTION touch();

CREATE TABLE client_communications (
    id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    case_id         text NOT NULL REFERENCES cases (id),
    direction       text NOT NULL CHECK (direction IN ('INBOUND', 'OUTBOUND')),
    channel         text NOT NULL CHECK (channel IN ('EMAIL', 'PHONE', 'LETTER', 'MEETING')),
    subject         text NOT NULL,
    body            text,
    sent_by         text,
    recipient_email text,
    sent_at         timestamptz DEFAULT clock_timestamp(),
    follow_up_on    date
    -- Its natural key is unique by the contract alone.
);

CREATE TABLE document_analysis (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    case_id       text NOT NULL REFERENCES cases (id),
    document_name text NOT NULL,
    document_type text NOT NULL,
    status        text NOT NULL DEFAULT 'PENDING',
    risk_level    text,
    confidence    double precision CHECK (confidence BETWEEN 0 AND 1),
    page_count    integer CHECK (page_count > 0),
    reviewed      boolean NOT NULL DEFAULT false,
    summary       text,
    analysed_at   timestamptz,
    UNIQUE (case_id, document_name)
);

INSERT INTO cases (id, case_no, client_id, title, created_at)
SELECT 'case_' || i, format('C-2023-%s', lpad(i::text, 4, '0')), (i % 200)::text, 'Matter ' || i,
       timestamptz '2024-01-01 00:00:00Z' + i * interval '1 day'
FROM generate_series(1, 1000) AS i;
INSERT INTO document_analysis (case_id, document_name, document_type)
SELECT 'case_' || i, 'contract-' || i, 'CONTRACT' FROM generate_series(1, 20) AS i;

GRANT SELECT, INSERT, UPDATE ON cases, client_communications, document_analysis TO crm_agent;
GRANT SELECT ON cases, client_communications, document_analysis TO crm_reader;
