//! Byte ranges (RFC 9110 §14): which parts of a representation a request selects, and the
//! `Content-Range` that names them.
//!
//! A range set is a way to ask for much work with few bytes, so everything is bounded here:
//! the specs that are read, the parts that come out, and their sum. Files are not known here,
//! only their sizes.

/// The most ranges that a set may name. Longer sets are ignored, so that the work is bounded.
const SPECS_MAX: usize = 64;

/// A stretch of bytes, at least one byte long when [`select`] made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// Where it begins, counted from 0.
    pub start: u64,
    /// The position behind its last byte.
    pub end: u64,
}

impl ByteRange {
    /// How many bytes there are.
    #[inline]
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether there is no byte in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Whether the two overlap or are adjacent, so that they can be sent as one.
    fn touches(&self, other: &ByteRange) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

/// What a `Range` field selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one lives on the stack, and nothing is allocated")]
pub enum Selection {
    /// The field is ignored: answer as if it had not been sent.
    Whole,
    /// No byte is selected: answer 416 with [`unsatisfied_range`].
    Unsatisfiable,
    /// Answer 206: with one part as the body, or with several as `multipart/byteranges`.
    Parts(Parts),
}

/// One to [`Parts::MAX`] ranges that neither overlap nor touch and lie within the representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    ranges: [ByteRange; Parts::MAX],
    len: usize,
}

impl Parts {
    /// The most parts that an answer may have.
    pub const MAX: usize = 16;

    /// The ranges, in the order to send them.
    #[inline]
    pub fn as_slice(&self) -> &[ByteRange] {
        self.ranges.get(..self.len).unwrap_or_default()
    }
}

/// What the value of a `Range` field selects of a representation of `size` bytes.
///
/// Ranges that overlap or touch are coalesced, and a coalesced part stands where the first of its
/// members stood; otherwise the client's order is kept (RFC 9110 §15.3.7.2). Parts never overlap,
/// so their sum is at most `size`. Ranges that select nothing are dropped while others remain.
///
/// The field is ignored, which §14.2 always permits, if the unit is not `bytes` (in any case), if
/// the set is malformed or empty, if it names more than 64 ranges, or if more than
/// [`Parts::MAX`] parts remain. Numbers beyond `u64` count as its largest. Of an empty
/// representation nothing can be selected, not even its end: no `Content-Range` could say so.
pub fn select(value: &[u8], size: u64) -> Selection {
    let Some(ranges) = coalesced(value, size) else { return Selection::Whole };
    match ranges.as_slice() {
        [] => Selection::Unsatisfiable,
        found => {
            let mut parts = Parts { ranges: Default::default(), len: found.len() };
            let Some(target) = parts.ranges.get_mut(..found.len()) else { return Selection::Whole };
            target.copy_from_slice(found);
            Selection::Parts(parts)
        }
    }
}

/// Appends the value of `Content-Range` for a part, such as `bytes 0-99/1234` (RFC 9110 §14.4).
pub fn content_range(part: ByteRange, size: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"bytes ");
    push_decimal(part.start, out);
    out.push(b'-');
    push_decimal(part.end.saturating_sub(1), out);
    out.push(b'/');
    push_decimal(size, out);
}

/// How many bytes [`content_range`] appends.
pub(crate) fn content_range_len(part: ByteRange, size: u64) -> usize {
    let digits =
        decimal_len(part.start) + decimal_len(part.end.saturating_sub(1)) + decimal_len(size);
    "bytes -/".len() + digits
}

/// Appends the value of `Content-Range` for a 416 answer, such as `bytes */1234`.
pub fn unsatisfied_range(size: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"bytes */");
    push_decimal(size, out);
}

/// Ranges that are kept from touching one another as they are added.
struct Coalesced {
    ranges: [ByteRange; SPECS_MAX],
    len: usize,
}

impl Coalesced {
    fn as_slice(&self) -> &[ByteRange] {
        self.ranges.get(..self.len).unwrap_or_default()
    }

    /// Adds a range; `None` if there is no room.
    fn add(&mut self, mut new: ByteRange) -> Option<()> {
        // Ranges already here do not touch one another, so what `new` grows by cannot make it
        // touch one that was passed before: one pass is enough.
        let mut place = None;
        let mut kept = 0;
        for at in 0..self.len {
            let old = *self.ranges.get(at)?;
            if old.touches(&new) {
                new.start = new.start.min(old.start);
                new.end = new.end.max(old.end);
                if place.is_some() {
                    continue;
                }
                place = Some(kept);
            }
            *self.ranges.get_mut(kept)? = old;
            kept += 1;
        }
        if place.is_none() {
            kept += 1;
        }
        *self.ranges.get_mut(place.unwrap_or(self.len))? = new;
        self.len = kept;
        Some(())
    }
}

