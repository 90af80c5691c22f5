-- Ways of tampering with signed heads; the form is that of `manipulations.sql`.
-- The chain: six entries of one day, at 0:00, 0:00, 1:00, 1:00, 2:00 and 3:00; heads of 2, 4 and 6.
-- `!unline N` removes a line of the exported file, `!no-file` the file, `!restart` starts a server on what is there.

--- delete all heads from the table and from the file
--> heads_missing: entry 1: no signed head covers it, though it is of 2020-01-01T00:00:00.000000000Z and the last one of 2020-01-01T03:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads;
!heads 0

--- delete all heads from the table, and the file
--> heads_missing: entry 1: no signed head covers it, though it is of 2020-01-01T00:00:00.000000000Z and the last one of 2020-01-01T03:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads;
!no-file

--- delete the last head from the table and from the file
--> heads_missing: entry 5: no signed head covers it, though it is of 2020-01-01T02:00:00.000000000Z and the last one of 2020-01-01T03:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads WHERE seq = 6;
!heads 2

--- delete heads from both and write the tail anew
--> heads_missing: entry 3: no signed head covers it, though it is of 2020-01-01T01:00:00.000000000Z and the last one of 2020-01-01T03:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads WHERE seq > 2;
UPDATE audit SET entry_json = replace(entry_json, 'ops', 'eve') WHERE seq > 2;
!heads 1
!rehash 3

--- delete heads from both, and say that the first entry without one is as young as the last
--> heads_missing: entry 4: no signed head covers it, though it is of 2020-01-01T01:00:00.000000000Z and the last one of 2020-01-01T03:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads WHERE seq > 2;
UPDATE audit SET entry_json = replace(entry_json, 'T01:00:00', 'T03:00:00') WHERE seq = 3;
!heads 1
!rehash 3

--- delete heads from both, and say that the last entry is as old as the first without one
--> heads_missing: entry 3: no signed head covers it, though it is of 2020-01-01T01:00:00.000000000Z and entry 5 of 2020-01-01T02:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads WHERE seq > 2;
UPDATE audit SET entry_json = replace(entry_json, 'T03:00:00', 'T01:00:00') WHERE seq = 6;
!heads 1
!rehash 3

--- delete heads from both, and add an entry that is as old as the first without one
--> heads_missing: entry 3: no signed head covers it, though it is of 2020-01-01T01:00:00.000000000Z and entry 6 of 2020-01-01T03:00:00.000000000Z: signed heads were deleted
DELETE FROM audit_heads WHERE seq > 2;
INSERT INTO audit (seq, entry_json, prev_hash, hash)
SELECT 7, replace(replace(entry_json, '"seq":6,', '"seq":7,'), 'T03:00:00', 'T01:00:00'), '', '' FROM audit WHERE seq = 6;
!heads 1
!rehash 7

--- delete heads from both, and let the times run backwards
--> heads_missing: entry 5: no signed head covers it, though it is of 2020-01-01T02:00:00.000000000Z and the last one of 2020-01-01T01:00:00.000000000Z: signed heads were deleted, or a clock was set back
DELETE FROM audit_heads WHERE seq = 6;
UPDATE audit SET entry_json = replace(entry_json, 'T03:00:00', 'T01:00:00') WHERE seq = 6;
!heads 2
!rehash 6

--- delete heads from both, and make the time of the first entry without one unreadable
--> entry_changed: entry 5: its time `once` cannot be read
DELETE FROM audit_heads WHERE seq = 6;
UPDATE audit SET entry_json = replace(entry_json, '2020-01-01T02:00:00.000000000Z', 'once') WHERE seq = 5;
!heads 2
!rehash 5

--- delete heads from both, and make the time of the last entry unreadable
--> entry_changed: entry 6: its time `2020-01-01T33:00:00.000000000Z` cannot be read
DELETE FROM audit_heads WHERE seq = 6;
UPDATE audit SET entry_json = replace(entry_json, 'T03:00:00', 'T33:00:00') WHERE seq = 6;
!heads 2
!rehash 6

