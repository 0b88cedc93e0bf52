//! What only the time can show: a peer that does not go on.

use super::{Connection, Draining};
use crate::h2::error::ErrorCode;

impl Connection {
    /// Looks at the time, now and then; a few times a second will do.
    ///
    /// # Errors
    ///
    /// The peer has taken too long, or lets content through at a drip, and the connection has
    /// failed. What waits in the output tells the peer.
    pub fn check(&mut self, now_ms: u64) -> Result<(), ErrorCode> {
        if let Some(code) = self.failure {
            return Err(code);
        }
        self.now_ms = now_ms;
        let since = |start_ms: u64| now_ms.saturating_sub(start_ms);
        if !self.is_acknowledged && since(self.start_ms) >= self.limits.settings_timeout_ms {
            return Err(self.fail(ErrorCode::SETTINGS_TIMEOUT));
        }
        let start_ms = self.assembly.as_ref().map(|assembly| assembly.start_ms);
        if start_ms.is_some_and(|start_ms| since(start_ms) >= self.limits.block_timeout_ms) {
            return Err(self.fail(ErrorCode::ENHANCE_YOUR_CALM));
        }
        if let Draining::Announced(start_ms) = self.draining
            && since(start_ms) >= self.limits.drain_ms
        {
            self.finish_drain();
        }
        self.check_pace(now_ms)
    }

    /// Content that windows hold back has to move at a pace. Single bytes do not count as life.
    fn check_pace(&mut self, now_ms: u64) -> Result<(), ErrorCode> {
        let is_connection_full = self.send_window <= 0;
        let is_held_back = self
            .streams
            .iter()
            .any(|(_, stream)| stream.is_held_back() || (is_connection_full && stream.pending > 0));
        if !is_held_back {
            self.stalled = None;
            return Ok(());
        }
        let (start_ms, sent_before) = *self.stalled.get_or_insert((now_ms, self.sent_bytes));
        let elapsed_ms = now_ms.saturating_sub(start_ms);
        if elapsed_ms < self.limits.stall_window_ms {
            return Ok(());
        }
        let wanted = self.limits.stall_bytes_per_second_min.saturating_mul(elapsed_ms) / 1000;
        if self.sent_bytes - sent_before < wanted {
            return Err(self.fail(ErrorCode::ENHANCE_YOUR_CALM));
        }
        self.stalled = Some((now_ms, self.sent_bytes));
        Ok(())
    }
}
