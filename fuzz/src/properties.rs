//! What must hold for any bytes: one function per parser, called by the fuzz targets and by the
//! ordinary tests on every file of the corpus. Each panics where its property does not hold.

use serval_proto::date;
use serval_proto::field::FieldTable;
use serval_proto::h1::chunked::{ChunkLimits, Chunked};
use serval_proto::h1::head::{self, Limits};
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
