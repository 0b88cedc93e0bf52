//! The table of what was sent lately (RFC 7541 §2.3.2 and §4).
//!
//! Names and values lie one behind the other in one run of bytes, each entry whole, so that using
//! one is a single copy. Old entries leave a gap at the front; when the run has twice the table's
//! size, what is alive is moved there.

use crate::h2::section::Kind;
use std::collections::VecDeque;

/// What each entry counts for beyond its bytes (RFC 7541 §4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// A field of a table: its name and directly behind it its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// What the name means.
    pub(super) kind: Kind,
    /// Whether name and value are of bytes that may be in them.
    pub(super) is_valid: bool,
    /// How much of `text` is the name.
    pub(super) name_length: u16,
    /// Name and value.
    pub(super) text: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The name.
    #[inline]
    pub(super) fn name(&self) -> &'a [u8] {
        self.text.get(..usize::from(self.name_length)).unwrap_or_default()
    }

    /// The value.
    #[inline]
    pub(super) fn value(&self) -> &'a [u8] {
        self.text.get(usize::from(self.name_length)..).unwrap_or_default()
    }

    fn size(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

/// Where an entry's text lies.
#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    text_length: u16,
    name_length: u16,
    kind: Kind,
    is_valid: bool,
}

/// The entries, newest first when counted from zero.
#[derive(Debug, Default)]
pub(super) struct DynamicTable {
    slots: VecDeque<Slot>,
    bytes: Vec<u8>,
    /// The size of all entries, as the standard counts it.
    size: usize,
    size_max: usize,
}

impl DynamicTable {
    /// An empty table. It takes memory when something is inserted.
    pub(super) fn new(size_max: usize) -> DynamicTable {
        DynamicTable { size_max, ..DynamicTable::default() }
    }

    /// How large it may be.
    pub(super) fn size_max(&self) -> usize {
        self.size_max
    }

    /// The entry that is `age` entries older than the newest.
    #[inline]
    pub(super) fn at(&self, age: usize) -> Option<Entry<'_>> {
        let slot = self.slots.get(self.slots.len().checked_sub(age + 1)?)?;
        let start = slot.start as usize;
        let text = self.bytes.get(start..start + usize::from(slot.text_length))?;
        Some(Entry {
            kind: slot.kind,
            is_valid: slot.is_valid,
            name_length: slot.name_length,
            text,
        })
    }

    /// All entries, newest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.slots.len()).filter_map(|age| self.at(age))
    }

    /// Adds an entry and evicts what no longer fits; one larger than the table empties it.
    pub(super) fn insert(&mut self, entry: &Entry<'_>) {
        let (Ok(text_length), size) = (u16::try_from(entry.text.len()), entry.size()) else {
            return self.evict_to(0);
        };
        if size > self.size_max {
            return self.evict_to(0);
        }
        self.evict_to(self.size_max - size);
        if self.bytes.len() + entry.text.len() > 2 * self.size_max {
            self.move_to_front();
        }
        self.slots.push_back(Slot {
            start: self.bytes.len() as u32,
            text_length,
            name_length: entry.name_length,
            kind: entry.kind,
            is_valid: entry.is_valid,
        });
        self.bytes.extend_from_slice(entry.text);
        self.size += size;
    }

    /// Changes how large it may be.
    pub(super) fn resize(&mut self, size_max: usize) {
        self.evict_to(size_max);
        self.size_max = size_max;
    }

    /// How many bytes of memory it holds.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.slots.capacity() * size_of::<Slot>()
    }

    fn evict_to(&mut self, size: usize) {
        while self.size > size {
            let Some(slot) = self.slots.pop_front() else { break };
            self.size -= usize::from(slot.text_length) + ENTRY_BYTES;
        }
        if self.slots.is_empty() {
            self.bytes.clear();
        }
    }

    fn move_to_front(&mut self) {
        let start = self.slots.front().map_or(self.bytes.len(), |slot| slot.start as usize);
        self.bytes.drain(..start);
        for slot in &mut self.slots {
            slot.start -= start as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(text: &[u8], name_length: u16) -> Entry<'_> {
        Entry { kind: Kind::Malformed, is_valid: true, name_length, text }
    }

    #[test]
    fn old_entries_leave() {
        let mut table = DynamicTable::new(100);
        for text in [&b"aone"[..], b"btwo", b"cthree"] {
            table.insert(&entry(text, 1));
        }
        assert_eq!(
            table.iter().map(|e| e.text).collect::<Vec<_>>(),
            [b"cthree".as_slice(), b"btwo"]
        );
        assert_eq!(table.at(1).map(|e| (e.name(), e.value())), Some((&b"b"[..], &b"two"[..])));
        table.resize(40);
        assert_eq!(table.iter().count(), 1);
        table.insert(&entry(&[b'x'; 70], 1));
        assert_eq!(table.iter().count(), 0, "one that is too large empties the table");
    }

    proptest! {
        #[test]
        fn it_is_a_queue_with_a_limit(
            steps in prop::collection::vec((0_usize..120, any::<bool>(), 0_usize..300), 1..200),
        ) {
            let mut table = DynamicTable::new(200);
            let mut model: VecDeque<Vec<u8>> = VecDeque::new();
            let mut size_max = 200;
            for (number, (length, resize, size)) in steps.into_iter().enumerate() {
                if resize {
                    size_max = size;
                    table.resize(size);
                } else {
                    let text = vec![number as u8; length];
                    table.insert(&entry(&text, 0));
                    model.push_front(text);
                }
                while model.iter().map(|t| t.len() + 32).sum::<usize>() > size_max {
                    model.pop_back();
                }
                let found: Vec<Vec<u8>> = table.iter().map(|e| e.text.to_vec()).collect();
                prop_assert_eq!(&found, &Vec::from(model.clone()));
                prop_assert!(table.bytes.len() <= 600);
            }
        }
    }
}
