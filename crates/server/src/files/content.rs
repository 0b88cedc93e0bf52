//! What an entry sends: bytes in memory, a snapshot that the kernel holds, or the file itself.
//!
//! Small and middling files are copied when they enter the cache, so that nothing that happens to
//! the file can reach an answer under way. A large one is copied piece by piece as it is sent, and
//! looked at again after each: see [`LargeFile::is_intact`].

use rustix::fs::{self, MemfdFlags, SeekFrom};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The version of a file: what changes when its content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode.
    pub identity: (u64, u64),
    /// In bytes.
    pub size: u64,
    /// Seconds and nanoseconds of the last change of the content.
    pub modified: (i64, u32),
    /// Seconds and nanoseconds of the last change of content or attributes.
    pub changed: (i64, u32),
}

impl Stamp {
    /// Reads the stamp off the result of `fstat`.
    pub fn of(stat: &fs::Stat) -> Stamp {
        Stamp {
            identity: (stat.st_dev, stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime, stat.st_ctime_nsec as u32),
        }
    }
}

/// Where the bytes of an entry are.
#[derive(Debug)]
pub enum Content {
    /// In memory: sent together with the head.
    Memory(Box<[u8]>),
    /// In a memory file of our own: sent without a copy, and unaffected by what happens to the
    /// file.
    Snapshot(OwnedFd),
    /// In the file.
    Large(Box<LargeFile>),
}

/// How many samples tell a file that was added to from one that was written over.
const SAMPLES: usize = 8;
/// The length of a sample, in bytes.
const SAMPLE_BYTES: usize = 32;

type Samples = [[u8; SAMPLE_BYTES]; SAMPLES];

/// A file too large to copy.
#[derive(Debug)]
pub struct LargeFile {
    fd: OwnedFd,
    stamp: Stamp,
    samples: Samples,
}

impl LargeFile {
    /// Takes a file that has this stamp.
    pub fn new(fd: OwnedFd, stamp: Stamp) -> io::Result<LargeFile> {
        let samples = samples(fd.as_fd(), stamp.size)?;
        Ok(LargeFile { fd, stamp, samples })
    }

    /// The file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Whether what has been read of the file so far is of the version that its head announced.
    /// A file that has only grown is: what was announced still stands in it, as samples of it
    /// show. One that has shrunk, or was written over in place, is not.
    pub fn is_intact(&self) -> bool {
        let Ok(stat) = fs::fstat(&self.fd) else { return false };
        let now = Stamp::of(&stat);
        if (now.size, now.modified) == (self.stamp.size, self.stamp.modified) {
            return true;
        }
        now.size > self.stamp.size
            && samples(self.fd(), self.stamp.size).is_ok_and(|found| found == self.samples)
    }
}

/// Bytes from places spread evenly over the first `size` bytes, the first and last among them.
fn samples(file: BorrowedFd<'_>, size: u64) -> io::Result<Samples> {
    let mut samples = [[0; SAMPLE_BYTES]; SAMPLES];
    let span = size.saturating_sub(SAMPLE_BYTES as u64);
    for (index, sample) in samples.iter_mut().enumerate() {
        let offset = span / (SAMPLES as u64 - 1) * index as u64;
        rustix::io::pread(file, &mut sample[..], offset)?;
    }
    Ok(samples)
}

/// Reads a file of exactly `size` bytes; `None` if it has fewer.
pub fn read(file: BorrowedFd<'_>, size: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while filled < size {
        match rustix::io::pread(file, &mut bytes[filled..], filled as u64)? {
            0 => return Ok(None),
            count => filled += count,
        }
    }
    Ok(Some(bytes))
}

/// Copies a file of exactly `size` bytes to a memory file, where it begins at `start`; `None` if
/// it has fewer.
pub fn snapshot(file: BorrowedFd<'_>, size: u64, start: u64) -> io::Result<Option<OwnedFd>> {
    let copy = fs::memfd_create("serval", MemfdFlags::CLOEXEC)?;
    // sendfile(2) appends at the copy's own position.
    fs::seek(&copy, SeekFrom::Start(start))?;
    let mut offset = 0;
    while offset < size {
        let length = usize::try_from(size - offset).unwrap_or(usize::MAX);
        if fs::sendfile(&copy, file, Some(&mut offset), length)? == 0 {
            return Ok(None);
        }
    }
    Ok(Some(copy))
}
