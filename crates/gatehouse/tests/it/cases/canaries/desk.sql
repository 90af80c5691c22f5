CREATE TABLE notes (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, title TEXT, hours INTEGER, written DATE, secret_note TEXT,
    zq4hidden_margin INTEGER
);
INSERT INTO notes VALUES
    (1, 'acme', 'Call', 2, '2026-01-01', 'QX7CANARY note', 918273645),
    (2, 'acme', 'Letter', 3, '2026-02-01', 'QX7CANARY note', 918273645),
    (3, 'globex', 'QX7CANARY title', 918273645, '2999-12-31', 'QX7CANARY note', 918273645);
CREATE INDEX notes_by_title ON notes (title);
CREATE TABLE zq4hidden_payroll (name TEXT, amount INTEGER);
INSERT INTO zq4hidden_payroll VALUES ('QX7CANARY payroll', 918273645);
