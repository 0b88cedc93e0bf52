//! What a peer may waste. Each kind of waste has a budget for a window of time; most of them cost
//! the peer as little as they cost us, which is why only a count can stop them.

use crate::h2::limits::Limits;

/// Frames and events that may serve to keep us busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waste {
    ResetReceived,
    ResetProvoked,
    EmptyFrame,
    Ping,
    Settings,
    Priority,
    WindowUpdate,
    UnknownFrame,
}

const KINDS: usize = Waste::UnknownFrame as usize + 1;

/// What was spent in this window.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    window_start_ms: u64,
    spent: [u32; KINDS],
    /// Content sent that has not yet earned the peer a WINDOW_UPDATE, in bytes.
    content_bytes: usize,
}

impl Budgets {
    /// Spends one; false if it was one too many.
    pub(super) fn spend(&mut self, waste: Waste, limits: &Limits, now_ms: u64) -> bool {
        if now_ms.saturating_sub(self.window_start_ms) >= limits.budget_window_ms {
            self.window_start_ms = now_ms;
            self.spent = [0; KINDS];
        }
        let max = match waste {
            Waste::ResetReceived => limits.resets_received_max,
            Waste::ResetProvoked => limits.resets_provoked_max,
            Waste::EmptyFrame => limits.empty_frames_max,
            Waste::Ping => limits.pings_max,
            Waste::Settings => limits.settings_max,
            Waste::Priority => limits.priorities_max,
            Waste::WindowUpdate => limits.window_updates_max,
            Waste::UnknownFrame => limits.unknown_frames_max,
        };
        let spent = &mut self.spent[waste as usize];
        *spent = spent.saturating_add(1);
        *spent <= max
    }

    /// Content was sent, for which the peer may make room again.
    #[inline]
    pub(super) fn earn(&mut self, content_bytes: usize) {
        self.content_bytes += content_bytes;
        let earned = (self.content_bytes / Limits::WINDOW_UPDATE_BYTES) as u32;
        self.content_bytes %= Limits::WINDOW_UPDATE_BYTES;
        let spent = &mut self.spent[Waste::WindowUpdate as usize];
        *spent = spent.saturating_sub(earned);
    }
}
