//! The Huffman code for strings (RFC 7541 §5.2 and Appendix B).
//!
//! The code is canonical: codes of one length are consecutive in the order of their symbols, and
//! shorter ones come first. So the lengths say all, and the tables are made of them when this is
//! compiled.

use super::Undecodable;

/// How long each symbol's code is, in bits; the last is the end of the string.
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const SYMBOLS: usize = 257;
const END_OF_STRING: u16 = 256;
const LENGTH_MAX: usize = 30;
/// Codes up to this length are decoded by one look: nearly all that a head consists of.
const SHORT_BITS: u32 = 8;

/// All that follows from the lengths.
struct Code {
    /// Each symbol's code, in the lowest bits.
    codes: [u32; SYMBOLS],
    /// The symbols in the order of their codes.
    symbols: [u16; SYMBOLS],
    /// For each length the first code that is longer, in the highest bits.
    ends: [u64; LENGTH_MAX + 1],
    /// For each length its first code, and where in `symbols` that one is.
    firsts: [(u32, u16); LENGTH_MAX + 1],
    /// For each byte that the input can go on with: the symbol and its length; 0 for a longer one.
    short: [(u8, u8); 1 << SHORT_BITS],
}

static CODE: Code = Code::from_lengths();

impl Code {
    const fn from_lengths() -> Code {
        let mut code = Code {
            codes: [0; SYMBOLS],
            symbols: [0; SYMBOLS],
            ends: [0; LENGTH_MAX + 1],
            firsts: [(0, 0); LENGTH_MAX + 1],
            short: [(0, 0); 1 << SHORT_BITS],
        };
        let (mut next, mut count, mut length) = (0_u32, 0, 1);
        while length <= LENGTH_MAX {
            next <<= 1;
            code.firsts[length] = (next, count as u16);
            let mut symbol = 0;
            while symbol < SYMBOLS {
                if LENGTHS[symbol] as usize == length {
                    code.codes[symbol] = next;
                    code.symbols[count] = symbol as u16;
                    code.note_short(next, length as u32, symbol);
                    next += 1;
                    count += 1;
                }
                symbol += 1;
            }
            // Behind the last code of all lies 2^64.
            code.ends[length] =
                if length == LENGTH_MAX { u64::MAX } else { (next as u64) << (64 - length) };
            length += 1;
        }
        code
    }

    /// Enters a short code for all bytes that begin with it.
    const fn note_short(&mut self, bits: u32, length: u32, symbol: usize) {
        if length > SHORT_BITS {
            return;
        }
        let first = bits << (SHORT_BITS - length);
        let mut at = first;
        while at < first + (1 << (SHORT_BITS - length)) {
            self.short[at as usize] = (symbol as u8, length as u8);
            at += 1;
        }
    }

    /// The symbol at the top of `window`, and its length; for codes that are not short.
    #[cold]
    fn long(&self, window: u64) -> (u16, u32) {
        for length in SHORT_BITS as usize + 1..LENGTH_MAX {
            if window < self.ends[length] {
                return self.symbol_of(window, length);
            }
        }
        self.symbol_of(window, LENGTH_MAX)
    }

    fn symbol_of(&self, window: u64, length: usize) -> (u16, u32) {
        let (first, place) = self.firsts[length];
        let offset = (window >> (64 - length)) as usize - first as usize;
        let symbol = self.symbols.get(usize::from(place) + offset);
        (symbol.copied().unwrap_or(END_OF_STRING), length as u32)
    }
}

