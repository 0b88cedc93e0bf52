//! Files: from a canonical path to an entry that is ready to be sent.
//!
//! [`resolve`] opens a path below the root and nothing else; [`entry`] decides once how what was
//! found is served; [`cache`] keeps entries within a budget and [`watch`] says which to forget;
//! [`store`] joins them for all workers, and [`view`] is one worker's lock-free way in, with
//! [`prefixed`] copies of what it serves most. Nothing
//! here knows requests or responses.

pub mod cache;
pub mod content;
pub mod entry;
pub mod prefixed;
pub mod resolve;
pub mod store;
pub mod view;
pub mod watch;
