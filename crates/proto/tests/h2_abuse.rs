//! Floods of every kind against a server's end of an HTTP/2 connection: each is stopped by its
//! budget, what is within a budget is borne, and memory stays within bounds whatever comes.

use serval_proto::h2::frame::{Kind, PREFACE, flag, write};
use serval_proto::h2::hpack::literal;
use serval_proto::h2::section::Section;
use serval_proto::h2::{Connection, ErrorCode, Event, Limits, Role};
use serval_proto::status::Status;

/// All that a connection may ever hold, in bytes: its own memory, what the caller keeps of an
/// unfinished frame, and content that the caller has not released.
const MEMORY_BYTES_MAX: usize = 256 << 10;

/// A server under attack.
struct Target {
    end: Connection,
    section: Section,
    /// Answer requests with that many bytes, and send as much of them as may be.
    answer_bytes: Option<u64>,
    requests: usize,
}

impl Target {
    fn new() -> Target {
        let mut out = PREFACE.to_vec();
        write::settings(&[], &mut out);
        write::settings_ack(&mut out);
        let end = Connection::new(Role::Server, Limits::default(), 0);
        let mut target = Target { end, section: Section::new(), answer_bytes: None, requests: 0 };
        target.receive(&out, 0).expect("a usual beginning");
        target
    }

    fn receive(&mut self, bytes: &[u8], now_ms: u64) -> Result<(), ErrorCode> {
        let mut input = bytes;
        let mut out = Vec::new();
        let outcome = loop {
            match self.end.receive(&mut input, now_ms, &mut self.section) {
                Ok(None) => break Ok(()),
                Err(code) => break Err(code),
                Ok(Some(Event::Request { stream, .. })) => {
                    self.requests += 1;
                    let Some(bytes) = self.answer_bytes else { continue };
                    self.end.respond(stream, false, &mut out, |block| block.status(Status::OK));
                    self.end.offer(stream, bytes, true);
                    while self.end.plan(20_000, &mut out).is_some() {}
                }
                Ok(Some(_)) => while self.end.plan(20_000, &mut out).is_some() {},
            }
        };
        while outcome.is_ok() && self.end.plan(20_000, &mut out).is_some() {}
        let held = self.end.memory_bytes() + Connection::INPUT_BYTES_MAX;
        let content = Limits::default().connection_window_bytes as usize;
        assert!(held + content <= MEMORY_BYTES_MAX, "{held} bytes and {content} of content");
        self.end.take_output(&mut out);
        outcome
    }

    /// Sends frames until the connection fails; how many were borne.
    fn flood(&mut self, frames_max: u32, frame: impl Fn(u32, &mut Vec<u8>)) -> u32 {
        let mut out = Vec::new();
        for number in 0..frames_max {
            out.clear();
            frame(number, &mut out);
            if let Err(code) = self.receive(&out, u64::from(number / 1000)) {
                assert_eq!(code, ErrorCode::ENHANCE_YOUR_CALM);
                return number;
            }
        }
        frames_max
    }
}

/// A GET on the stream with that number, with more fields, and with an end if there is no content.
fn request(number: u32, fields: &[(&str, &[u8])], flags: u8, out: &mut Vec<u8>) {
    let mut block = Vec::new();
    for (name, value) in [(":method", "GET"), (":scheme", "https"), (":path", "/")] {
        literal::field(name, value.as_bytes(), &mut block);
    }
    literal::field(":authority", b"a", &mut block);
    for (name, value) in fields {
        literal::field(name, value, &mut block);
    }
    write::frame(Kind::HEADERS, flags, 2 * number + 1, &block, out);
}

const WHOLE: u8 = flag::END_HEADERS | flag::END_STREAM;

/// Appends a frame.
type Frame = fn(&mut Vec<u8>);

