-- Whose a run is, without reading the run.
CREATE INDEX runs_by_owner ON run_capsules (run_id, actor);
