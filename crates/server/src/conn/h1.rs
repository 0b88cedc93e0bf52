//! A connection that speaks HTTP/1: reads what is there, answers every request in it, writes.
//!
//! All of a turn happens on the worker's [`Desk`]: one input buffer, one outbox, one response for
//! all connections. What a connection has to remember between turns (half a request, an answer
//! that the socket did not take) moves into a box of its own; at rest it has none.

use super::discard::{Discard, Progress};
use crate::conn::journal::Journal;
use crate::conn::outbox::Outbox;
use crate::conn::transfer::Transfer;
use crate::error::Error;
use crate::limits::Limits;
use crate::log::Facts;
use crate::pipeline;
use crate::request::Request;
use crate::worker::{Desk, Worker};
use serval_net::accept::{Admission, Peer};
use serval_net::clock;
use serval_net::deadline::Deadline;
use serval_net::stream::Stream;
use serval_proto::field::Name;
use serval_proto::h1::{Framing, Refusal, RequestHead, Version, head};
use serval_proto::status::Status;
use serval_proto::target;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// One client's connection. As a future it ends when the connection does.
#[derive(Debug)]
pub struct Connection {
    worker: Rc<Worker>,
    stream: Stream,
    peer: Peer,
    deadline: Option<Deadline>,
    unfinished: Option<Box<Unfinished>>,
    _admission: Admission,
}

/// What a connection remembers between turns.
#[derive(Debug, Default)]
struct Unfinished {
    state: State,
    outbox: Outbox,
    journal: Journal,
}

#[derive(Debug, Default)]
struct State {
    stage: Stage,
    /// Input that is not dealt with.
    input: Vec<u8>,
    /// Whether `input` may hold whole requests, left until the answers before them are written.
    has_backlog: bool,
    /// Whether to close when the body that is being thrown away has ended.
    close_after: bool,
    /// When the first byte of an unfinished head came, in monotonic milliseconds.
    head_began_ms: u64,
    /// How the transfer under way gets on.
    transfer: Transfer,
    /// How much of a body, or of what came after the last answer, was thrown away, in bytes.
    thrown_away: u64,
}

/// What is expected of the client next.
#[derive(Debug, Default)]
enum Stage {
    /// A request's head.
    #[default]
    Head,
    /// The rest of a body that nobody wants.
    Discard(Box<Discard>),
    /// Nothing: what still comes is thrown away, so that the client reads our last answer before
    /// it learns that the connection is closed (RFC 9112 §9.6).
    Linger {
        /// In monotonic milliseconds; `None` until the last answer is written.
        until_ms: Option<u64>,
    },
    /// Nothing.
    Closed,
}

/// Why a turn is over.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    /// The connection waits for its client.
    Waits,
    /// The connection is over.
    Ended,
}

/// How much is thrown away before a connection that closes stops being polite, in bytes.
const LINGER_BYTES_MAX: u64 = 1 << 20;

impl Connection {
    /// A connection that has just been accepted. It has to be polled once before it is
    /// [`Connection::register`]ed: it may be over by then.
    pub fn new(worker: Rc<Worker>, stream: Stream, peer: Peer, admission: Admission) -> Connection {
        let (deadline, unfinished) = (None, None);
        Connection { worker, stream, peer, deadline, unfinished, _admission: admission }
    }

    /// A connection that answers nothing but `error`, and closes.
    pub fn refused(mut self, error: Error) -> Connection {
        let mut state = State::default();
        let mut desk = self.worker.desk();
        desk.look_at_the_clock();
        self.refuse(&mut desk, &mut state, error);
        let (outbox, journal) = (desk.outbox.take(), std::mem::take(&mut desk.journal));
        drop(desk);
        self.unfinished = Some(Box::new(Unfinished { state, outbox, journal }));
        self
    }

    /// Gives the connection a place in the runtime.
    pub fn register(&mut self) -> io::Result<()> {
        self.stream.register()
    }

