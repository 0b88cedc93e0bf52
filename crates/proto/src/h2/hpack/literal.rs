//! Fields written without the connection's table: as indices into the static one, or as literals
//! that no table keeps.
//!
//! What these write is right at any place of any block of any connection, so that it can be made
//! once and kept: a cached file's fields, or the date for a second.

use super::static_table::{self, Found};
use super::{huffman, integer};
use crate::h1::write::decimal;
use crate::status::Status;

/// Appends `:status`.
#[inline]
pub fn status(status: Status, out: &mut Vec<u8>) {
    let index = match status {
        Status::OK => 8,
        Status::NO_CONTENT => 9,
        Status::PARTIAL_CONTENT => 10,
        Status::NOT_MODIFIED => 11,
        Status::BAD_REQUEST => 12,
        Status::NOT_FOUND => 13,
        Status::INTERNAL_SERVER_ERROR => 14,
        _ => return other_status(status, out),
    };
    out.push(INDEXED | index);
}

fn other_status(status: Status, out: &mut Vec<u8>) {
    integer::put(8, 4, WITHOUT_INDEXING, out);
    let mut digits = Vec::with_capacity(3);
    decimal(u64::from(status.0), &mut digits);
    string(&digits, out);
}

/// Appends a field. `name` is in lower case; a control byte in the value, which no peer would
/// take, is left out.
pub fn field(name: &str, value: &[u8], out: &mut Vec<u8>) {
    match static_table::find(name.as_bytes(), value) {
        Some(Found::Both(index)) => integer::put(index, 7, INDEXED, out),
        found => with_name(found, 4, WITHOUT_INDEXING, name, value, out),
    }
}

/// Appends a field that nobody on the way may put into a table: a secret (RFC 7541 §7.1.3).
pub fn secret_field(name: &str, value: &[u8], out: &mut Vec<u8>) {
    let found = static_table::find(name.as_bytes(), value);
    with_name(found, 4, NEVER_INDEXED, name, value, out);
}

/// Appends a field whose value is a number.
pub fn number_field(name: &str, value: u64, out: &mut Vec<u8>) {
    let mut digits = Vec::with_capacity(20);
    decimal(value, &mut digits);
    field(name, &digits, out);
}

pub(super) const INDEXED: u8 = 0x80;
pub(super) const WITH_INDEXING: u8 = 0x40;
pub(super) const WITHOUT_INDEXING: u8 = 0;
pub(super) const NEVER_INDEXED: u8 = 0x10;

/// Appends a literal of the kind that `pattern` says, its name by index where there is one.
pub(super) fn with_name(
    found: Option<Found>,
    prefix_bits: u32,
    pattern: u8,
    name: &str,
    value: &[u8],
    out: &mut Vec<u8>,
) {
    match found {
        Some(Found::Both(index) | Found::Name(index)) => {
            integer::put(index, prefix_bits, pattern, out);
        }
        None => {
            out.push(pattern);
            string(name.as_bytes(), out);
        }
    }
    if crate::scan::value_end(value, 0) == value.len() {
        return string(value, out);
    }
    let kept = |byte: &u8| !byte.is_ascii_control() || *byte == b'\t';
    string(&value.iter().copied().filter(kept).collect::<Vec<u8>>(), out);
}

/// Appends a string, by the Huffman code where that is shorter.
fn string(text: &[u8], out: &mut Vec<u8>) {
    let encoded = huffman::encoded_length(text);
    if encoded < text.len() {
        integer::put(encoded, 7, 0x80, out);
        huffman::encode(text, out);
    } else {
        integer::put(text.len(), 7, 0, out);
        out.extend_from_slice(text);
    }
}
