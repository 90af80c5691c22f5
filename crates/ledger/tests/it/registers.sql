-- Ways of changing by hand who may do what; the form is that of `manipulations.sql`.
-- Entries 1 to 3 create tokens: of ann (analyst), bob (admin, for a day) and cyn, whose token entry 4 revokes. Dan has a
-- session that ended (code 5, start 6, end 7) and one that did not (8, 9); kim has a sign-in code (10). Scripts of eva: `low`
-- (11), approved by bea (12); `high` (13), waiting; `no` (14), rejected (15); `old` (16), withdrawn (17); `new` (18), edited (19).

--- give a token another role
--> token_differs: entry 1: the token `ANN` has the role `admin`, not `analyst`
UPDATE tokens SET role = 'admin' WHERE actor = 'ann';

--- give a token to another
--> token_differs: entry 1: the token `ANN` is `bob`'s, not `ann`'s
UPDATE tokens SET actor = 'bob' WHERE actor = 'ann';

--- give a token other claims
--> token_differs: entry 1: the token `ANN` has other claims
UPDATE tokens SET claims_json = '{"tenant":"b"}' WHERE actor = 'ann';

--- give a token claims that cannot be read
--> token_differs: entry 1: the token `ANN` has other claims
UPDATE tokens SET claims_json = 'all' WHERE actor = 'ann';

--- let a token last longer
--> token_differs: entry 2: the token `BOB` expires at another time
UPDATE tokens SET expires_at = '2999-01-01T00:00:00.000000000Z' WHERE actor = 'bob';

--- let a token last for ever
--> token_differs: entry 2: the token `BOB` expires at another time
UPDATE tokens SET expires_at = NULL WHERE actor = 'bob';

--- let a token expire
--> token_differs: entry 1: the token `ANN` expires at another time
UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000000000Z' WHERE actor = 'ann';

--- take back a revocation
--> token_differs: entry 4: the token `CYN` was revoked, and is valid again
UPDATE tokens SET revoked_at = NULL WHERE actor = 'cyn';

--- revoke a token
--> token_differs: entry 1: the token `ANN` is revoked, and no entry says so
UPDATE tokens SET revoked_at = '2026-01-01T00:00:00.000000000Z' WHERE actor = 'ann';

--- put another secret in a token's place
--> token_differs: entry 2: the token `BOB` was changed
UPDATE tokens SET hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' WHERE actor = 'bob';

--- say that a token is older
--> token_differs: entry 1: the token `ANN` was changed
UPDATE tokens SET created_at = '2020-01-01T00:00:00.000000000Z' WHERE actor = 'ann';

--- add a token
--> token_differs: the token `aaaa` has no entry that says it was created
INSERT INTO tokens (id, hash, actor, role, claims_json, created_at)
VALUES ('aaaa', '00', 'eve', 'admin', '{}', '2026-01-01T00:00:00.000000000Z');

--- delete a token
--> token_differs: entry 4: the token `CYN` is missing
DELETE FROM tokens WHERE actor = 'cyn';

--- give a session another role
--> session_differs: entry 9: a session of `dan` as `admin` was one of `dan` as `analyst`
UPDATE sign_ins SET role = 'admin' WHERE kind = 'session';

--- give a session to another
--> session_differs: entry 9: a session of `owner` as `analyst` was one of `dan` as `analyst`
UPDATE sign_ins SET actor = 'owner' WHERE kind = 'session';

--- add a session
--> session_differs: a session of `owner` as `admin` has no entry that says it was started
INSERT INTO sign_ins (id, kind, hash, actor, role, expires_at)
VALUES ('aaaa', 'session', '00', 'owner', 'admin', '2999-01-01T00:00:00.000000000Z');

--- put another secret in a session's place
--> session_differs: entry 9: a session of `dan` as `analyst` was changed
UPDATE sign_ins SET hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' WHERE kind = 'session';

--- let a session last longer
--> session_differs: entry 9: a session of `dan` as `analyst` expires at another time
UPDATE sign_ins SET expires_at = '2999-01-01T00:00:00.000000000Z' WHERE kind = 'session';

--- let a session end at a time that cannot be read
--> session_differs: entry 9: a session of `dan` as `analyst` expires at another time
UPDATE sign_ins SET expires_at = 'never' WHERE kind = 'session';

--- give a session the id of one that has ended
--> session_differs: entry 7: a session of `dan` as `analyst` has ended, and is there again
UPDATE sign_ins SET id = 'ENDED' WHERE kind = 'session';

--- give a sign-in code another role
--> login_differs: entry 10: a sign-in code of `kim` as `admin` was one of `kim` as `analyst`
UPDATE sign_ins SET role = 'admin' WHERE kind = 'login';

--- give a sign-in code to another
--> login_differs: entry 10: a sign-in code of `owner` as `analyst` was one of `kim` as `analyst`
UPDATE sign_ins SET actor = 'owner' WHERE kind = 'login';

--- put another secret in a sign-in code's place
--> login_differs: entry 10: a sign-in code of `kim` as `analyst` was changed
UPDATE sign_ins SET hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' WHERE kind = 'login';

