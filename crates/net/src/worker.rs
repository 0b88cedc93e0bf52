//! Worker threads: each a runtime of its own, on a core of its own if asked.

use crate::sys;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::thread::JoinHandle;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

/// How many tasks run before the runtime looks at the sockets again: above the number that a busy
/// worker has ready in one turn, so that one look serves them all.
const TASKS_PER_LOOK: u32 = 1024;

/// Starts a thread called `name` and runs on it the future that `main` makes there. Tasks that it
/// spawns with [`tokio::task::spawn_local`] run on the same thread and end with it.
pub fn spawn<F: Future<Output = io::Result<()>>>(
    name: String,
    cpu: Option<usize>,
    main: impl FnOnce() -> F + Send + 'static,
) -> io::Result<JoinHandle<io::Result<()>>> {
    std::thread::Builder::new().name(name).spawn(move || {
        if let Some(cpu) = cpu {
            pin_to(cpu)?;
        }
        runtime()?.block_on(async move { main().await })
    })
}

/// A runtime for the thread that calls. It has no timers of its own: see [`crate::timer`].
pub fn runtime() -> io::Result<LocalRuntime> {
    Builder::new_current_thread()
        .enable_io()
        .event_interval(TASKS_PER_LOOK)
        .build_local(LocalOptions::default())
}

/// Sets the process's allocator up for many connections at rest. To be called once, early.
pub fn prepare_memory() {
    sys::join_free_blocks();
}

/// The processors that this process may run on, by number.
pub fn cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

fn pin_to(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}
