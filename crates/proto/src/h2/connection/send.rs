//! Writing: heads at once, content by plan.

use super::{Connection, Draining, Key, Role};
use crate::h2::error::ErrorCode;
use crate::h2::frame::{HEAD_BYTES, PAYLOAD_BYTES_MIN, U31_MAX, write};
use crate::h2::hpack::{Encoder, literal};
use crate::method::Method;
use crate::status::Status;

/// The most memory that the output keeps when it is empty, in bytes.
const OUTPUT_BYTES_KEPT: usize = 64;

/// A header block that is being written.
#[derive(Debug)]
pub struct Block<'a> {
    out: &'a mut Vec<u8>,
    encoder: &'a mut Encoder,
}

impl Block<'_> {
    /// Appends `:status`.
    #[inline]
    pub fn status(&mut self, status: Status) {
        literal::status(status, self.out);
    }

    /// Appends fields that were encoded with [`literal`] before.
    #[inline]
    pub fn encoded(&mut self, fields: &[u8]) {
        self.out.extend_from_slice(fields);
    }

    /// Appends a field that this connection may remember. `name` is in lower case.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        self.encoder.field(name, value, self.out);
    }

    /// Where fields can be appended with [`literal`].
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }
}

/// What to send next: the head of a DATA frame was written, and so many bytes of this stream's
/// content have to follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The stream. Its key is stale if this was the end and the peer is done too.
    pub stream: Key,
    /// How many bytes, from where the plan before has ended.
    pub bytes: usize,
    /// Whether that is all of the content.
    pub is_end: bool,
}

impl Connection {
    /// Appends our own frames that wait; to be called after [`Connection::receive`] and
    /// [`Connection::check`].
    #[inline]
    pub fn take_output(&mut self, out: &mut Vec<u8>) {
        if !self.output.is_empty() {
            out.extend_from_slice(&self.output);
            self.output.clear();
            // An idle connection has no memory that it hardly ever uses.
            if self.output.capacity() > OUTPUT_BYTES_KEPT {
                self.output = Vec::new();
            }
        }
    }

    /// Whether some of our own frames wait.
    #[inline]
    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Appends a request. `None` if no stream can be opened now: all that the peer allows are, or
    /// the connection ends.
    pub fn request(
        &mut self,
        method: Method,
        is_end: bool,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Block<'_>),
    ) -> Option<Key> {
        let streams_max = self.peer_streams_max.min(self.limits.streams_max) as usize;
        let is_ending = self.peer_last.is_some() || self.draining != Draining::No;
        let has_room = self.streams.len() < streams_max && self.next_id <= U31_MAX;
        if self.role == Role::Server || is_ending || !has_room || self.failure.is_some() {
            return None;
        }
        let key = self.open(self.next_id);
        self.next_id += 2;
        if let Some(stream) = self.streams.at(key) {
            (stream.is_head_sent, stream.is_local_closed) = (true, is_end);
            // However long its response says it is.
            stream.is_bodiless = method == Method::Head;
        }
        self.block(key, is_end, out, write);
        Some(key)
    }

    /// Appends a response. False if the stream is gone, or has its response.
    #[inline]
    pub fn respond(
        &mut self,
        stream: Key,
        is_end: bool,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Block<'_>),
    ) -> bool {
        let Some(open) = self.streams.at(stream).filter(|open| !open.is_head_sent) else {
            return false;
        };
        (open.is_head_sent, open.is_local_closed) = (true, is_end);
        self.block(stream, is_end, out, write);
        if is_end {
            self.close_if_done(stream);
        }
        true
    }

    /// Appends an interim response (1xx). False if it is too late for one.
    pub fn interim(
        &mut self,
        stream: Key,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Block<'_>),
    ) -> bool {
        let is_early = self.streams.at(stream).is_some_and(|open| !open.is_head_sent);
        if is_early {
            self.block(stream, false, out, write);
        }
        is_early
    }

