//! Watching folders (inotify(7)): which entries a change in the file system makes wrong.
//!
//! A folder is watched from the moment that an entry from it is made. What inotify cannot see
//! (network and overlay file systems, links that lead elsewhere, more folders than there are
//! watches) is told to the caller, who then asks the file system again after a second.

use super::resolve::Root;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::ops::Bound;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What happened in the file system, by canonical path.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// Something at this path, or below it, is not what it was.
    At(Vec<u8>),
    /// Events were lost.
    Anywhere,
}

/// The folders that are watched.
#[derive(Debug)]
pub struct Watch {
    inotify: OwnedFd,
    folders: Mutex<Folders>,
    watches_max: usize,
    /// Moves on before each change is told: an entry that was being made meanwhile may have
    /// missed it.
    events: AtomicU64,
}

#[derive(Debug, Default)]
struct Folders {
    /// Canonical path of the folder, with its slash at the end.
    by_path: BTreeMap<Vec<u8>, i32>,
    /// One folder can be reached by several paths, through links.
    by_watch: HashMap<i32, Vec<Vec<u8>>>,
}

/// All that can make an entry wrong. Reading a file is not among it.
const EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

impl Watch {
    /// Starts a thread that calls `tell` with every change in a folder that is watched.
    pub fn start(
        watches_max: usize,
        tell: impl Fn(Change) + Send + 'static,
    ) -> io::Result<Arc<Watch>> {
        let watch = Arc::new(Watch {
            inotify: inotify::init(CreateFlags::CLOEXEC)?,
            folders: Mutex::default(),
            watches_max,
            events: AtomicU64::new(0),
        });
        let reader = Arc::clone(&watch);
        std::thread::Builder::new()
            .name("serval-watch".into())
            .spawn(move || reader.read_events(tell))?;
        Ok(watch)
    }

    /// How many changes have been told.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::SeqCst)
    }

    /// Watches every folder on the way to `path`, as far as they exist. False if a change on the
    /// way could go unseen.
    pub fn cover(&self, root: &Root, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for end in slashes.map(|(at, _)| at + 1) {
            let folder = path.get(..end).unwrap_or_default();
            if self.lock().by_path.contains_key(folder) {
                continue;
            }
            match self.add(root, folder) {
                Ok(()) => {}
                Err(Errno::NOENT | Errno::NOTDIR) => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Forgets all folders: the root is another one now.
    pub fn clear(&self) {
        let folders = std::mem::take(&mut *self.lock());
        for watch in folders.by_watch.into_keys() {
            let _ = inotify::remove_watch(&self.inotify, watch);
        }
    }

    fn add(&self, root: &Root, folder: &[u8]) -> Result<(), Errno> {
        let before = self.events();
        let opened = root.open_beneath(folder.strip_suffix(b"/").unwrap_or(folder))?;
        let mut folders = self.lock();
        if self.events() != before {
            // What was opened may not be what the path leads to any more.
            return Err(Errno::AGAIN);
        }
        if folders.by_path.len() >= self.watches_max {
            return Err(Errno::NOSPC);
        }
        // By descriptor: the path could lead elsewhere by now.
        let link = format!("/proc/self/fd/{}", opened.fd.as_fd().as_raw_fd());
        let watch = inotify::add_watch(&self.inotify, link, EVENTS)?;
        let previous = folders.by_path.insert(folder.to_vec(), watch);
        if previous != Some(watch) {
            folders.by_watch.entry(watch).or_default().push(folder.to_vec());
        }
        Ok(())
    }

    fn read_events(&self, tell: impl Fn(Change)) {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut events = inotify::Reader::new(&self.inotify, &mut buffer);
        loop {
            match events.next() {
                Ok(event) => {
                    let name = event.file_name().map(std::ffi::CStr::to_bytes);
                    self.handle(event.wd(), event.events(), name, &tell);
                }
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    fn handle(&self, watch: i32, flags: ReadFlags, name: Option<&[u8]>, tell: &impl Fn(Change)) {
        // First of all: whoever is adding something now sees that it may have missed this.
        self.events.fetch_add(1, Ordering::SeqCst);
        let mut changed = Vec::new();
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            changed.push(Change::Anywhere);
        } else {
            let paths = self.lock().by_watch.get(&watch).cloned().unwrap_or_default();
            let gone = ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED;
            for mut path in paths {
                path.extend_from_slice(name.unwrap_or_default());
                if flags.intersects(gone) || name.is_some_and(|_| leads_elsewhere(flags)) {
                    self.forget_tree(&path);
                }
                changed.push(Change::At(path));
            }
        }
        changed.into_iter().for_each(tell);
    }

    /// Stops watching the folder at `path` and those below: it is no longer there, or another is.
    fn forget_tree(&self, path: &[u8]) {
        let mut folders = self.lock();
        let below = [path.strip_suffix(b"/").unwrap_or(path), b"/"].concat();
        let from = (Bound::Included(&below[..]), Bound::Unbounded);
        let found: Vec<(Vec<u8>, i32)> = folders
            .by_path
            .range::<[u8], _>(from)
            .take_while(|(path, _)| path.starts_with(&below))
            .map(|(path, watch)| (path.clone(), *watch))
            .collect();
        for (path, watch) in found {
            folders.by_path.remove(&path);
            let Some(paths) = folders.by_watch.get_mut(&watch) else { continue };
            paths.retain(|other| *other != path);
            if paths.is_empty() {
                folders.by_watch.remove(&watch);
                let _ = inotify::remove_watch(&self.inotify, watch);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Folders> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether after this event a name in the folder may be another folder, or none.
fn leads_elsewhere(flags: ReadFlags) -> bool {
    flags.intersects(
        ReadFlags::CREATE
            | ReadFlags::DELETE
            | ReadFlags::MOVED_FROM
            | ReadFlags::MOVED_TO
            | ReadFlags::ATTRIB,
    )
}
