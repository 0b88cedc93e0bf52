//! A connected socket: reads into a buffer that the caller lends, writes that say how far they
//! got, files sent without passing through the program.
//!
//! A socket is *bare* at first: it has no place in the runtime. A request often comes with the
//! connection, and one that is answered and closed at once then never costs a registration.

use crate::sys;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A connected stream socket that never blocks.
#[derive(Debug)]
pub(crate) enum Socket {
    /// It has no place in the runtime: a call that would block returns `Pending` and nobody will
    /// wake the caller, who then has to [`Socket::register`] it and call again.
    Bare(OwnedFd),
    /// The runtime wakes whoever waits for it.
    Registered(AsyncFd<OwnedFd>),
    /// While it is being registered, and for ever if that failed.
    Gone,
}

/// Which readiness a call waits for.
#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

impl Socket {
    /// Gives the socket a place in this thread's runtime.
    pub(crate) fn register(&mut self) -> io::Result<()> {
        *self = match std::mem::replace(self, Socket::Gone) {
            Socket::Bare(socket) => {
                let interest = Interest::READABLE | Interest::WRITABLE;
                Socket::Registered(sys::register(socket, interest)?)
            }
            other => other,
        };
        Ok(())
    }

    /// Whether the runtime wakes whoever waits for this socket.
    #[inline]
    pub(crate) fn is_registered(&self) -> bool {
        matches!(self, Socket::Registered(_))
    }

    /// Reads what is there, at most `buffer.len()` bytes; 0 when the peer has ended its side.
    #[inline]
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let wanted = buffer.len();
        self.poll_with(cx, Direction::Read, wanted, |socket| {
            let (read, _) = rustix::net::recv(socket, &mut *buffer, RecvFlags::empty())?;
            Ok(read)
        })
    }

    /// Writes what the socket takes of `bytes`. `more` says that other bytes follow at once, so
    /// that the two can share a packet.
    #[inline]
    pub(crate) fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        more: bool,
    ) -> Poll<io::Result<usize>> {
        self.poll_with(cx, Direction::Write, bytes.len(), |socket| {
            rustix::net::send(socket, bytes, flags(more))
        })
    }

    /// Writes what the socket takes of several runs of bytes.
    #[inline]
    pub(crate) fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        more: bool,
    ) -> Poll<io::Result<usize>> {
        let wanted = slices.iter().map(|slice| slice.len()).sum();
        self.poll_with(cx, Direction::Write, wanted, |socket| {
            let mut control = SendAncillaryBuffer::default();
            rustix::net::sendmsg(socket, slices, &mut control, flags(more))
        })
    }

    /// Sends at most `length` bytes of `file` from `offset` on, without copying them through the
    /// program (sendfile(2)). 0 when the file ends at or before `offset`.
    #[inline]
    pub(crate) fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        // A short count may be the end of the file or one chunk of it: it says nothing about the
        // socket, whose next refusal will.
        self.poll_with(cx, Direction::Write, 0, |socket| {
            let mut from = offset;
            rustix::fs::sendfile(socket, file, Some(&mut from), length)
        })
    }

    /// Tells the peer that nothing more will be written.
    pub(crate) fn end_writing(&self) -> io::Result<()> {
        Ok(rustix::net::shutdown(self.fd()?, Shutdown::Write)?)
    }

    /// Makes the close to come a reset: the peer must not take what it has got for the whole.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        let zero = Some(std::time::Duration::ZERO);
        Ok(rustix::net::sockopt::set_socket_linger(self.fd()?, zero)?)
    }

    /// How many of the bytes written the peer has not acknowledged.
    pub(crate) fn unacknowledged_bytes(&self) -> io::Result<u64> {
        Ok(sys::unacknowledged_bytes(self.fd()?)?)
    }

    fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        match self {
            Socket::Bare(socket) => Ok(socket.as_fd()),
            Socket::Registered(socket) => Ok(socket.get_ref().as_fd()),
            Socket::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Makes `call` when the socket is ready for it. A call that did less than it wanted has
    /// emptied (or filled) the socket: it is marked as not ready, which saves the call that would
    /// only be told so.
    #[inline]
    fn poll_with(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        wanted: usize,
        mut call: impl FnMut(BorrowedFd<'_>) -> Result<usize, Errno>,
    ) -> Poll<io::Result<usize>> {
        let socket = match self {
            Socket::Registered(socket) => socket,
            Socket::Bare(socket) => return attempt(|| call(socket.as_fd())),
            Socket::Gone => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        };
        if let Direction::Write = direction {
            // A socket nearly always has room: it is asked before the runtime is.
            let done = attempt(|| call(socket.get_ref().as_fd()));
            if done.is_ready() {
                return done;
            }
        }
        loop {
            let mut ready = ready!(match direction {
                Direction::Read => socket.poll_read_ready(cx),
                Direction::Write => socket.poll_write_ready(cx),
            })?;
            match attempt(|| call(socket.get_ref().as_fd())) {
                Poll::Pending => ready.clear_ready(),
                Poll::Ready(done) => {
                    if done.as_ref().is_ok_and(|done| 0 < *done && *done < wanted) {
                        ready.clear_ready();
                    }
                    return Poll::Ready(done);
                }
            }
        }
    }
}

fn flags(more: bool) -> SendFlags {
    if more { SendFlags::NOSIGNAL | SendFlags::MORE } else { SendFlags::NOSIGNAL }
}

/// Makes a call that does not block; pending where it would.
#[inline]
fn attempt(mut call: impl FnMut() -> Result<usize, Errno>) -> Poll<io::Result<usize>> {
    loop {
        match call() {
            Ok(done) => return Poll::Ready(Ok(done)),
            Err(Errno::WOULDBLOCK) => return Poll::Pending,
            Err(Errno::INTR) => {}
            Err(error) => return Poll::Ready(Err(error.into())),
        }
    }
}
