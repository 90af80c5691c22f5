-- A sign-in code has an entry in the audit chain since this version. Codes of earlier ones, which last ten minutes, have
-- none: they end here, so that a code without an entry is one that was put in by hand.
DELETE FROM sign_ins WHERE kind = 'login';
