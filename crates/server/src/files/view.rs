//! One worker's way to the files: entries within reach of a hash, no lock, no reference count that
//! workers share.

use super::entry::Entry;
use super::store::Store;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use rustix::io::Errno;
use std::hash::BuildHasher;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// How often the root's own path is looked at, in milliseconds.
const ROOT_CHECK_MS: u64 = 1000;

/// An entry in a worker's hands. Counted by the worker alone: what all workers serve at once would
/// otherwise have them contend for one counter.
#[derive(Clone, Debug)]
#[expect(clippy::redundant_allocation, reason = "two counts: the worker's, and everybody's")]
pub struct Held(Rc<Arc<Entry>>);

impl Deref for Held {
    type Target = Entry;

    #[inline]
    fn deref(&self) -> &Entry {
        &self.0
    }
}

/// One worker's view of a [`Store`].
#[derive(Debug)]
pub struct View {
    store: Arc<Store>,
    entries: HashTable<Held>,
    hasher: RandomState,
    deaths_seen: u64,
    root_check_at_ms: u64,
}

impl View {
    /// A view with nothing in it yet.
    pub fn new(store: Arc<Store>) -> View {
        View {
            store,
            entries: HashTable::new(),
            hasher: RandomState::default(),
            deaths_seen: 0,
            root_check_at_ms: 0,
        }
    }

    /// The entry for a canonical path, as [`Store::entry`] gives it.
    #[inline]
    pub fn entry(&mut self, path: &[u8], now_ms: u64) -> Result<Held, Errno> {
        if now_ms >= self.root_check_at_ms {
            self.root_check_at_ms = now_ms + ROOT_CHECK_MS;
            self.store.check_root();
        }
        let hash = self.hasher.hash_one(path);
        if let Some(held) = self.entries.find(hash, |held| held.path() == path)
            && held.is_fresh(now_ms)
        {
            held.touch();
            return Ok(held.clone());
        }
        self.fetch(path, hash, now_ms)
    }

    /// Lets go of entries that are no longer right. To be called now and then: their memory is
    /// held until every worker has.
    pub fn tidy(&mut self) {
        let deaths = self.store.deaths();
        if deaths != self.deaths_seen {
            self.deaths_seen = deaths;
            self.entries.retain(|held| held.is_alive());
        }
    }

    fn fetch(&mut self, path: &[u8], hash: u64, now_ms: u64) -> Result<Held, Errno> {
        let entry = self.store.entry(path, now_ms)?;
        let held = Held(Rc::new(entry));
        let same = |other: &Held| other.path() == path;
        let rehash = |other: &Held| self.hasher.hash_one(other.path());
        match self.entries.entry(hash, same, rehash) {
            Slot::Occupied(mut slot) if held.is_alive() => *slot.get_mut() = held.clone(),
            Slot::Occupied(slot) => drop(slot.remove()),
            // One that found no room in the cache serves this answer only.
            Slot::Vacant(slot) if held.is_alive() => drop(slot.insert(held.clone())),
            Slot::Vacant(_) => {}
        }
        Ok(held)
    }
}
