//! How bytes move: workers, listeners, streams, deadlines.
//!
//! One thread per core, each a runtime of its own with its own listeners, so that a connection
//! stays where it was accepted and nothing is shared on its way. This crate does not know HTTP:
//! what the bytes mean is the caller's.

pub mod accept;
pub mod clock;
pub mod deadline;
pub mod listen;
pub mod signal;
pub mod stream;
pub mod timer;
pub mod tls;
pub mod worker;

mod socket;
mod sys;
