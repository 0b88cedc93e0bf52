//! One connection, plain or encrypted, behind the same calls: reads into a buffer that the caller
//! lends, writes that say how far they got, files sent with as little copying as there can be.

use crate::socket::Socket;
use crate::tls::session::{Handshake, Session};
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

/// A connection that never blocks.
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    tls: Option<Box<RefCell<Session>>>,
}

impl Stream {
    /// A stream that is not registered: a call that would block returns `Pending` and nobody will
    /// wake the caller, who then has to [`Stream::register`] it and call again.
    ///
    /// `socket` has to be non-blocking.
    pub fn bare(socket: OwnedFd) -> Stream {
        Stream { socket: Socket::Bare(socket), tls: None }
    }

    /// Has all that follows encrypted, once [`Stream::poll_handshake`] is done.
    pub fn encrypt(&mut self, session: Session) {
        self.tls = Some(Box::new(RefCell::new(session)));
    }

    /// Goes back to plain text: for a peer that does not speak TLS and shall be told so.
    pub fn give_up_encryption(&mut self) {
        self.tls = None;
    }

    /// Goes on with the handshake; at once done where nothing is encrypted.
    pub fn poll_handshake(&self, cx: &mut Context<'_>) -> Poll<Result<(), Handshake>> {
        match &self.tls {
            Some(session) => session.borrow_mut().poll_handshake(cx, &self.socket),
            None => Poll::Ready(Ok(())),
        }
    }

    /// The protocol that was agreed on in the handshake (ALPN, RFC 7301), if one was.
    pub fn protocol(&self) -> Option<Vec<u8>> {
        self.tls.as_ref()?.borrow().protocol()
    }

    /// Whether what is written is encrypted.
    #[inline]
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Gives the stream a place in this thread's runtime.
    pub fn register(&mut self) -> io::Result<()> {
        self.socket.register()
    }

    /// Whether the runtime wakes whoever waits for this stream.
    #[inline]
    pub fn is_registered(&self) -> bool {
        self.socket.is_registered()
    }

    /// Reads what is there, at most `buffer.len()` bytes; 0 when the peer has ended its side.
    #[inline]
    pub fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match &self.tls {
            None => self.socket.poll_read(cx, buffer),
            Some(session) => session.borrow_mut().poll_read(cx, &self.socket, buffer),
        }
    }

    /// Writes what the socket takes of `bytes`. `more` says that other bytes follow at once, so
    /// that the two can share a packet.
    #[inline]
    pub fn poll_write(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        more: bool,
    ) -> Poll<io::Result<usize>> {
        match &self.tls {
            None => self.socket.poll_write(cx, bytes, more),
            Some(session) => session.borrow_mut().poll_write(cx, &self.socket, bytes, more),
        }
    }

    /// Writes what the socket takes of several runs of bytes.
    #[inline]
    pub fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        more: bool,
    ) -> Poll<io::Result<usize>> {
        match &self.tls {
            None => self.socket.poll_write_vectored(cx, slices, more),
            Some(session) => session.borrow_mut().poll_gathered(cx, &self.socket, slices, more),
        }
    }

    /// Sends at most `length` bytes of `file` from `offset` on; without copying them through the
    /// program where nothing is encrypted (sendfile(2)). 0 when the file ends at or before
    /// `offset`.
    #[inline]
    pub fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        match &self.tls {
            None => self.socket.poll_send_file(cx, file, offset, length),
            Some(session) => {
                session.borrow_mut().poll_send_file(cx, &self.socket, file, offset, length)
            }
        }
    }

    /// Writes what a session still holds of what it has taken. A plain stream holds nothing.
    #[inline]
    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &self.tls {
            None => Poll::Ready(Ok(())),
            Some(session) => session.borrow_mut().poll_flush(cx, &self.socket),
        }
    }

    /// Tells the peer of an encrypted connection that all has been said, so that it need not
    /// suspect that the end was cut off. Does nothing on a plain one, whose close says it.
    #[inline]
    pub fn say_goodbye(&self) {
        if let Some(session) = &self.tls {
            session.borrow_mut().say_goodbye(&self.socket);
        }
    }

    /// Tells the peer that nothing more will be written.
    pub fn end_writing(&self) -> io::Result<()> {
        self.say_goodbye();
        self.socket.end_writing()
    }

    /// Makes the close to come a reset: the peer must not take what it has got for the whole.
    pub fn reset_on_close(&self) -> io::Result<()> {
        self.socket.reset_on_close()
    }

    /// How many of the bytes written the peer has not acknowledged.
    pub fn unacknowledged_bytes(&self) -> io::Result<u64> {
        let held = self.tls.as_ref().map_or(0, |session| session.borrow().held_bytes());
        Ok(self.socket.unacknowledged_bytes()? + held as u64)
    }
}
