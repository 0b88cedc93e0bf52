//! The files of one site, as all workers share them: what is asked when a worker has no entry of
//! its own for a path.

use super::cache::{Cache, CacheLimits};
use super::content::{self, Content, LargeFile, Stamp};
use super::entry::{Entry, FileEntry, Kind};
use super::resolve::{Opened, Root};
use super::watch::{Change, Watch};
use rustix::fs::{self, FileType};
use rustix::io::Errno;
use serval_proto::target;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// How long an entry is used without asking the file system where every change of it is heard of,
/// in milliseconds. Not for ever: writes through a memory mapping or a hard link elsewhere are not
/// heard.
const FRESH_WATCHED_MS: u64 = 5000;

/// The same where a change could go unheard.
const FRESH_UNWATCHED_MS: u64 = 1000;

/// How often a file is read again that changed while it was being read.
const READS_MAX: usize = 3;

/// How files are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// Entries for what is there.
    pub cache: CacheLimits,
    /// Entries for what is not there; apart, so that a scanner cannot drive out the others.
    pub missing: CacheLimits,
    /// Files up to this size are kept in memory, in bytes.
    pub memory_bytes_max: u64,
    /// Files up to this size are kept as a snapshot, in bytes.
    pub snapshot_bytes_max: u64,
    /// How many folders are watched.
    pub watches_max: usize,
}

/// The files below one root.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    index: Vec<Vec<u8>>,
    limits: StoreLimits,
    root: RwLock<Arc<Root>>,
    caches: Arc<Caches>,
    /// None where the system has no watches left: then the file system is asked every second.
    watch: Option<Arc<Watch>>,
}

#[derive(Debug)]
struct Caches {
    found: Cache,
    missing: Cache,
}

/// What a path leads to now.
struct Located {
    opened: Opened,
    stat: fs::Stat,
    /// The file's name, which decides its media type.
    name: Vec<u8>,
}

impl Store {
    /// Opens the folder at `path`. `index` names the files that stand for a folder, first choice
    /// first.
    pub fn open(path: &Path, index: &[String], limits: StoreLimits) -> io::Result<Store> {
        let root = Root::open(path)?;
        let caches = Arc::new(Caches {
            found: Cache::new(limits.cache),
            missing: Cache::new(limits.missing),
        });
        let told = Arc::clone(&caches);
        let watch = Watch::start(limits.watches_max, move |change| told.forget(&change)).ok();
        Ok(Store {
            path: path.to_owned(),
            index: index.iter().map(|name| name.as_bytes().to_vec()).collect(),
            limits,
            root: RwLock::new(Arc::new(root)),
            caches,
            watch,
        })
    }

    /// How many entries have been killed since the start.
    #[inline]
    pub fn deaths(&self) -> u64 {
        self.caches.found.deaths() + self.caches.missing.deaths()
    }

    /// Looks whether the root's path leads to another folder than it did, as when a link is
    /// pointed at a new release; if so, begins anew with that one.
    pub fn check_root(&self) {
        if self.root().is_at(&self.path) {
            return;
        }
        let Ok(root) = Root::open(&self.path) else { return };
        *self.root.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(root);
        if let Some(watch) = &self.watch {
            watch.clear();
        }
        self.caches.forget(&Change::Anywhere);
    }

    /// The entry for a canonical path, fresh at `now_ms`. An error is one of ours, not of the
    /// path: no descriptors, no memory, a disk that fails.
    pub fn entry(&self, path: &[u8], now_ms: u64) -> Result<Arc<Entry>, Errno> {
        let kept = self.caches.found.get(path).or_else(|| self.caches.missing.get(path));
        if let Some(entry) = kept.filter(|entry| entry.is_alive()) {
            if entry.is_fresh(now_ms) || self.is_unchanged(&entry) {
                entry.refresh(now_ms);
                return Ok(entry);
            }
            self.caches.forget_one(path);
        }
        self.load(path, now_ms)
    }

