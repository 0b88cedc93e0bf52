#![no_main]
//! Fuzzes [`properties::h2_connection`].

#[path = "../src/properties.rs"]
#[allow(dead_code)]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::h2_connection(bytes));
