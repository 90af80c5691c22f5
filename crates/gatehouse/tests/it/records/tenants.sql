-- Two tenants of one firm of firms, kept apart by the database's own policies.
CREATE TABLE matters (
    id       text PRIMARY KEY DEFAULT 'm_' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12),
    tenant   text NOT NULL DEFAULT current_setting('request.jwt.claims', true)::json ->> 'tenant',
    number   text NOT NULL,
    title    text NOT NULL,
    fee      numeric(10, 2),
    version  integer NOT NULL DEFAULT 1,
    removed  timestamptz,
    UNIQUE (tenant, number)
);
CREATE TABLE notes (
    id        uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant    text NOT NULL DEFAULT current_setting('request.jwt.claims', true)::json ->> 'tenant',
    matter_id text NOT NULL REFERENCES matters (id),
    body      text NOT NULL
);

ALTER TABLE matters ENABLE ROW LEVEL SECURITY;
ALTER TABLE matters FORCE ROW LEVEL SECURITY;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON matters USING (tenant = current_setting('request.jwt.claims', true)::json ->> 'tenant');
CREATE POLICY own ON notes USING (tenant = current_setting('request.jwt.claims', true)::json ->> 'tenant');

INSERT INTO matters (id, tenant, number, title, fee, version) VALUES
    ('m_acme_1', 'acme', 'A-0001', 'Aardvark one', 11.11, 3),
    ('m_acme_2', 'acme', 'A-0002', 'Aardvark two', 22.22, 1),
    ('m_zebra1', 'globex', 'Z-0001', 'Zebra one', 71.37, 7),
    ('m_zebra2', 'globex', 'Z-0002', 'Zebra two', 72.37, 1);
INSERT INTO notes (id, tenant, matter_id, body) VALUES
    ('aaaaaaaa-0000-4000-8000-000000000001', 'acme', 'm_acme_1', 'Aardvark note'),
    ('eeeeeeee-0000-4000-8000-000000000001', 'globex', 'm_zebra1', 'Zebra note');

GRANT SELECT, INSERT, UPDATE ON matters, notes TO tenant_agent;
