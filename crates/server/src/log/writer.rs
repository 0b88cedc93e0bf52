//! The writer's thread, and each worker's end of the queue to it.

use super::{Destination, Format};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// How many buffers may wait for the writer.
const QUEUE_MAX: usize = 64;

/// A worker hands its buffer over when it has this many bytes …
const BUFFER_BYTES: usize = 32 << 10;

/// … or when it last did so this long ago, in milliseconds, so that a lone line is seen at once.
const BUFFER_AGE_MS: u64 = 50;

/// The log: its format, and the way to its writer.
#[derive(Clone, Debug)]
pub struct Log {
    format: Format,
    queue: SyncSender<Vec<u8>>,
    dropped: Arc<AtomicU64>,
}

/// Starts the log; `None` where nothing is to be recorded. The thread ends when every [`Log`] is
/// gone and all they handed over is written.
pub fn start(destination: &Destination) -> io::Result<Option<(Log, JoinHandle<()>)>> {
    let (format, output): (Format, Box<dyn Write + Send>) = match destination {
        Destination::Off => return Ok(None),
        Destination::Terminal { color } => {
            (Format::Terminal { color: *color }, Box::new(io::stdout()))
        }
        Destination::Output => (Format::Combined, Box::new(io::stdout())),
        Destination::File(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path)?;
            (Format::Combined, Box::new(file))
        }
    };
    let (queue, buffers) = sync_channel(QUEUE_MAX);
    let dropped = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&dropped);
    let writer = std::thread::Builder::new()
        .name("serval-log".into())
        .spawn(move || write_all(&buffers, output, &count))?;
    Ok(Some((Log { format, queue, dropped }, writer)))
}

fn write_all(buffers: &Receiver<Vec<u8>>, mut output: Box<dyn Write + Send>, dropped: &AtomicU64) {
    let mut is_failing = false;
    while let Ok(buffer) = buffers.recv() {
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            eprintln!("serval: the access log could not keep up: {lost} lines were dropped");
        }
        match output.write_all(&buffer).and_then(|()| output.flush()) {
            Ok(()) => is_failing = false,
            // Said once for each time that it begins: a full disk must not fill another log.
            Err(error) if !is_failing => {
                is_failing = true;
                eprintln!("serval: the access log cannot be written: {error}");
            }
            Err(_) => {}
        }
    }
}

/// One worker's end of the log.
#[derive(Debug)]
pub struct Recorder {
    log: Log,
    buffer: Vec<u8>,
    lines: u64,
    handed_over_at_ms: u64,
}

impl Recorder {
    /// A recorder for a worker.
    pub fn new(log: Log) -> Recorder {
        Recorder { log, buffer: Vec::new(), lines: 0, handed_over_at_ms: 0 }
    }

    /// How lines look.
    pub fn format(&self) -> Format {
        self.log.format
    }

    /// Records one request: the texts of [`Format::before`] and [`Format::after`], the bytes of
    /// the body that were sent, and how long it took.
    pub fn record(&mut self, before: &[u8], after: &[u8], sent: u64, took_us: u64) {
        self.log.format.line(before, after, sent, took_us, &mut self.buffer);
        self.lines += 1;
    }

    /// Hands over what has been recorded if it is due.
    pub fn hand_over_due(&mut self, now_ms: u64) {
        let is_due = self.buffer.len() >= BUFFER_BYTES
            || now_ms.saturating_sub(self.handed_over_at_ms) >= BUFFER_AGE_MS;
        if is_due {
            self.hand_over(now_ms);
        }
    }

    /// Hands over what has been recorded; drops it if the writer is too far behind.
    pub fn hand_over(&mut self, now_ms: u64) {
        if self.buffer.is_empty() {
            return;
        }
        self.handed_over_at_ms = now_ms;
        let fresh = Vec::with_capacity(self.buffer.capacity().min(2 * BUFFER_BYTES));
        let full = std::mem::replace(&mut self.buffer, fresh);
        let lines = std::mem::take(&mut self.lines);
        if let Err(TrySendError::Full(_)) = self.log.queue.try_send(full) {
            self.log.dropped.fetch_add(lines, Ordering::Relaxed);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.hand_over(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_stalls_costs_lines_and_no_time() {
        let (queue, buffers) = sync_channel(2);
        let log = Log { format: Format::Combined, queue, dropped: Arc::default() };
        let mut recorder = Recorder::new(log.clone());
        for _ in 0..5 {
            recorder.record(b"a ", b" b", 1, 0);
            recorder.record(b"a ", b" b", 1, 0);
            recorder.hand_over(0);
        }
        assert_eq!(log.dropped.load(Ordering::Relaxed), 6);
        drop((recorder, log));
        let written: Vec<u8> = buffers.into_iter().flatten().collect();
        assert_eq!(written, b"a 1 b\n".repeat(4));
    }

    #[test]
    fn a_file_is_added_to() {
        let path = std::env::temp_dir().join(format!("serval-log-{}", std::process::id()));
        for _ in 0..2 {
            let (log, writer) = start(&Destination::File(path.clone())).unwrap().unwrap();
            let mut recorder = Recorder::new(log);
            recorder.record(b"x ", b"", 7, 0);
            drop(recorder);
            writer.join().unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x 7\nx 7\n");
        std::fs::remove_file(path).unwrap();
    }
}
