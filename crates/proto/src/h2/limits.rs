//! How much a peer may ask for, hold, and waste.

use super::section::SectionLimits;

/// The limits of one connection. What is beyond a budget ends it with ENHANCE_YOUR_CALM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most streams that the peer may have open at once.
    pub streams_max: u32,
    /// The most that a decoded field section may bring; more is told to the caller, who answers.
    pub section: SectionLimits,
    /// The longest header block, in bytes as they are sent.
    pub block_bytes_max: usize,
    /// The most CONTINUATION frames of one block.
    pub continuations_max: u32,
    /// The table for decoding, in bytes.
    pub table_bytes: usize,
    /// How much content of one stream may be on its way or with the caller, in bytes; 65,535 at
    /// least.
    pub stream_window_bytes: u32,
    /// The same for all streams together.
    pub connection_window_bytes: u32,
    /// The most bytes of our own frames that wait to be taken.
    pub output_bytes_max: usize,

    /// The time that the budgets below are for, in milliseconds.
    pub budget_window_ms: u64,
    /// Streams that the peer ended before they were done (CVE-2023-44487).
    pub resets_received_max: u32,
    /// Streams that the peer made us end (CVE-2025-8671).
    pub resets_provoked_max: u32,
    /// DATA, HEADERS and CONTINUATION that bring nothing and end nothing.
    pub empty_frames_max: u32,
    /// PINGs.
    pub pings_max: u32,
    /// SETTINGS.
    pub settings_max: u32,
    /// PRIORITY and PRIORITY_UPDATE.
    pub priorities_max: u32,
    /// WINDOW_UPDATEs beyond one for each [`Limits::WINDOW_UPDATE_BYTES`] that we send.
    pub window_updates_max: u32,
    /// Frames of types that we do not know.
    pub unknown_frames_max: u32,

    /// How long our settings may stay unacknowledged, in milliseconds.
    pub settings_timeout_ms: u64,
    /// How long a header block may take, in milliseconds.
    pub block_timeout_ms: u64,
    /// How long the peer's windows may hold content back before its pace is judged, in
    /// milliseconds.
    pub stall_window_ms: u64,
    /// The slowest pace at which windows may let content through, in bytes a second.
    pub stall_bytes_per_second_min: u64,
    /// How long new streams are still taken after we said that we end, in milliseconds, if the
    /// peer does not show earlier that it has heard.
    pub drain_ms: u64,
}

impl Limits {
    /// How much content earns the peer a WINDOW_UPDATE, in bytes.
    pub const WINDOW_UPDATE_BYTES: usize = 256;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            streams_max: 100,
            section: SectionLimits::default(),
            block_bytes_max: 16 << 10,
            continuations_max: 8,
            table_bytes: 4096,
            stream_window_bytes: 64 << 10,
            connection_window_bytes: 128 << 10,
            output_bytes_max: 16 << 10,
            budget_window_ms: 10_000,
            resets_received_max: 200,
            resets_provoked_max: 100,
            empty_frames_max: 100,
            pings_max: 100,
            settings_max: 20,
            priorities_max: 1000,
            window_updates_max: 1000,
            unknown_frames_max: 100,
            settings_timeout_ms: 10_000,
            block_timeout_ms: 10_000,
            stall_window_ms: 10_000,
            stall_bytes_per_second_min: 500,
            drain_ms: 1_000,
        }
    }
}
