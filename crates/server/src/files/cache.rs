//! Entries, kept within a budget: what all workers share.
//!
//! Behind a lock, which nobody takes on a hit: each worker keeps entries of its own in reach
//! ([`super::view`]) and learns from the entry itself that it is no longer right. What was not
//! used since the hand came by goes first (the clock algorithm), so that a crawler that fetches
//! everything once does not drive out what is fetched all the time.

use super::entry::Entry;
use std::borrow::Borrow;
use std::cmp::Ordering as Order;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How much a cache may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// Memory for bodies, heads and paths, in bytes.
    pub bytes_max: usize,
    /// How many entries.
    pub entries_max: usize,
    /// How many open descriptors.
    pub descriptors_max: usize,
}

/// What the entries that exist take, whether or not they are still in the cache: one that is being
/// sent counts until it has been.
#[derive(Debug)]
pub struct Usage {
    limits: CacheLimits,
    bytes: AtomicUsize,
    entries: AtomicUsize,
    descriptors: AtomicUsize,
}

impl Usage {
    /// Nothing yet, within these limits.
    pub fn new(limits: CacheLimits) -> Usage {
        let [bytes, entries, descriptors] = Default::default();
        Usage { limits, bytes, entries, descriptors }
    }

    /// Takes note of an entry; what it takes is given back when the charge is dropped.
    pub fn charge(self: &Arc<Self>, bytes: usize, descriptors: usize) -> Charge {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.descriptors.fetch_add(descriptors, Ordering::Relaxed);
        self.entries.fetch_add(1, Ordering::Relaxed);
        Charge { usage: Arc::clone(self), bytes, descriptors }
    }

    fn is_exceeded(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.limits.bytes_max
            || self.entries.load(Ordering::Relaxed) > self.limits.entries_max
            || self.descriptors.load(Ordering::Relaxed) > self.limits.descriptors_max
    }
}

/// What one entry takes of the budget.
#[derive(Debug)]
pub struct Charge {
    usage: Arc<Usage>,
    bytes: usize,
    descriptors: usize,
}