    /// Appends trailers, and with them the end. False if content has still to be sent, or an end
    /// was announced already.
    pub fn trailers(
        &mut self,
        stream: Key,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Block<'_>),
    ) -> bool {
        let is_ready = self.streams.at(stream).is_some_and(|open| {
            let is_open = open.is_head_sent && !open.is_local_closed;
            is_open && open.pending == 0 && !open.is_pending_end
        });
        if is_ready {
            self.block(stream, true, out, write);
            if let Some(open) = self.streams.at(stream) {
                open.is_local_closed = true;
            }
            self.close_if_done(stream);
        }
        is_ready
    }

    /// The caller has so many more bytes of content for a stream whose head was sent, and if
    /// `is_end` there will be no more than those. False if the stream is gone or has ended.
    #[inline]
    pub fn offer(&mut self, stream: Key, bytes: u64, is_end: bool) -> bool {
        let Some(open) = self.streams.at(stream) else { return false };
        if !open.is_head_sent || open.is_local_closed || open.is_pending_end {
            return false;
        }
        open.pending = open.pending.saturating_add(bytes);
        open.is_pending_end = is_end;
        if open.can_send() {
            self.schedule.add(stream.slot, &mut self.streams);
        }
        true
    }

    /// Whose content to send next, and how much of it. The frame's head is appended to `out`; the
    /// caller appends that much content, and asks again until there is no plan or its buffer is
    /// full. A plan, head included, takes no more than `room` bytes.
    #[inline]
    pub fn plan(&mut self, room: usize, out: &mut Vec<u8>) -> Option<Plan> {
        self.take_output(out);
        let slot = self.schedule.first()?;
        let stream = self.streams.slot(slot)?;
        let room = room.checked_sub(HEAD_BYTES)?.min(PAYLOAD_BYTES_MIN) as i64;
        let window = self.send_window.min(stream.send_window).max(0).min(room);
        let bytes = u64::min(stream.pending, window as u64);
        if bytes == 0 && stream.pending > 0 {
            return None;
        }
        stream.pending -= bytes;
        stream.send_window -= bytes as i64;
        self.send_window -= bytes as i64;
        self.sent_bytes += bytes;
        self.budgets.earn(bytes as usize);
        let key = Key { id: stream.id, slot };
        let is_end = stream.pending == 0 && stream.is_pending_end;
        let plan = Plan { stream: key, bytes: bytes as usize, is_end };
        write::data_head(key.id, plan.bytes, is_end, out);
        if is_end {
            stream.is_local_closed = true;
            stream.is_pending_end = false;
            self.schedule.remove(slot, &mut self.streams);
            self.close_if_done(key);
        } else if stream.can_send() {
            self.schedule.turn(slot, &mut self.streams);
        } else {
            self.schedule.remove(slot, &mut self.streams);
        }
        Some(plan)
    }

    /// Whether content could be sent if only there were room for it.
    pub fn has_plan(&mut self) -> bool {
        let window = self.send_window;
        let Some(slot) = self.schedule.first() else { return false };
        self.streams.slot(slot).is_some_and(|stream| stream.pending == 0 || window > 0)
    }

    /// Begins to end the connection in two steps (RFC 9113 §6.8): the peer is asked to open no
    /// more streams, those on their way are still taken, and then no more. A client just ends.
    pub fn drain(&mut self) {
        if self.draining != Draining::No || self.failure.is_some() {
            return;
        }
        if self.role == Role::Client {
            return self.finish_drain();
        }
        write::goaway(U31_MAX, ErrorCode::NO_ERROR, &mut self.output);
        // Its answer shows that the peer has heard.
        write::ping(b"draining", false, &mut self.output);
        self.draining = Draining::Announced(self.now_ms);
    }

    /// The second step.
    pub(super) fn finish_drain(&mut self) {
        self.draining = Draining::Last(self.last_peer_id);
        write::goaway(self.last_peer_id, ErrorCode::NO_ERROR, &mut self.output);
    }

    /// Appends a field section, behind all that waits.
    #[inline]
    fn block(
        &mut self,
        stream: Key,
        is_end: bool,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Block<'_>),
    ) {
        self.take_output(out);
        let encoder = &mut self.encoder;
        write::headers(stream.id, is_end, out, |out| {
            encoder.begin(out);
            write(&mut Block { out, encoder });
        });
    }
}
