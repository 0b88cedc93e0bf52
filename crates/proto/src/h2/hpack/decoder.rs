//! From a header block to a [`Section`].

use super::dynamic_table::{DynamicTable, Entry};
use super::{Failure, Undecodable, huffman, integer, static_table};
use crate::h2::section::{Kind, Section, SectionLimits};

/// The receiving end's table.
#[derive(Debug)]
pub struct Decoder {
    table: DynamicTable,
    /// What we said the table may grow to (SETTINGS_HEADER_TABLE_SIZE).
    size_max: usize,
}

impl Decoder {
    /// A decoder whose peer has been told that the table may have `size_max` bytes.
    pub fn new(size_max: usize) -> Decoder {
        Decoder { table: DynamicTable::new(size_max), size_max }
    }

    /// Decodes a whole block into `section`. Limits that are passed and fields that are malformed
    /// are noted there; only what leaves the tables unlike is an error.
    pub fn decode(
        &mut self,
        block: &[u8],
        limits: &SectionLimits,
        section: &mut Section,
    ) -> Result<(), Failure> {
        section.begin(limits);
        let mut input = block;
        self.table_sizes(&mut input)?;
        while let Some(first) = input.first() {
            if first & 0x80 != 0 {
                self.indexed(&mut input, section)?;
            } else {
                self.literal(*first, &mut input, section)?;
            }
            if section.is_bomb() {
                return Err(Failure::Bomb);
            }
        }
        Ok(())
    }

    /// How many bytes of memory it holds.
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }

    /// Changes of the table's size, at the beginning of a block only and at most two: the smallest
    /// that was allowed meanwhile, and the last (RFC 7541 §4.2).
    #[inline]
    fn table_sizes(&mut self, input: &mut &[u8]) -> Result<(), Undecodable> {
        for _ in 0..2 {
            if input.first().is_none_or(|first| first >> 5 != 0b001) {
                return Ok(());
            }
            let size = integer::take(input, 5)?;
            if size > self.size_max {
                return Err(Undecodable);
            }
            self.table.resize(size);
        }
        Ok(())
    }

    #[inline]
    fn entry(&self, index: usize) -> Result<Entry<'_>, Undecodable> {
        let entry = match index.checked_sub(static_table::LENGTH + 1) {
            Some(age) => self.table.at(age),
            None => static_table::at(index).copied(),
        };
        entry.ok_or(Undecodable)
    }

    #[inline]
    fn indexed(&mut self, input: &mut &[u8], section: &mut Section) -> Result<(), Undecodable> {
        let entry = self.entry(integer::take(input, 7)?)?;
        let start = section.end();
        section.tail().extend_from_slice(entry.text);
        section.commit(start, entry.kind, entry.is_valid, usize::from(entry.name_length));
        Ok(())
    }

    /// A literal, with or without indexing (RFC 7541 §6.2).
    fn literal(
        &mut self,
        first: u8,
        input: &mut &[u8],
        section: &mut Section,
    ) -> Result<(), Undecodable> {
        let (prefix_bits, is_indexed) = match first >> 4 {
            0b0100.. => (6, true),
            0b0000 | 0b0001 => (4, false),
            // A change of the table's size between fields.
            _ => return Err(Undecodable),
        };
        let start = section.end();
        let kind = match integer::take(input, prefix_bits)? {
            0 => {
                string(input, section.tail())?;
                Kind::of(section.appended(start))
            }
            index => {
                let entry = self.entry(index)?;
                section.tail().extend_from_slice(entry.name());
                entry.kind
            }
        };
        let name_length = section.end() - start;
        string(input, section.tail())?;
        let text = section.appended(start);
        let is_valid = kind.allows(text.get(name_length..).unwrap_or_default());
        if is_indexed {
            // A name too long for its type is too long for the table as well.
            let name_length = u16::try_from(name_length).unwrap_or(u16::MAX);
            self.table.insert(&Entry { kind, is_valid, name_length, text });
        }
        section.commit(start, kind, is_valid, name_length);
        Ok(())
    }
}

/// Takes a string and appends what it stands for (RFC 7541 §5.2).
#[inline]
fn string(input: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
    let is_huffman = input.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer::take(input, 7)?;
    let (text, rest) = input.split_at_checked(length).ok_or(Undecodable)?;
    *input = rest;
    if is_huffman {
        return huffman::decode(text, out);
    }
    out.extend_from_slice(text);
    Ok(())
}