#[test]
fn pings_settings_priorities_and_unknown_frames() {
    let limits = Limits::default();
    let floods: [(u32, Frame); 6] = [
        (limits.pings_max, |out| write::ping(b"12345678", false, out)),
        (limits.pings_max, |out| write::ping(b"12345678", true, out)),
        // One was sent at the beginning.
        (limits.settings_max - 1, |out| write::settings(&[], out)),
        (limits.priorities_max, |out| write::frame(Kind::PRIORITY, 0, 7, &[0, 0, 0, 1, 1], out)),
        (limits.priorities_max, |out| write::priority_update(7, b"u=1", out)),
        (limits.unknown_frames_max, |out| write::frame(Kind(0xee), 0, 7, &[], out)),
    ];
    for (number, (max, frame)) in floods.into_iter().enumerate() {
        let borne = Target::new().flood(10_000, |_, out| frame(out));
        assert_eq!(borne, max, "flood {number}");
    }
}

#[test]
fn what_is_within_the_budget_is_borne_for_ever() {
    let mut target = Target::new();
    let mut ping = Vec::new();
    write::ping(b"12345678", false, &mut ping);
    for number in 0..5000 {
        let now_ms = number * 101;
        assert_eq!(target.receive(&ping, now_ms), Ok(()), "ping {number}");
    }
}

#[test]
fn rapid_reset() {
    let mut target = Target::new();
    let borne = target.flood(10_000, |number, out| {
        request(number, &[], WHOLE, out);
        write::rst_stream(2 * number + 1, ErrorCode::CANCEL, out);
    });
    assert_eq!(borne, Limits::default().resets_received_max);
}

#[test]
fn resets_that_we_are_provoked_into() {
    // What makes a server end a stream on which it works (CVE-2025-8671).
    let provocations: [fn(u32, &mut Vec<u8>); 6] = [
        |stream, out| write::window_update(stream, 0, out),
        |stream, out| write::window_update(stream, 0x7fff_ffff, out),
        |stream, out| write::frame(Kind::DATA, 0, stream, b"late", out),
        |stream, out| write::frame(Kind::HEADERS, WHOLE, stream, &[], out),
        |stream, out| write::frame(Kind::PRIORITY, 0, stream, b"len", out),
        |stream, out| {
            let payload = [&stream.to_be_bytes()[..], &[1]].concat();
            write::frame(Kind::PRIORITY, 0, stream, &payload, out);
        },
    ];
    for (number, provoke) in provocations.into_iter().enumerate() {
        let mut target = Target::new();
        let borne = target.flood(10_000, |number, out| {
            request(number, &[], WHOLE, out);
            provoke(2 * number + 1, out);
        });
        assert_eq!(borne, Limits::default().resets_provoked_max, "provocation {number}");
    }
    let malformed = |number, out: &mut Vec<u8>| request(number, &[("te", b"x")], WHOLE, out);
    assert_eq!(Target::new().flood(10_000, malformed), Limits::default().resets_provoked_max);
}

#[test]
fn more_streams_than_are_allowed() {
    let mut target = Target::new();
    let limits = Limits::default();
    let borne = target.flood(10_000, |number, out| request(number, &[], WHOLE, out));
    assert_eq!(target.requests, limits.streams_max as usize);
    assert_eq!(borne, limits.streams_max + limits.resets_provoked_max);
}

#[test]
fn empty_frames() {
    let limits = Limits::default();
    let mut target = Target::new();
    let borne = target.flood(10_000, |number, out| match number {
        0 => request(0, &[], flag::END_HEADERS, out),
        _ => write::frame(Kind::DATA, 0, 1, &[], out),
    });
    assert_eq!(borne, limits.empty_frames_max + 1);
}

