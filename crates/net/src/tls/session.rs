//! The server's end of one encrypted connection.
//!
//! Records are decrypted from, and encrypted into, buffers that all of a worker's connections
//! share. A session keeps bytes of its own only while a record is half read, or while the socket
//! does not take what was encrypted.

use crate::socket::Socket;
use crate::tls::settings::Acceptor;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use std::cell::RefCell;
use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// The largest record with its overhead, and what else can wait with it: a ClientHello can be
/// 64 KiB long, in several records.
const INPUT_BYTES: usize = 80 << 10;

/// How much is encrypted at a time: what one connection holds at most while its socket is full.
const PLAIN_BYTES_MAX: usize = 64 << 10;

/// The most bytes of one record (RFC 8446 §5.1).
const RECORD_BYTES_MAX: usize = 16 << 10;

/// What encryption adds to that: header, nonce and tag of each record, and of small ones at first.
const OVERHEAD_BYTES: usize = 4 << 10;

/// The first bytes of a connection go out in records that fit into one packet, so that the client
/// can begin to read before a congested path has brought 16 KiB.
const EARLY_BYTES: u64 = 16 << 10;
const EARLY_RECORD_BYTES: usize = 1300;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PLAIN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The server's end of one encrypted connection.
pub struct Session {
    connection: UnbufferedServerConnection,
    /// The start of a record, or of a handshake message, whose rest has not come.
    incoming: Vec<u8>,
    /// What was decrypted beyond what the reader had room for.
    decrypted: Vec<u8>,
    /// What is encrypted and not yet taken by the socket.
    outgoing: Vec<u8>,
    /// How much of `outgoing` is sent.
    outgoing_sent: usize,
    /// How many bytes were encrypted so far.
    written: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has come.
    Fresh,
    Handshake,
    Established,
    /// The peer will send no more.
    PeerClosed,
}

/// Why a handshake failed.
#[derive(Debug)]
pub enum Handshake {
    /// The peer does not speak TLS but something that begins with a letter, as HTTP does.
    NotTls,
    /// It was refused, by either side.
    Refused(rustls::Error),
    /// The connection broke.
    Broken(io::Error),
}

impl fmt::Display for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Handshake::NotTls => f.write_str("not TLS"),
            Handshake::Refused(error) => error.fmt(f),
            Handshake::Broken(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("stage", &self.stage).finish_non_exhaustive()
    }
}

/// What [`Session::process`] did.
struct Processed {
    /// How many bytes of its input are dealt with.
    consumed: usize,
    /// How many bytes of the reader's buffer are filled.
    filled: usize,
}

