//! Flow control (RFC 9113 §5.2 and §6.9), in both directions.

use super::budget::Waste;
use super::{Connection, Key};
use crate::h2::error::{ErrorCode, Fault};
use crate::h2::frame::{U31_MAX, write};

const FLOW: ErrorCode = ErrorCode::FLOW_CONTROL_ERROR;

impl Connection {
    /// The caller is done with so many bytes of a stream's content: as many may come again. The
    /// peer is told when half of a window is used up.
    pub fn release(&mut self, stream: Key, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.release_connection(bytes);
        let half = (self.stream_window() / 2) as u32;
        let Some(open) = self.streams.at(stream).filter(|open| !open.is_remote_closed) else {
            return;
        };
        open.released = open.released.saturating_add(bytes as u32);
        if open.released >= half {
            write::window_update(stream.id, open.released, &mut self.output);
            open.receive_window += i64::from(open.released);
            open.released = 0;
        }
    }

    /// The same for content that no stream takes.
    pub(super) fn release_connection(&mut self, bytes: usize) {
        self.released = self.released.saturating_add(bytes as u32);
        if self.released >= self.limits.connection_window_bytes / 2 {
            write::window_update(0, self.released, &mut self.output);
            self.receive_window += i64::from(self.released);
            self.released = 0;
        }
    }

    pub(super) fn window_update(&mut self, id: u32, increment: u32) -> Result<(), Fault> {
        self.spend(Waste::WindowUpdate)?;
        if id == 0 {
            self.send_window += i64::from(increment);
            let is_right = self.send_window <= i64::from(U31_MAX);
            return if is_right { Ok(()) } else { Err(Fault::Connection(FLOW)) };
        }
        if self.is_idle(id) {
            return Err(Fault::Connection(ErrorCode::PROTOCOL_ERROR));
        }
        let Some(key) = self.streams.find(id) else { return Ok(()) };
        self.widen(key, i64::from(increment)).map_err(|()| Fault::Stream(FLOW))
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE: the windows of open streams change by the difference, and may
    /// become negative (RFC 9113 §6.9.2).
    pub(super) fn peer_window_changes(&mut self, window: u32) -> Result<(), Fault> {
        let change = i64::from(window) - self.peer_window;
        self.peer_window = i64::from(window);
        let open: Vec<Key> = self.streams.iter().map(|(key, _)| key).collect();
        for key in open {
            self.widen(key, change).map_err(|()| Fault::Connection(FLOW))?;
        }
        Ok(())
    }

    fn widen(&mut self, key: Key, change: i64) -> Result<(), ()> {
        let Some(stream) = self.streams.at(key) else { return Ok(()) };
        stream.send_window += change;
        if stream.send_window > i64::from(U31_MAX) {
            return Err(());
        }
        self.reschedule(key);
        Ok(())
    }

    /// Puts a stream among those that can send, or takes it out.
    #[inline]
    pub(super) fn reschedule(&mut self, key: Key) {
        if self.streams.at(key).is_some_and(|stream| stream.can_send()) {
            self.schedule.add(key.slot, &mut self.streams);
        } else {
            self.schedule.remove(key.slot, &mut self.streams);
        }
    }
}
