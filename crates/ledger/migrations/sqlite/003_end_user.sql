-- Whom an actor said it asked for.
ALTER TABLE run_capsules ADD COLUMN end_user TEXT;
