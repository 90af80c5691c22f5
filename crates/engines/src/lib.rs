//! Approved to Outcome: DuckDB over files, SQLite; sandboxed workers in a warm pool.
