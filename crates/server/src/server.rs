//! The whole server: binds, starts the workers, stops them.

use crate::config::plan::{Listener, Plan};
use crate::log::writer::{self, Recorder};
use crate::worker;
use serval_net::accept::Gate;
use serval_net::listen::{self, Address, SocketPath};
use serval_net::worker as thread;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::watch;

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Listener>,
    workers: Vec<JoinHandle<io::Result<()>>>,
    writer: Option<JoinHandle<()>>,
    stop: watch::Sender<bool>,
    _socket_paths: Vec<SocketPath>,
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// That address cannot be listened on.
    Listen(Address, io::Error),
    /// The access log cannot be opened.
    Log(io::Error),
    /// The system gave no thread.
    Thread(io::Error),
}

impl Server {
    /// Binds every address and starts the workers. On return connections are accepted.
    pub fn start(plan: Plan) -> Result<Server, StartError> {
        let mut listeners = Vec::new();
        let mut socket_paths = Vec::new();
        let mut per_worker: Vec<Vec<worker::Listening>> = Vec::new();
        per_worker.resize_with(plan.workers, Vec::new);
        for wanted in &plan.listen {
            let listening = listen::open(&wanted.address, plan.workers)
                .map_err(|error| StartError::Listen(wanted.address.clone(), error))?;
            listeners.push(Listener { address: listening.address, ..*wanted });
            socket_paths.extend(listening.cleanup);
            for (sockets, socket) in per_worker.iter_mut().zip(listening.sockets) {
                sockets.push(worker::Listening { socket, encrypted: wanted.encrypted });
            }
        }
        let (log, writer) = writer::start(&plan.log).map_err(StartError::Log)?.unzip();
        let (stop, stopped) = watch::channel(false);
        let gate = Gate::new(plan.limits.connections_max);
        let cpus = if plan.pin { thread::cpus() } else { Vec::new() };
        let plan = Arc::new(plan);
        let mut workers = Vec::new();
        for (number, sockets) in per_worker.into_iter().enumerate() {
            let start = worker::Start {
                plan: Arc::clone(&plan),
                sockets,
                gate: gate.clone(),
                recorder: log.clone().map(Recorder::new),
                stop: stopped.clone(),
            };
            let cpu = (!cpus.is_empty()).then(|| cpus[number % cpus.len()]);
            let name = format!("serval-{number}");
            let thread = thread::spawn(name, cpu, move || worker::run(start));
            workers.push(thread.map_err(StartError::Thread)?);
        }
        Ok(Server { listeners, workers, writer, stop, _socket_paths: socket_paths })
    }

    /// Where the server listens, with the ports that were chosen.
    pub fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// Has the server accept no more, finish the answers under way, and end.
    pub fn stop(&self) {
        let _ = self.stop.send(true);
    }

    /// Waits until every worker has ended and the log is written.
    pub fn join(mut self) -> io::Result<()> {
        for worker in self.workers.drain(..) {
            match worker.join() {
                Ok(ended) => ended?,
                Err(_) => return Err(io::Error::other("a worker panicked")),
            }
        }
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        Ok(())
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen(address, error) => match error.kind() {
                io::ErrorKind::AddrInUse => {
                    write!(
                        f,
                        "another program listens on {address} already: stop it, or choose \
                         another address with --listen"
                    )
                }
                io::ErrorKind::PermissionDenied => {
                    write!(
                        f,
                        "this user may not listen on {address}: choose a port above 1023 with \
                         --listen, or give the program CAP_NET_BIND_SERVICE"
                    )
                }
                io::ErrorKind::AddrNotAvailable => {
                    write!(f, "this machine has no address {address} to listen on")
                }
                _ => write!(f, "cannot listen on {address}: {error}"),
            },
            StartError::Log(error) => write!(f, "cannot open the access log: {error}"),
            StartError::Thread(error) => write!(f, "cannot start a worker: {error}"),
        }
    }
}

impl std::error::Error for StartError {}
