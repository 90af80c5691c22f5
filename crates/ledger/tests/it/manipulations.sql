-- Ways of tampering with a ledger. Each case is `--- what is done`, then `--> what the walk says of it`, then how.
-- The ledger: entries 1 to 3 are runs of ann, 4 a reload of contracts, 5 a run of bob, 6 a stop; heads of 4 and 6.
-- `!rehash N` makes the chain fit again from entry N on, `!heads N` keeps the first N lines of the exported file,
-- `!head …` writes a line to it, `!restore` puts back the copy of the database that was made after entry 4,
-- `!key` takes the key away so that another is made, `!sign` signs with it, `!cut` halves the database file; `!sqlite`
-- marks what nobody can do to a Postgres.

--- change a word of an entry
--> entry_changed: entry 2: its text does not have its hash
UPDATE audit SET entry_json = replace(entry_json, 'ann', 'eve') WHERE seq = 2;

--- change a word of an entry and its hash
--> entry_changed: entry 3: it does not follow from the one before
UPDATE audit SET entry_json = replace(entry_json, 'ann', 'eve') WHERE seq = 2;
UPDATE audit SET hash = link(prev_hash, entry_json) WHERE seq = 2;

--- change an entry and all hashes after it
--> rewritten: entry 4: a signed head has another hash for it, so the chain was written anew
UPDATE audit SET entry_json = replace(entry_json, 'ann', 'eve') WHERE seq = 2;
!rehash 2

--- change the last entry and its hash
--> rewritten: entry 6: a signed head has another hash for it, so the chain was written anew
UPDATE audit SET entry_json = replace(entry_json, 'server.stopped', 'server.started') WHERE seq = 6;
!rehash 6

--- write a hash in other letters
--> entry_changed: entry 5: its text does not have its hash
UPDATE audit SET hash = upper(hash) WHERE seq = 5;

--- give the first entry something before it
--> entry_changed: entry 1: it does not follow from the one before
UPDATE audit SET prev_hash = '0000000000000000000000000000000000000000000000000000000000000001' WHERE seq = 1;

--- make an entry unreadable
--> entry_changed: entry 4: it cannot be read
CREATE TABLE bare AS SELECT seq, entry_json, prev_hash, hash FROM audit;
DROP TABLE audit; ALTER TABLE bare RENAME TO audit;
UPDATE audit SET entry_json = 'nothing' WHERE seq = 4;

--- delete an entry in the middle
--> entry_missing: entry 3: it is missing; the next one is 4
DELETE FROM audit WHERE seq = 3;

--- delete an entry in the middle and close the gap
--> out_of_order: entry 3: entry 4 stands in its place
DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3;
!rehash 3

--- delete the first entry
--> entry_missing: entry 1: it is missing; the next one is 2
DELETE FROM audit WHERE seq = 1;

--- delete the last entry
--> tail_cut: entry 6: it is missing; a signed head knows of 6 entries, so the tail was cut
DELETE FROM audit WHERE seq = 6;

--- delete all that came after a head
--> tail_cut: entry 5: it is missing; a signed head knows of 6 entries, so the tail was cut
DELETE FROM audit WHERE seq > 4;

--- delete all that came after a head, and the later head
--> tail_cut: entry 5: it is missing; a signed head knows of 6 entries, so the tail was cut
DELETE FROM audit WHERE seq > 4; DELETE FROM audit_heads WHERE seq > 4; DELETE FROM run_capsules WHERE actor = 'bob';

--- delete all that came after a head, and the later head from the file only
--> tail_cut: entry 5: it is missing; a signed head knows of 6 entries, so the tail was cut
DELETE FROM audit WHERE seq > 4;
!heads 1

--- delete everything
--> tail_cut: entry 1: it is missing; a signed head knows of 6 entries, so the tail was cut
DELETE FROM audit; DELETE FROM run_capsules;

--- put back an older copy of the database
--> tail_cut: entry 5: it is missing; a signed head knows of 6 entries, so the tail was cut
!restore

