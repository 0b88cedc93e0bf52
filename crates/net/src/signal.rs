//! Signals: those that ask the program to end, and the one to read its files again.

use std::io;
use std::pin::Pin;
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, which mean the same here.
#[derive(Debug)]
pub struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    /// Takes both signals over from their default action. Needs a runtime around it.
    pub fn listen() -> io::Result<Stop> {
        Ok(Stop {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next of them.
    pub async fn asked(&mut self) {
        std::future::poll_fn(|cx| {
            let terminate = self.terminate.poll_recv(cx);
            let interrupt = self.interrupt.poll_recv(cx);
            if terminate.is_ready() { terminate } else { interrupt }
        })
        .await;
    }
}

/// SIGHUP.
#[derive(Debug)]
pub struct Hangup(Signal);

impl Hangup {
    /// Takes the signal over from its default action. Needs a runtime around it.
    pub fn listen() -> io::Result<Hangup> {
        signal(SignalKind::hangup()).map(Hangup)
    }

    /// Waits for the next one, but only until `other` is done: whether it came.
    pub async fn within<T>(&mut self, mut other: Pin<&mut impl Future<Output = T>>) -> bool {
        std::future::poll_fn(|cx| {
            if self.0.poll_recv(cx).is_ready() {
                return Poll::Ready(true);
            }
            other.as_mut().poll(cx).map(|_| false)
        })
        .await
    }
}
