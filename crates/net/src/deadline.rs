//! Coarse deadlines: one number per connection, looked at by a sweep a few times a second.
//!
//! Setting a deadline is one store; no timer is armed per request. A connection whose deadline has
//! passed is woken and looks for itself what that means.

use crate::clock;
use crate::timer::Timer;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;
use tokio::sync::Notify;

/// How often deadlines are looked at: how late one may be noticed.
pub const SWEEP_INTERVAL: Duration = Duration::from_millis(250);

/// The deadlines of one worker's connections.
#[derive(Debug, Default)]
pub struct Deadlines {
    slots: RefCell<Slots>,
    /// Whether anything has happened since the last sweep.
    touched: Cell<bool>,
    /// Begins the sweeps: an idle worker sleeps without a timer.
    wanted: Notify,
}

#[derive(Debug, Default)]
struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    /// In milliseconds of [`clock::monotonic_ms`].
    at_ms: Cell<u64>,
    waker: Option<Waker>,
}

/// One connection's place among the deadlines. Dropping it gives the place back.
#[derive(Debug)]
pub struct Deadline {
    all: Rc<Deadlines>,
    index: u32,
}

impl Deadlines {
    /// A deadline for whoever `waker` wakes, at first never.
    pub fn register(self: &Rc<Self>, waker: &Waker) -> Deadline {
        let mut slots = self.slots.borrow_mut();
        let slot = Slot { at_ms: Cell::new(u64::MAX), waker: Some(waker.clone()) };
        let index = match slots.free.pop() {
            Some(index) => {
                slots.slots[index as usize] = slot;
                index
            }
            None => {
                slots.slots.push(slot);
                slots.slots.len() as u32 - 1
            }
        };
        drop(slots);
        self.touch();
        Deadline { all: Rc::clone(self), index }
    }

    /// How many connections have a deadline.
    pub fn len(&self) -> usize {
        let slots = self.slots.borrow();
        slots.slots.len() - slots.free.len()
    }

    /// Whether no connection has a deadline.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wakes every connection, to have it look at something that changed for all.
    pub fn wake_all(&self) {
        self.wake_due(u64::MAX);
    }

    /// Takes note that there is something to do, if only to look after what a connection left
    /// behind that was over at once.
    #[inline]
    pub fn touch(&self) {
        if !self.touched.replace(true) {
            self.wanted.notify_one();
        }
    }

    /// A few times a second, while there are connections, calls `tick` and wakes those whose
    /// deadline has passed. Returns only where that cannot go on.
    pub async fn sweep(&self, timer: Timer, mut tick: impl FnMut()) -> io::Result<()> {
        loop {
            self.wanted.notified().await;
            while self.touched.replace(false) || !self.is_empty() {
                timer.wait(SWEEP_INTERVAL).await?;
                tick();
                self.wake_due(clock::monotonic_ms());
            }
        }
    }

    fn wake_due(&self, now_ms: u64) {
        let slots = self.slots.borrow();
        let due = slots.slots.iter().filter(|slot| slot.at_ms.get() <= now_ms);
        for waker in due.filter_map(|slot| slot.waker.as_ref()) {
            waker.wake_by_ref();
        }
    }
}

impl Deadline {
    /// Sets when to be woken, in milliseconds of [`clock::monotonic_ms`].
    #[inline]
    pub fn set(&self, at_ms: u64) {
        if let Some(slot) = self.all.slots.borrow().slots.get(self.index as usize) {
            slot.at_ms.set(at_ms);
        }
    }

    /// Whether the time has come.
    pub fn has_passed(&self, now_ms: u64) -> bool {
        let slots = self.all.slots.borrow();
        slots.slots.get(self.index as usize).is_some_and(|slot| slot.at_ms.get() <= now_ms)
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let mut slots = self.all.slots.borrow_mut();
        let waker = slots.slots.get_mut(self.index as usize).and_then(|slot| {
            slot.at_ms.set(u64::MAX);
            slot.waker.take()
        });
        slots.free.push(self.index);
        drop(slots);
        // A waker may be the last owner of its task: it is let go when nothing is borrowed.
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_what_is_due_is_woken() {
        let counts: Vec<Arc<Count>> = (0..3).map(|_| Arc::default()).collect();
        let all = Rc::new(Deadlines::default());
        let mut held: Vec<Deadline> =
            counts.iter().map(|count| all.register(&Waker::from(Arc::clone(count)))).collect();
        held[0].set(10);
        held[1].set(20);
        all.wake_due(10);
        let woken = || counts.iter().map(|c| c.0.load(Ordering::Relaxed)).collect::<Vec<_>>();
        assert_eq!(woken(), [1, 0, 0]);
        assert!(held[0].has_passed(10) && !held[0].has_passed(9));
        held.remove(0);
        all.wake_due(20);
        assert_eq!(woken(), [1, 1, 0]);
        all.wake_all();
        assert_eq!(woken(), [1, 2, 1]);
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn places_are_used_again() {
        let all = Rc::new(Deadlines::default());
        for _ in 0..100 {
            drop(all.register(Waker::noop()));
        }
        assert!(all.is_empty());
        assert_eq!(all.slots.borrow().slots.len(), 1);
    }
}
