//! One stream, and the slab that holds those that are open.

use super::Key;
use crate::h2::priority::Priority;

/// No slot.
pub(super) const NONE: u16 = u16::MAX;

/// An open stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Its identifier; 0 for a slot that is free.
    pub(super) id: u32,
    /// The next slot in the same bucket of the index.
    pub(super) next_in_bucket: u16,
    /// Its neighbours among those that can send, if it is one of them.
    pub(super) before: u16,
    pub(super) after: u16,
    pub(super) is_ready: bool,
    /// Nothing more comes from us, or from the peer.
    pub(super) is_local_closed: bool,
    pub(super) is_remote_closed: bool,
    /// The last head of a message went out, or came.
    pub(super) is_head_sent: bool,
    pub(super) is_head_received: bool,
    /// The message that comes has no content, whatever length it announces.
    pub(super) is_bodiless: bool,
    /// Whether the client has said anything about its priority.
    pub(super) is_signalled: bool,
    pub(super) priority: Priority,
    /// How much we may send, which a change of settings can make less than nothing, in bytes.
    pub(super) send_window: i64,
    /// How much the peer may send, and how much of it was used up since we last said so, in bytes.
    pub(super) receive_window: i64,
    pub(super) released: u32,
    /// How much content has still to come, if that was announced, in bytes.
    pub(super) expected: Option<u64>,
    /// How much content the caller has ready, in bytes, and whether it is all there will be.
    pub(super) pending: u64,
    pub(super) is_pending_end: bool,
}

impl Stream {
    /// Whether it can send, as far as its own window goes.
    #[inline]
    pub(super) fn can_send(&self) -> bool {
        if self.pending > 0 { self.send_window > 0 } else { self.is_pending_end }
    }

    /// Whether it would send if its own window let it.
    pub(super) fn is_held_back(&self) -> bool {
        self.pending > 0 && self.send_window <= 0
    }
}

/// How many buckets the index has. The streams of a connection are mostly numbered in a row.
const BUCKETS: usize = 128;

/// The open streams.
#[derive(Debug)]
pub(super) struct Streams {
    slots: Vec<Stream>,
    free: Vec<u16>,
    buckets: [u16; BUCKETS],
}

impl Streams {
    pub(super) fn new() -> Streams {
        Streams { slots: Vec::new(), free: Vec::new(), buckets: [NONE; BUCKETS] }
    }

    /// How many are open.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Opens one. The caller bounds how many there are.
    #[inline]
    pub(super) fn open(&mut self, stream: Stream) -> Key {
        let id = stream.id;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Stream::default());
                (self.slots.len() - 1) as u16
            }
        };
        let bucket = &mut self.buckets[bucket_of(id)];
        if let Some(place) = self.slots.get_mut(usize::from(slot)) {
            *place = stream;
            place.next_in_bucket = *bucket;
            *bucket = slot;
        }
        Key { id, slot }
    }

    /// Frees the slot.
    #[inline]
    pub(super) fn close(&mut self, key: Key) {
        let Some(stream) = self.at(key) else { return };
        let next = stream.next_in_bucket;
        stream.id = 0;
        self.free.push(key.slot);
        let mut at = self.buckets[bucket_of(key.id)];
        if at == key.slot {
            self.buckets[bucket_of(key.id)] = next;
            return;
        }
        while let Some(stream) = self.slots.get_mut(usize::from(at)) {
            at = stream.next_in_bucket;
            if at == key.slot {
                stream.next_in_bucket = next;
                return;
            }
        }
    }

    /// The stream with that identifier.
    #[inline]
    pub(super) fn find(&self, id: u32) -> Option<Key> {
        let mut slot = self.buckets[bucket_of(id)];
        while let Some(stream) = self.slots.get(usize::from(slot)) {
            if stream.id == id {
                return Some(Key { id, slot });
            }
            slot = stream.next_in_bucket;
        }
        None
    }

    /// The stream that `key` names, if it is still open.
    #[inline]
    pub(super) fn at(&mut self, key: Key) -> Option<&mut Stream> {
        self.slots.get_mut(usize::from(key.slot)).filter(|stream| stream.id == key.id)
    }

    /// The stream in a slot.
    #[inline]
    pub(super) fn slot(&mut self, slot: u16) -> Option<&mut Stream> {
        self.slots.get_mut(usize::from(slot))
    }

    /// The open ones and their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Key, &Stream)> {
        self.slots
            .iter()
            .zip(0_u16..)
            .filter(|(stream, _)| stream.id != 0)
            .map(|(stream, slot)| (Key { id: stream.id, slot }, stream))
    }

    /// How many bytes of memory it holds.
    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Stream>() + self.free.capacity() * 2
    }
}

#[inline]
fn bucket_of(id: u32) -> usize {
    (id / 2) as usize % BUCKETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn what_is_open_is_found(
            steps in prop::collection::vec((1_u32..600, any::<bool>()), 1..300),
        ) {
            let (mut streams, mut model) = (Streams::new(), BTreeSet::new());
            for (id, opens) in steps {
                match streams.find(id) {
                    Some(key) => {
                        prop_assert!(model.contains(&id));
                        prop_assert_eq!(streams.at(key).map(|stream| stream.id), Some(id));
                        if !opens {
                            streams.close(key);
                            model.remove(&id);
                            prop_assert!(streams.at(key).is_none());
                        }
                    }
                    None => {
                        prop_assert!(!model.contains(&id));
                        if opens {
                            streams.open(Stream { id, ..Stream::default() });
                            model.insert(id);
                        }
                    }
                }
                prop_assert_eq!(streams.len(), model.len());
                let open: BTreeSet<u32> = streams.iter().map(|(key, _)| key.id).collect();
                prop_assert_eq!(&open, &model);
            }
        }
    }
}