--- delete heads from both, and take the time of an entry away
--> entry_changed: entry 5: its time `` cannot be read
DELETE FROM audit_heads WHERE seq = 6;
UPDATE audit SET entry_json = replace(entry_json, '"at":"2020-01-01T02:00:00.000000000Z",', '') WHERE seq = 5;
!heads 2
!rehash 5

--- delete heads from both, change the first time and have a start sign the chain
--> heads_missing: entry 7: when it was added, no signed head covered the entries 3 to 6, which it should
DELETE FROM audit_heads WHERE seq > 2;
UPDATE audit SET entry_json = replace(entry_json, 'T01:00:00', 'T03:00:00') WHERE seq = 3;
!heads 1
!rehash 3
!restart

--- delete heads from both, change the last time and have a start sign the chain
--> heads_missing: entry 7: when it was added, no signed head covered the entries 3 to 6, which it should
DELETE FROM audit_heads WHERE seq > 2;
UPDATE audit SET entry_json = replace(entry_json, 'T03:00:00', 'T01:00:00') WHERE seq = 6;
!heads 1
!rehash 3
!restart

--- delete heads from both, make a time unreadable and have a start sign the chain
--> entry_changed: entry 5: its time `once` cannot be read
DELETE FROM audit_heads WHERE seq = 6;
UPDATE audit SET entry_json = replace(entry_json, '2020-01-01T02:00:00.000000000Z', 'once') WHERE seq = 5;
!heads 2
!rehash 5
!restart

--- delete heads from both and have a start sign the chain again
--> heads_missing: entry 7: when it was added, no signed head covered the entries 5 to 6, which it should
DELETE FROM audit_heads WHERE seq = 6;
!heads 2
!restart

--- delete heads from both, write the tail anew and have a start sign it
--> heads_missing: entry 7: when it was added, no signed head covered the entries 3 to 6, which it should
DELETE FROM audit_heads WHERE seq > 2;
UPDATE audit SET entry_json = replace(entry_json, 'ops', 'eve') WHERE seq > 2;
!heads 1
!rehash 3
!restart

--- delete the newest head from the table, so that an older one is
--> head_missing: entry 6: a head of it was exported, and is not in the table `audit_heads`
DELETE FROM audit_heads WHERE seq = 6;

--- delete an older head from the table
--> head_missing: entry 4: a head of it was exported, and is not in the table `audit_heads`
DELETE FROM audit_heads WHERE seq = 4;

--- delete all heads from the table
--> head_missing: entry 2: a head of it was exported, and is not in the table `audit_heads`
DELETE FROM audit_heads;

--- delete a line in the middle of the file
--> head_unexported: entry 4: a head of it is in the table `audit_heads`, and not in `audit-heads.jsonl`
!unline 2

--- delete the first line of the file
--> head_unexported: entry 2: a head of it is in the table `audit_heads`, and not in `audit-heads.jsonl`
!sqlite
!unline 1

--- delete the last line of the file
--> head_unexported: entry 6: a head of it is in the table `audit_heads`, and not in `audit-heads.jsonl`
!sqlite
!unline 3

--- empty the file
--> head_unexported: entry 2: a head of it is in the table `audit_heads`, and not in `audit-heads.jsonl`
!sqlite
!heads 0

--- put back the chain and the heads of an hour ago, and leave the file
--> tail_cut: entry 5: it is missing; a signed head knows of 6 entries, so the tail was cut
DELETE FROM audit WHERE seq > 4; DELETE FROM audit_heads WHERE seq > 4;

--- take the head of another entry from the file into the table
--> head_forged: entry 5: a head of it is not signed with this ledger's key
INSERT INTO audit_heads SELECT 5, hash, at, key, signature FROM audit_heads WHERE seq = 4;