--- put back an older copy of the database and let it grow again
--> rewritten: entry 6: a signed head has another hash for it, so the chain was written anew
!restore
INSERT INTO audit (seq, entry_json, prev_hash, hash)
VALUES (5, '{"seq":5,"kind":"server.started"}', '', ''), (6, '{"seq":6,"kind":"server.stopped"}', '', '');
!rehash 5

--- swap two entries
--> out_of_order: entry 2: entry 3 stands in its place
UPDATE audit SET seq = -1 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = -1;

--- swap the texts of two entries
--> entry_changed: entry 2: its text does not have its hash
UPDATE audit SET entry_json = (SELECT entry_json FROM audit b WHERE b.seq = 5 - audit.seq) WHERE seq IN (2, 3);

--- put an entry before the first
--> entry_missing: entry 1: it is missing; the next one is 0
INSERT INTO audit (seq, entry_json, prev_hash, hash) SELECT 0, entry_json, prev_hash, hash FROM audit WHERE seq = 1;

--- add an entry once more
--> out_of_order: entry 7: entry 5 stands in its place
INSERT INTO audit (seq, entry_json, prev_hash, hash) SELECT 7, entry_json, prev_hash, hash FROM audit WHERE seq = 5;

--- add an entry of a run once more, as if it were new
--> run_twice: entry 7: run `RUN` has an entry before it
INSERT INTO audit (seq, entry_json, prev_hash, hash) SELECT 7, replace(entry_json, '{"seq":5,', '{"seq":7,'), '', '' FROM audit WHERE seq = 5;
!rehash 7

--- add an entry of a run that never was
--> capsule_missing: entry 7: the capsule of run `RUN` is missing
INSERT INTO audit (seq, entry_json, prev_hash, hash)
SELECT 7, replace(replace(entry_json, '{"seq":5,', '{"seq":7,'), bobs, '01a1e132-f1da-7247-bd8e-2ac6c72022c9'), '', ''
FROM audit CROSS JOIN (SELECT run_id AS bobs FROM run_capsules WHERE actor = 'bob') AS runs WHERE seq = 5;
!rehash 7

--- add an entry that speaks of a run and names none
--> entry_changed: entry 7: it speaks of a run, but does not say which
INSERT INTO audit (seq, entry_json, prev_hash, hash) VALUES (7, '{"seq":7,"kind":"run.recorded"}', '', '');
!rehash 7

--- change the question of a capsule
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET question = 'harmless' WHERE actor = 'bob';

--- change one digit of a result
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET result_json = replace(result_json, '42', '43') WHERE actor = 'bob';

--- change white space in a result
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET result_json = replace(result_json, ', ', ',') WHERE actor = 'bob';

--- change who asked
--> capsule_changed: entry 1: the capsule of run `RUN` was changed
UPDATE run_capsules SET actor = 'eve' WHERE actor = 'ann';

--- make a failure of a success
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET status = 'failed' WHERE actor = 'bob';

--- change when it was
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET created_at = '2020-01-01T00:00:00.000000Z' WHERE actor = 'bob';

--- change how long it took
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET exec_time_ms = 1.5 WHERE actor = 'bob';

--- put nothing where NULL was
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET thread_id = '' WHERE actor = 'bob';

--- put NULL where something was
--> capsule_changed: entry 5: the capsule of run `RUN` was changed
UPDATE run_capsules SET compiled_sql = NULL WHERE actor = 'bob';

--- add a column that says more
--> capsule_changed: entry 1: the capsule of run `RUN` was changed
ALTER TABLE run_capsules ADD COLUMN note TEXT DEFAULT 'approved by the board';

--- swap the results of two capsules
--> capsule_changed: entry 1: the capsule of run `RUN` was changed
UPDATE run_capsules SET result_json = '{"rows":[[7]]}' WHERE actor = 'bob';
CREATE TEMP TABLE swapped AS SELECT a.run_id, b.result_json FROM run_capsules a, run_capsules b WHERE a.actor <> b.actor;
UPDATE run_capsules SET result_json = (SELECT max(result_json) FROM swapped s WHERE s.run_id = run_capsules.run_id);

