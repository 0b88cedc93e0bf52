//! The real server, spoken to in raw bytes and by real clients. One program, so that the server is
//! linked with one set of tests; a file for each side of it.
//!
//! Nothing here relies on a quiet machine: every wait ends when what it waits for has happened, and
//! limits of time are far above what it takes.

#[path = "../../../proto/tests/notation/mod.rs"]
mod notation;

mod client;
mod scratch;
mod server;
mod site;

mod changes;
mod clients;
mod conversations;
mod encryption;
mod escape;
mod limits;
mod process;
