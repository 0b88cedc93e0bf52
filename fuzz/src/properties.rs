//! What must hold for any bytes: one function per parser, called by the fuzz targets and by the
//! ordinary tests on every file of the corpus. Each panics where its property does not hold.

use serval_proto::date;
use serval_proto::field::FieldTable;
use serval_proto::h1::chunked::{ChunkLimits, Chunked};
use serval_proto::h1::head::{self, Limits};
use serval_proto::h2::frame::{Frame, HEAD_BYTES, Head, PREFACE, write};
use serval_proto::h2::hpack::{Decoder, Encoder};
use serval_proto::h2::section::{Pseudo, Section, SectionLimits};
use serval_proto::h2::{self, Connection, Event, Role};
use serval_proto::method::Method;
use serval_proto::range::{self, Selection};
use serval_proto::target::{self, Target};

const LIMITS: Limits = Limits { line_bytes_max: 300, fields_bytes_max: 600, fields_max: 12 };

/// A head reads the same however much of it has come before: a part of it is either unfinished or
/// has the same outcome as the whole. Responses are read by the same code.
pub(crate) fn head(bytes: &[u8]) {
    let mut table = FieldTable::new();
    let mut request = |bytes: &[u8]| {
        head::parse_request(bytes, &mut table, &LIMITS).map(|head| {
            head.map(|head| {
                assert!(head.length <= bytes.len());
                let lines: Vec<_> =
                    head.fields.lines().map(|l| (l.name.to_vec(), l.value.to_vec())).collect();
                let controls = |text: &[u8]| text.iter().any(|b| *b < b' ' && *b != b'\t');
                assert!(!lines.iter().any(|(name, value)| controls(name) || controls(value)));
                (head.length, head.target_text.to_vec(), lines, head.framing, head.persistent)
            })
        })
    };
    let whole = request(bytes);
    for cut in 0..bytes.len().min(1200) {
        let part = request(&bytes[..cut]);
        assert!(part == Ok(None) || part == whole, "cut at {cut}: {part:?}, whole: {whole:?}");
    }
    let mut table = FieldTable::new();
    for method in [Method::Get, Method::Head] {
        if let Ok(Some(head)) = head::parse_response(bytes, &mut table, &LIMITS, method) {
            assert!(head.length <= bytes.len());
        }
    }
}

/// A chunked body decodes to the same data however it is cut, and ends at the same place.
pub(crate) fn chunked(bytes: &[u8]) {
    let decode = |step: usize| {
        let mut decoder = Chunked::new(ChunkLimits::default());
        let (mut data, mut consumed) = (Vec::new(), 0);
        for piece in bytes.chunks(step) {
            let mut rest = piece;
            while !rest.is_empty() && !decoder.is_done() {
                let step = decoder.advance(rest)?;
                assert!(step.consumed > 0, "it gets on");
                data.extend_from_slice(&rest[step.data]);
                consumed += step.consumed;
                rest = &rest[step.consumed..];
            }
        }
        Ok::<_, serval_proto::h1::Refusal>((data, consumed, decoder.is_done()))
    };
    let whole = decode(bytes.len().max(1));
    for step in [1, 2, 3, 7, 16] {
        assert_eq!(decode(step), whole, "in steps of {step}");
    }
}

/// A canonical path has no segment that could lead elsewhere, and is its own canonical form once
/// it has been encoded.
pub(crate) fn target(bytes: &[u8]) {
    let _ = Target::parse(Method::Options, bytes);
    let _ = Target::parse(Method::Connect, bytes);
    if bytes.contains(&0) {
        // The head parser lets no raw NUL through; what matters here are encoded ones.
        return;
    }
    let path = Target::parse(Method::Get, bytes).map_or(bytes, |target| target.path);
    let mut scratch = Vec::new();
    let Ok(path) = target::canonical(path, &mut scratch) else { return };
    let path = path.to_vec();
    let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let (first, rest) = segments.split_first().expect("a split has one part at least");
    assert!(first.is_empty(), "it starts with a slash");
    for (number, segment) in rest.iter().enumerate() {
        assert!(!matches!(*segment, b"." | b".."));
        assert!(!segment.is_empty() || number + 1 == rest.len());
        assert!(!segment.contains(&0));
    }
    let _ = target::is_hidden(&path);
    let mut url = Vec::new();
    target::encode(&path, &mut url);
    assert!(url.is_ascii());
    let mut again = Vec::new();
    assert_eq!(target::canonical(&url, &mut again), Ok(&path[..]));
}

/// Selected ranges lie within the file, do not touch one another, and are no more than all of it.
/// The first byte chooses the size.
pub(crate) fn range(bytes: &[u8]) {
    let Some((first, value)) = bytes.split_first() else { return };
    for size in [u64::from(*first), u64::from(*first) << 56, 0, u64::MAX] {
        let Selection::Parts(parts) = range::select(value, size) else { continue };
        let mut parts = parts.as_slice().to_vec();
        assert!((1..=16).contains(&parts.len()));
        parts.sort_by_key(|part| part.start);
        assert!(parts.iter().all(|part| part.start < part.end && part.end <= size));
        assert!(parts.windows(2).all(|two| two[0].end < two[1].start));
    }
}