/// The satisfiable ranges of a set, coalesced; `None` if the field is to be ignored.
fn coalesced(value: &[u8], size: u64) -> Option<Coalesced> {
    let (unit, set) = value.split_at_checked(memchr::memchr(b'=', value)?)?;
    if !unit.eq_ignore_ascii_case(b"bytes") {
        return None;
    }
    let mut ranges = Coalesced { ranges: [ByteRange::default(); SPECS_MAX], len: 0 };
    let mut specs = 0;
    for element in set.get(1..)?.split(|byte| *byte == b',') {
        let element = trim_blanks(element);
        if element.is_empty() {
            continue;
        }
        specs += 1;
        if specs > SPECS_MAX {
            return None;
        }
        let range = one(element, size)?;
        if !range.is_empty() {
            ranges.add(range)?;
        }
    }
    (specs > 0).then_some(ranges)
}

/// Reads `first-last`, `first-` or `-length` and cuts it to `size`; empty if it selects nothing,
/// `None` if it is malformed.
fn one(spec: &[u8], size: u64) -> Option<ByteRange> {
    let (first, last) = spec.split_at_checked(memchr::memchr(b'-', spec)?)?;
    let last = last.get(1..)?;
    if first.is_empty() {
        let length = number(last)?;
        return Some(ByteRange { start: size.saturating_sub(length), end: size });
    }
    let first = number(first)?;
    let end = if last.is_empty() {
        size
    } else {
        let last = number(last)?;
        if last < first {
            return None;
        }
        last.saturating_add(1).min(size)
    };
    Some(ByteRange { start: first, end })
}

/// The value of one or more digits and nothing else; the largest `u64` if it is larger.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        Some(value.saturating_mul(10).saturating_add(digit))
    })
}

/// Without the spaces and tabs around it, which a list may have (RFC 9110 §5.6.1).
fn trim_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// Appends `value` in decimal digits.
fn push_decimal(mut value: u64, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        out.push(b'0' + (value % 10) as u8);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}

