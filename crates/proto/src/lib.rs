//! What bytes mean: HTTP without input or output.
//!
//! Functions over bytes, for both roles: the server reads requests and the lab reads responses
//! with the same code. Nothing here can name a socket, a clock, a thread or a source of
//! randomness; where the time matters, the caller hands it in.
#![forbid(unsafe_code)]

pub mod conditional;
pub mod date;
pub mod etag;
pub mod field;
pub mod h1;
pub mod h2;
pub mod host;
pub mod media_type;
pub mod method;
pub mod multipart;
pub mod range;
mod scan;
pub mod status;
pub mod target;
#[cfg(test)]
mod testing;
