//! HTTP/1.1 and 1.0 on the wire (RFC 9112), strictly: what could be read in two ways is refused.

pub mod chunked;
pub mod head;
pub mod refusal;
pub mod write;

mod cursor;
pub(crate) mod framing;

pub use framing::Framing;
pub use head::{Limits, RequestHead, ResponseHead, Version};
pub use refusal::Refusal;
