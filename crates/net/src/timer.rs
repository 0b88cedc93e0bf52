//! Waiting for a while, by a timer of the kernel's.
//!
//! The runtime's own timers would have it ask for the time in every turn of its loop, for every
//! request. What we wait for is rare, and pays for itself.

use crate::sys;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A timer that is set again for each wait. It has its descriptor from the start, because there
/// may be none left when it is needed.
#[derive(Debug)]
pub struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    /// A timer of the runtime that this is called in.
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Timer(sys::register(descriptor, Interest::READABLE)?))
    }

    /// Waits for `duration`, which is more than nothing.
    pub async fn wait(&self, duration: Duration) -> io::Result<()> {
        let value = Timespec {
            tv_sec: duration.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: duration.subsec_nanos().into(),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        loop {
            let mut ready = self.0.readable().await?;
            let mut expirations = [0; 8];
            match rustix::io::read(self.0.get_ref(), &mut expirations) {
                Ok(_) => {
                    ready.clear_ready();
                    return Ok(());
                }
                Err(Errno::WOULDBLOCK) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_timer_waits_again_and_again() {
        let start = Instant::now();
        crate::worker::runtime().unwrap().block_on(async {
            let timer = Timer::new().unwrap();
            for _ in 0..3 {
                timer.wait(Duration::from_millis(10)).await.unwrap();
            }
        });
        assert!(start.elapsed() >= Duration::from_millis(30));
    }
}
