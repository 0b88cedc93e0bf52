//! Accepting connections, within a limit and without spinning when descriptors run out.

use crate::stream::Stream;
use crate::sys;
use crate::timer::Timer;
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::Interest;

/// How many connections are accepted before other work gets its turn.
const BATCH: usize = 32;

/// How long to wait for room when the limit is reached, and after the system ran out of something.
const PAUSE: Duration = Duration::from_millis(50);

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An address and a port. An IPv4 address that came in over IPv6 is shown as what it is.
    Tcp(SocketAddr),
    /// A process on this machine.
    Unix,
}

/// How many connections there are, over all workers, and how many there may be.
#[derive(Clone, Debug)]
pub struct Gate {
    open: Arc<AtomicUsize>,
    connections_max: usize,
}

/// One connection's place within the limit, given back when dropped.
#[derive(Debug)]
pub struct Admission(Arc<AtomicUsize>);

impl Gate {
    /// A limit that all clones share.
    pub fn new(connections_max: usize) -> Gate {
        Gate { open: Arc::default(), connections_max }
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// A place, if there is one. Taken before a connection is accepted: workers that only looked
    /// could both find the last one.
    fn admit(&self) -> Option<Admission> {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        let admission = Admission(Arc::clone(&self.open));
        (before < self.connections_max).then_some(admission)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Accepts connections for ever and hands each to `take`. Where the system lacks descriptors or
/// memory, `report` is told and accepting pauses; the connections wait in the kernel's queue.
pub async fn accept(
    socket: OwnedFd,
    gate: Gate,
    mut take: impl FnMut(Stream, Peer, Admission),
    report: impl Fn(&io::Error),
) -> io::Result<()> {
    let socket = sys::register(socket, Interest::READABLE)?;
    let pause = Timer::new()?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    loop {
        let mut ready = socket.readable().await?;
        let mut shortage = None;
        let mut is_full = false;
        for _ in 0..BATCH {
            let Some(admission) = gate.admit() else {
                is_full = true;
                break;
            };
            match acceptfrom_with(socket.get_ref(), flags) {
                Ok((connection, address)) => {
                    take(Stream::bare(connection), peer(address), admission);
                }
                Err(Errno::WOULDBLOCK) => {
                    ready.clear_ready();
                    break;
                }
                Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => {
                    shortage = Some(io::Error::from(error));
                    break;
                }
                // The connection failed before it was accepted (accept(2)): on to the next.
                Err(_) => {}
            }
        }
        drop(ready);
        match shortage {
            Some(error) => {
                report(&error);
                pause.wait(PAUSE).await?;
            }
            None if is_full => pause.wait(PAUSE).await?,
            None => tokio::task::yield_now().await,
        }
    }
}

fn peer(address: Option<rustix::net::SocketAddrAny>) -> Peer {
    match address.map(SocketAddr::try_from) {
        Some(Ok(address)) => {
            Peer::Tcp(SocketAddr::new(address.ip().to_canonical(), address.port()))
        }
        _ => Peer::Unix,
    }
}
