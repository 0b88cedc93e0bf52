#![no_main]
//! Fuzzes [`properties::target`].

#[path = "../src/properties.rs"]
#[allow(dead_code)]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::target(bytes));
