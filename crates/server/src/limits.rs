//! Every limit of the server, with its unit in its name and its default in one place.

use crate::files::cache::CacheLimits;
use crate::files::store::StoreLimits;
use serval_proto::h1::Limits as HeadLimits;
use serval_proto::h1::chunked::ChunkLimits;

/// How much of everything there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Request line, field section, number of fields.
    pub head: HeadLimits,
    /// Framing of chunked bodies.
    pub chunk: ChunkLimits,
    /// A body that nobody asked for is read and thrown away up to this size, in bytes, to keep
    /// its connection; a larger one closes it.
    pub discarded_bytes_max: u64,
    /// Answers that wait to be written stop the reading of pipelined requests from here on, in
    /// bytes.
    pub queued_bytes_max: usize,
    /// Connections at a time, over all workers.
    pub connections_max: usize,
    /// The cache of files.
    pub store: StoreLimits,
    /// From the first byte of a request's head to its last, in milliseconds.
    pub head_timeout_ms: u64,
    /// From a connection's first byte to the end of its TLS handshake, in milliseconds.
    pub handshake_timeout_ms: u64,
    /// Between requests, in milliseconds.
    pub idle_timeout_ms: u64,
    /// Over this time, in milliseconds, a transfer has to make progress.
    pub progress_window_ms: u64,
    /// How much progress, in bytes per second: sent bytes count when they are acknowledged.
    pub progress_bytes_per_s_min: u64,
    /// How long a closing connection waits for its peer to stop sending, in milliseconds.
    pub linger_timeout_ms: u64,
    /// How long a stopping server waits for answers under way, in milliseconds.
    pub drain_timeout_ms: u64,
}

impl Limits {
    /// The most bytes that a request head may be allowed: what a worker's buffer can hold of it.
    pub const HEAD_BYTES_MAX: usize = 60 << 10;

    /// What a transfer has to move in one progress window, in bytes.
    pub fn progress_bytes_min(&self) -> u64 {
        self.progress_bytes_per_s_min * self.progress_window_ms / 1000
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            head: HeadLimits::default(),
            chunk: ChunkLimits::default(),
            discarded_bytes_max: 64 << 10,
            queued_bytes_max: 64 << 10,
            connections_max: 10_000,
            store: StoreLimits {
                cache: CacheLimits {
                    bytes_max: 64 << 20,
                    entries_max: 65_536,
                    descriptors_max: 4096,
                },
                missing: CacheLimits { bytes_max: 1 << 20, entries_max: 1024, descriptors_max: 0 },
                memory_bytes_max: 16 << 10,
                snapshot_bytes_max: 16 << 20,
                watches_max: 4096,
            },
            head_timeout_ms: 10_000,
            handshake_timeout_ms: 10_000,
            idle_timeout_ms: 60_000,
            progress_window_ms: 10_000,
            progress_bytes_per_s_min: 500,
            linger_timeout_ms: 2_000,
            drain_timeout_ms: 30_000,
        }
    }
}
