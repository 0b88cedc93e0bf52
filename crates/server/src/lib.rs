//! The server: from a connection to an answer.
//!
//! `conn` knows versions of HTTP, [`pipeline`] the life of a request, `handler` and `filter` what
//! may answer it and what may change the answer, `files` what is served. [`server`] starts it all.

pub mod cli;
pub mod config;
pub mod conn;
pub mod error;
pub mod files;
pub mod filter;
pub mod handler;
pub mod limits;
pub mod log;
pub mod pipeline;
pub mod renewal;
pub mod request;
pub mod response;
pub mod route;
pub mod server;
pub mod worker;
