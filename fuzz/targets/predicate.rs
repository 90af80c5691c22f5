//! A contract's `rows`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::promise::predicate(text));
