//! Byte classes and the scan for a field value's end: the inner loops of every head parser.
//!
//! Eight bytes at a time in ordinary integers: within a few nanoseconds of vector code on heads of
//! real size, and it needs no `unsafe`.

/// One bit per class that a byte belongs to.
const fn classes(byte: u8) -> u8 {
    let alphanumeric = byte.is_ascii_alphanumeric();
    let mut class = 0;
    if alphanumeric
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
    {
        class |= TOKEN;
    }
    // Raw bytes above 127 are let through: clients send names in UTF-8, and they harm no framing.
    if byte > b' ' && byte != 0x7f && byte != b'#' {
        class |= TARGET;
    }
    let sub_delimiter =
        matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=');
    if alphanumeric || sub_delimiter || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%') {
        class |= HOST;
    }
    if byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.') {
        class |= ADDRESS;
    }
    if alphanumeric
        || sub_delimiter
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@')
    {
        class |= PATH;
    }
    class
}

const TOKEN: u8 = 1;
const TARGET: u8 = 2;
const HOST: u8 = 4;
const ADDRESS: u8 = 8;
const PATH: u8 = 16;

static CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = classes(byte as u8);
        byte += 1;
    }
    table
};

#[inline]
fn has(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// `tchar` of RFC 9110 §5.6.2: what a method or a field name is made of.
#[inline]
pub(crate) fn is_token(byte: u8) -> bool {
    has(byte, TOKEN)
}

/// A byte of a `reg-name` (RFC 3986 §3.2.2).
pub(crate) fn is_host(byte: u8) -> bool {
    has(byte, HOST)
}

/// A byte of an IPv6 address between brackets.
pub(crate) fn is_address(byte: u8) -> bool {
    has(byte, ADDRESS)
}

/// A byte that stands for itself in a path (`pchar` and the slash, RFC 3986 §3.3).
pub(crate) fn is_path(byte: u8) -> bool {
    has(byte, PATH)
}

/// How many bytes at the start of `bytes` are of that class.
#[inline]
pub(crate) fn run_of(bytes: &[u8], class: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    for byte in bytes {
        if !class(*byte) {
            return at;
        }
        at += 1;
    }
    at
}

const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES * 0x80;

/// Eight bytes from `at` on, the first of them lowest; `None` where fewer are left.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|chunk| u64::from_le_bytes(*chunk))
}

/// The top bit of each byte of `word` that is below `limit`, which is at most 0x80. Bits above the
/// lowest one set may be wrong (a borrow), so only the first is to be used.
#[inline]
fn below(word: u64, limit: u64) -> u64 {
    word.wrapping_sub(ONES * limit) & !word & HIGHS
}

/// The top bit of each byte of `word` that is `byte`; to be used like that of [`below`].
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// The top bit of each byte of `word` that is `byte`, and no other.
#[inline]
fn exactly(word: u64, byte: u8) -> u64 {
    let unlike = word ^ (ONES * u64::from(byte));
    !((unlike & !HIGHS).wrapping_add(!HIGHS) | unlike) & HIGHS
}

/// Which byte of a word the lowest bit that is set belongs to.
#[inline]
fn first_of(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}

/// The offset of the first byte from `from` on that cannot be in a field value: a control other
/// than the tab. The length where there is none.
#[inline]
pub(crate) fn value_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = word_at(bytes, at) {
        let found = below(word, 0x20) | equal(word, 0x7f);
        if found == 0 {
            at += 8;
            continue;
        }
        at += first_of(found);
        if bytes.get(at) != Some(&b'\t') {
            return at;
        }
        at += 1;
    }
    let is_fine = |byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    at + run_of(bytes.get(at..).unwrap_or_default(), is_fine)
}

/// How many bytes at the start of `bytes` can be in a request target.
#[inline]
pub(crate) fn target_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = word_at(bytes, at) {
        let found = below(word, 0x21) | equal(word, 0x7f) | equal(word, b'#');
        if found != 0 {
            return at + first_of(found);
        }
        at += 8;
    }
    at + run_of(bytes.get(at..).unwrap_or_default(), |byte| has(byte, TARGET))
}

/// The longest name that is folded, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 8 * NAME_WORDS;

const NAME_WORDS: usize = 4;

/// A name in lower case, filled up with blanks, so that names compare a few bytes at a time.
pub(crate) type Folded = [u64; NAME_WORDS];

/// A name of at most 32 bytes, folded.
pub(crate) const fn folded(name: &[u8]) -> Folded {
    let mut words = [ONES * 0x20; NAME_WORDS];
    let mut at = 0;
    while at < name.len() {
        words[at / 8] |= (name[at] as u64) << (at % 8 * 8);
        at += 1;
    }
    words
}

