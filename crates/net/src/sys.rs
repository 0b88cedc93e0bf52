//! What has no safe wrapper: one system call, and the promise that tokio asks for.
#![allow(unsafe_code)]

use rustix::io;
use rustix::ioctl::{self, Getter, Opcode};
use std::os::fd::{BorrowedFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// `SIOCOUTQ` of linux/sockios.h: the same number as `TIOCOUTQ`.
const SIOCOUTQ: Opcode = 0x5411;

/// How many bytes written to the socket its peer has not acknowledged (tcp(7)), or has not read
/// (unix(7)).
pub(crate) fn unacknowledged_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: SIOCOUTQ writes one `int` through its argument and has no other effect; `Getter`
    // hands it the address of one.
    let bytes: i32 = unsafe { ioctl::ioctl(socket, Getter::<SIOCOUTQ, i32>::new()) }?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Gives a descriptor a place in this thread's runtime.
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the promise is that the descriptor stays open and the same while it is registered.
    // An `OwnedFd` owns its descriptor and never changes it, and `AsyncFd` deregisters before it
    // lets go of it.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.map_err(std::io::Error::from)
}
