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

/// A byte that a request target may hold on the wire.
#[inline]
pub(crate) fn is_target(byte: u8) -> bool {
    has(byte, TARGET)
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

/// The top bit of each byte of `word` that is a control: below 0x20, or 0x7f. Bits above the
/// lowest one set may be wrong (a borrow), so only the first is to be used.
#[inline]
fn controls(word: u64) -> u64 {
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let delete = word ^ (ONES * 0x7f);
    let is_delete = delete.wrapping_sub(ONES) & !delete;
    (below_space | is_delete) & HIGHS
}

/// The offset of the first byte from `from` on that cannot be in a field value: a control other
/// than the tab. The length where there is none.
#[inline]
pub(crate) fn value_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let found = controls(u64::from_le_bytes(*chunk));
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        // Fewer than eight bytes are left, or `at` is the first control.
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\t' => at += 1,
                0..0x20 | 0x7f => return at,
                _ if bytes.len() - at >= 8 => break,
                _ => at += 1,
            }
        }
        if at >= bytes.len() {
            return bytes.len();
        }
    }
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

    #[test]
    fn blanks_are_trimmed_at_both_ends() {
        assert_eq!(trim(b" \t a b\t "), b"a b");
        assert_eq!(trim(b" \t "), b"");
    }
}
