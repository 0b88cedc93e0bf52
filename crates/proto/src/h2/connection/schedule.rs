//! Who may send next (RFC 9218 §10).
//!
//! The more urgent go first. Within an urgency, streams whose client said that parts of them are
//! of no use go one after the other in the order they became ready; all others take turns of a
//! frame each: also those whose client said nothing, since nothing is known of them.

use super::stream::{NONE, Streams};
use crate::h2::priority::Priority;

const URGENCIES: usize = Priority::URGENCY_MAX as usize + 1;

/// Those that can send, in a list for each urgency.
#[derive(Debug)]
pub(super) struct Schedule {
    heads: [u16; URGENCIES],
    tails: [u16; URGENCIES],
    /// A bit for each urgency that has a stream.
    waiting: u8,
}

impl Schedule {
    pub(super) fn new() -> Schedule {
        Schedule { heads: [NONE; URGENCIES], tails: [NONE; URGENCIES], waiting: 0 }
    }

    /// The stream whose turn it is.
    #[inline]
    pub(super) fn first(&self) -> Option<u16> {
        let urgency = self.waiting.trailing_zeros() as usize;
        self.heads.get(urgency).copied()
    }

    /// Adds a stream to the end of its list, if it is in none.
    #[inline]
    pub(super) fn add(&mut self, slot: u16, streams: &mut Streams) {
        let Some(stream) = streams.slot(slot).filter(|stream| !stream.is_ready) else { return };
        let urgency = usize::from(stream.priority.urgency.min(Priority::URGENCY_MAX));
        stream.is_ready = true;
        stream.after = NONE;
        let last = std::mem::replace(&mut self.tails[urgency], slot);
        stream.before = last;
        self.waiting |= 1 << urgency;
        match streams.slot(last) {
            Some(stream) => stream.after = slot,
            None => self.heads[urgency] = slot,
        }
    }

    /// Takes a stream out of its list, if it is in one.
    #[inline]
    pub(super) fn remove(&mut self, slot: u16, streams: &mut Streams) {
        let Some(stream) = streams.slot(slot).filter(|stream| stream.is_ready) else { return };
        let urgency = usize::from(stream.priority.urgency.min(Priority::URGENCY_MAX));
        let (before, after) = (stream.before, stream.after);
        stream.is_ready = false;
        match streams.slot(before) {
            Some(stream) => stream.after = after,
            None => self.heads[urgency] = after,
        }
        match streams.slot(after) {
            Some(stream) => stream.before = before,
            None => self.tails[urgency] = before,
        }
        if self.heads[urgency] == NONE {
            self.waiting &= !(1 << urgency);
        }
    }

    /// After a frame of this stream: whether others come first now.
    pub(super) fn turn(&mut self, slot: u16, streams: &mut Streams) {
        let Some(stream) = streams.slot(slot) else { return };
        if !stream.is_signalled || stream.priority.incremental {
            self.remove(slot, streams);
            self.add(slot, streams);
        }
    }
}
