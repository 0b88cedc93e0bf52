#![no_main]
//! Fuzzes [`properties::hpack`].

#[path = "../src/properties.rs"]
#[allow(dead_code)]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hpack(bytes));