#[test]
fn continuations_without_end() {
    let limits = Limits::default();
    for length in [0, 1, 100] {
        let mut target = Target::new();
        let borne = target.flood(10_000, |number, out| match number {
            0 => request(0, &[], flag::END_STREAM, out),
            _ => write::frame(Kind::CONTINUATION, 0, 1, &vec![0; length], out),
        });
        assert_eq!(borne, limits.continuations_max + 1, "{length} bytes each");
    }
    let mut target = Target::new();
    let borne = target.flood(10_000, |number, out| match number {
        0 => request(0, &[], flag::END_STREAM, out),
        _ => write::frame(Kind::CONTINUATION, 0, 1, &[0; 16_000], out),
    });
    assert_eq!(borne, 2, "a block has a length");
}

#[test]
fn windows_that_open_without_need() {
    let limits = Limits::default();
    let update = |_, out: &mut Vec<u8>| write::window_update(0, 1, out);
    assert_eq!(Target::new().flood(10_000, update), limits.window_updates_max);

    // A byte at a time lets nothing through that is worth a frame.
    let mut target = Target::new();
    target.answer_bytes = Some(1 << 30);
    let borne = target.flood(10_000, |number, out| match number {
        0 => {
            write::settings(&[(4, 0)], out);
            request(0, &[], WHOLE, out);
        }
        _ => write::window_update(1, 1, out),
    });
    assert!(borne < limits.window_updates_max + 20, "{borne}");

    // A client that reads makes room all the time.
    let mut target = Target::new();
    target.answer_bytes = Some(1 << 30);
    let borne = target.flood(20_000, |number, out| {
        if number == 0 {
            request(0, &[], WHOLE, out);
        }
        write::window_update(0, 1024, out);
        write::window_update(1, 1024, out);
    });
    assert_eq!(borne, 20_000);
}

#[test]
fn header_bombs() {
    // A fat entry, and then one byte for each time it is meant.
    let mut target = Target::new();
    let mut block = vec![0x40, 1, b'x', 127, 0x90, 0x1e];
    block.resize(block.len() + 127 + 0xf10, b'a');
    block.resize(15_000, 0x80 | 62);
    let mut out = Vec::new();
    write::frame(Kind::HEADERS, WHOLE, 1, &block, &mut out);
    assert_eq!(target.receive(&out, 0), Err(ErrorCode::ENHANCE_YOUR_CALM));

    // Many small crumbs: told to the caller, and nothing is kept of them.
    let mut target = Target::new();
    let crumbs = vec![("cookie", &b""[..]); 150];
    out.clear();
    request(0, &crumbs, WHOLE, &mut out);
    assert_eq!(target.receive(&out, 0), Ok(()));
    assert_eq!((target.requests, target.end.streams_open()), (0, 1), "it waits for its 431");
    assert!(target.section.memory_bytes() < 64 << 10);
}

#[test]
fn all_that_can_be_held_is_held() {
    let mut target = Target::new();
    let limits = Limits::default();
    let mut out = Vec::new();
    for number in 0..limits.streams_max {
        // Each fills the table with its own field.
        let value = vec![b'a' + (number % 26) as u8; 3000];
        out.clear();
        let mut block = Vec::new();
        request(number, &[], 0, &mut block);
        block.drain(..9);
        block.extend_from_slice(&[0x40, 1, b'x', 127, 0xb9, 0x16]);
        block.extend_from_slice(&value);
        write::frame(Kind::HEADERS, flag::END_HEADERS, 2 * number + 1, &block, &mut out);
        write::priority_update(2 * number + 1001, b"u=1", &mut out);
        assert_eq!(target.receive(&out, 0), Ok(()), "request {number}");
    }
    assert_eq!(target.end.streams_open(), limits.streams_max as usize);
    // A block that is not finished, and pings whose answers nobody takes: in one go.
    out.clear();
    for _ in 0..90 {
        write::ping(b"12345678", false, &mut out);
    }
    write::frame(Kind::HEADERS, 0, 2001, &[0; 15_000], &mut out);
    assert_eq!(target.receive(&out, 0), Ok(()));
    let held = target.end.memory_bytes();
    assert!(held > 25 << 10, "not only {held} bytes are held");
}
