//! A connection of HTTP/2 (RFC 9113), for both roles: bytes and the time go in, events come out,
//! and what is to be written is asked for. It does no I/O and knows no clock.
//!
//! [`Connection::receive`] takes bytes from the front of the input and returns one event after
//! another; what it leaves has to be there again when more has come, at most a frame and its head.
//! Heads are borrowed from a [`Section`](super::section::Section) that the caller keeps for all
//! its connections, content from the input.
//!
//! To write, the caller appends to a buffer of its own. Heads are appended at once. For content it
//! says how much there is ([`Connection::offer`]), and then asks for plans ([`Connection::plan`]):
//! each names a stream and how many bytes of its content to append next. So content is copied
//! once, from where it is kept to where it leaves from, in the order that windows and priorities
//! give.
//!
//! Nothing here grows with what a peer sends beyond its [`Limits`]: streams are counted, blocks
//! and tables bounded, content is handed on at once, and what we have to answer waits in a buffer
//! with a limit.

mod budget;
mod check;
mod content;
mod head;
mod receive;
mod schedule;
mod send;
mod stream;
mod windows;

pub use send::{Block, Plan};

use super::error::{ErrorCode, Fault};
use super::frame::{PREFACE, Settings, U31_MAX, write};
use super::hpack::{Decoder, Encoder};
use super::limits::Limits;
use super::message::{Request, Response};
use super::priority::Priority;
use crate::field::Fields;
use budget::{Budgets, Waste};
use schedule::Schedule;
use std::collections::VecDeque;
use stream::{Stream, Streams};

/// Which end this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends requests.
    Client,
    /// It answers them.
    Server,
}

/// A stream: its identifier, and a small number that no other open stream of the connection has,
/// by which the caller can keep what belongs to it. Stale keys are harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The identifier.
    pub id: u32,
    /// Below the limit of streams.
    pub slot: u16,
}

/// What the peer did.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A request came.
    Request {
        /// Its stream.
        stream: Key,
        /// Its head.
        request: Request<'a>,
        /// Whether that is all of it.
        is_end: bool,
    },
    /// A response came, or an interim one (1xx).
    Response {
        /// Its stream.
        stream: Key,
        /// Its head.
        response: Response<'a>,
        /// Whether that is all of it.
        is_end: bool,
    },
    /// A head came that is larger than our limits. A server answers with 431, or resets.
    TooLarge {
        /// Its stream.
        stream: Key,
    },
    /// Content came. Once it is done with, its length goes to [`Connection::release`].
    Content {
        /// Its stream.
        stream: Key,
        /// The content; it can be empty at the end.
        bytes: &'a [u8],
        /// Whether that is all of it.
        is_end: bool,
    },
    /// Trailers came, and with them the end.
    Trailers {
        /// Their stream.
        stream: Key,
        /// The fields.
        fields: Fields<'a>,
    },
    /// A stream has ended before its time: by the peer, or by us because of what the peer sent.
    /// Its key is stale.
    Reset {
        /// The stream.
        stream: Key,
        /// Why.
        code: ErrorCode,
        /// Whether the peer ended it.
        by_peer: bool,
    },
    /// The peer ends the connection. Streams above `last` are not processed.
    GoAway {
        /// The last stream that may be.
        last: u32,
        /// Why.
        code: ErrorCode,
    },
}

/// How a stream was closed, for those that were not long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    /// Both sides had ended it, or the peer reset it.
    ByPeer,
    /// We reset it: the peer may not know yet.
    ByUs,
}

/// How far the end of the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draining {
    No,
    /// The peer was told at that time, in milliseconds, and new streams are still taken.
    Announced(u64),
    /// No stream above this one is taken.
    Last(u32),
}

/// A field section of which not all frames have come.
#[derive(Debug)]
struct Assembly {
    stream: u32,
    is_end: bool,
    block: Vec<u8>,
    continuations: u32,
    start_ms: u64,
}

/// A DATA frame of which not all has come.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    /// `None` if nobody wants the content.
    stream: Option<Key>,
    content_left: usize,
    padding_left: usize,
    is_end: bool,
}

/// How many closed streams are remembered.
const CLOSED_MAX: usize = 128;
/// How many priorities of streams that are not there yet are kept.
const EARLY_PRIORITIES_MAX: usize = 16;
/// The window before any settings, in bytes (RFC 9113 §6.9.2).
const WINDOW_BYTES: i64 = 65_535;

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    role: Role,
    limits: Limits,
    now_ms: u64,
    start_ms: u64,

    decoder: Decoder,
    encoder: Encoder,
    streams: Streams,
    schedule: Schedule,
    budgets: Budgets,
    /// Our own frames that wait to be written.
    output: Vec<u8>,

    /// How much of the client's preface has still to come, in bytes.
    preface_left: usize,
    has_settings: bool,
    is_acknowledged: bool,
    assembly: Option<Box<Assembly>>,
    arriving: Option<Arriving>,
    closed: VecDeque<(u32, Closed)>,
    early_priorities: Vec<(u32, Priority)>,

    /// The last stream that the peer opened, and the next one that we open.
    last_peer_id: u32,
    next_id: u32,
    /// The last of our streams that the peer processes, once it has said so.
    peer_last: Option<u32>,
    draining: Draining,
    failure: Option<ErrorCode>,

    send_window: i64,
    receive_window: i64,
    released: u32,
    /// What the peer's settings say.
    peer_window: i64,
    peer_streams_max: u32,

    sent_bytes: u64,
    /// Since when windows have held content back, in milliseconds, and what was sent before.
    stalled: Option<(u64, u64)>,
}

