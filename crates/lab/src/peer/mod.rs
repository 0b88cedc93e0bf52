//! Peers: the servers that are measured. Each is one definition with its configurations; the lab
//! renders them, starts the server in a scratch folder, waits for a right answer, meters and stops
//! it.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What a peer is started for.
#[derive(Clone, Debug)]
pub struct Launch {
    /// `packaged` or `tuned`; `only` for those that have one version.
    pub variant: String,
    /// The folder it serves.
    pub root: PathBuf,
    /// A folder of its own for configuration, logs and sockets; it may be written to and outlives
    /// the peer.
    pub scratch: PathBuf,
    /// Worker processes or threads.
    pub workers: u32,
    /// Processors to pin it to; empty for all.
    pub cpus: Vec<usize>,
    /// Whether an access log is written.
    pub access_log: bool,
    /// Whether it compresses as it serves, and with which coding: `gzip`.
    pub compress: Option<String>,
    /// Whether it may use `sendfile`.
    pub sendfile: bool,
    /// Certificate and key, PEM, to also listen with TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The server that it fetches from, for those that stand before another (Varnish).
    pub origin: Option<SocketAddr>,
    /// What has to be answered before it counts as started: a path below the root, and its bytes.
    pub ready: (String, Vec<u8>),
}
