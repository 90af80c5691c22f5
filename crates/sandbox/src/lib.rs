//! Locks a child process down; probes and publishes the tier. No SQL in here.
