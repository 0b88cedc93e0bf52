//! Field sections: their frames put together, decoded, and given to their stream.

use super::budget::Waste;
use super::receive::{Happening, Step};
use super::{Assembly, Closed, Connection, Draining, Event, Key, Role};
use crate::field::Name;
use crate::h2::error::{ErrorCode, Fault};
use crate::h2::frame::{Head, flag, write};
use crate::h2::hpack::Failure;
use crate::h2::message;
use crate::h2::priority::Priority;
use crate::h2::section::Section;

const PROTOCOL: Fault = Fault::Connection(ErrorCode::PROTOCOL_ERROR);
const CALM: Fault = Fault::Connection(ErrorCode::ENHANCE_YOUR_CALM);

impl Connection {
    #[inline]
    pub(super) fn headers<'a>(
        &mut self,
        head: &Head,
        block: &[u8],
        section: &mut Section,
    ) -> Result<Step<'a>, Fault> {
        let is_end = head.has(flag::END_STREAM);
        if block.len() > self.limits.block_bytes_max {
            return Err(CALM);
        }
        if head.has(flag::END_HEADERS) {
            return self.section(head.stream, is_end, block, section);
        }
        if block.is_empty() {
            self.spend(Waste::EmptyFrame)?;
        }
        self.assembly = Some(Box::new(Assembly {
            stream: head.stream,
            is_end,
            block: block.to_vec(),
            continuations: 0,
            start_ms: self.now_ms,
        }));
        Ok(Step::Again)
    }

    pub(super) fn continuation<'a>(
        &mut self,
        head: &Head,
        block: &[u8],
        section: &mut Section,
    ) -> Result<Step<'a>, Fault> {
        let (block_bytes_max, frames_max) =
            (self.limits.block_bytes_max, self.limits.continuations_max);
        if block.is_empty() {
            self.spend(Waste::EmptyFrame)?;
        }
        let Some(mut assembly) = self.assembly.take() else { return Err(PROTOCOL) };
        assembly.continuations += 1;
        let length = assembly.block.len() + block.len();
        if length > block_bytes_max || assembly.continuations > frames_max {
            return Err(CALM);
        }
        assembly.block.reserve_exact(block.len());
        assembly.block.extend_from_slice(block);
        if !head.has(flag::END_HEADERS) {
            self.assembly = Some(assembly);
            return Ok(Step::Again);
        }
        self.section(assembly.stream, assembly.is_end, &assembly.block, section)
    }

    /// A whole block. It is decoded whatever becomes of its stream: the tables have to stay alike.
    #[inline]
    fn section<'a>(
        &mut self,
        id: u32,
        is_end: bool,
        block: &[u8],
        section: &mut Section,
    ) -> Result<Step<'a>, Fault> {
        match self.decoder.decode(block, &self.limits.section, section) {
            Ok(()) => {}
            Err(Failure::Undecodable) => {
                return Err(Fault::Connection(ErrorCode::COMPRESSION_ERROR));
            }
            Err(Failure::Bomb) => return Err(CALM),
        }
        if self.role == Role::Server && id > self.last_peer_id {
            return self.new_stream(id, is_end);
        }
        let Some(key) = self.streams.find(id) else { return self.late_section(id) };
        let Some(stream) = self.streams.at(key) else { return Ok(Step::Again) };
        if stream.is_remote_closed {
            return self.stream_fault(id, ErrorCode::STREAM_CLOSED);
        }
        if !stream.is_head_received {
            stream.is_remote_closed = is_end;
            return Ok(Step::Happened(Happening::Head { stream: key, is_end }));
        }
        // Trailers end the stream, and all that was announced has come (RFC 9113 §8.1).
        if !is_end || stream.expected.is_some_and(|left| left > 0) {
            return self.stream_fault(id, ErrorCode::PROTOCOL_ERROR);
        }
        stream.is_remote_closed = true;
        Ok(Step::Happened(Happening::Trailers { stream: key }))
    }

    #[inline]
    fn new_stream<'a>(&mut self, id: u32, is_end: bool) -> Result<Step<'a>, Fault> {
        if id.is_multiple_of(2) {
            return Err(PROTOCOL);
        }
        self.last_peer_id = id;
        if matches!(self.draining, Draining::Last(_)) {
            // The peer knows, or will, that nothing becomes of it (RFC 9113 §6.8).
            return Ok(Step::Again);
        }
        if self.streams.len() >= self.limits.streams_max as usize {
            return self.stream_fault(id, ErrorCode::REFUSED_STREAM);
        }
        let key = self.open(id);
        if let Some(stream) = self.streams.at(key) {
            stream.is_remote_closed = is_end;
        }
        Ok(Step::Happened(Happening::Head { stream: key, is_end }))
    }

    /// A section for a stream that is not open.
    fn late_section<'a>(&mut self, id: u32) -> Result<Step<'a>, Fault> {
        if let Draining::Last(last) = self.draining
            && self.role == Role::Server
            && id > last
        {
            return Ok(Step::Again);
        }
        match self.closed(id) {
            // It crossed our reset on its way.
            Some(Closed::ByUs) => {
                self.spend(Waste::EmptyFrame)?;
                Ok(Step::Again)
            }
            Some(Closed::ByPeer) => Err(Fault::Connection(ErrorCode::STREAM_CLOSED)),
            None => Err(PROTOCOL),
        }
    }

    /// A request's head, unless it is malformed.
    #[inline]
    pub(super) fn request_event<'a>(
        &mut self,
        key: Key,
        is_end: bool,
        section: &'a Section,
    ) -> Option<Event<'a>> {
        let request = message::request(section)?;
        if is_end && request.content_length.is_some_and(|length| length > 0) {
            return None;
        }
        let said = request.fields.get(Name::Priority).map(Priority::parse);
        let priority = self.early_priority(key.id).or(said);
        let stream = self.streams.at(key)?;
        stream.is_head_received = true;
        stream.expected = request.content_length;
        if let Some(priority) = priority {
            (stream.priority, stream.is_signalled) = (priority, true);
        }
        Some(Event::Request { stream: key, request, is_end })
    }

    /// A response's head, unless it is malformed.
    pub(super) fn response_event<'a>(
        &mut self,
        key: Key,
        is_end: bool,
        section: &'a Section,
    ) -> Option<Event<'a>> {
        let response = message::response(section)?;
        let is_interim = response.status.0 < 200;
        let stream = self.streams.at(key)?;
        if is_interim {
            return (!is_end).then_some(Event::Response { stream: key, response, is_end });
        }
        stream.is_head_received = true;
        let has_content = !stream.is_bodiless && !response.status.is_bodiless();
        stream.expected = if has_content { response.content_length } else { Some(0) };
        if is_end && stream.expected.is_some_and(|length| length > 0) {
            return None;
        }
        self.close_if_done(key);
        Some(Event::Response { stream: key, response, is_end })
    }

    /// What PRIORITY_UPDATE said before the request came; it outweighs the field.
    #[inline]
    fn early_priority(&mut self, id: u32) -> Option<Priority> {
        if self.early_priorities.is_empty() {
            return None;
        }
        let found = self.early_priorities.iter().find(|(early, _)| *early == id);
        let priority = found.map(|(_, priority)| *priority);
        // Those of streams that were skipped will not come either.
        self.early_priorities.retain(|(early, _)| *early > id);
        priority
    }

    /// Ends a stream before its time. The caller hears no more of it.
    pub fn reset(&mut self, stream: Key, code: ErrorCode) {
        if self.streams.at(stream).is_some() {
            write::rst_stream(stream.id, code, &mut self.output);
            self.close(stream, Closed::ByUs);
        }
    }
}
