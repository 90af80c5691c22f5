//! The one path and its doors: HTTP, page, metrics, configuration, serve().