/// The name before the first colon, folded, and its length; `None` if the colon is not near, or
/// something before it cannot be folded. Only letters become a letter when folded, and only bytes
/// below the hyphen become a hyphen: those are looked for.
#[inline]
pub(crate) fn name_before_colon(line: &[u8]) -> Option<(Folded, usize)> {
    let mut words = [ONES * 0x20; NAME_WORDS];
    for (index, folded) in words.iter_mut().enumerate() {
        let word = word_at(line, index * 8)?;
        let colon = equal(word, b':');
        let before = colon.wrapping_sub(1) & !colon;
        let inside = if colon == 0 { u64::MAX } else { before >> 7 };
        if below(word, 0x2d) & inside != 0 {
            return None;
        }
        *folded |= word & inside;
        if colon != 0 {
            return Some((words, index * 8 + first_of(colon)));
        }
    }
    None
}

/// Whether a path is canonical for certain: nothing encoded, no empty segment but the last, none
/// that begins with a dot.
#[inline]
pub(crate) fn is_plain_path(path: &[u8]) -> bool {
    // A word and the one that begins a byte later, so that each byte is seen with its next one.
    let suspicious = |at| {
        let (Some(word), Some(next)) = (word_at(path, at), word_at(path, at + 1)) else {
            return 1;
        };
        equal(word, b'%') | (exactly(word, b'/') & (exactly(next, b'/') | exactly(next, b'.')))
    };
    if path.len() < 9 {
        let mut after_slash = false;
        return path.iter().all(|byte| {
            let special = *byte == b'%' || (after_slash && matches!(byte, b'/' | b'.'));
            after_slash = *byte == b'/';
            !special
        });
    }
    let last = path.len() - 9;
    let mut at = 0;
    while at < last {
        if suspicious(at) != 0 {
            return false;
        }
        at += 8;
    }
    suspicious(last) == 0 && path.last() != Some(&b'%')
}

/// `bytes` without spaces and tabs at either end.
#[inline]
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [b' ' | b'\t', tail @ ..] = rest {
        rest = tail;
    }
    trim_end(rest)
}

/// `bytes` without spaces and tabs at the end.
#[inline]
pub(crate) fn trim_end(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [head @ .., b' ' | b'\t'] = rest {
        rest = head;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value_end_slow(bytes: &[u8], from: usize) -> usize {
        let stop = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
        bytes.iter().skip(from).position(stop).map_or(bytes.len(), |at| at + from)
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for place in 0..20 {
                let mut bytes = *b"abcdefghijklmnopqrst";
                bytes[place] = byte;
                for from in 0..=20 {
                    assert_eq!(value_end(&bytes, from), value_end_slow(&bytes, from));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_wide_scan_is_the_plain_one(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            for from in 0..=bytes.len() {
                prop_assert_eq!(value_end(&bytes, from), value_end_slow(&bytes, from));
            }
        }
    }

    fn telling_byte() -> impl Strategy<Value = u8> {
        prop::sample::select(b"/.%#: ?a\x7f\x80\xaf\xae\xa5".to_vec())
    }

    fn is_plain_slowly(path: &[u8]) -> bool {
        let encoded = path.contains(&b'%');
        !encoded && !path.windows(2).any(|pair| matches!(pair, b"//" | b"/."))
    }

    proptest! {
        #[test]
        fn words_find_what_bytes_do(
            bytes in prop::collection::vec(prop_oneof![telling_byte(), any::<u8>()], 0..50),
        ) {
            prop_assert_eq!(is_plain_path(&bytes), is_plain_slowly(&bytes));
            prop_assert_eq!(target_end(&bytes), run_of(&bytes, |byte| has(byte, TARGET)));
        }
    }

    #[test]
    fn names_are_folded_up_to_their_colon() {
        let fold = |line: &[u8]| name_before_colon(line);
        assert_eq!(fold(b"Host: a, b, c"), Some((folded(b"host"), 4)));
        assert_eq!(fold(b"IF-NONE-MATCH:      "), Some((folded(b"if-none-match"), 13)));
        assert_eq!(fold(b":       "), Some((folded(b""), 0)));
        assert_eq!(fold(b"if\rnone-match:        "), None);
        assert_eq!(fold(b"te : trailers"), None);
        assert_eq!(fold(b"te\t:trailers"), None);
        assert_ne!(fold(b"hos\xf4:a,b,c").unwrap().0, folded(b"host"));
        // Too far, and not all there.
        assert_eq!(fold(&[b'a'; 60]), None);
        assert_eq!(fold(b"Host:a"), None);
    }

    #[test]
    fn blanks_are_trimmed_at_both_ends() {
        assert_eq!(trim(b" \t a b\t "), b"a b");
        assert_eq!(trim(b" \t "), b"");
    }
}
