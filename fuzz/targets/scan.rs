//! A text of a scan: predicate, column and order, in both flavours.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::promise::scan(text));
