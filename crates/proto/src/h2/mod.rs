//! HTTP/2 on the wire (RFC 9113), for both roles.

pub mod connection;
pub mod error;
pub mod frame;
pub mod hpack;
pub mod limits;
pub mod message;
pub mod priority;
pub mod section;

pub use connection::{Block, Connection, Event, Key, Plan, Role};
pub use error::ErrorCode;
pub use limits::Limits;
