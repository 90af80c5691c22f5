//! `da` and a real server, as two processes on loopback.

mod ask;
mod codes;
mod copies;
mod crashes;
mod output;
mod round_trip;
mod settings;
mod skills;
mod stock;
mod support;
