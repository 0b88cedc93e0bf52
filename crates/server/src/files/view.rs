//! One worker's way to the files: entries within reach of a hash, no lock, no reference count that
//! workers share.

use super::content::Content;
use super::entry::{Entry, FileEntry};
use super::prefixed::Prefixed;
use super::store::Store;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use rustix::io::Errno;
use std::cell::RefCell;
use std::hash::BuildHasher;
use std::ops::{Deref, Range};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;

/// How often the root's own path is looked at, in milliseconds.
const ROOT_CHECK_MS: u64 = 1000;

/// From so many uses in one second on, a worker makes a copy of its own to send head and body at
/// once: it costs as much as it saves in about thirty.
const HOT_USES: u32 = 64;

/// An entry in a worker's hands. Counted by the worker alone: what all workers serve at once would
/// otherwise have them contend for one counter.
#[derive(Clone, Debug)]
pub struct Held(Rc<Local>);

#[derive(Debug)]
struct Local {
    entry: Arc<Entry>,
    heat: RefCell<Heat>,
}

/// How often an entry is used, and what is done about it.
#[derive(Debug, Default)]
struct Heat {
    second: i64,
    uses: u32,
    copy: Option<Prefixed>,
}

impl Held {
    fn new(entry: Arc<Entry>) -> Held {
        Held(Rc::new(Local { entry, heat: RefCell::default() }))
    }

    /// Where the head that `write` appends and the whole file lie in a copy that holds both, for
    /// an entry that is used all the time and has such a copy. `second` names the head: for one
    /// second it must always be the same.
    #[inline]
    pub fn prefixed(&self, second: i64, write: impl FnOnce(&mut Vec<u8>)) -> Option<Range<u64>> {
        let Content::Snapshot(original) = self.file()?.content() else { return None };
        let mut heat = self.0.heat.borrow_mut();
        match &mut heat.copy {
            Some(copy) if copy.version() == second => Some(copy.range()),
            Some(copy) => {
                let mut head = Vec::with_capacity(512);
                write(&mut head);
                copy.renew(second, &head).ok().map(|()| copy.range())
            }
            None => {
                heat.warm_up(self, original, second);
                None
            }
        }
    }

    /// Gives `send` the copy, if what is left of it is still what was begun with that head.
    pub fn send_prefixed<T>(
        &self,
        left: &Range<u64>,
        second: i64,
        send: impl FnOnce(BorrowedFd<'_>) -> T,
    ) -> Option<T> {
        let heat = self.0.heat.borrow();
        heat.copy.as_ref().filter(|copy| copy.can_send(left, second)).map(|copy| send(copy.fd()))
    }
}

impl Heat {
    fn warm_up(&mut self, held: &Held, original: &OwnedFd, second: i64) {
        if self.second != second {
            (self.second, self.uses) = (second, 0);
        }
        self.uses += 1;
        if self.uses == HOT_USES {
            let size = held.file().map_or(0, FileEntry::size);
            let charge = held.charge().another(size as usize, 1);
            self.copy = charge.and_then(|c| Prefixed::new(original.as_fd(), size, c).ok());
        }
    }
}

impl Deref for Held {
    type Target = Entry;

    #[inline]
    fn deref(&self) -> &Entry {
        &self.0.entry
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
        let held = Held::new(entry);
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