impl Charge {
    /// A charge of its own for something that belongs to the entry; `None` if it does not fit.
    pub fn another(&self, bytes: usize, descriptors: usize) -> Option<Charge> {
        let charge = self.usage.charge(bytes, descriptors);
        (!self.usage.is_exceeded()).then_some(charge)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.usage.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.usage.descriptors.fetch_sub(self.descriptors, Ordering::Relaxed);
        self.usage.entries.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A bounded set of entries by path.
#[derive(Debug)]
pub struct Cache {
    usage: Arc<Usage>,
    shelves: Mutex<Shelves>,
    /// How many entries have been killed: workers look for dead ones when it has moved.
    deaths: AtomicU64,
}

#[derive(Debug, Default)]
struct Shelves {
    by_path: BTreeSet<ByPath>,
    /// The clock's face. Entries that are gone are dropped when the hand comes by.
    ring: VecDeque<Weak<Entry>>,
}

#[derive(Debug)]
struct ByPath(Arc<Entry>);

impl Borrow<[u8]> for ByPath {
    fn borrow(&self) -> &[u8] {
        self.0.path()
    }
}

impl PartialEq for ByPath {
    fn eq(&self, other: &Self) -> bool {
        self.0.path() == other.0.path()
    }
}

impl Eq for ByPath {}

impl PartialOrd for ByPath {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for ByPath {
    fn cmp(&self, other: &Self) -> Order {
        self.0.path().cmp(other.0.path())
    }
}

impl Cache {
    /// An empty cache.
    pub fn new(limits: CacheLimits) -> Cache {
        Cache {
            usage: Arc::new(Usage::new(limits)),
            shelves: Mutex::default(),
            deaths: AtomicU64::new(0),
        }
    }

    /// Where entries for this cache are charged.
    pub fn usage(&self) -> &Arc<Usage> {
        &self.usage
    }

    /// How many entries have been killed since the start.
    #[inline]
    pub fn deaths(&self) -> u64 {
        self.deaths.load(Ordering::Relaxed)
    }

    /// The entry for a path.
    pub fn get(&self, path: &[u8]) -> Option<Arc<Entry>> {
        self.lock().by_path.get(path).map(|found| Arc::clone(&found.0))
    }

    /// Keeps an entry in the place of any other for its path, and lets go of others for it. False
    /// if there is no room: what fills it is being sent.
    pub fn insert(&self, entry: &Arc<Entry>) -> bool {
        let mut shelves = self.lock();
        self.forget(shelves.by_path.take(entry.path()));
        let mut steps = 2 * shelves.ring.len();
        while self.usage.is_exceeded() && steps > 0 {
            steps -= 1;
            self.advance(&mut shelves);
        }
        if self.usage.is_exceeded() {
            entry.kill();
            return false;
        }
        if shelves.ring.len() > 2 * shelves.by_path.len() + 64 {
            shelves.ring.retain(|weak| weak.strong_count() > 0);
        }
        shelves.ring.push_back(Arc::downgrade(entry));
        shelves.by_path.insert(ByPath(Arc::clone(entry)));
        true
    }

    /// Forgets the entry for `path`, and all entries below it.
    pub fn kill_tree(&self, path: &[u8]) {
        let mut shelves = self.lock();
        self.forget(shelves.by_path.take(path));
        let below = [path.strip_suffix(b"/").unwrap_or(path), b"/"].concat();
        loop {
            let from = (Bound::Included(&below[..]), Bound::Unbounded);
            let next = shelves.by_path.range::<[u8], _>(from).next();
            let Some(path) = next.map(|e| e.0.path()).filter(|p| p.starts_with(&below)) else {
                return;
            };
            let path = path.to_vec();
            self.forget(shelves.by_path.take(&path[..]));
        }
    }

    /// Forgets the entry for `path`.
    pub fn kill(&self, path: &[u8]) {
        self.forget(self.lock().by_path.take(path));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let shelves = std::mem::take(&mut *self.lock());
        for entry in shelves.by_path {
            self.forget(Some(entry));
        }
    }

    /// Moves the hand of the clock by one entry: spares it if it was used, else forgets it.
    fn advance(&self, shelves: &mut Shelves) {
        let Some(weak) = shelves.ring.pop_front() else { return };
        let Some(entry) = weak.upgrade().filter(|entry| entry.is_alive()) else { return };
        if entry.take_used() {
            shelves.ring.push_back(weak);
        } else {
            self.forget(shelves.by_path.take(entry.path()));
        }
    }

    fn forget(&self, entry: Option<ByPath>) {
        if let Some(ByPath(entry)) = entry
            && entry.kill()
        {
            self.deaths.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        // Nothing here can panic half-way through a change.
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::Kind;
    use super::*;

    const LIMITS: CacheLimits =
        CacheLimits { bytes_max: 1000, entries_max: 10, descriptors_max: 3 };

    fn entry(cache: &Cache, path: &str, bytes: usize, descriptors: usize) -> Arc<Entry> {
        let charge = cache.usage().charge(bytes, descriptors);
        Arc::new(Entry::new(path.as_bytes(), Kind::Missing, charge, 0, 1000))
    }

    fn put(cache: &Cache, path: &str, bytes: usize) -> bool {
        cache.insert(&entry(cache, path, bytes, 0))
    }

    #[test]
    fn the_budget_holds_and_what_is_used_stays() {
        let cache = Cache::new(LIMITS);
        put(&cache, "/hot", 100);
        for turn in 0..200 {
            cache.get(b"/hot").expect("it is used all the time").touch();
            assert!(put(&cache, &format!("/cold{turn}"), 90));
            assert!(!cache.usage.is_exceeded());
        }
        assert!(cache.lock().ring.len() < 100);
    }

    #[test]
    fn descriptors_are_a_budget_of_their_own() {
        let cache = Cache::new(LIMITS);
        for turn in 0..20 {
            assert!(cache.insert(&entry(&cache, &format!("/{turn}"), 1, 1)));
        }
        assert_eq!(cache.usage.descriptors.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn what_is_being_sent_counts() {
        let cache = Cache::new(LIMITS);
        let sending: Vec<_> = (0..9).map(|n| entry(&cache, &format!("/{n}"), 110, 0)).collect();
        assert!(sending.iter().all(|entry| cache.insert(entry)));
        assert!(!put(&cache, "/one-more", 110), "all the room is taken by what is being sent");
        drop(sending);
        assert!(put(&cache, "/one-more", 110));
    }

    #[test]
    fn an_entry_replaces_another_for_its_path() {
        let cache = Cache::new(LIMITS);
        let old = entry(&cache, "/a", 1, 0);
        cache.insert(&old);
        put(&cache, "/a", 1);
        assert!(!old.is_alive());
        assert_eq!(cache.lock().by_path.len(), 1);
        assert_eq!(cache.deaths(), 1);
    }

    #[test]
    fn a_tree_is_forgotten_and_its_neighbours_are_not() {
        let cache = Cache::new(LIMITS);
        for path in ["/a", "/a/", "/a/b", "/a/b/c", "/a-b", "/ab", "/"] {
            put(&cache, path, 1);
        }
        cache.kill_tree(b"/a");
        let left = ["/", "/a-b", "/ab"];
        for path in ["/a", "/a/", "/a/b", "/a/b/c", "/a-b", "/ab", "/"] {
            assert_eq!(cache.get(path.as_bytes()).is_some(), left.contains(&path), "{path}");
        }
        cache.kill_tree(b"/");
        assert!(cache.lock().by_path.is_empty());
    }
}
