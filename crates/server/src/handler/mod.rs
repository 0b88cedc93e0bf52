//! Handlers: each may answer a request. One file each; [`crate::route`] says which.

pub mod files;
pub mod options;
