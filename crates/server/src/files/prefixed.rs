//! A worker's own copy of a file that is asked for all the time, with room for an answer's head
//! before it: head and body leave in one call instead of two.
//!
//! The head changes once a second. The page that holds it is then punched out of the memory file
//! and written anew, never written over: what the kernel has not sent yet still refers to the old
//! page. Only one thread uses a copy, so that none can send in between.

use super::cache::Charge;
use super::content;
use rustix::fs::{self, FallocateFlags};
use rustix::io::Errno;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

/// Such a copy.
#[derive(Debug)]
pub struct Prefixed {
    file: OwnedFd,
    /// Where the body begins: behind one page.
    body_start: u64,
    end: u64,
    prefix_bytes: u64,
    version: i64,
    _charge: Charge,
}

impl Prefixed {
    /// Copies a file of `size` bytes.
    pub fn new(original: BorrowedFd<'_>, size: u64, charge: Charge) -> Result<Prefixed, Errno> {
        if !has_single_pages() {
            return Err(Errno::NOTSUP);
        }
        let body_start = rustix::param::page_size() as u64;
        let copy = content::snapshot(original, size, body_start).map_err(|_| Errno::IO)?;
        let file = copy.ok_or(Errno::IO)?;
        let end = body_start + size;
        Ok(Prefixed { file, body_start, end, prefix_bytes: 0, version: i64::MIN, _charge: charge })
    }

    /// Which head stands before the body.
    #[inline]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Puts another head before the body. After an error there is none.
    pub fn renew(&mut self, version: i64, prefix: &[u8]) -> Result<(), Errno> {
        (self.version, self.prefix_bytes) = (i64::MIN, 0);
        let length = prefix.len() as u64;
        let start = self.body_start.checked_sub(length).ok_or(Errno::FBIG)?;
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fs::fallocate(&self.file, hole, 0, self.body_start)?;
        if rustix::io::pwrite(&self.file, prefix, start)? != prefix.len() {
            return Err(Errno::IO);
        }
        self.prefix_bytes = length;
        self.version = version;
        Ok(())
    }

    /// Where head and body lie in the copy.
    #[inline]
    pub fn range(&self) -> Range<u64> {
        self.body_start - self.prefix_bytes..self.end
    }

    /// Whether what is left to send can be sent: none of the head is, or it is still the one that
    /// was begun, or none of it has been sent.
    pub fn can_send(&self, left: &Range<u64>, version: i64) -> bool {
        left.start >= self.body_start || self.version == version || *left == self.range()
    }

    /// The copy.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether memory files are made of single pages. A hole punched into a larger run of memory is
/// written over with zeros instead, under what the kernel still sends from it
/// (Documentation/admin-guide/mm/transhuge.rst, `shmem_enabled`).
fn has_single_pages() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let base = Path::new("/sys/kernel/mm/transparent_hugepage");
        let sizes = std::fs::read_dir(base).into_iter().flatten().flatten();
        let settings = sizes.map(|size| size.path()).chain([base.to_owned()]);
        settings.map(|folder| folder.join("shmem_enabled")).all(|setting| {
            // A kernel without the setting has no such memory.
            let text = std::fs::read_to_string(setting).unwrap_or_default();
            !["[always]", "[within_size]", "[force]"].iter().any(|on| text.contains(on))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::cache::{CacheLimits, Usage};
    use super::*;
    use rustix::fs::MemfdFlags;
    use std::sync::Arc;

    const NO_LIMITS: CacheLimits =
        CacheLimits { bytes_max: usize::MAX, entries_max: usize::MAX, descriptors_max: usize::MAX };

    fn read(copy: &Prefixed) -> Vec<u8> {
        let Range { start, end } = copy.range();
        let all = content::read(copy.fd(), end as usize).unwrap().unwrap();
        all[start as usize..].to_vec()
    }

    #[test]
    fn heads_come_and_go_before_the_same_body() {
        let usage = Arc::new(Usage::new(NO_LIMITS));
        let original = fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        let body: Vec<u8> = (0..50_000_u32).map(|n| n as u8).collect();
        rustix::io::write(&original, &body).unwrap();
        let mut copy = Prefixed::new(original.as_fd(), 50_000, usage.charge(50_000, 1)).unwrap();
        for (version, head) in [(1, "head one"), (2, "another"), (3, "a third head")] {
            copy.renew(version, head.as_bytes()).unwrap();
            assert_eq!(read(&copy), [head.as_bytes(), &body].concat());
        }
        assert!(copy.renew(4, &[b'x'; 1 << 20]).is_err());
        assert_ne!(copy.version(), 4);
    }

    #[test]
    fn a_head_is_never_sent_in_two_versions() {
        let usage = Arc::new(Usage::new(NO_LIMITS));
        let original = fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&original, b"body").unwrap();
        let mut copy = Prefixed::new(original.as_fd(), 4, usage.charge(4, 1)).unwrap();
        copy.renew(1, b"head").unwrap();
        let whole = copy.range();
        let begun = whole.start + 1..whole.end;
        assert!(copy.can_send(&begun, 1));
        copy.renew(2, b"HEAD").unwrap();
        assert!(!copy.can_send(&begun, 1));
        assert!(copy.can_send(&whole, 1));
        assert!(copy.can_send(&(whole.start + 4..whole.end), 1));
        assert!(copy.renew(3, &[b'x'; 1 << 20]).is_err());
        assert!(!copy.can_send(&whole, 2), "there is no head now");
    }
}
