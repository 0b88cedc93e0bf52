//! Answers on their way out: runs of bytes and parts of files, in order, and how far the socket
//! has taken them.
//!
//! Heads and small bodies are gathered in one buffer, so that any number of pipelined answers
//! leaves in one write. Larger bodies stay where they are.

use crate::files::content::Content;
use crate::files::view::Held;
use crate::response::{Response, Segment};
use serval_net::stream::Stream;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll, ready};

/// Bodies in memory up to this size are copied behind their head; writing a larger one from where
/// it is costs less than the copy.
const COPY_BYTES_MAX: u64 = 4 << 10;

/// How much of a file is handed to the kernel at a time.
const FILE_CHUNK_BYTES: u64 = 1 << 20;

/// How much of a large file is copied at a time.
const LARGE_CHUNK_BYTES: usize = 128 << 10;

thread_local! {
    /// Where pieces of large files are copied to on their way. Sent by reference, pages of the
    /// file would go on changing until the client has read them: a file that is cut short has
    /// zeros written into them.
    static LARGE_CHUNK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How many runs of bytes one write gathers.
const SLICES_MAX: usize = 32;

/// What is to be written.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    /// How much of `bytes` is written.
    bytes_written: usize,
    pieces: VecDeque<Piece>,
    /// Whether the stream has taken all of it and still holds some.
    is_held: bool,
    queued: u64,
    written: u64,
}

#[derive(Debug)]
enum Piece {
    /// `bytes` from the end of the piece before up to here.
    Bytes(usize),
    /// Part of a file.
    File(Held, Range<u64>),
    /// What is left of a head and a file in a copy that holds both, and which head it is.
    Prefixed(Held, Range<u64>, i64),
}

impl Outbox {
    /// Whether all is written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && !self.is_held
    }

    /// How many bytes wait.
    #[inline]
    pub fn backlog(&self) -> usize {
        usize::try_from(self.queued - self.written).unwrap_or(usize::MAX)
    }

    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.pieces.clear();
        (self.bytes_written, self.queued, self.written) = (0, 0, 0);
        self.is_held = false;
    }

    /// Takes everything out, and leaves an empty one that keeps the memory if it was empty.
    pub fn take(&mut self) -> Outbox {
        if self.is_empty() { Outbox::default() } else { std::mem::take(self) }
    }

    /// How many bytes were ever queued.
    #[inline]
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// How many bytes the socket has taken.
    #[inline]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Lets `write` append to the bytes.
    #[inline]
    pub fn push_bytes(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let end = self.bytes.len();
        if end == start {
            return;
        }
        self.queued += (end - start) as u64;
        match self.pieces.back_mut() {
            Some(Piece::Bytes(last)) => *last = end,
            _ => self.pieces.push_back(Piece::Bytes(end)),
        }
    }

    /// Queues a response's body.
    #[inline]
    pub fn push_body(&mut self, response: &Response) {
        for segment in response.body() {
            match (segment, response.entry()) {
                (Segment::Own(range), _) => {
                    self.push_bytes(|bytes| bytes.extend_from_slice(response.own(range)));
                }
                (Segment::File(range), Some(entry)) => self.push_file(entry, range),
                (Segment::File(_), None) => {}
            }
        }
    }

    /// Queues a head and a whole file that lie in one copy.
    #[inline]
    pub fn push_prefixed(&mut self, entry: Held, range: Range<u64>, second: i64) {
        self.queued += range.end - range.start;
        self.pieces.push_back(Piece::Prefixed(entry, range, second));
    }

    #[inline]
    fn push_file(&mut self, entry: &Held, range: &Range<u64>) {
        let length = range.end - range.start;
        if length <= COPY_BYTES_MAX
            && let Some(slice) = memory(entry, range)
        {
            return self.push_bytes(|bytes| bytes.extend_from_slice(slice));
        }
        self.queued += length;
        self.pieces.push_back(Piece::File(entry.clone(), range.clone()));
    }

    /// Writes until all is written or the socket takes no more. An error means that the answer
    /// cannot be completed and the connection must close.
    #[inline]
    pub fn poll_flush(&mut self, cx: &mut Context<'_>, stream: &Stream) -> Poll<io::Result<()>> {
        while let Some(first) = self.pieces.front() {
            let count = match first {
                Piece::Bytes(end) if self.pieces.len() == 1 => {
                    let bytes = self.bytes.get(self.bytes_written..*end).unwrap_or_default();
                    ready!(stream.poll_write(cx, bytes, false))?
                }
                Piece::File(entry, range) if memory(entry, range).is_none() => {
                    ready!(poll_file(cx, stream, entry, range))?
                }
                Piece::Prefixed(entry, range, second) => {
                    let send = |fd: BorrowedFd<'_>| {
                        stream.poll_send_file(cx, fd, range.start, chunk(range))
                    };
                    match entry.send_prefixed(range, *second, send) {
                        Some(sent) => ready!(sent)?,
                        // Half a head is out, and the other half has been replaced.
                        None => return Poll::Ready(abort(stream)),
                    }
                }
                _ => ready!(self.poll_gathered(cx, stream))?,
            };
            self.advance(count);
        }
        self.bytes.clear();
        self.bytes_written = 0;
        let flushed = stream.poll_flush(cx)?;
        self.is_held = flushed.is_pending();
        flushed.map(Ok)
    }

    /// Writes as many runs of bytes as stand at the front.
    fn poll_gathered(&self, cx: &mut Context<'_>, stream: &Stream) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let mut count = 0;
        let mut start = self.bytes_written;
        let mut more = false;
        for piece in &self.pieces {
            let slice = match piece {
                Piece::Bytes(end) => {
                    let bytes = self.bytes.get(start..*end).unwrap_or_default();
                    start = *end;
                    bytes
                }
                Piece::File(entry, range) => match memory(entry, range) {
                    Some(bytes) => bytes,
                    None => {
                        more = true;
                        break;
                    }
                },
                Piece::Prefixed(..) => break,
            };
            let Some(place) = slices.get_mut(count) else { break };
            *place = IoSlice::new(slice);
            count += 1;
        }
        match slices.get(..count).unwrap_or_default() {
            [slice] => stream.poll_write(cx, slice, more),
            slices => stream.poll_write_vectored(cx, slices, more),
        }
    }

    /// Takes note that the socket took `count` bytes.
    fn advance(&mut self, count: usize) {
        self.written += count as u64;
        let mut left = count;
        while left > 0
            && let Some(first) = self.pieces.front_mut()
        {
            let (taken, is_done) = match first {
                Piece::Bytes(end) => {
                    let taken = left.min(*end - self.bytes_written);
                    self.bytes_written += taken;
                    (taken, self.bytes_written == *end)
                }
                Piece::File(_, range) | Piece::Prefixed(_, range, _) => {
                    let taken = left.min((range.end - range.start) as usize);
                    range.start += taken as u64;
                    (taken, range.start == range.end)
                }
            };
            left -= taken;
            if is_done {
                self.pieces.pop_front();
            }
        }
    }
}

