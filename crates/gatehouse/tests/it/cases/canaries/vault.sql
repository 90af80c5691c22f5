-- What only some may see says so: QX7CANARY is for nobody here but admins, QX7PERSON for `lead`. Others than `acme` own
-- rows too. Nothing that is asked holds these words.
CREATE TABLE cases (
    id TEXT PRIMARY KEY DEFAULT ('case_' || lower(hex(randomblob(6)))), tenant TEXT NOT NULL, case_no TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'CLOSED')), client_email TEXT,
    secret_note TEXT, zq4hidden_margin INTEGER, version INTEGER NOT NULL DEFAULT 1, uncontracted TEXT
);
INSERT INTO cases VALUES
    ('case_1', 'acme', 'C-1', 'Alpha lease', 'ACTIVE', 'QX7PERSON.1@x.org', 'QX7CANARY note', 918273645, 1, 'QX7CANARY'),
    ('case_2', 'acme', 'C-2', 'Beta claim', 'CLOSED', 'QX7PERSON.2@x.org', 'QX7CANARY note', 918273645, 1, 'QX7CANARY'),
    ('case_3', 'acme', 'C-3', 'Gamma deal', 'ACTIVE', NULL, NULL, 918273645, 1, NULL),
    ('case_900', 'globex', 'C-900', 'QX7CANARY title', 'ACTIVE', 'QX7CANARY@y.org', 'QX7CANARY note', 918273645, 7, 'QX7CANARY'),
    ('case_901', 'globex', 'QX7CANARY-901', 'QX7CANARY title', 'CLOSED', 'QX7CANARY@y.org', NULL, 918273645, 7, NULL);
CREATE TABLE parties (id INTEGER PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases (id), tenant TEXT NOT NULL, name TEXT);
INSERT INTO parties VALUES
    (1, 'case_1', 'acme', 'Anna'), (2, 'case_2', 'acme', 'Boris'),
    (3, 'case_1', 'globex', 'QX7CANARY party'), (4, 'case_900', 'globex', 'QX7CANARY party');
CREATE TABLE zq4hidden_payroll (name TEXT, amount INTEGER);
INSERT INTO zq4hidden_payroll VALUES ('QX7CANARY payroll', 918273645);