--- let a sign-in code last longer
--> login_differs: entry 10: a sign-in code of `kim` as `analyst` expires at another time
UPDATE sign_ins SET expires_at = '2999-01-01T00:00:00.000000000Z' WHERE kind = 'login';

--- put a sign-in code in again that was used
--> login_differs: entry 9: a sign-in code of `kim` as `analyst` was used, and is there again
UPDATE sign_ins SET id = 'USED' WHERE kind = 'login';

--- make a session of a sign-in code
--> session_differs: a session of `kim` as `analyst` has no entry that says it was started
UPDATE sign_ins SET kind = 'session' WHERE kind = 'login';

--- make a sign-in code of a session
--> login_differs: a sign-in code of `dan` as `analyst` has no entry that says it was created
UPDATE sign_ins SET kind = 'login' WHERE kind = 'session';

--- add a sign-in code
--> login_differs: a sign-in code of `owner` as `admin` has no entry that says it was created
INSERT INTO sign_ins (id, kind, hash, actor, role, expires_at)
VALUES ('aaaa', 'login', '00', 'owner', 'admin', '2999-01-01T00:00:00.000000000Z');

--- add an approval
--> approval_differs: the approval of the proposal `high` by `bea` has no entry
INSERT INTO script_approvals SELECT id, version, 'bea', digest, at, '' FROM script_proposals WHERE id = 'high';

--- let an approval be another's
--> approval_differs: the approval of the proposal `low` by `fay` has no entry
UPDATE script_approvals SET actor = 'fay';

--- let an approval be of another script
--> approval_differs: the approval of the proposal `high` by `bea` has no entry
UPDATE script_approvals SET proposal_id = 'high';

--- let an approval be of another version
--> approval_differs: the approval of the proposal `low` by `bea` has no entry
UPDATE script_approvals SET version = 2;

--- let an approval be of another digest
--> approval_differs: entry 12: the approval of the proposal `low` by `bea` was changed
UPDATE script_approvals SET digest = '00';

--- change what an approver said
--> approval_differs: entry 12: the approval of the proposal `low` by `bea` was changed
UPDATE script_approvals SET comment = 'I warned you';

--- change when an approver said it
--> approval_differs: entry 12: the approval of the proposal `low` by `bea` was changed
UPDATE script_approvals SET at = '2020-01-01T00:00:00.000000000Z';

--- delete an approval
--> approval_differs: entry 12: the approval of the proposal `low` by `bea` is missing
DELETE FROM script_approvals;

--- change a script
--> proposal_differs: entry 13: the proposal `high` is not the script that its entry names
UPDATE script_proposals SET proposal_json = replace(proposal_json, 'echo', 'reboot') WHERE id = 'high';

--- put an approved digest on another script
--> proposal_differs: entry 13: the proposal `high` is not the version that its entry names
UPDATE script_proposals SET digest = (SELECT digest FROM script_proposals WHERE id = 'low') WHERE id = 'high';

--- say that a script is of another version
--> proposal_differs: entry 11: the proposal `low` is not the version that its entry names
UPDATE script_proposals SET version = 2 WHERE id = 'low';

--- make a script less dangerous, so that one approval is enough
--> proposal_differs: entry 13: the proposal `high` has the risk `low`, not `high`
UPDATE script_proposals SET risk = 'low' WHERE id = 'high';

--- say that another asked for a script, so that its requester may approve it
--> proposal_differs: entry 13: the proposal `high` is said to be another's
UPDATE script_proposals SET requester = 'zoe' WHERE id = 'high';

--- send a script to another device
--> proposal_differs: entry 11: the proposal `low` is said to be for another device
UPDATE script_proposals SET device_id = 'd-2' WHERE id = 'low';

--- let a script wait again that was rejected
--> proposal_differs: entry 15: the proposal `no` is `waiting`, not `rejected`
UPDATE script_proposals SET state = 'waiting' WHERE id = 'no';

--- let a script wait again that was withdrawn
--> proposal_differs: entry 17: the proposal `old` is `waiting`, not `withdrawn`
UPDATE script_proposals SET state = 'waiting' WHERE id = 'old';

--- let a script wait longer
--> proposal_differs: entry 19: the proposal `new` expires at another time
UPDATE script_proposals SET expires_at = '2999-01-01T00:00:00.000000000Z' WHERE id = 'new';

--- put back a script as it was before its edit
--> proposal_differs: entry 19: the proposal `new` is not the script that its entry names
UPDATE script_proposals SET proposal_json = previous_json WHERE id = 'new';

--- add a script
--> proposal_differs: the proposal `zzz` has no entry that says it was made
CREATE TEMP TABLE t AS SELECT * FROM script_proposals WHERE id = 'high';
UPDATE t SET id = 'zzz'; INSERT INTO script_proposals SELECT * FROM t;

--- delete a script
--> proposal_differs: entry 17: the proposal `old` is missing
DELETE FROM script_proposals WHERE id = 'old';
