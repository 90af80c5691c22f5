-- Which model answered, what it read and wrote, and the runs of what it asked for.
ALTER TABLE run_capsules ADD COLUMN model_json TEXT;