    #[inline]
    fn turn(&mut self, desk: &mut Desk, cx: &mut Context<'_>) -> Turn {
        let mut state = State::default();
        if let Some(unfinished) = self.unfinished.take() {
            (state, desk.outbox, desk.journal) =
                (unfinished.state, unfinished.outbox, unfinished.journal);
        }
        let turn = match self.run(desk, &mut state, cx) {
            Ok(()) => Turn::Waits,
            Err(_) => Turn::Ended,
        };
        if !desk.journal.is_empty() {
            desk.finish_lines(turn == Turn::Ended);
        }
        if turn == Turn::Ended {
            desk.outbox.clear();
        } else if !desk.outbox.is_empty() || !state.is_at_rest() {
            let (outbox, journal) = (desk.outbox.take(), std::mem::take(&mut desk.journal));
            self.unfinished = Some(Box::new(Unfinished { state, outbox, journal }));
        }
        turn
    }

    /// Writes, reads and answers until the connection has to wait. An error means that it is over,
    /// which is how every connection ends.
    #[inline]
    fn run(&self, desk: &mut Desk, state: &mut State, cx: &mut Context<'_>) -> io::Result<()> {
        let mut turns = 0;
        loop {
            if !desk.outbox.is_empty() {
                if desk.outbox.poll_flush(cx, &self.stream)?.is_pending() {
                    if let Stage::Closed = state.stage {
                        // Whatever comes while it is written must not cost the client its end.
                        state.linger();
                    }
                    if self.is_in_time(desk, state)? {
                        return Ok(());
                    }
                    continue;
                }
                state.transfer.end();
                desk.finish_lines(false);
            }
            match &mut state.stage {
                Stage::Closed => {
                    self.stream.say_goodbye();
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Stage::Linger { until_ms: until_ms @ None } => {
                    self.stream.end_writing()?;
                    *until_ms = Some(desk.context.now_ms + self.worker.limits().linger_timeout_ms);
                }
                _ => {}
            }
            if turns > 0 && !self.stream.is_registered() {
                return Ok(());
            }
            turns += 1;
            let (held, total) = match self.fill(desk, state, cx) {
                Poll::Ready(filled) => filled?,
                Poll::Pending => {
                    if self.is_in_time(desk, state)? {
                        return Ok(());
                    }
                    continue;
                }
            };
            self.take_input(desk, state, held, total);
            if let Some(deadline) = &self.deadline {
                deadline.set(desk.context.now_ms + self.worker.limits().idle_timeout_ms);
            }
        }
    }

    /// Puts what the connection has not dealt with and what has come since into the desk's input
    /// buffer: how much of each and both.
    #[inline]
    fn fill(
        &self,
        desk: &mut Desk,
        state: &mut State,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(usize, usize)>> {
        let held = state.input.len();
        let (old, new) = desk.input.split_at_mut(held);
        old.copy_from_slice(&state.input);
        if std::mem::take(&mut state.has_backlog) {
            return Poll::Ready(Ok((0, held)));
        }
        match ready!(self.stream.poll_read(cx, new))? {
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            read => Poll::Ready(Ok((held, held + read))),
        }
    }

    /// Deals with the first `total` bytes of the desk's input, of which the first `held` were seen
    /// before, and keeps what cannot be dealt with yet.
    #[inline]
    fn take_input(&self, desk: &mut Desk, state: &mut State, held: usize, total: usize) {
        let limits = self.worker.limits();
        let mut at = 0;
        while at < total {
            match &mut state.stage {
                Stage::Head => {
                    let fresh = desk.input.get(held..total).unwrap_or_default();
                    if at == 0 && held > 0 && !head::is_worth_parsing(fresh, total, &limits.head) {
                        break;
                    }
                    if desk.outbox.backlog() >= limits.queued_bytes_max {
                        state.has_backlog = true;
                        break;
                    }
                    match self.answer_next(desk, state, at, total) {
                        0 => break,
                        taken => at += taken,
                    }
                }
                Stage::Discard(body) => {
                    let rest = desk.input.get(at..total).unwrap_or_default();
                    let progress = body.feed(rest);
                    state.thrown_away += rest.len() as u64;
                    match progress {
                        Progress::More => at = total,
                        Progress::Done(taken) => {
                            at += taken;
                            state.transfer.end();
                            state.stage = Stage::Head;
                            if state.close_after {
                                state.stage = Stage::Closed;
                            }
                        }
                        Progress::Hopeless => state.linger(),
                    }
                }
                Stage::Linger { .. } => {
                    state.thrown_away += (total - at) as u64;
                    at = total;
                    if state.thrown_away > LINGER_BYTES_MAX {
                        state.stage = Stage::Closed;
                    }
                }
                Stage::Closed => state.linger(),
            }
        }
        let rest = desk.input.get(at..total).unwrap_or_default();
        if at > 0 || held == 0 {
            if !rest.is_empty() {
                state.head_began_ms = desk.context.now_ms;
            }
            state.input.clear();
            state.input.extend_from_slice(rest);
        } else {
            state.input.extend_from_slice(rest.get(held..).unwrap_or_default());
        }
    }

    /// Answers the request that begins at `at`: how many bytes its head took, 0 while it is
    /// incomplete.
    #[inline]
    fn answer_next(&self, desk: &mut Desk, state: &mut State, at: usize, total: usize) -> usize {
        let limits = self.worker.limits();
        let is_last = self.worker.is_draining();
        let Desk { input, table, path, response, context, .. } = desk;
        let bytes = input.get(at..total).unwrap_or_default();
        let head = match head::parse_request(bytes, table, &limits.head) {
            Ok(Some(head)) => head,
            Ok(None) => return 0,
            Err(refusal) => {
                self.refuse(desk, state, Error::Client(refusal.status()));
                return total - at;
            }
        };
        let canonical = match head.target.path {
            b"*" => Ok(&b"*"[..]),
            path_text => target::canonical(path_text, path),
        };
        let Ok(canonical) = canonical else {
            self.refuse(desk, state, Error::Client(Refusal::Target.status()));
            return total - at;
        };
        let request = Request {
            method: head.method,
            path: canonical,
            query: head.target.query,
            fields: head.fields,
            has_content: head.framing != Framing::Length(0),
        };
        pipeline::respond(context, &request, response);

        let body = body_to_discard(&head, limits);
        let close = !head.persistent || is_last || (request.has_content && body.is_none());
        let option = match (close, head.version) {
            (true, _) => Some("Connection: close\r\n"),
            (false, Version::Http10) => Some("Connection: keep-alive\r\n"),
            (false, Version::Http11) => None,
        };
        let body_start =
            desk.stationery.queue(response, context.unix_seconds, option, &mut desk.outbox);
        if let Some(recorder) = &desk.recorder {
            let facts = facts(self.peer, &head, response.status, context.unix_seconds);
            let body = body_start..desk.outbox.queued();
            desk.journal.begin(recorder, &facts, body, clock::monotonic_us());
        }
        let length = head.length;
        match body {
            Some(body) if request.has_content => {
                state.close_after = close;
                state.thrown_away = 0;
                state.stage = Stage::Discard(Box::new(body));
            }
            None if request.has_content => state.linger(),
            _ if close => state.stage = Stage::Closed,
            _ => {}
        }
        length
    }

    /// Answers what could not be read, or not in time, and has the connection close.
    #[cold]
    fn refuse(&self, desk: &mut Desk, state: &mut State, error: Error) {
        pipeline::refuse(error, &mut desk.response);
        let unix_seconds = desk.context.unix_seconds;
        let option = Some("Connection: close\r\n");
        let body_start =
            desk.stationery.queue(&desk.response, unix_seconds, option, &mut desk.outbox);
        if let Some(recorder) = &desk.recorder {
            let facts = Facts {
                peer: self.peer,
                method: b"",
                target: b"",
                version: "",
                status: desk.response.status.0,
                referer: None,
                user_agent: None,
                unix_seconds,
            };
            let body = body_start..desk.outbox.queued();
            desk.journal.begin(recorder, &facts, body, clock::monotonic_us());
        }
        state.linger();
    }

    /// Sets the deadline for what the connection waits for, and looks whether it has passed. False
    /// if there is something new to do instead of waiting; an error if the connection is over.
    fn is_in_time(&self, desk: &mut Desk, state: &mut State) -> io::Result<bool> {
        let now_ms = desk.context.now_ms;
        let limits = self.worker.limits();
        let timed_out = || Err(io::ErrorKind::TimedOut.into());
        let Some(deadline) = &self.deadline else { return Ok(true) };
        if !desk.outbox.is_empty() {
            let unacknowledged = self.stream.unacknowledged_bytes().unwrap_or(0);
            let moved = desk.outbox.written().saturating_sub(unacknowledged);
            return if state.transfer.moves_on(moved, now_ms, limits, deadline) {
                Ok(true)
            } else {
                self.stream.reset_on_close()?;
                timed_out()
            };
        }
        match &state.stage {
            Stage::Head if state.input.is_empty() => {
                // The deadline was set when the last input came.
                if deadline.has_passed(now_ms) || self.worker.is_draining() {
                    return timed_out();
                }
                Ok(true)
            }
            Stage::Head => {
                let until_ms = state.head_began_ms + limits.head_timeout_ms;
                deadline.set(until_ms);
                if now_ms >= until_ms {
                    self.refuse(desk, state, Error::Client(Status::REQUEST_TIMEOUT));
                    return Ok(false);
                }
                Ok(true)
            }
            Stage::Discard(_) => {
                let moved = state.thrown_away;
                if state.transfer.moves_on(moved, now_ms, limits, deadline) {
                    Ok(true)
                } else {
                    timed_out()
                }
            }
            Stage::Linger { until_ms } => {
                let until_ms = until_ms.unwrap_or(now_ms);
                deadline.set(until_ms);
                if now_ms >= until_ms { timed_out() } else { Ok(true) }
            }
            Stage::Closed => timed_out(),
        }
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let worker = Rc::clone(&this.worker);
        if this.deadline.is_none() && this.stream.is_registered() {
            let deadline = worker.deadlines().register(cx.waker());
            deadline.set(clock::monotonic_ms() + worker.limits().idle_timeout_ms);
            this.deadline = Some(deadline);
        }
        let mut desk = worker.desk();
        desk.look_at_the_clock();
        match this.turn(&mut desk, cx) {
            Turn::Waits => Poll::Pending,
            Turn::Ended => Poll::Ready(()),
        }
    }
}

impl State {
    /// Whether there is nothing to remember.
    fn is_at_rest(&self) -> bool {
        self.input.is_empty() && matches!(self.stage, Stage::Head)
    }

    /// Has the connection close politely when the last answer is written.
    #[cold]
    fn linger(&mut self) {
        self.thrown_away = 0;
        self.stage = Stage::Linger { until_ms: None };
    }
}

/// The request's body, if throwing it away is worth the connection. A client that asks for leave
/// to send it has got its answer instead.
fn body_to_discard(head: &RequestHead<'_>, limits: &Limits) -> Option<Discard> {
    if head.framing == Framing::Length(0) || head.fields.has(Name::Expect) {
        return None;
    }
    Discard::new(head.framing, limits.chunk, limits.discarded_bytes_max)
}

fn facts<'a>(peer: Peer, head: &RequestHead<'a>, status: Status, unix_seconds: i64) -> Facts<'a> {
    Facts {
        peer,
        method: head.method_text,
        target: head.target_text,
        version: match head.version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
        },
        status: status.0,
        referer: head.fields.get(Name::Referer),
        user_agent: head.fields.get(Name::UserAgent),
        unix_seconds,
    }
}
