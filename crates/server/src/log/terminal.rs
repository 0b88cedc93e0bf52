//! For a person who watches: the time, the status, what was asked for, how much was sent, how long
//! it took. In colours where the terminal has them.

use super::{Facts, escape};
use serval_proto::date::Civil;
use std::io::Write;

const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Appends the time (of the day, UTC), the status, the method and the target.
pub fn before(facts: &Facts<'_>, color: bool, out: &mut Vec<u8>) {
    let Civil { hour, minute, second, .. } = Civil::of(facts.unix_seconds);
    let (dim, reset) = if color { (DIM, RESET) } else { ("", "") };
    let tint = match facts.status {
        _ if !color => "",
        200..=299 => "\x1b[32m",
        300..=399 => "\x1b[36m",
        400..=499 => "\x1b[33m",
        _ => "\x1b[31m",
    };
    let status = facts.status;
    let _ = write!(out, "{dim}{hour:02}:{minute:02}:{second:02}{reset}  {tint}{status}{reset}  ");
    if facts.method.is_empty() {
        out.extend_from_slice(b"(not a request)");
    } else {
        escape(facts.method, out);
        out.push(b' ');
        escape(facts.target, out);
    }
}

/// Appends what was sent and how long it took.
pub fn outcome(sent: u64, took_us: u64, color: bool, out: &mut Vec<u8>) {
    let (dim, reset) = if color { (DIM, RESET) } else { ("", "") };
    let _ = match sent {
        0..=9_999 => write!(out, "  {dim}{sent} B"),
        10_000..=9_999_999 => write!(out, "  {dim}{:.0} kB", sent as f64 / 1e3),
        _ => write!(out, "  {dim}{:.1} MB", sent as f64 / 1e6),
    };
    let _ = match took_us {
        0..=99_999 => write!(out, "  {:.1} ms{reset}", took_us as f64 / 1e3),
        _ => write!(out, "  {:.1} s{reset}", took_us as f64 / 1e6),
    };
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{FACTS, line};

    #[test]
    fn a_line_can_be_read_at_a_glance() {
        assert_eq!(
            line(Format::Terminal { color: false }, &FACTS),
            "12:00:00  200  GET /a\\\"b  102 B  1.2 ms\n"
        );
        assert!(line(Format::Terminal { color: true }, &FACTS).contains("\x1b[32m200\x1b[0m"));
    }
}