impl Connection {
    /// A connection that was opened at `now_ms`. What it says first is in its output at once.
    pub fn new(role: Role, limits: Limits, now_ms: u64) -> Connection {
        let is_server = role == Role::Server;
        let mut connection = Connection {
            role,
            now_ms,
            start_ms: now_ms,
            decoder: Decoder::new(limits.table_bytes),
            encoder: Encoder::new(),
            streams: Streams::new(),
            schedule: Schedule::new(),
            budgets: Budgets::default(),
            output: Vec::new(),
            preface_left: if is_server { PREFACE.len() } else { 0 },
            has_settings: false,
            is_acknowledged: false,
            assembly: None,
            arriving: None,
            closed: VecDeque::new(),
            early_priorities: Vec::new(),
            last_peer_id: 0,
            next_id: if is_server { 2 } else { 1 },
            peer_last: None,
            draining: Draining::No,
            failure: None,
            send_window: WINDOW_BYTES,
            receive_window: i64::from(limits.connection_window_bytes).max(WINDOW_BYTES),
            released: 0,
            peer_window: WINDOW_BYTES,
            peer_streams_max: limits.streams_max,
            sent_bytes: 0,
            stalled: None,
            limits,
        };
        connection.greet();
        connection
    }

    /// The preface, our settings, and the room that they do not speak of.
    fn greet(&mut self) {
        let number = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let window = (self.stream_window() as u32).min(U31_MAX);
        let mut settings = vec![(Settings::INITIAL_WINDOW_SIZE, window)];
        settings.push((Settings::MAX_HEADER_LIST_SIZE, number(self.limits.section.bytes_max)));
        if self.limits.table_bytes != 4096 {
            settings.push((Settings::HEADER_TABLE_SIZE, number(self.limits.table_bytes)));
        }
        if self.role == Role::Server {
            settings.push((Settings::MAX_CONCURRENT_STREAMS, self.limits.streams_max));
            settings.push((Settings::NO_RFC7540_PRIORITIES, 1));
        } else {
            self.output.extend_from_slice(PREFACE);
            settings.push((Settings::ENABLE_PUSH, 0));
        }
        write::settings(&settings, &mut self.output);
        let more = self.receive_window - WINDOW_BYTES;
        if more > 0 {
            write::window_update(0, more as u32, &mut self.output);
        }
    }

    /// Whether both ends are done: nothing more will be read or written but what waits.
    pub fn is_finished(&self) -> bool {
        let is_drained = matches!(self.draining, Draining::Last(_)) && self.streams.len() == 0;
        self.failure.is_some() || is_drained
    }

    /// Why the connection failed, if it did.
    pub fn failure(&self) -> Option<ErrorCode> {
        self.failure
    }

    /// How many streams are open.
    #[inline]
    pub fn streams_open(&self) -> usize {
        self.streams.len()
    }

    /// Whether the stream is still open.
    #[inline]
    pub fn is_open(&mut self, stream: Key) -> bool {
        self.streams.at(stream).is_some()
    }

    /// How many bytes of memory it holds, itself not counted.
    pub fn memory_bytes(&self) -> usize {
        self.decoder.memory_bytes()
            + self.encoder.memory_bytes()
            + self.streams.memory_bytes()
            + self.output.capacity()
            + self.assembly.as_ref().map_or(0, |a| a.block.capacity() + size_of::<Assembly>())
            + self.closed.capacity() * size_of::<(u32, Closed)>()
            + self.early_priorities.capacity() * size_of::<(u32, Priority)>()
    }

    fn stream_window(&self) -> i64 {
        i64::from(self.limits.stream_window_bytes).max(WINDOW_BYTES)
    }

    /// Ends the connection: the peer is told, and nothing more is read.
    fn fail(&mut self, code: ErrorCode) -> ErrorCode {
        if let Some(code) = self.failure {
            return code;
        }
        self.failure = Some(code);
        write::goaway(self.last_peer_id, code, &mut self.output);
        code
    }

    /// Counts a waste of our time.
    fn spend(&mut self, waste: Waste) -> Result<(), Fault> {
        if self.budgets.spend(waste, &self.limits, self.now_ms) {
            return Ok(());
        }
        Err(Fault::Connection(ErrorCode::ENHANCE_YOUR_CALM))
    }

    /// Whether a stream with that identifier has not been opened yet.
    fn is_idle(&self, id: u32) -> bool {
        let is_peers = (id % 2 == 1) == (self.role == Role::Server);
        if is_peers { id > self.last_peer_id } else { id >= self.next_id }
    }

    /// A new stream.
    fn open(&mut self, id: u32) -> Key {
        let window = self.stream_window();
        let stream = Stream {
            id,
            send_window: self.peer_window,
            receive_window: window,
            ..Stream::default()
        };
        self.streams.open(stream)
    }

    /// Closes a stream of which both sides are done.
    #[inline]
    fn close_if_done(&mut self, key: Key) {
        let is_done = |stream: &mut Stream| stream.is_local_closed && stream.is_remote_closed;
        if self.streams.at(key).is_some_and(is_done) {
            self.close(key, Closed::ByPeer);
        }
    }

    #[inline]
    fn close(&mut self, key: Key, how: Closed) {
        self.schedule.remove(key.slot, &mut self.streams);
        self.streams.close(key);
        if self.closed.len() >= CLOSED_MAX {
            self.closed.pop_front();
        }
        self.closed.push_back((key.id, how));
    }

    /// How a stream that is not open was closed, if that is remembered.
    fn closed(&self, id: u32) -> Option<Closed> {
        self.closed.iter().rev().find(|(closed, _)| *closed == id).map(|(_, how)| *how)
    }
}
