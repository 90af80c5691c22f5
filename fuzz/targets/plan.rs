//! QueryPlans as JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::promise::plan(text));