impl Session {
    /// The server's end of a connection on which nothing has been said.
    pub fn new(acceptor: &Acceptor) -> io::Result<Session> {
        let config = Arc::clone(acceptor.config());
        let connection = UnbufferedServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Session {
            connection,
            incoming: Vec::new(),
            decrypted: Vec::new(),
            outgoing: Vec::new(),
            outgoing_sent: 0,
            written: 0,
            stage: Stage::Fresh,
        })
    }

    /// How many encrypted bytes wait for the socket.
    pub(crate) fn held_bytes(&self) -> usize {
        self.outgoing.len() - self.outgoing_sent
    }

    pub(crate) fn protocol(&self) -> Option<Vec<u8>> {
        self.connection.alpn_protocol().map(<[u8]>::to_vec)
    }

    pub(crate) fn poll_handshake(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
    ) -> Poll<Result<(), Handshake>> {
        loop {
            ready!(self.poll_flush(cx, socket)).map_err(Handshake::Broken)?;
            if matches!(self.stage, Stage::Established | Stage::PeerClosed) {
                return Poll::Ready(Ok(()));
            }
            let read = ready!(self.poll_records(cx, socket, &mut []));
            match read {
                Ok(Some(_)) => {}
                Ok(None) => return Poll::Ready(Err(Handshake::Broken(eof()))),
                Err(error) => {
                    let _ = self.poll_flush(cx, socket);
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if !self.decrypted.is_empty() {
            let count = self.decrypted.len().min(buffer.len());
            let (taken, rest) = self.decrypted.split_at(count);
            buffer[..count].copy_from_slice(taken);
            self.decrypted = rest.to_vec();
            return Poll::Ready(Ok(count));
        }
        loop {
            if self.stage == Stage::PeerClosed {
                return Poll::Ready(Ok(0));
            }
            match ready!(self.poll_records(cx, socket, buffer)) {
                Ok(Some(0)) => {
                    // No data, but perhaps something to be answered: a change of keys.
                    if self.poll_flush(cx, socket)?.is_pending() {
                        return Poll::Pending;
                    }
                }
                Ok(Some(count)) => return Poll::Ready(Ok(count)),
                // Without a goodbye: what came may be cut short, which HTTP's framing tells.
                Ok(None) => return Poll::Ready(Ok(0)),
                Err(Handshake::Broken(error)) => return Poll::Ready(Err(error)),
                Err(error) => {
                    let _ = self.poll_flush(cx, socket);
                    let error = io::Error::new(io::ErrorKind::InvalidData, error.to_string());
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
        bytes: &[u8],
        more: bool,
    ) -> Poll<io::Result<usize>> {
        let bytes = bytes.get(..PLAIN_BYTES_MAX).unwrap_or(bytes);
        self.poll_encrypted(cx, socket, more, |session, output| {
            Ok((bytes.len(), session.encrypt(bytes, output)?))
        })
    }

    /// Writes several runs of bytes, in as few records as they fit into.
    pub(crate) fn poll_gathered(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
        slices: &[IoSlice<'_>],
        more: bool,
    ) -> Poll<io::Result<usize>> {
        PLAIN.with_borrow_mut(|plain| {
            plain.clear();
            for slice in slices {
                let room = PLAIN_BYTES_MAX - plain.len();
                plain.extend_from_slice(slice.get(..room).unwrap_or(slice));
            }
            self.poll_write(cx, socket, plain, more)
        })
    }

    /// Writes part of a file, read a record at a time: so small a piece is still in the
    /// processor's nearest cache when it is encrypted.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        let wanted = length.min(PLAIN_BYTES_MAX);
        self.poll_encrypted(cx, socket, wanted < length, |session, output| {
            PLAIN.with_borrow_mut(|plain| {
                let (mut taken, mut encrypted) = (0, 0);
                while taken < wanted {
                    plain.resize(RECORD_BYTES_MAX.min(wanted - taken), 0);
                    let count = rustix::io::pread(file, &mut plain[..], offset + taken as u64)?;
                    if count == 0 {
                        break;
                    }
                    let piece = plain.get(..count).unwrap_or_default();
                    let room = output.get_mut(encrypted..).unwrap_or_default();
                    encrypted += session.encrypt(piece, room)?;
                    taken += count;
                }
                Ok((taken, encrypted))
            })
        })
    }

    /// Has `encrypt` fill the output, and writes what the socket takes of it. It says how many
    /// bytes it took and how many it made of them.
    fn poll_encrypted(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
        more: bool,
        encrypt: impl FnOnce(&mut Session, &mut [u8]) -> io::Result<(usize, usize)>,
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx, socket))?;
        OUTPUT.with_borrow_mut(|output| {
            output.resize(PLAIN_BYTES_MAX + OVERHEAD_BYTES, 0);
            let (taken, length) = encrypt(self, output)?;
            let encrypted = output.get(..length).unwrap_or_default();
            let sent = match socket.poll_write(cx, encrypted, more) {
                Poll::Ready(sent) => sent?,
                Poll::Pending => 0,
            };
            self.outgoing.extend_from_slice(encrypted.get(sent..).unwrap_or_default());
            Poll::Ready(Ok(taken))
        })
    }

    pub(crate) fn poll_flush(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
    ) -> Poll<io::Result<()>> {
        while self.held_bytes() > 0 {
            let rest = self.outgoing.get(self.outgoing_sent..).unwrap_or_default();
            self.outgoing_sent += ready!(socket.poll_write(cx, rest, false))?;
        }
        if !self.outgoing.is_empty() {
            self.outgoing = Vec::new();
            self.outgoing_sent = 0;
        }
        Poll::Ready(Ok(()))
    }

    /// Tells the peer that all has been said, if the socket takes it now.
    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        let mut goodbye = [0; 256];
        let status = self.connection.process_tls_records(&mut self.incoming);
        if let Ok(ConnectionState::WriteTraffic(mut traffic)) = status.state
            && let Ok(length) = traffic.queue_close_notify(&mut goodbye)
        {
            self.outgoing.extend_from_slice(goodbye.get(..length).unwrap_or_default());
        }
        let _ = self.poll_flush(&mut Context::from_waker(Waker::noop()), socket);
    }

    /// Reads once from the socket and deals with the records that are complete: how many bytes of
    /// `buffer` were filled, or `None` at the end of what the peer sends.
    fn poll_records(
        &mut self,
        cx: &mut Context<'_>,
        socket: &Socket,
        buffer: &mut [u8],
    ) -> Poll<Result<Option<usize>, Handshake>> {
        INPUT.with_borrow_mut(|input| {
            input.resize(INPUT_BYTES, 0);
            let held = self.incoming.len();
            let (old, new) = input.split_at_mut(held.min(INPUT_BYTES));
            old.copy_from_slice(&self.incoming);
            if new.is_empty() {
                return Poll::Ready(Err(Handshake::Broken(io::ErrorKind::InvalidData.into())));
            }
            let read = ready!(socket.poll_read(cx, new)).map_err(Handshake::Broken)?;
            if read == 0 {
                return Poll::Ready(Ok(None));
            }
            let input = input.get_mut(..held + read).unwrap_or_default();
            if self.stage == Stage::Fresh {
                if input.first().is_some_and(u8::is_ascii_alphabetic) {
                    return Poll::Ready(Err(Handshake::NotTls));
                }
                self.stage = Stage::Handshake;
            }
            let Processed { consumed, filled } = self.process(input, buffer)?;
            let rest = input.get(consumed..).unwrap_or_default();
            self.incoming = rest.to_vec();
            Poll::Ready(Ok(Some(filled)))
        })
    }

    /// Deals with all complete records of `input`.
    fn process(&mut self, input: &mut [u8], buffer: &mut [u8]) -> Result<Processed, Handshake> {
        let (mut consumed, mut filled) = (0, 0);
        loop {
            let rest = input.get_mut(consumed..).unwrap_or_default();
            let UnbufferedStatus { discard, state } = self.connection.process_tls_records(rest);
            consumed += discard;
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        let record = record.map_err(Handshake::Refused)?;
                        consumed += record.discard;
                        let room = buffer.get_mut(filled..).unwrap_or_default();
                        let count = record.payload.len().min(room.len());
                        let (now, later) = record.payload.split_at(count);
                        room[..count].copy_from_slice(now);
                        filled += count;
                        self.decrypted.extend_from_slice(later);
                    }
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(&mut self.outgoing, |out| data.encode(out))?;
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(ConnectionState::PeerClosed) => self.stage = Stage::PeerClosed,
                Ok(ConnectionState::Closed) => break,
                Ok(ConnectionState::WriteTraffic(_)) => {
                    if self.stage == Stage::Handshake {
                        self.stage = Stage::Established;
                    }
                    break;
                }
                Ok(_) => break,
                Err(error) => {
                    self.queue_alert();
                    return Err(Handshake::Refused(error));
                }
            }
        }
        Ok(Processed { consumed, filled })
    }

    /// Puts what the peer is to be told of an error behind what waits for the socket.
    fn queue_alert(&mut self) {
        while let Ok(ConnectionState::EncodeTlsData(mut data)) =
            self.connection.process_tls_records(&mut []).state
        {
            if encode(&mut self.outgoing, |out| data.encode(out)).is_err() {
                return;
            }
        }
    }

    /// Encrypts `bytes`, of which there are at most [`PLAIN_BYTES_MAX`]: how long the result is.
    fn encrypt(&mut self, bytes: &[u8], output: &mut [u8]) -> io::Result<usize> {
        let (mut at, mut length) = (0, 0);
        loop {
            let status = self.connection.process_tls_records(&mut self.incoming);
            match status.state.map_err(io::Error::other)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    while at < bytes.len() {
                        let is_early = self.written < EARLY_BYTES && bytes.len() > 4096;
                        let most = if is_early { EARLY_RECORD_BYTES } else { bytes.len() };
                        let piece = bytes.get(at..bytes.len().min(at + most)).unwrap_or_default();
                        let room = output.get_mut(length..).unwrap_or_default();
                        length += traffic.encrypt(piece, room).map_err(encrypt_error)?;
                        at += piece.len();
                        self.written += piece.len() as u64;
                    }
                    return Ok(length);
                }
                // What the session has to say itself goes first.
                ConnectionState::EncodeTlsData(mut data) => {
                    let room = output.get_mut(length..).unwrap_or_default();
                    length += data.encode(room).map_err(io::Error::other)?;
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::PeerClosed => self.stage = Stage::PeerClosed,
                _ => return Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }
}

/// Has `write` append to `outgoing` as many bytes as it needs.
fn encode(
    outgoing: &mut Vec<u8>,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> Result<(), Handshake> {
    let start = outgoing.len();
    let mut room = 0;
    loop {
        outgoing.resize(start + room, 0);
        match write(outgoing.get_mut(start..).unwrap_or_default()) {
            Ok(length) => {
                outgoing.truncate(start + length);
                return Ok(());
            }
            Err(EncodeError::InsufficientSize(needed)) if needed.required_size > room => {
                room = needed.required_size;
            }
            Err(error) => return Err(Handshake::Broken(io::Error::other(error))),
        }
    }
}

fn encrypt_error(error: EncryptError) -> io::Error {
    io::Error::other(error)
}

fn eof() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
