//! Statements, from readers of different rights, over both dialects.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::promise::sql(text));