/// How many digits `value` has in decimal.
fn decimal_len(value: u64) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The selected ranges as pairs; `None` for the whole, an empty list for none.
    fn pairs(value: &[u8], size: u64) -> Option<Vec<(u64, u64)>> {
        match select(value, size) {
            Selection::Whole => None,
            Selection::Unsatisfiable => Some(Vec::new()),
            Selection::Parts(parts) => {
                assert!(!parts.as_slice().is_empty());
                Some(parts.as_slice().iter().map(|part| (part.start, part.end)).collect())
            }
        }
    }

    #[track_caller]
    fn check(value: &str, size: u64, expected: &[(u64, u64)]) {
        assert_eq!(pairs(value.as_bytes(), size).as_deref(), Some(expected), "{value}");
    }

    /// The examples of RFC 9110 §14.1.2, for 10,000 bytes.
    #[test]
    fn the_examples_of_the_rfc_are_read() {
        check("bytes=0-499", 10_000, &[(0, 500)]);
        check("bytes=500-999", 10_000, &[(500, 1000)]);
        check("bytes=-500", 10_000, &[(9500, 10_000)]);
        check("bytes=9500-", 10_000, &[(9500, 10_000)]);
        check("bytes=0-0,-1", 10_000, &[(0, 1), (9999, 10_000)]);
        check("bytes= 0-999, 4500-5499, -1000", 10_000, &[(0, 1000), (4500, 5500), (9000, 10_000)]);
        check("bytes=500-600,601-999", 10_000, &[(500, 1000)]);
        check("bytes=500-700,601-999", 10_000, &[(500, 1000)]);
    }

    #[test]
    fn ranges_are_cut_to_the_size() {
        check("bytes=0-", 10, &[(0, 10)]);
        check("bytes=0-99", 10, &[(0, 10)]);
        check("bytes=9-9", 10, &[(9, 10)]);
        check("bytes=-10", 10, &[(0, 10)]);
        check("bytes=-11", 10, &[(0, 10)]);
        check("bytes=0-99999999999999999999999999", 10, &[(0, 10)]);
        check("bytes=-99999999999999999999999999", 10, &[(0, 10)]);
        check("bytes=0-18446744073709551615", u64::MAX, &[(0, u64::MAX)]);
        check("bytes=18446744073709551614-", u64::MAX, &[(u64::MAX - 1, u64::MAX)]);
    }

    #[test]
    fn what_selects_nothing_is_dropped_or_unsatisfiable() {
        check("bytes=10-", 10, &[]);
        check("bytes=10-20", 10, &[]);
        check("bytes=-0", 10, &[]);
        check("bytes=10-,-0,11-12", 10, &[]);
        check("bytes=99999999999999999999-", 10, &[]);
        check("bytes=99999999999999999999-", u64::MAX, &[]);
        check("bytes=10-,-1", 10, &[(9, 10)]);
        check("bytes=0-1,20-30,-0", 10, &[(0, 2)]);
    }

    #[test]
    fn of_nothing_nothing_can_be_selected() {
        for value in ["bytes=0-", "bytes=0-0", "bytes=-1", "bytes=-0", "bytes=5-9,-3"] {
            check(value, 0, &[]);
        }
    }

    #[test]
    fn the_unit_is_bytes_in_any_case() {
        check("BYTES=0-0", 10, &[(0, 1)]);
        check("Bytes=0-0", 10, &[(0, 1)]);
        for value in ["lines=0-0", "byte=0-0", "bytes =0-0", " bytes=0-0", "=0-0", "bytes", ""] {
            assert_eq!(select(value.as_bytes(), 10), Selection::Whole, "{value}");
        }
    }

    #[test]
    fn empty_elements_and_blanks_are_skipped() {
        check("bytes=,0-0", 10, &[(0, 1)]);
        check("bytes=0-0, ,\t,2-2 ,", 10, &[(0, 1), (2, 3)]);
        check("bytes=\t0-0", 10, &[(0, 1)]);
    }

    #[test]
    fn malformed_sets_are_ignored() {
        for set in [
            "", ",", " ", "-", "0", "a", "1-0", "0-0-0", "--1", "0--1", "+1-2", "0-+2", "0x1-2",
            "0 - 1", "0- 1", "- 1", "a-", "-a", "0-a", "0-0;1-1", "0-0 1-1", "0-0,x", "x,0-0",
            "0-0,5-4", "20-19", "=0-0", "0-0=", "*", "0.5-1", "0-0\n",
        ] {
            let value = format!("bytes={set}");
            assert_eq!(select(value.as_bytes(), 10), Selection::Whole, "{set:?}");
        }
        // The order of the bounds counts even where neither lies within the representation.
        assert_eq!(select(b"bytes=0-0,30-20", 10), Selection::Whole);
        // Malformed is told from unsatisfiable, even for nothing.
        assert_eq!(select(b"bytes=1-0", 0), Selection::Whole);
    }

    #[test]
    fn overlapping_and_adjacent_ranges_are_one() {
        check("bytes=0-4,3-6", 10, &[(0, 7)]);
        check("bytes=0-4,5-6", 10, &[(0, 7)]);
        check("bytes=5-6,0-4", 10, &[(0, 7)]);
        check("bytes=0-0,0-0", 10, &[(0, 1)]);
        check("bytes=2-3,0-9", 10, &[(0, 10)]);
        check("bytes=0-1,3-4,2-2", 10, &[(0, 5)]);
        check("bytes=0-1,3-4", 10, &[(0, 2), (3, 5)]);
    }

    #[test]
    fn the_order_of_the_client_is_kept() {
        check("bytes=-1,0-0", 10, &[(9, 10), (0, 1)]);
        check("bytes=6-7,0-1,3-4", 10, &[(6, 8), (0, 2), (3, 5)]);
        // A coalesced part stands where its first member stood.
        check("bytes=8-9,0-1,5-5,2-3", 10, &[(8, 10), (0, 4), (5, 6)]);
        check("bytes=4-4,0-0,8-8,2-2,1-5", 10, &[(0, 6), (8, 9)]);
        check("bytes=8-8,0-0,6-6,2-2,1-1", 10, &[(8, 9), (0, 3), (6, 7)]);
    }

    fn spaced(count: u64) -> String {
        let specs: Vec<String> = (0..count).map(|at| format!("{0}-{0}", at * 2)).collect();
        format!("bytes={}", specs.join(","))
    }

    #[test]
    fn sixteen_parts_are_the_most() {
        assert_eq!(pairs(spaced(16).as_bytes(), 1000).map(|parts| parts.len()), Some(16));
        assert_eq!(select(spaced(17).as_bytes(), 1000), Selection::Whole);
        assert_eq!(select(spaced(64).as_bytes(), 1000), Selection::Whole);
        // Only what remains counts.
        check(&format!("{},0-", spaced(63)), 1000, &[(0, 1000)]);
        assert_eq!(pairs(spaced(17).as_bytes(), 32).map(|parts| parts.len()), Some(16));
    }

    #[test]
    fn sixty_four_specs_are_the_most() {
        let same = |count: usize| format!("bytes={}", vec!["0-0"; count].join(","));
        check(&same(64), 10, &[(0, 1)]);
        assert_eq!(select(same(65).as_bytes(), 10), Selection::Whole);
        check(&format!("bytes={}0-0", ",".repeat(500)), 10, &[(0, 1)]);
    }

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = b"x".to_vec();
        write(&mut out);
        String::from_utf8(out).unwrap().split_off(1)
    }

    #[test]
    fn content_range_is_written() {
        let part = |start, end| ByteRange { start, end };
        assert_eq!(text(|out| content_range(part(0, 100), 1234, out)), "bytes 0-99/1234");
        assert_eq!(text(|out| content_range(part(42, 1234), 1234, out)), "bytes 42-1233/1234");
        assert_eq!(
            text(|out| content_range(part(0, u64::MAX), u64::MAX, out)),
            "bytes 0-18446744073709551614/18446744073709551615"
        );
        assert_eq!(text(|out| unsatisfied_range(1234, out)), "bytes */1234");
        assert_eq!(text(|out| unsatisfied_range(0, out)), "bytes */0");
    }

    #[test]
    fn lengths_are_of_bytes() {
        assert_eq!(ByteRange { start: 2, end: 5 }.len(), 3);
        assert_eq!(ByteRange { start: 5, end: 2 }.len(), 0);
        assert!(ByteRange { start: 5, end: 5 }.is_empty());
    }

    /// Which bytes are selected, byte by byte; `None` if any range is malformed.
    fn marked(specs: &[(Option<u8>, Option<u8>)], size: u8) -> Option<Vec<bool>> {
        let mut bytes = vec![false; usize::from(size)];
        for spec in specs {
            let (first, last) = match *spec {
                (None, None) => return None,
                (Some(first), Some(last)) if last < first => return None,
                (Some(first), last) => (usize::from(first), last.map_or(255, usize::from)),
                (None, Some(length)) => (usize::from(size.saturating_sub(length)), 255),
            };
            bytes.iter_mut().take(last + 1).skip(first).for_each(|byte| *byte = true);
        }
        Some(bytes)
    }

    fn written(specs: &[(Option<u8>, Option<u8>)]) -> String {
        let text = |bound: Option<u8>| bound.map(|bound| bound.to_string()).unwrap_or_default();
        let specs: Vec<_> =
            specs.iter().map(|(first, last)| format!("{}-{}", text(*first), text(*last))).collect();
        format!("bytes={}", specs.join(","))
    }

    fn bound() -> impl Strategy<Value = Option<u8>> {
        prop_oneof![1 => Just(None), 9 => (0..120_u8).prop_map(Some)]
    }

    proptest! {
        #[test]
        fn the_same_bytes_are_selected_as_one_by_one(
            specs in prop::collection::vec((bound(), bound()), 1..12),
            ordered: bool,
            size in 0..100_u8,
        ) {
            let specs: Vec<_> = specs
                .into_iter()
                .map(|(a, b)| match (a, b) {
                    (Some(a), Some(b)) if ordered => (Some(a.min(b)), Some(a.max(b))),
                    (None, None) if ordered => (Some(0), None),
                    other => other,
                })
                .collect();
            let found = pairs(written(&specs).as_bytes(), u64::from(size));
            let Some(expected) = marked(&specs, size) else {
                prop_assert_eq!(found, None);
                return Ok(());
            };
            let found = found.unwrap();
            let mut bytes = vec![false; usize::from(size)];
            for (start, end) in &found {
                prop_assert!(start < end);
                for at in *start..*end {
                    // Out of bounds would panic, and no byte is selected twice.
                    prop_assert!(!std::mem::replace(&mut bytes[at as usize], true));
                }
                prop_assert!(found.iter().all(|other| other.0 != *end), "adjacent");
            }
            prop_assert_eq!(bytes, expected);
        }

        #[test]
        fn parts_are_few_and_apart_and_within(value in "bytes=[0-9,-]{0,200}", size: u64) {
            if let Selection::Parts(parts) = select(value.as_bytes(), size) {
                prop_assert!((1..=Parts::MAX).contains(&parts.as_slice().len()));
                let mut sorted = parts.as_slice().to_vec();
                sorted.sort_by_key(|part| part.start);
                prop_assert!(sorted.iter().all(|part| part.start < part.end && part.end <= size));
                prop_assert!(sorted.windows(2).all(|pair| pair[0].end < pair[1].start));
                let sum: u128 = sorted.iter().map(|part| u128::from(part.len())).sum();
                prop_assert!(sum <= u128::from(size));
            }
        }

        #[test]
        fn any_bytes_are_survived(
            unit in prop_oneof![Just(&b""[..]), Just(&b"bytes="[..])],
            set in prop::collection::vec(any::<u8>(), 0..64),
            size: u64,
        ) {
            let _ = select(&[unit, &set].concat(), size);
        }

        #[test]
        fn the_length_is_known_before_it_is_written(start: u64, end: u64, size: u64) {
            let part = ByteRange { start, end };
            let written = text(|out| content_range(part, size, out));
            prop_assert_eq!(written.len(), content_range_len(part, size));
            let expected = format!("bytes {start}-{}/{size}", end.saturating_sub(1));
            prop_assert_eq!(written, expected);
        }
    }
}
