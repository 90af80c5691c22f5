//! What is remembered: runs, the audit chain, tokens. SQLite.