--- swap two capsules
--> capsule_changed: entry 3: the capsule of run `RUN` was changed
CREATE TEMP TABLE ids AS SELECT run_id, actor FROM run_capsules WHERE question IN ('question 2', 'question 4');
UPDATE run_capsules SET run_id = 'x' WHERE actor = 'bob';
UPDATE run_capsules SET run_id = (SELECT run_id FROM ids WHERE actor = 'bob') WHERE question = 'question 2';
UPDATE run_capsules SET run_id = (SELECT run_id FROM ids WHERE actor = 'ann') WHERE run_id = 'x';

--- delete a capsule
--> capsule_missing: entry 5: the capsule of run `RUN` is missing
DELETE FROM run_capsules WHERE actor = 'bob';

--- delete a capsule, and say that its time was up
--> capsule_missing: entry 5: the capsule of run `RUN` is missing
DELETE FROM run_capsules WHERE actor = 'bob';
INSERT INTO audit (seq, entry_json, prev_hash, hash)
VALUES (7, '{"seq":7,"kind":"capsules.pruned","detail":{"before":"9999"}}', '', '');
!rehash 7

--- delete all capsules
--> capsule_missing: entry 1: the capsule of run `RUN` is missing
DELETE FROM run_capsules;

--- add a capsule
--> capsule_unrecorded: run `stray` has a capsule, but no entry
CREATE TEMP TABLE t AS SELECT * FROM run_capsules LIMIT 1;
UPDATE t SET run_id = 'stray'; INSERT INTO run_capsules SELECT * FROM t;

--- add a second capsule to a run
--> run_twice: run `RUN` has two capsules
CREATE TABLE copy AS SELECT * FROM run_capsules; DROP TABLE run_capsules; ALTER TABLE copy RENAME TO run_capsules;
CREATE TABLE more AS SELECT * FROM run_capsules WHERE actor = 'bob'; UPDATE more SET question = 'harmless';
INSERT INTO run_capsules SELECT * FROM more;

--- give a head another signature
--> head_forged: entry 6: a head of it is not signed with this ledger's key
UPDATE audit_heads SET signature = (SELECT signature FROM audit_heads WHERE seq = 4) WHERE seq = 6;

--- give a head another time
--> head_forged: entry 6: a head of it is not signed with this ledger's key
UPDATE audit_heads SET at = '2020-01-01T00:00:00.000000Z' WHERE seq = 6;

--- let a head speak of another entry
--> head_forged: entry 5: a head of it is not signed with this ledger's key
UPDATE audit_heads SET seq = 5 WHERE seq = 6;

--- invent a head
--> head_forged: entry 99: a head of it is not signed with this ledger's key
INSERT INTO audit_heads SELECT 99, hash, at, key, signature FROM audit_heads WHERE seq = 6;

--- make a head unreadable
--> head_forged: a row of `audit_heads` is no signed head
!sqlite
CREATE TABLE copy AS SELECT * FROM audit_heads; DROP TABLE audit_heads; ALTER TABLE copy RENAME TO audit_heads;
INSERT INTO audit_heads VALUES ('six', 1, 2, 3, 4);

--- delete a head of the ledger
--> head_missing: entry 4: a head of it was exported, and is not in the table `audit_heads`
DELETE FROM audit_heads WHERE seq = 4;

--- write nonsense among the exported heads
--> head_forged: line 3 of `audit-heads.jsonl` is no signed head
!head nonsense

--- export a head that nobody signed
--> head_forged: entry 6: a head of it is not signed with this ledger's key
!head {"seq":6,"hash":"00","at":"2020-01-01T00:00:00.000000Z","key":"00","signature":"00"}

--- take the key away
--> head_forged: entry 4: a head of it is not signed with this ledger's key
!key

--- write the chain anew with a key of one's own
--> head_forged: entry 4: a head of it is not signed with this ledger's key
UPDATE audit SET entry_json = replace(entry_json, 'ann', 'eve') WHERE seq < 4;
DELETE FROM audit_heads;
!rehash 1
!key
!sign

--- cut the file
--> the file is damaged or is no SQLite database; hint: restore the ledger from a backup
!sqlite
!cut
