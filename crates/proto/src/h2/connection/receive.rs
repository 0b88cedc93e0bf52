//! Reading: frame by frame, and what each of them means now.

use super::budget::Waste;
use super::{Closed, Connection, Draining, EARLY_PRIORITIES_MAX, Event, Key, Role};
use crate::h2::error::{ErrorCode, Fault};
use crate::h2::frame::{
    Frame, HEAD_BYTES, Head, Kind, PAYLOAD_BYTES_MIN, PREFACE, Settings, flag, write,
};
use crate::h2::message;
use crate::h2::priority::Priority;
use crate::h2::section::Section;

/// How far a step came.
pub(super) enum Step<'a> {
    /// More input is needed.
    Stuck,
    /// A frame was dealt with that nobody else has to know of.
    Again,
    /// Something came that the caller has to know of.
    Happened(Happening<'a>),
}

/// An event, before what it says is read from the section.
#[derive(Clone, Copy)]
pub(super) enum Happening<'a> {
    Head { stream: Key, is_end: bool },
    Trailers { stream: Key },
    Content { stream: Key, bytes: &'a [u8], is_end: bool },
    Reset { stream: Key, code: ErrorCode, by_peer: bool },
    GoAway { last: u32, code: ErrorCode },
}

impl Connection {
    /// Takes bytes from the front of `input` until something has happened; `None` when more has to
    /// come. The rest of `input` has to be there again then, at most
    /// [`Connection::INPUT_BYTES_MAX`]. `now_ms` is the caller's clock.
    ///
    /// # Errors
    ///
    /// The connection has failed. What waits in the output tells the peer why.
    pub fn receive<'a, 'i: 'a>(
        &mut self,
        input: &mut &'i [u8],
        now_ms: u64,
        section: &'a mut Section,
    ) -> Result<Option<Event<'a>>, ErrorCode> {
        if let Some(code) = self.failure {
            return Err(code);
        }
        self.now_ms = now_ms;
        let happening = loop {
            match self.step(input, section) {
                Ok(Step::Stuck) => return Ok(None),
                Ok(Step::Again) => {}
                Ok(Step::Happened(happening)) => break happening,
                // A step has dealt with what ends only a stream.
                Err(Fault::Connection(code) | Fault::Stream(code)) => {
                    return Err(self.fail(code));
                }
            }
            if self.output.len() > self.limits.output_bytes_max {
                return Err(self.fail(ErrorCode::ENHANCE_YOUR_CALM));
            }
        };
        self.event(happening, section)
    }

    /// The most bytes that [`Connection::receive`] leaves in its input.
    pub const INPUT_BYTES_MAX: usize = HEAD_BYTES + PAYLOAD_BYTES_MIN;

    #[inline]
    fn step<'a>(&mut self, input: &mut &'a [u8], section: &mut Section) -> Result<Step<'a>, Fault> {
        if self.preface_left > 0 {
            return self.preface(input);
        }
        if let Some(arriving) = self.arriving {
            return Ok(self.content_piece(arriving, input));
        }
        let Some(head) = Head::parse(input) else { return Ok(Step::Stuck) };
        self.check_head(&head)?;
        if head.kind == Kind::DATA {
            return self.data(&head, input);
        }
        let Some((frame, rest)) = input.split_at_checked(HEAD_BYTES + head.length) else {
            return Ok(Step::Stuck);
        };
        *input = rest;
        let payload = frame.get(HEAD_BYTES..).unwrap_or_default();
        let handled =
            Frame::parse(&head, payload).and_then(|frame| self.frame(&head, frame, section));
        match handled {
            Err(Fault::Stream(code)) => self.stream_fault(head.stream, code),
            handled => handled,
        }
    }

    fn preface<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, Fault> {
        let wanted = PREFACE.get(PREFACE.len() - self.preface_left..).unwrap_or_default();
        let length = wanted.len().min(input.len());
        let (come, rest) = input.split_at(length);
        if !wanted.starts_with(come) {
            return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
        }
        *input = rest;
        self.preface_left -= length;
        Ok(if self.preface_left == 0 { Step::Again } else { Step::Stuck })
    }

    /// What must hold before a frame's payload is looked at.
    #[inline]
    fn check_head(&self, head: &Head) -> Result<(), Fault> {
        if head.length > PAYLOAD_BYTES_MIN {
            return Err(Fault::Connection(ErrorCode::FRAME_SIZE_ERROR));
        }
        // Settings come first (RFC 9113 §3.4), and nothing comes into a field section (§6.10).
        let is_in_order = match &self.assembly {
            Some(assembly) => head.kind == Kind::CONTINUATION && head.stream == assembly.stream,
            None if !self.has_settings => head.kind == Kind::SETTINGS && !head.has(flag::ACK),
            None => head.kind != Kind::CONTINUATION,
        };
        if is_in_order { Ok(()) } else { Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR)) }
    }

    #[inline]
    fn frame<'a>(
        &mut self,
        head: &Head,
        frame: Frame<'_>,
        section: &mut Section,
    ) -> Result<Step<'a>, Fault> {
        match frame {
            Frame::Headers(block) => return self.headers(head, block, section),
            Frame::Continuation(block) => return self.continuation(head, block, section),
            Frame::RstStream(code) => return self.rst_stream(head.stream, code),
            Frame::GoAway { last, code } => {
                self.peer_last = Some(last);
                return Ok(Step::Happened(Happening::GoAway { last, code }));
            }
            Frame::Priority => self.spend(Waste::Priority)?,
            Frame::PriorityUpdate { stream, value } => self.priority_update(stream, value)?,
            Frame::Settings(settings) => self.settings(settings)?,
            Frame::SettingsAck => self.is_acknowledged = true,
            Frame::Ping(data) => {
                self.spend(Waste::Ping)?;
                write::ping(&data, true, &mut self.output);
            }
            Frame::PingAck(_) => {
                self.spend(Waste::Ping)?;
                if matches!(self.draining, Draining::Announced(_)) {
                    self.finish_drain();
                }
            }
            Frame::WindowUpdate(increment) => self.window_update(head.stream, increment)?,
            Frame::Unknown => self.spend(Waste::UnknownFrame)?,
            // We allow no push, and content went another way.
            Frame::PushPromise | Frame::Data(_) => {
                return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
            }
        }
        Ok(Step::Again)
    }

    fn settings(&mut self, settings: Settings<'_>) -> Result<(), Fault> {
        self.spend(Waste::Settings)?;
        self.has_settings = true;
        for (setting, value) in settings.iter() {
            match setting {
                Settings::HEADER_TABLE_SIZE => self.encoder.set_table_size_max(value as usize),
                Settings::INITIAL_WINDOW_SIZE => self.peer_window_changes(value)?,
                Settings::MAX_CONCURRENT_STREAMS => self.peer_streams_max = value,
                Settings::ENABLE_PUSH if value == 1 && self.role == Role::Client => {
                    return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
                }
                _ => {}
            }
        }
        write::settings_ack(&mut self.output);
        Ok(())
    }

    fn rst_stream<'a>(&mut self, id: u32, code: ErrorCode) -> Result<Step<'a>, Fault> {
        if self.is_idle(id) {
            return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
        }
        self.spend(Waste::ResetReceived)?;
        let Some(stream) = self.streams.find(id) else { return Ok(Step::Again) };
        self.close(stream, Closed::ByPeer);
        Ok(Step::Happened(Happening::Reset { stream, code, by_peer: true }))
    }

    fn priority_update(&mut self, id: u32, value: &[u8]) -> Result<(), Fault> {
        if self.role == Role::Client || id.is_multiple_of(2) {
            return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
        }
        self.spend(Waste::Priority)?;
        let priority = Priority::parse(value);
        if let Some(key) = self.streams.find(id) {
            self.prioritise(key, priority);
        } else if self.is_idle(id) {
            // It may come before the request (RFC 9218 §7.1).
            self.early_priorities.retain(|(early, _)| *early != id);
            if self.early_priorities.len() < EARLY_PRIORITIES_MAX {
                self.early_priorities.push((id, priority));
            }
        }
        Ok(())
    }

    /// Gives a stream another priority.
    pub(super) fn prioritise(&mut self, key: Key, priority: Priority) {
        let Some(stream) = self.streams.at(key) else { return };
        let is_ready = stream.is_ready;
        self.schedule.remove(key.slot, &mut self.streams);
        if let Some(stream) = self.streams.at(key) {
            (stream.priority, stream.is_signalled) = (priority, true);
        }
        if is_ready {
            self.schedule.add(key.slot, &mut self.streams);
        }
    }

    /// Ends a stream because of what the peer sent on it.
    pub(super) fn stream_fault<'a>(&mut self, id: u32, code: ErrorCode) -> Result<Step<'a>, Fault> {
        if id == 0 || self.is_idle(id) {
            return Err(Fault::Connection(code));
        }
        self.spend(Waste::ResetProvoked)?;
        write::rst_stream(id, code, &mut self.output);
        let Some(stream) = self.streams.find(id) else {
            self.closed.push_back((id, Closed::ByUs));
            if self.closed.len() > super::CLOSED_MAX {
                self.closed.pop_front();
            }
            return Ok(Step::Again);
        };
        self.close(stream, Closed::ByUs);
        Ok(Step::Happened(Happening::Reset { stream, code, by_peer: false }))
    }

    /// Reads what happened from the section.
    #[inline]
    fn event<'a>(
        &mut self,
        happening: Happening<'a>,
        section: &'a Section,
    ) -> Result<Option<Event<'a>>, ErrorCode> {
        let stream = match happening {
            Happening::Head { stream, is_end } => {
                if section.is_too_large() {
                    return Ok(Some(self.too_large(stream)));
                }
                // Returned at once: the largest of all events is not moved more than it must be.
                let event = match self.role {
                    Role::Server => self.request_event(stream, is_end, section),
                    Role::Client => self.response_event(stream, is_end, section),
                };
                if event.is_some() {
                    return Ok(event);
                }
                stream
            }
            Happening::Trailers { stream } => {
                if let Some(fields) = message::trailers(section) {
                    self.close_if_done(stream);
                    return Ok(Some(Event::Trailers { stream, fields }));
                }
                stream
            }
            Happening::Content { stream, bytes, is_end } => {
                return Ok(Some(Event::Content { stream, bytes, is_end }));
            }
            Happening::Reset { stream, code, by_peer } => {
                return Ok(Some(Event::Reset { stream, code, by_peer }));
            }
            Happening::GoAway { last, code } => return Ok(Some(Event::GoAway { last, code })),
        };
        let code = ErrorCode::PROTOCOL_ERROR;
        match self.stream_fault(stream.id, code) {
            Err(Fault::Connection(code) | Fault::Stream(code)) => Err(self.fail(code)),
            Ok(_) => Ok(Some(Event::Reset { stream, code, by_peer: false })),
        }
    }

    #[cold]
    fn too_large<'a>(&mut self, stream: Key) -> Event<'a> {
        if let Some(open) = self.streams.at(stream) {
            open.is_head_received = true;
        }
        self.close_if_done(stream);
        Event::TooLarge { stream }
    }
}
