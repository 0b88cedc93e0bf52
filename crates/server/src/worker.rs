//! A worker: one thread, its connections, and the desk that they share.

use crate::config::plan::Plan;
use crate::conn::h1::Connection;
use crate::conn::handshake;
use crate::conn::journal::Journal;
use crate::conn::outbox::Outbox;
use crate::conn::stationery::Stationery;
use crate::files::view::View;
use crate::limits::Limits;
use crate::log::writer::Recorder;
use crate::pipeline;
use crate::response::Response;
use serval_net::accept::{Admission, Gate, Peer, accept};
use serval_net::clock;
use serval_net::deadline::Deadlines;
use serval_net::stream::Stream;
use serval_net::timer::Timer;
use serval_net::tls::session::Session;
use serval_net::tls::settings::Acceptor;
use serval_proto::field::FieldTable;
use std::cell::{Cell, RefCell, RefMut};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::sync::watch;

/// The size of the buffer that a worker's connections read into, in bytes.
const INPUT_BYTES: usize = 64 << 10;

/// How often a stopping worker looks whether its last connection is gone.
const DRAIN_LOOK: Duration = Duration::from_millis(20);

/// For how long a shortage is not mentioned again, in milliseconds.
const SHORTAGE_SILENCE_MS: u64 = 10_000;

/// What one worker's connections have in common.
#[derive(Debug)]
pub struct Worker {
    plan: Arc<Plan>,
    deadlines: Rc<Deadlines>,
    draining: Cell<bool>,
    desk: RefCell<Desk>,
}

/// Where connections do their work, one at a time: what none of them needs to keep.
#[derive(Debug)]
pub struct Desk {
    /// What a connection has just read.
    pub input: Box<[u8]>,
    /// The field lines of the request at hand.
    pub table: FieldTable,
    /// Its path, where that is not canonical as it was sent.
    pub path: Vec<u8>,
    /// The answer in the making.
    pub response: Response,
    /// Answers to be written at the end of the turn.
    pub outbox: Outbox,
    /// What will be recorded of them.
    pub journal: Journal,
    /// The lines that heads begin with.
    pub stationery: Stationery,
    /// The way to the log, if requests are recorded.
    pub recorder: Option<Recorder>,
    /// What handlers need.
    pub context: pipeline::Context,
}

/// What a worker is started with.
#[derive(Debug)]
pub struct Start {
    /// What to do.
    pub plan: Arc<Plan>,
    /// The sockets to accept from.
    pub sockets: Vec<Listening>,
    /// How many connections there may be, over all workers.
    pub gate: Gate,
    /// The way to the log.
    pub recorder: Option<Recorder>,
    /// Turns true when the worker is to stop.
    pub stop: watch::Receiver<bool>,
}

/// A socket to accept from.
#[derive(Debug)]
pub struct Listening {
    /// The socket.
    pub socket: OwnedFd,
    /// Whether its connections are encrypted.
    pub encrypted: bool,
}

/// Serves until told to stop and the last answer is written, or the time for that is up.
pub async fn run(start: Start) -> io::Result<()> {
    let Start { plan, sockets, gate, recorder, mut stop } = start;
    let (sweep_timer, drain_timer) = (Timer::new()?, Timer::new()?);
    let worker = Rc::new(Worker::new(Arc::clone(&plan), recorder));
    let accepting: Vec<_> = sockets
        .into_iter()
        .map(|Listening { socket, encrypted }| {
            let (worker, gate) = (Rc::clone(&worker), gate.clone());
            let tls = plan.tls.clone().filter(|_| encrypted);
            tokio::task::spawn_local(async move {
                let take = |stream, peer, admission| {
                    let worker = Rc::clone(&worker);
                    worker.deadlines.touch();
                    match &tls {
                        None => begin(Connection::new(worker, stream, peer, admission)),
                        Some(tls) => begin_encrypted(worker, tls, stream, peer, admission),
                    }
                };
                let said_at_ms = Cell::new(None);
                let report = |error: &io::Error| report_shortage(error, &said_at_ms);
                if let Err(error) = accept(socket, gate, take, report).await {
                    eprintln!("serval: a listener failed: {error}");
                }
            })
        })
        .collect();
    let sweeping = Rc::clone(&worker);
    tokio::task::spawn_local(async move {
        let tick = || sweeping.tick();
        if let Err(error) = sweeping.deadlines.sweep(sweep_timer, tick).await {
            eprintln!("serval: deadlines cannot be kept: {error}");
        }
    });

    let _ = stop.wait_for(|stop| *stop).await;
    for task in accepting {
        task.abort();
    }
    worker.drain(&drain_timer).await
}

