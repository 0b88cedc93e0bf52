//! An entry: what a path leads to, with all that can be decided once decided.
//!
//! The field lines of its answers are written when it is made. They are laid out so that the
//! answers to conditional and range requests are slices of the whole: see [`FileEntry::fields`].

use super::cache::Charge;
use super::content::{Content, Stamp};
use serval_proto::conditional::Validators;
use serval_proto::etag::EntityTag;
use serval_proto::h1::write;
use serval_proto::{date, media_type};
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a path leads to.
#[derive(Debug)]
pub struct Entry {
    path: Box<[u8]>,
    kind: Kind,
    charge: Charge,
    /// For how long it may be used without asking the file system, in milliseconds.
    fresh_for_ms: u64,
    /// When the file system has to be asked again, in milliseconds of the monotonic clock.
    recheck_at_ms: AtomicU64,
    alive: AtomicBool,
    used: AtomicBool,
}

/// The kinds of thing that a path can lead to.
#[derive(Debug)]
pub enum Kind {
    /// A regular file, or a folder's index file.
    File(FileEntry),
    /// A folder that was asked for without its slash.
    Folder,
    /// Nothing that may be shown.
    Missing,
    /// Something that this process may not read.
    Forbidden,
}

impl Entry {
    /// An entry for `path`, fresh from `now_ms` on.
    pub fn new(path: &[u8], kind: Kind, charge: Charge, now_ms: u64, fresh_for_ms: u64) -> Entry {
        Entry {
            path: path.into(),
            kind,
            charge,
            fresh_for_ms,
            recheck_at_ms: AtomicU64::new(now_ms + fresh_for_ms),
            alive: AtomicBool::new(true),
            used: AtomicBool::new(false),
        }
    }

    /// The canonical path.
    #[inline]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// What the path leads to.
    #[inline]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What the entry takes of the cache's budget.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }

    /// The file, where the path leads to one.
    #[inline]
    pub fn file(&self) -> Option<&FileEntry> {
        match &self.kind {
            Kind::File(file) => Some(file),
            _ => None,
        }
    }

    /// Whether it can be served without asking anybody.
    #[inline]
    pub fn is_fresh(&self, now_ms: u64) -> bool {
        self.is_alive() && now_ms < self.recheck_at_ms.load(Ordering::Relaxed)
    }

    /// Whether nothing has been heard that makes it wrong.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Makes it wrong for everybody, for good. False if it was already.
    pub fn kill(&self) -> bool {
        self.alive.swap(false, Ordering::AcqRel)
    }

    /// Takes note that the file system was asked and all is as it was.
    pub fn refresh(&self, now_ms: u64) {
        self.recheck_at_ms.store(now_ms + self.fresh_for_ms, Ordering::Relaxed);
    }

    /// Has the file system asked at the next use.
    pub fn expire(&self) {
        self.recheck_at_ms.store(0, Ordering::Relaxed);
    }

    /// Takes note of a use. Written only when it changes something, so that workers who serve the
    /// same entry do not contend for it.
    #[inline]
    pub fn touch(&self) {
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was used since this was last asked.
    pub fn take_used(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }
}

/// A regular file and the field lines of its answers.
#[derive(Debug)]
pub struct FileEntry {
    stamp: Stamp,
    content: Content,
    media_type: &'static str,
    etag: Box<[u8]>,
    block: Box<[u8]>,
    type_end: u16,
    validators: Range<u16>,
    partial_end: u16,
}

/// Which of a file's field lines an answer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSet {
    /// All: the answer is the whole file.
    Whole,
    /// Only the validators: the answer is 304.
    Validators,
    /// All but the length, which depends on the part: the answer is 206 with one part.
    Part,
    /// All but length and media type: the answer is 206 with several parts.
    Parts,
    /// None: the answer has field lines of its own.
    None,
}

impl FileEntry {
    /// A file called `name` of that version. Its lines are written here, once.
    pub fn new(name: &[u8], stamp: Stamp, content: Content) -> FileEntry {
        let media_type = media_type::of(name);
        let mut etag = Vec::with_capacity(40);
        let (seconds, nanoseconds) = stamp.modified;
        let stamped = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        let _ = write!(etag, "{:x}-{:x}-{:x}", stamp.identity.1, stamped, stamp.size);

        let mut block = Vec::with_capacity(256);
        write::field("Content-Type", media_type.as_bytes(), &mut block);
        let type_end = block.len() as u16;
        write::field("X-Content-Type-Options", b"nosniff", &mut block);
        let validators_start = block.len() as u16;
        write::field("Last-Modified", &date::format(seconds), &mut block);
        write::field("ETag", &[b"\"", &etag[..], b"\""].concat(), &mut block);
        let validators = validators_start..block.len() as u16;
        write::field("Accept-Ranges", b"bytes", &mut block);
        let partial_end = block.len() as u16;
        write::number_field("Content-Length", stamp.size, &mut block);
        FileEntry {
            stamp,
            content,
            media_type,
            etag: etag.into(),
            block: block.into(),
            type_end,
            validators,
            partial_end,
        }
    }

    /// The version of the file.
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// In bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        self.stamp.size
    }

    /// Where its bytes are.
    #[inline]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The value of its `Content-Type`.
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// What preconditions are held against (RFC 9110 §8.8).
    pub fn validators(&self) -> Validators<'_> {
        Validators {
            etag: Some(EntityTag { weak: false, opaque: &self.etag }),
            last_modified: Some(self.stamp.modified.0),
        }
    }

    /// The field lines for an answer, each with its CRLF.
    #[inline]
    pub fn fields(&self, set: FieldSet) -> &[u8] {
        let range = match set {
            FieldSet::Whole => 0..self.block.len(),
            FieldSet::Validators => self.validators.start.into()..self.validators.end.into(),
            FieldSet::Part => 0..self.partial_end.into(),
            FieldSet::Parts => self.type_end.into()..self.partial_end.into(),
            FieldSet::None => 0..0,
        };
        self.block.get(range).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_gets_its_slice_of_the_lines() {
        let stamp =
            Stamp { identity: (1, 0xab), size: 3, modified: (1_700_000_000, 5), changed: (0, 0) };
        let file = FileEntry::new(b"a.html", stamp, Content::Memory((*b"abc").into()));
        let lines = |set| {
            let text = String::from_utf8(file.fields(set).to_vec()).unwrap();
            text.lines().map(|l| l.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all = lines(FieldSet::Whole);
        assert_eq!(all.first().unwrap(), "Content-Type");
        assert_eq!(all.last().unwrap(), "Content-Length");
        assert_eq!(lines(FieldSet::Validators), ["Last-Modified", "ETag"]);
        assert_eq!(lines(FieldSet::Part), all[..all.len() - 1]);
        assert_eq!(lines(FieldSet::Parts), all[1..all.len() - 1]);
        let text = String::from_utf8_lossy(file.fields(FieldSet::Whole));
        assert!(text.contains("ETag: \"ab-17979cfe362a0005-3\"\r\n"), "{text}");
        assert!(text.contains("Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n"), "{text}");
    }
}