/// Appends what `input` stands for: at most 8/5 of its length.
pub(super) fn decode(input: &[u8], out: &mut Vec<u8>) -> Result<(), Undecodable> {
    out.reserve(input.len() * 8 / 5 + 1);
    let mut bytes = input.iter();
    // The bits not yet decoded, from the top, and how many there are.
    let (mut window, mut bits) = (0_u64, 0_u32);
    loop {
        while bits <= 56 {
            let Some(byte) = bytes.next() else { break };
            window |= u64::from(*byte) << (56 - bits);
            bits += 8;
        }
        let (symbol, length) = CODE.short[(window >> (64 - SHORT_BITS)) as usize];
        let (symbol, length) = match u32::from(length) {
            0 if bits > SHORT_BITS => {
                let (symbol, length) = CODE.long(window);
                (symbol, length)
            }
            // Padding is ones, and ones begin no short code.
            0 => break,
            length => (u16::from(symbol), length),
        };
        if length > bits {
            break;
        }
        // The end of the string must not be sent.
        out.push(u8::try_from(symbol).map_err(|_| Undecodable)?);
        window <<= length;
        bits -= length;
    }
    // What is left is shorter than a byte, and all ones (RFC 7541 §5.2).
    let padding = !(u64::MAX >> bits);
    if bits < 8 && window == padding { Ok(()) } else { Err(Undecodable) }
}

/// How many bytes `text` takes when encoded.
pub(super) fn encoded_length(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum();
    bits.div_ceil(8)
}

/// Appends `text` encoded.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut window, mut bits) = (0_u64, 0_u32);
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        window = (window << length) | u64::from(CODE.codes[usize::from(*byte)]);
        bits += length;
        while bits >= 8 {
            bits -= 8;
            out.push((window >> bits) as u8);
        }
    }
    if bits > 0 {
        let ones = (1_u64 << (8 - bits)) - 1;
        out.push((window << (8 - bits) | ones) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(input: &[u8]) -> Result<Vec<u8>, Undecodable> {
        let mut out = Vec::new();
        decode(input, &mut out)?;
        Ok(out)
    }

    #[test]
    fn the_standards_codes() {
        // Some lines of RFC 7541 Appendix B, and a string of its Appendix C.4.1.
        for (symbol, code, length) in [
            (usize::from(b'0'), 0x0, 5),
            (usize::from(b' '), 0x14, 6),
            (usize::from(b'X'), 0xfc, 8),
            (0, 0x1ff8, 13),
            (249, 0xfff_fffe, 28),
            (256, 0x3fff_ffff, 30),
        ] {
            assert_eq!((CODE.codes[symbol], LENGTHS[symbol]), (code, length), "{symbol}");
        }
        let bytes = b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff";
        let mut out = Vec::new();
        encode(b"www.example.com", &mut out);
        assert_eq!(out, bytes);
        assert_eq!(encoded_length(b"www.example.com"), bytes.len());
        assert_eq!(decoded(bytes).unwrap(), b"www.example.com");
    }

    #[test]
    fn every_symbol_by_itself() {
        for byte in 0..=255 {
            for count in 1..10 {
                let text = vec![byte; count];
                let mut out = Vec::new();
                encode(&text, &mut out);
                assert_eq!(decoded(&out), Ok(text));
            }
        }
    }

    #[test]
    fn padding_is_less_than_a_byte_of_ones() {
        assert_eq!(decoded(b""), Ok(vec![]));
        assert_eq!(decoded(b"\x07"), Ok(b"0".to_vec()));
        assert_eq!(decoded(b"\x06"), Err(Undecodable), "a zero in it");
        assert_eq!(decoded(b"\x00"), Err(Undecodable), "three zeros");
        assert_eq!(decoded(b"\x07\xff"), Err(Undecodable), "a byte more");
        assert_eq!(decoded(b"\xff"), Err(Undecodable), "nothing else");
        assert_eq!(decoded(b"\xff\xff\xff\xff"), Err(Undecodable), "the end, sent");
        assert_eq!(decoded(b"\xff\xff\xff\xfc"), Err(Undecodable), "the end, sent");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut out = Vec::new();
            encode(&text, &mut out);
            prop_assert_eq!(out.len(), encoded_length(&text));
            prop_assert_eq!(decoded(&out), Ok(text));
        }

        #[test]
        fn one_text_has_one_encoding(input in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(text) = decoded(&input) {
                let mut out = Vec::new();
                encode(&text, &mut out);
                prop_assert_eq!(out, input);
            }
        }
    }
}
