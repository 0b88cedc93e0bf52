//! The time, read where it costs a few nanoseconds: the kernel's coarse clocks, which advance with
//! its ticks (1 to 4 ms) and never need a system call.

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since some moment before the program began; never goes back.
#[inline]
pub fn monotonic_ms() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Microseconds since some moment before the program began, to the precision that the hardware
/// gives; dearer than [`monotonic_ms`].
pub fn monotonic_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1000
}

/// Seconds since 1970-01-01T00:00:00Z.
#[inline]
pub fn unix_seconds() -> i64 {
    clock_gettime(ClockId::RealtimeCoarse).tv_sec
}
