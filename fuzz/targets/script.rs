//! Scripts for devices.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::promise::script(text));
