//! The access log: a line per request, written by a thread of its own.
//!
//! A worker formats a line into a buffer of its own and hands full buffers over through a bounded
//! queue, which it never waits for: where the writer cannot keep up, lines are dropped, counted,
//! and their number is written in their place.

pub mod combined;
pub mod terminal;
pub mod writer;

use serval_net::accept::Peer;
use std::path::PathBuf;

/// Where requests are recorded, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere.
    Off,
    /// Standard output, for a person who watches.
    Terminal {
        /// Whether to use colours.
        color: bool,
    },
    /// Standard output, in the combined format.
    Output,
    /// A file that is added to, in the combined format.
    File(PathBuf),
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a person who watches.
    Terminal {
        /// Whether to use colours.
        color: bool,
    },
    /// The combined format of NCSA httpd, which log analysers read.
    Combined,
}

/// What is known of a request when its answer is decided.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Who asked.
    pub peer: Peer,
    /// The method's text; empty if the request could not be read.
    pub method: &'a [u8],
    /// The target as it was sent.
    pub target: &'a [u8],
    /// `HTTP/1.1` and the like; empty if it could not be read.
    pub version: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// Where the request says that it came from.
    pub referer: Option<&'a [u8]>,
    /// What the client calls itself.
    pub user_agent: Option<&'a [u8]>,
    /// When the head had been read, in seconds since 1970.
    pub unix_seconds: i64,
}

impl Format {
    /// Appends what stands before the number of bytes sent.
    pub fn before(self, facts: &Facts<'_>, out: &mut Vec<u8>) {
        match self {
            Format::Terminal { color } => terminal::before(facts, color, out),
            Format::Combined => combined::before(facts, out),
        }
    }

    /// Appends what stands behind it and was known before.
    pub fn after(self, facts: &Facts<'_>, out: &mut Vec<u8>) {
        match self {
            Format::Terminal { .. } => {}
            Format::Combined => combined::after(facts, out),
        }
    }

    /// Appends a whole line, given its two texts and what came of the answer.
    pub fn line(self, before: &[u8], after: &[u8], sent: u64, took_us: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(before);
        match self {
            Format::Terminal { color } => terminal::outcome(sent, took_us, color, out),
            Format::Combined => serval_proto::h1::write::decimal(sent, out),
        }
        out.extend_from_slice(after);
        out.push(b'\n');
    }
}

/// Appends text that a client sent, with everything escaped that could break out of a quoted
/// string or reach a terminal as a control.
pub fn escape(text: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b' '..=b'~' => out.push(*byte),
            _ => {
                out.extend_from_slice(b"\\x");
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const FACTS: Facts<'static> = Facts {
        peer: Peer::Tcp(std::net::SocketAddr::new(
            std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7)),
            4000,
        )),
        method: b"GET",
        target: b"/a\"b",
        version: "HTTP/1.1",
        status: 200,
        referer: None,
        user_agent: Some(b"curl/8 \x1b[31m\xff"),
        unix_seconds: 1_795_176_000,
    };

    pub(super) fn line(format: Format, facts: &Facts<'_>) -> String {
        let (mut before, mut after, mut out) = (Vec::new(), Vec::new(), Vec::new());
        format.before(facts, &mut before);
        format.after(facts, &mut after);
        format.line(&before, &after, 102, 1234, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_raw_control_gets_through() {
        for format in [Format::Combined, Format::Terminal { color: false }] {
            let hostile: Vec<u8> = (0..=255).collect();
            let facts =
                Facts { target: &hostile, referer: Some(&hostile), method: &hostile, ..FACTS };
            let line = line(format, &facts);
            assert!(line.trim_end_matches('\n').bytes().all(|b| (b' '..=b'~').contains(&b)));
        }
    }
}