/// Gives a connection its first turn at once: what came with it is often all there is.
fn begin(mut connection: Connection) {
    let first = Pin::new(&mut connection).poll(&mut Context::from_waker(Waker::noop()));
    if first.is_pending() && connection.register().is_ok() {
        tokio::task::spawn_local(connection);
    }
}

/// Begins a handshake. A connection that cannot have one is closed.
fn begin_encrypted(
    worker: Rc<Worker>,
    tls: &Acceptor,
    mut stream: Stream,
    peer: Peer,
    admission: Admission,
) {
    if let Ok(session) = Session::new(tls) {
        stream.encrypt(session);
        if stream.register().is_ok() {
            tokio::task::spawn_local(handshake::serve(worker, stream, peer, admission));
        }
    }
}

/// Says that connections have to wait, once in a while: a shortage must not fill a log.
fn report_shortage(error: &io::Error, said_at_ms: &Cell<Option<u64>>) {
    let now_ms = clock::monotonic_ms();
    if said_at_ms.get().is_none_or(|said| now_ms >= said + SHORTAGE_SILENCE_MS) {
        said_at_ms.set(Some(now_ms));
        eprintln!("serval: new connections have to wait: {error}");
    }
}

impl Worker {
    fn new(plan: Arc<Plan>, recorder: Option<Recorder>) -> Worker {
        let view = View::new(Arc::clone(&plan.site.store));
        Worker {
            plan,
            deadlines: Rc::default(),
            draining: Cell::new(false),
            desk: RefCell::new(Desk {
                input: vec![0; INPUT_BYTES].into(),
                table: FieldTable::new(),
                path: Vec::new(),
                response: Response::new(),
                outbox: Outbox::default(),
                journal: Journal::default(),
                stationery: Stationery::new(),
                recorder,
                context: pipeline::Context { view, now_ms: 0, unix_seconds: 0 },
            }),
        }
    }

    /// How much of everything there may be.
    #[inline]
    pub fn limits(&self) -> &Limits {
        &self.plan.limits
    }

    /// When connections are to be woken.
    pub fn deadlines(&self) -> &Rc<Deadlines> {
        &self.deadlines
    }

    /// Whether the server is stopping: an answer is the last on its connection.
    #[inline]
    pub fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// The desk. Connections take turns: it is never asked for twice at a time.
    #[inline]
    pub fn desk(&self) -> RefMut<'_, Desk> {
        self.desk.borrow_mut()
    }

    fn tick(&self) {
        let mut desk = self.desk();
        desk.context.view.tidy();
        desk.hand_over_lines();
    }

    async fn drain(&self, timer: &Timer) -> io::Result<()> {
        self.draining.set(true);
        self.deadlines.wake_all();
        let until_ms = clock::monotonic_ms() + self.limits().drain_timeout_ms;
        while !self.deadlines.is_empty() && clock::monotonic_ms() < until_ms {
            timer.wait(DRAIN_LOOK).await?;
        }
        Ok(())
    }
}

impl Desk {
    /// Takes the time for this turn.
    #[inline]
    pub fn look_at_the_clock(&mut self) {
        let now_ms = clock::monotonic_ms();
        // Many turns happen between two ticks of the kernel's clock.
        if now_ms != self.context.now_ms {
            self.context.now_ms = now_ms;
            self.context.unix_seconds = clock::unix_seconds();
        }
    }

    /// Records the answers that are written; all of them if the connection `has_ended`.
    #[inline]
    pub fn finish_lines(&mut self, has_ended: bool) {
        if let Some(recorder) = &mut self.recorder {
            let now_us = clock::monotonic_us();
            self.journal.finish(recorder, self.outbox.written(), has_ended, now_us);
            recorder.hand_over_due(self.context.now_ms);
        }
    }

    fn hand_over_lines(&mut self) {
        let now_ms = clock::monotonic_ms();
        if let Some(recorder) = &mut self.recorder {
            recorder.hand_over(now_ms);
        }
    }
}
