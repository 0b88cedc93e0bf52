//! Listening sockets: one per worker and address for TCP, so that the kernel spreads connections
//! and no lock is shared; one for all where the address is a path.

use crate::sys;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, getsockname, ipproto,
    listen, socket_with,
};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// How many connections the kernel keeps waiting for `accept`; it lowers this to its own limit
/// (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and a port; port 0 lets the kernel choose one.
    Tcp(SocketAddr),
    /// A path in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A bound address and the sockets that listen there.
#[derive(Debug)]
pub struct Listening {
    /// The address, with the port that was chosen.
    pub address: Address,
    /// One socket for each worker.
    pub sockets: Vec<OwnedFd>,
    /// Removes a socket's path in the end.
    pub cleanup: Option<SocketPath>,
}

/// A Unix socket's path, removed when this is dropped.
#[derive(Debug)]
pub struct SocketPath(PathBuf);

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Binds `address` and listens there with `workers` sockets.
pub fn open(address: &Address, workers: usize) -> io::Result<Listening> {
    match address {
        Address::Tcp(address) => tcp(*address, workers),
        Address::Unix(path) => unix(path, workers),
    }
}

fn tcp(address: SocketAddr, workers: usize) -> io::Result<Listening> {
    // Sockets that share a port would quietly join another server that shares it, too: a socket
    // of the ordinary kind tells whether the port is free.
    let probe = tcp_socket(address, false)?;
    let chosen = getsockname(&probe).map(SocketAddr::try_from)??;
    let sockets = if workers == 1 {
        vec![probe]
    } else {
        drop(probe);
        (0..workers).map(|_| tcp_socket(chosen, true)).collect::<io::Result<Vec<_>>>()?
    };
    Ok(Listening { address: Address::Tcp(chosen), sockets, cleanup: None })
}

fn tcp_socket(address: SocketAddr, shared: bool) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = stream_socket(family, Some(ipproto::TCP))?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, shared)?;
    if let IpAddr::V6(ip) = address.ip() {
        // `[::]` means every address of the machine, those of IPv4 included.
        sockopt::set_ipv6_v6only(&socket, !ip.is_unspecified())?;
    }
    // Accepted sockets inherit it.
    sockopt::set_tcp_nodelay(&socket, true)?;
    // An economy: where it is refused, connections are merely accepted earlier.
    let _ = sys::defer_accept(socket.as_fd());
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

fn unix(path: &Path, workers: usize) -> io::Result<Listening> {
    let name = SocketAddrUnix::new(path)?;
    let socket = stream_socket(AddressFamily::UNIX, None)?;
    match bind(&socket, &name) {
        Err(Errno::ADDRINUSE) if is_stale(path, &name)? => {
            std::fs::remove_file(path)?;
            bind(&socket, &name)?;
        }
        other => other?,
    }
    let cleanup = SocketPath(path.to_owned());
    listen(&socket, BACKLOG)?;
    let mut sockets = Vec::with_capacity(workers);
    for _ in 1..workers {
        sockets.push(socket.as_fd().try_clone_to_owned()?);
    }
    sockets.push(socket);
    Ok(Listening { address: Address::Unix(path.to_owned()), sockets, cleanup: Some(cleanup) })
}

/// Whether `path` is a socket that nobody listens on: what a server left that was killed.
fn is_stale(path: &Path, name: &SocketAddrUnix) -> io::Result<bool> {
    use std::os::unix::fs::FileTypeExt;
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Ok(false);
    }
    let caller = stream_socket(AddressFamily::UNIX, None)?;
    Ok(matches!(connect(&caller, name), Err(Errno::CONNREFUSED)))
}

fn stream_socket(
    family: AddressFamily,
    protocol: Option<rustix::net::Protocol>,
) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(socket_with(family, SocketType::STREAM, flags, protocol)?)
}