/// The bytes of a file that is kept in memory.
#[inline]
fn memory<'a>(entry: &'a Held, range: &Range<u64>) -> Option<&'a [u8]> {
    match entry.file()?.content() {
        Content::Memory(bytes) => bytes.get(range.start as usize..range.end as usize),
        _ => None,
    }
}

/// How much of what is left to hand to the kernel at once.
#[inline]
fn chunk(left: &Range<u64>) -> usize {
    (left.end - left.start).min(FILE_CHUNK_BYTES) as usize
}

/// Gives an answer up: the connection will end with a reset.
#[cold]
fn abort(stream: &Stream) -> io::Result<()> {
    stream.reset_on_close()?;
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// Sends part of a file. A file that is not what its head announced any more ends the connection:
/// with a reset, because what the client has got must not look like the whole.
fn poll_file(
    cx: &mut Context<'_>,
    stream: &Stream,
    entry: &Held,
    range: &Range<u64>,
) -> Poll<io::Result<usize>> {
    let length = chunk(range);
    match entry.file().map(|file| file.content()) {
        Some(Content::Snapshot(copy)) => {
            stream.poll_send_file(cx, copy.as_fd(), range.start, length)
        }
        Some(Content::Large(file)) => LARGE_CHUNK.with_borrow_mut(|buffer| {
            buffer.resize(LARGE_CHUNK_BYTES, 0);
            let buffer = buffer.get_mut(..length.min(LARGE_CHUNK_BYTES)).unwrap_or_default();
            let count = rustix::io::pread(file.fd(), &mut *buffer, range.start)?;
            if count == 0 || !file.is_intact() {
                entry.kill();
                return Poll::Ready(abort(stream).map(|()| 0));
            }
            stream.poll_write(cx, buffer.get(..count).unwrap_or_default(), false)
        }),
        Some(Content::Memory(_)) | None => Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
    }
}
