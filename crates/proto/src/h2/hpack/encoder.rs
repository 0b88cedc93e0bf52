//! From fields to a header block, with the connection's table.

use super::dynamic_table::{DynamicTable, Entry};
use super::integer;
use super::literal::{self, NEVER_INDEXED, WITH_INDEXING, WITHOUT_INDEXING};
use super::static_table::{self, Found};
use crate::h2::section::Kind;

/// The largest table that is used, whatever the peer would allow, in bytes.
const SIZE_MAX: usize = 4096;

/// The sending end's table.
#[derive(Debug)]
pub struct Encoder {
    table: DynamicTable,
    /// The smallest size since the last block, if the size was changed (RFC 7541 §4.2).
    smallest: Option<usize>,
    /// Where a field is put together.
    scratch: Vec<u8>,
}

impl Encoder {
    /// An encoder for a peer that has not said anything yet.
    pub fn new() -> Encoder {
        Encoder { table: DynamicTable::new(SIZE_MAX), smallest: None, scratch: Vec::new() }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE, in bytes.
    pub fn set_table_size_max(&mut self, bytes: usize) {
        let size = bytes.min(SIZE_MAX);
        if size != self.table.size_max() {
            self.smallest = Some(self.smallest.unwrap_or(size).min(size));
            self.table.resize(size);
        }
    }

    /// Appends what has to stand at the beginning of every block; nearly always nothing.
    #[inline]
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        let Some(smallest) = self.smallest.take() else { return };
        if smallest < self.table.size_max() {
            integer::put(smallest, 5, 0x20, out);
        }
        integer::put(self.table.size_max(), 5, 0x20, out);
    }

    /// Appends a field, and keeps it in the table if it is one that comes again. `name` is in
    /// lower case.
    pub fn field(&mut self, name: &str, value: &[u8], out: &mut Vec<u8>) {
        let found = match static_table::find(name.as_bytes(), value) {
            Some(Found::Both(_)) => return literal::field(name, value, out),
            found => self.in_table(name, value).or(found),
        };
        match (found, keeping_of(name, value)) {
            (Some(Found::Both(index)), Keeping::Yes) => {
                integer::put(index, 7, literal::INDEXED, out);
            }
            (found, Keeping::Yes) if crate::h2::section::is_value(value) => {
                literal::with_name(found, 6, WITH_INDEXING, name, value, out);
                self.scratch.clear();
                self.scratch.extend_from_slice(name.as_bytes());
                self.scratch.extend_from_slice(value);
                let name_length = u16::try_from(name.len()).unwrap_or(u16::MAX);
                let kind = Kind::Malformed;
                let entry = Entry { kind, is_valid: true, name_length, text: &self.scratch };
                self.table.insert(&entry);
            }
            (found, Keeping::Never) => {
                literal::with_name(found, 4, NEVER_INDEXED, name, value, out);
            }
            (found, _) => literal::with_name(found, 4, WITHOUT_INDEXING, name, value, out),
        }
    }

    /// How many bytes of memory it holds.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + self.scratch.capacity()
    }

    fn in_table(&self, name: &str, value: &[u8]) -> Option<Found> {
        let mut found = None;
        for (age, entry) in self.table.iter().enumerate() {
            let index = static_table::LENGTH + 1 + age;
            if entry.name() != name.as_bytes() {
                continue;
            }
            if entry.value() == value {
                return Some(Found::Both(index));
            }
            found = found.or(Some(Found::Name(index)));
        }
        found
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder::new()
    }
}

/// Whether the table shall keep a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    Yes,
    /// It is another one each time.
    No,
    /// Its length in a compressed block would help to guess it.
    Never,
}

/// A cookie of fewer bytes could be guessed by trying.
const COOKIE_BYTES_MIN: usize = 20;

fn keeping_of(name: &str, value: &[u8]) -> Keeping {
    match name {
        "authorization" | "proxy-authorization" | "set-cookie" => Keeping::Never,
        "cookie" if value.len() < COOKIE_BYTES_MIN => Keeping::Never,
        "age" | "content-length" | "content-range" | "date" | "etag" | "if-modified-since"
        | "if-none-match" | "last-modified" | "location" | "range" => Keeping::No,
        _ => Keeping::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h2::hpack::Decoder;
    use crate::h2::section::{Section, SectionLimits};
    use proptest::prelude::*;

    /// The fields of `section`, in words.
    fn lines(section: &Section) -> Vec<(Vec<u8>, Vec<u8>)> {
        section.fields().lines().map(|l| (l.name.to_vec(), l.value.to_vec())).collect()
    }

    #[test]
    fn what_comes_again_takes_one_byte() {
        let mut encoder = Encoder::new();
        let mut out = Vec::new();
        encoder.field("user-agent", b"serval-lab", &mut out);
        encoder.field("user-agent", b"serval-lab", &mut out);
        assert_eq!(out.last(), Some(&(0x80 | 62)));
        out.clear();
        encoder.field("cookie", b"a=b", &mut out);
        encoder.field("cookie", b"a=b", &mut out);
        let half = out.len() / 2;
        assert_eq!(out[..half], out[half..], "a short cookie is not kept");
        assert_eq!(out[0] & 0xf0, NEVER_INDEXED);
    }

    #[test]
    fn a_smaller_table_is_announced_once() {
        let mut encoder = Encoder::new();
        encoder.set_table_size_max(65_536);
        let mut out = Vec::new();
        encoder.begin(&mut out);
        assert_eq!(out, b"", "a larger one is not used");
        encoder.set_table_size_max(10);
        encoder.set_table_size_max(200);
        encoder.begin(&mut out);
        assert_eq!(out, b"\x2a\x3f\xa9\x01");
        encoder.begin(&mut out);
        assert_eq!(out.len(), 4);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            blocks in prop::collection::vec(
                (
                    prop::option::weighted(0.2, 0_usize..5000),
                    prop::collection::vec(("[a-c]{1,3}|cookie|etag|accept", "[a-d]{0,30}"), 0..20),
                ),
                1..20,
            ),
        ) {
            let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
            let mut section = Section::new();
            for (size, fields) in blocks {
                let mut block = Vec::new();
                if let Some(size) = size {
                    encoder.set_table_size_max(size);
                }
                encoder.begin(&mut block);
                for (name, value) in &fields {
                    encoder.field(name, value.as_bytes(), &mut block);
                }
                let limits = SectionLimits::default();
                prop_assert_eq!(decoder.decode(&block, &limits, &mut section), Ok(()));
                prop_assert!(!section.is_malformed() && !section.is_too_large());
                let bytes = |text: &str| text.as_bytes().to_vec();
                let expected: Vec<_> =
                    fields.iter().map(|(name, value)| (bytes(name), bytes(value))).collect();
                prop_assert_eq!(lines(&section), expected);
            }
        }
    }
}
