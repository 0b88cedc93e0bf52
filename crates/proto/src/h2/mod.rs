//! HTTP/2 on the wire (RFC 9113), for both roles.

pub mod error;
pub mod frame;
pub mod hpack;
pub mod section;

pub use error::ErrorCode;