/// A date that can be read is one that can be written, and reads the same again.
pub(crate) fn date(bytes: &[u8]) {
    const NOW: i64 = 1_795_000_000;
    let Some(seconds) = date::parse(bytes, NOW) else { return };
    if (0..253_402_300_800).contains(&seconds) {
        assert_eq!(date::parse(&date::format(seconds), NOW), Some(seconds));
    }
    let _ = date::log_time(seconds);
}

/// A frame is read from its own bytes only, and its head is written as it was read.
pub(crate) fn h2_frame(bytes: &[u8]) {
    let Some(head) = Head::parse(bytes) else { return assert!(bytes.len() < HEAD_BYTES) };
    // All but the reserved bit, which means nothing.
    let mut first = bytes[..HEAD_BYTES].to_vec();
    first[5] &= 0x7f;
    assert_eq!(head.bytes()[..], first);
    let payload = &bytes[HEAD_BYTES..];
    let whole = Head { length: payload.len(), ..head };
    match Frame::parse(&whole, payload) {
        Ok(Frame::Data(part) | Frame::Headers(part) | Frame::Continuation(part)) => {
            assert!(payload.windows(part.len().max(1)).any(|w| w == part) || part.is_empty());
        }
        Ok(Frame::Settings(settings)) => {
            let mut out = Vec::new();
            write::settings(&settings.iter().collect::<Vec<_>>(), &mut out);
            assert_eq!(out[HEAD_BYTES..], *payload);
        }
        Ok(Frame::WindowUpdate(increment)) => assert!((1..1 << 31).contains(&increment)),
        _ => {}
    }
}

/// A block that decodes, decodes to the same again; its fields, encoded by us, come out again.
/// Whatever comes, memory has a bound. The first byte chooses the table's size.
pub(crate) fn hpack(bytes: &[u8]) {
    let Some((size, block)) = bytes.split_first() else { return };
    let limits = SectionLimits { bytes_max: 2000, fields_max: 20 };
    let (mut section, mut again) = (Section::new(), Section::new());
    let mut decoder = Decoder::new(usize::from(*size) * 16);
    let outcome = decoder.decode(block, &limits, &mut section);
    assert!(decoder.memory_bytes() < 64 << 10);
    let fresh = Decoder::new(usize::from(*size) * 16).decode(block, &limits, &mut again);
    assert_eq!(outcome, fresh);
    if outcome.is_err() || section.is_malformed() || section.is_too_large() {
        return;
    }
    let (mut encoder, mut out) = (Encoder::new(), Vec::new());
    encoder.set_table_size_max(usize::from(*size) * 16);
    encoder.begin(&mut out);
    let path = section.pseudo(Pseudo::Path).map(<[u8]>::to_vec);
    if let Some(path) = &path {
        encoder.field(":path", path, &mut out);
    }
    for line in section.fields().lines() {
        let name = std::str::from_utf8(line.name).expect("names are tokens");
        encoder.field(name, line.value, &mut out);
    }
    let outcome = Decoder::new(4096).decode(&out, &SectionLimits::default(), &mut again);
    assert_eq!(outcome, Ok(()));
    assert_eq!(again.pseudo(Pseudo::Path), path.as_deref());
    assert!(again.fields().lines().eq(section.fields().lines()));
}

/// A connection hears and says the same however its input is cut, and what it holds has a bound.
/// Servers answer what they are asked. The first byte chooses the role; the usual beginning need
/// not be in the input.
pub(crate) fn h2_connection(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let role = if first & 1 == 0 { Role::Server } else { Role::Client };
    let whole = converse(role, bytes, bytes.len().max(1));
    for step in [1, 3, 16] {
        assert_eq!(converse(role, bytes, step), whole, "in steps of {step}");
    }
}

/// What one end hears, content counted per stream, and what it says.
fn converse(role: Role, bytes: &[u8], step: usize) -> (String, u64, Vec<u8>) {
    let mut end = Connection::new(role, h2::Limits::default(), 0);
    let (mut section, mut said) = (Section::new(), Vec::new());
    let mut before = Vec::new();
    match role {
        Role::Server => before.extend_from_slice(PREFACE),
        Role::Client => {
            for _ in 0..3 {
                let _ = end.request(Method::Get, false, &mut said, |_| {});
            }
        }
    }
    write::settings(&[], &mut before);
    let (mut heard, mut content) = (String::new(), 0);
    let mut unread: Vec<u8> = Vec::new();
    let pieces = std::iter::once(&before[..]).chain(bytes.chunks(step));
    for piece in pieces {
        unread.extend_from_slice(piece);
        let mut input = &unread[..];
        let failure = loop {
            match end.receive(&mut input, 0, &mut section) {
                Ok(None) => break None,
                Err(code) => break Some(code),
                Ok(Some(Event::Content { stream, bytes, is_end })) => {
                    content += u64::from(stream.id) * bytes.len() as u64 + u64::from(is_end);
                }
                Ok(Some(event)) => {
                    heard += &format!("{event:?}\n");
                    if let Event::Request { stream, is_end: true, .. } = event {
                        end.respond(stream, false, &mut said, |block| {
                            block.status(serval_proto::status::Status::OK);
                        });
                    }
                }
            }
        };
        end.take_output(&mut said);
        assert!(end.memory_bytes() < 96 << 10);
        if let Some(code) = failure {
            heard += code.name();
            break;
        }
        assert!(input.len() <= Connection::INPUT_BYTES_MAX);
        unread = input.to_vec();
    }
    (heard, content, said)
}
