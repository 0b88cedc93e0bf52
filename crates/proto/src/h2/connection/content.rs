//! Content that comes: checked against the windows and against what was announced, and handed on
//! as it arrives.

use super::budget::Waste;
use super::receive::{Happening, Step};
use super::{Arriving, Closed, Connection, Draining, Key};
use crate::h2::error::{ErrorCode, Fault};
use crate::h2::frame::{HEAD_BYTES, Head, data_padding, flag};

impl Connection {
    /// A DATA frame begins. Its payload need not have come.
    pub(super) fn data<'a>(
        &mut self,
        head: &Head,
        input: &mut &'a [u8],
    ) -> Result<Step<'a>, Fault> {
        if head.stream == 0 || self.is_idle(head.stream) {
            return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
        }
        let mut before = 0;
        let mut padding = 0;
        if head.has(flag::PADDED) {
            if head.length == 0 {
                return Err(Fault::Connection(ErrorCode::FRAME_SIZE_ERROR));
            }
            let Some(first) = input.get(HEAD_BYTES) else { return Ok(Step::Stuck) };
            (before, padding) = data_padding(head, *first)?;
        }
        *input = input.get(HEAD_BYTES + before..).unwrap_or_default();

        // The whole payload counts (RFC 9113 §6.9.1).
        self.receive_window -= head.length as i64;
        if self.receive_window < 0 {
            return Err(Fault::Connection(ErrorCode::FLOW_CONTROL_ERROR));
        }
        let is_end = head.has(flag::END_STREAM);
        let content = head.length - before - padding;
        if content == 0 && !is_end {
            self.spend(Waste::EmptyFrame)?;
        }
        let mut arriving =
            Arriving { stream: None, content_left: content, padding_left: padding, is_end };
        match self.accept(head, content, is_end)? {
            Ok(key) => {
                arriving.stream = Some(key);
                self.release(key, before + padding);
                Ok(self.content_piece(arriving, input))
            }
            Err(code) => {
                // Nobody takes it, so that there is room for as much again.
                self.release_connection(head.length);
                self.arriving = Some(arriving);
                match code {
                    Some(code) => self.stream_fault(head.stream, code),
                    None => Ok(Step::Again),
                }
            }
        }
    }

    /// The stream that takes the content; or else what its sender is told, if anything.
    fn accept(
        &mut self,
        head: &Head,
        content: usize,
        is_end: bool,
    ) -> Result<Result<Key, Option<ErrorCode>>, Fault> {
        let Some(key) = self.streams.find(head.stream) else {
            let is_beyond_last = match self.draining {
                Draining::Last(last) => head.stream > last,
                _ => false,
            };
            if is_beyond_last || self.closed(head.stream) == Some(Closed::ByUs) {
                self.spend_if_empty(head)?;
                return Ok(Err(None));
            }
            return Ok(Err(Some(ErrorCode::STREAM_CLOSED)));
        };
        let Some(stream) = self.streams.at(key) else { return Ok(Err(None)) };
        if stream.is_remote_closed {
            return Ok(Err(Some(ErrorCode::STREAM_CLOSED)));
        }
        stream.receive_window -= head.length as i64;
        if stream.receive_window < 0 {
            return Ok(Err(Some(ErrorCode::FLOW_CONTROL_ERROR)));
        }
        let left = match stream.expected {
            Some(left) => left.checked_sub(content as u64),
            None => Some(0),
        };
        let is_right = match left {
            Some(left) => !is_end || left == 0 || stream.expected.is_none(),
            None => false,
        };
        if !is_right || !stream.is_head_received {
            return Ok(Err(Some(ErrorCode::PROTOCOL_ERROR)));
        }
        if stream.expected.is_some() {
            stream.expected = left;
        }
        Ok(Ok(key))
    }

    fn spend_if_empty(&mut self, head: &Head) -> Result<(), Fault> {
        if head.length == 0 { self.spend(Waste::EmptyFrame) } else { Ok(()) }
    }

    /// Takes what has come of a DATA frame.
    pub(super) fn content_piece<'a>(
        &mut self,
        mut arriving: Arriving,
        input: &mut &'a [u8],
    ) -> Step<'a> {
        let length = arriving.content_left.min(input.len());
        let (bytes, rest) = input.split_at(length);
        arriving.content_left -= length;
        let is_all = arriving.content_left == 0;
        let padding = if is_all { arriving.padding_left.min(rest.len()) } else { 0 };
        *input = rest.get(padding..).unwrap_or_default();
        arriving.padding_left -= padding;

        let key = arriving.stream.filter(|key| self.is_open(*key));
        if key.is_none() && arriving.stream.is_some() {
            // The caller has ended the stream meanwhile, and releases no more of it.
            self.release_connection(length);
        }
        let is_end = is_all && arriving.is_end;
        // The end is told once, though padding may still come.
        arriving.is_end &= !is_end;
        let is_over = is_all && arriving.padding_left == 0;
        self.arriving = (!is_over).then_some(arriving);
        let Some(stream) = key.filter(|_| length > 0 || is_end) else {
            let is_stuck = input.is_empty() && self.arriving.is_some();
            return if is_stuck { Step::Stuck } else { Step::Again };
        };
        if is_end {
            if let Some(stream) = self.streams.at(stream) {
                stream.is_remote_closed = true;
            }
            self.close_if_done(stream);
        }
        Step::Happened(Happening::Content { stream, bytes, is_end })
    }
}
