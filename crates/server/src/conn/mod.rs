//! Connections: from the wire to a [`crate::request::Request`] and back. The only place that knows
//! versions of HTTP; HTTP/2 and 3 will stand beside [`h1`].

pub mod discard;
pub mod h1;
pub mod handshake;
pub mod journal;
pub mod outbox;
pub mod stationery;
pub mod transfer;
