//! What has no safe wrapper: two settings of the kernel's sockets, one of the C library, and the
//! promise that tokio asks for.
#![allow(unsafe_code)]

use rustix::io;
use rustix::ioctl::{self, Getter, Opcode};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
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

/// Has a listening socket hand out a connection when its first bytes are there, or after a second
/// or so without any (`TCP_DEFER_ACCEPT`, tcp(7)): its request can then be read at once.
pub(crate) fn defer_accept(socket: BorrowedFd<'_>) -> std::io::Result<()> {
    /// `IPPROTO_TCP` of netinet/in.h.
    const TCP: i32 = 6;
    /// `TCP_DEFER_ACCEPT` of linux/tcp.h.
    const DEFER_ACCEPT: i32 = 9;
    // SAFETY: the declaration is that of sys/socket.h.
    unsafe extern "C" {
        fn setsockopt(fd: i32, level: i32, name: i32, value: *const i32, length: u32) -> i32;
    }
    let seconds: i32 = 1;
    let length = size_of::<i32>() as u32;
    // SAFETY: setsockopt(2) reads `length` bytes, those of `seconds`, and keeps no pointer.
    match unsafe { setsockopt(socket.as_raw_fd(), TCP, DEFER_ACCEPT, &raw const seconds, length) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Gives a descriptor a place in this thread's runtime.
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the promise is that the descriptor stays open and the same while it is registered.
    // An `OwnedFd` owns its descriptor and never changes it, and `AsyncFd` deregisters before it
    // lets go of it.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.map_err(std::io::Error::from)
}

/// Has the C library's allocator join free blocks at once, however small.
///
/// A connection at rest is two blocks of 256 bytes aligned to 128. Around each the GNU allocator
/// cuts off slivers, and by default keeps the small ones apart for programs that ask for many of
/// their size: 902 bytes a connection, against 792 when they are joined (10,000 connections,
/// glibc 2.36).
#[cfg(target_env = "gnu")]
pub(crate) fn join_free_blocks() {
    /// `M_MXFAST` of malloc.h: the largest block that is kept apart, in bytes.
    const M_MXFAST: i32 = 1;
    // SAFETY: the declaration is that of malloc.h.
    unsafe extern "C" {
        fn mallopt(parameter: i32, value: i32) -> i32;
    }
    // SAFETY: mallopt(3) takes two integers and may be called at any time; 0 is a documented value
    // of this parameter.
    unsafe { mallopt(M_MXFAST, 0) };
}

/// Other C libraries have no such blocks.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn join_free_blocks() {}
