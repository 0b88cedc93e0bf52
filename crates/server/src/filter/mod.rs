//! Filters: each may change an answer. One file each; [`crate::pipeline`] says when.

pub mod error_page;
