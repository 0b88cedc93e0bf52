//! A transfer, either way, and the least rate that it has to keep up.

use crate::limits::Limits;
use serval_net::deadline::Deadline;

/// How the transfer under way gets on, if there is one.
#[derive(Debug, Default)]
pub struct Transfer(Option<Window>);

#[derive(Clone, Copy, Debug)]
struct Window {
    ends_ms: u64,
    bytes_before: u64,
}

impl Transfer {
    /// There is none any more.
    pub fn end(&mut self) {
        self.0 = None;
    }

    /// Whether a transfer that has moved so many bytes in all keeps up with the least rate; sets
    /// the deadline to look again. Judged at the end of each window over all of it, so that single
    /// bytes do not count as life.
    pub fn moves_on(
        &mut self,
        moved: u64,
        now_ms: u64,
        limits: &Limits,
        deadline: &Deadline,
    ) -> bool {
        let next = Window { ends_ms: now_ms + limits.progress_window_ms, bytes_before: moved };
        let window = *self.0.get_or_insert(next);
        if now_ms < window.ends_ms {
            deadline.set(window.ends_ms);
            return true;
        }
        if moved.saturating_sub(window.bytes_before) < limits.progress_bytes_min() {
            return false;
        }
        self.0 = Some(next);
        deadline.set(next.ends_ms);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serval_net::deadline::Deadlines;
    use std::rc::Rc;
    use std::task::Waker;

    #[test]
    fn drips_are_not_progress() {
        let limits = Limits { progress_window_ms: 1000, ..Limits::default() };
        let deadline = Rc::new(Deadlines::default()).register(Waker::noop());
        let mut transfer = Transfer::default();
        let mut moves_on = |moved, now_ms| transfer.moves_on(moved, now_ms, &limits, &deadline);
        assert!(moves_on(0, 0));
        assert!(moves_on(1, 999), "nothing is judged within the window");
        assert!(moves_on(500, 1000), "500 bytes in a second are enough");
        assert!(moves_on(501, 1500));
        assert!(!moves_on(999, 2000), "499 are not, however they came");
    }
}