    fn root(&self) -> Arc<Root> {
        Arc::clone(&self.root.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the path still leads to the same version of the same file.
    fn is_unchanged(&self, entry: &Entry) -> bool {
        let Some(file) = entry.file() else { return false };
        match self.locate(&self.root(), entry.path()) {
            Ok(located) => Stamp::of(&located.stat) == *file.stamp(),
            Err(error) if is_absence(error) || error == Errno::ACCESS => false,
            // Out of descriptors, or a disk that fails: what is known is better than nothing.
            Err(_) => true,
        }
    }

    fn load(&self, path: &[u8], now_ms: u64) -> Result<Arc<Entry>, Errno> {
        if target::is_hidden(path) {
            return Ok(self.keep(path, Kind::Missing, now_ms, FRESH_UNWATCHED_MS, 0));
        }
        let root = self.root();
        let events = self.watch.as_ref().map_or(0, |watch| watch.events());
        let covered = self.watch.as_ref().is_some_and(|watch| watch.cover(&root, path));
        let mut fresh_for_ms = FRESH_UNWATCHED_MS;
        let mut descriptors = 0;
        let kind = match self.locate(&root, path) {
            Ok(located) => {
                let is_seen = covered && !located.opened.through_link;
                match FileType::from_raw_mode(located.stat.st_mode) {
                    FileType::Directory => Kind::Folder,
                    FileType::RegularFile => {
                        if is_seen && is_local(located.opened.fd.as_fd()) {
                            fresh_for_ms = FRESH_WATCHED_MS;
                        }
                        let file = self.read(located)?;
                        descriptors = usize::from(!matches!(file.content(), Content::Memory(_)));
                        Kind::File(file)
                    }
                    _ => Kind::Missing,
                }
            }
            Err(Errno::ACCESS) => Kind::Forbidden,
            Err(error) if is_absence(error) => Kind::Missing,
            Err(error) => return Err(error),
        };
        let entry = self.keep(path, kind, now_ms, fresh_for_ms, descriptors);
        if self.watch.as_ref().is_some_and(|watch| watch.events() != events) {
            // A change that was told while this was being made may have been one of this path.
            entry.expire();
        }
        Ok(entry)
    }

    fn keep(
        &self,
        path: &[u8],
        kind: Kind,
        now_ms: u64,
        fresh_for_ms: u64,
        descriptors: usize,
    ) -> Arc<Entry> {
        let body = match &kind {
            Kind::File(file) => match file.content() {
                Content::Memory(bytes) => bytes.len(),
                Content::Snapshot(_) => file.size() as usize,
                Content::Large(_) => 0,
            },
            _ => 0,
        };
        // Head lines, the entry itself and its places in the tables: about 700 bytes.
        let bytes = body + path.len() + 700;
        let is_missing = matches!(kind, Kind::Missing);
        let cache = if is_missing { &self.caches.missing } else { &self.caches.found };
        let charge = cache.usage().charge(bytes, descriptors);
        let entry = Arc::new(Entry::new(path, kind, charge, now_ms, fresh_for_ms));
        cache.insert(&entry);
        entry
    }

    /// Opens what a path leads to: the file or folder itself, or for a path that ends in a slash
    /// the first index file that there is.
    fn locate(&self, root: &Root, path: &[u8]) -> Result<Located, Errno> {
        if !path.ends_with(b"/") {
            return locate_one(root, path);
        }
        for index in &self.index {
            match locate_one(root, &[path, &index[..]].concat()) {
                Ok(located) if is_regular(&located.stat) => return Ok(located),
                Ok(_) => {}
                Err(error) if is_absence(error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::NOENT)
    }

    /// Decides how a regular file is kept, and reads it if it is small enough.
    fn read(&self, located: Located) -> Result<FileEntry, Errno> {
        let Located { opened, mut stat, name } = located;
        for _ in 0..READS_MAX {
            let stamp = Stamp::of(&stat);
            let content = self.copy(opened.fd.as_fd(), stamp.size)?;
            stat = fs::fstat(&opened.fd)?;
            match content {
                // It is the version that the stamp names if nothing changed while it was read.
                Some(content) if Stamp::of(&stat) == stamp => {
                    return Ok(FileEntry::new(&name, stamp, content));
                }
                Some(_) => {}
                None if stamp.size > self.limits.snapshot_bytes_max => break,
                None => {}
            }
        }
        // Too large, or never at rest: sent from the file itself.
        let stamp = Stamp::of(&stat);
        let large = LargeFile::new(opened.fd, stamp).map_err(|error| errno(&error))?;
        Ok(FileEntry::new(&name, stamp, Content::Large(Box::new(large))))
    }

    fn copy(&self, file: BorrowedFd<'_>, size: u64) -> Result<Option<Content>, Errno> {
        if size <= self.limits.memory_bytes_max {
            let bytes = content::read(file, size as usize).map_err(|error| errno(&error))?;
            Ok(bytes.map(|bytes| Content::Memory(bytes.into())))
        } else if size <= self.limits.snapshot_bytes_max {
            // Without memory files the file itself will do.
            let copy = content::snapshot(file, size, 0).ok().flatten();
            Ok(copy.map(Content::Snapshot))
        } else {
            Ok(None)
        }
    }
}

impl Caches {
    fn forget(&self, change: &Change) {
        for cache in [&self.found, &self.missing] {
            match change {
                Change::At(path) => {
                    cache.kill_tree(path);
                    // The folder's own entry is its index file's, which may be this one.
                    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
                    cache.kill(path.get(..end).unwrap_or_default());
                }
                Change::Anywhere => cache.clear(),
            }
        }
    }

    fn forget_one(&self, path: &[u8]) {
        self.found.kill(path);
        self.missing.kill(path);
    }
}

fn locate_one(root: &Root, path: &[u8]) -> Result<Located, Errno> {
    let opened = root.open_beneath(path)?;
    let stat = fs::fstat(&opened.fd)?;
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    Ok(Located { opened, stat, name })
}

fn is_regular(stat: &fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Whether an error says that there is nothing at the path that may be served: no such file, one
/// on the way that is no folder, a link that leads out of the root or in a circle, a name too
/// long, or something that cannot be opened by its nature (a socket, a device without a driver).
fn is_absence(error: Errno) -> bool {
    matches!(
        error,
        Errno::NOENT
            | Errno::NOTDIR
            | Errno::LOOP
            | Errno::XDEV
            | Errno::NAMETOOLONG
            | Errno::NXIO
            | Errno::NODEV
            | Errno::INVAL
            | Errno::ILSEQ
    )
}

/// Whether the file system is one whose changes inotify sees: all writers are on this machine.
fn is_local(file: BorrowedFd<'_>) -> bool {
    const LOCAL: [u64; 8] = [
        0xef53,      // ext2, ext3, ext4
        0x5846_5342, // XFS
        0x9123_683e, // Btrfs
        0x0102_1994, // tmpfs
        0xf2f5_2010, // F2FS
        0x2fc1_2fc1, // ZFS
        0x8584_58f6, // ramfs
        0xca45_1a4e, // bcachefs
    ];
    fs::fstatfs(file).is_ok_and(|stat| LOCAL.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
