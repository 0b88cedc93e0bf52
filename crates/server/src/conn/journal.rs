//! What will be recorded of the answers that wait in an outbox: each line is finished when the
//! answer's last byte is written, or when its connection ends before.

use crate::log::Facts;
use crate::log::writer::Recorder;
use std::collections::VecDeque;

/// Lines begun and not finished.
#[derive(Debug, Default)]
pub struct Journal {
    entries: VecDeque<Line>,
    text: Vec<u8>,
}

#[derive(Debug)]
struct Line {
    /// Ends of the two texts, which follow one another in [`Journal::text`].
    before_end: usize,
    after_end: usize,
    /// Where the body begins and ends in all that the connection writes.
    body_start: u64,
    body_end: u64,
    began_us: u64,
}

impl Journal {
    /// Begins the line of an answer whose body lies there in all that the connection writes.
    pub fn begin(
        &mut self,
        recorder: &Recorder,
        facts: &Facts<'_>,
        body: std::ops::Range<u64>,
        began_us: u64,
    ) {
        recorder.format().before(facts, &mut self.text);
        let before_end = self.text.len();
        recorder.format().after(facts, &mut self.text);
        self.entries.push_back(Line {
            before_end,
            after_end: self.text.len(),
            body_start: body.start,
            body_end: body.end,
            began_us,
        });
    }

    /// Whether no line is unfinished.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Finishes the lines of the answers that are written whole, now that `written` bytes are; all
    /// of them if the connection `has_ended`.
    pub fn finish(&mut self, recorder: &mut Recorder, written: u64, has_ended: bool, now_us: u64) {
        let mut start = 0;
        while let Some(line) = self.entries.front() {
            if !has_ended && written < line.body_end {
                break;
            }
            let text = |from, to| self.text.get(from..to).unwrap_or_default();
            let sent = written.min(line.body_end).saturating_sub(line.body_start);
            let took_us = now_us.saturating_sub(line.began_us);
            let before = text(start, line.before_end);
            let after = text(line.before_end, line.after_end);
            recorder.record(before, after, sent, took_us);
            start = line.after_end;
            self.entries.pop_front();
        }
        if self.entries.is_empty() {
            self.text.clear();
        } else if start > 0 {
            self.text.drain(..start);
            for line in &mut self.entries {
                line.before_end -= start;
                line.after_end -= start;
            }
        }
    }
}
