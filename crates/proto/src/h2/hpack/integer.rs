//! Integers with a prefix of a few bits (RFC 7541 §5.1).

use super::Undecodable;

/// The most bytes behind the prefix. Four hold 28 bits: more than any length or index that we
/// allow, so that what is longer is either too large or padded with zeros.
const FOLLOWING_BYTES_MAX: u32 = 4;

/// Takes an integer from the front of `input`. Of the first byte the lowest `prefix_bits` count.
#[inline]
pub(super) fn take(input: &mut &[u8], prefix_bits: u32) -> Result<usize, Undecodable> {
    let (first, rest) = input.split_first().ok_or(Undecodable)?;
    let mask = (1_usize << prefix_bits) - 1;
    let value = usize::from(*first) & mask;
    *input = rest;
    if value < mask { Ok(value) } else { following(input, mask) }
}

/// The bytes behind a prefix that is all ones.
fn following(input: &mut &[u8], mask: usize) -> Result<usize, Undecodable> {
    let mut value = mask;
    for place in 0..FOLLOWING_BYTES_MAX {
        let (byte, rest) = input.split_first().ok_or(Undecodable)?;
        *input = rest;
        value += usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Undecodable)
}

/// Appends an integer. `pattern` has the bits of the first byte above the prefix.
#[inline]
pub(super) fn put(value: usize, prefix_bits: u32, pattern: u8, out: &mut Vec<u8>) {
    let mask = (1_usize << prefix_bits) - 1;
    if value < mask {
        out.push(pattern | value as u8);
        return;
    }
    out.push(pattern | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_standards_examples() {
        // RFC 7541 Appendix C.1.
        for (value, prefix_bits, bytes) in
            [(10, 5, &[10][..]), (1337, 5, &[0x1f, 0x9a, 0x0a]), (42, 8, &[0x2a])]
        {
            let mut out = Vec::new();
            put(value, prefix_bits, 0, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(take(&mut &out[..], prefix_bits), Ok(value));
        }
    }

    #[test]
    fn what_is_cut_or_too_long_is_refused() {
        assert_eq!(take(&mut &b""[..], 7), Err(Undecodable));
        assert_eq!(take(&mut &b"\x7f"[..], 7), Err(Undecodable));
        assert_eq!(take(&mut &b"\x7f\x80"[..], 7), Err(Undecodable));
        assert_eq!(take(&mut &b"\x7f\x80\x80\x80\x00"[..], 7), Ok(127));
        assert_eq!(take(&mut &b"\x7f\x80\x80\x80\x80\x00"[..], 7), Err(Undecodable));
        assert_eq!(
            take(&mut &b"\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x7f"[..], 7),
            Err(Undecodable)
        );
    }

    proptest! {
        #[test]
        fn what_is_put_is_taken(value in 0_usize..1 << 28, prefix_bits in 1_u32..=8) {
            let mut out = Vec::new();
            put(value, prefix_bits, 0, &mut out);
            out.push(7);
            let mut rest = &out[..];
            prop_assert_eq!(take(&mut rest, prefix_bits), Ok(value));
            prop_assert_eq!(rest, [7]);
        }
    }
}
