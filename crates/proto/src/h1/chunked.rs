//! Chunked bodies (RFC 9112 §7.1): a state machine over input that may be cut anywhere.
//!
//! What a sender can add to the data is bounded three times: an extension's length, the trailers,
//! and the sum of all framing against the data that came with it.

use super::refusal::Refusal;
use crate::scan;
use std::ops::Range;

/// How much framing a chunked body may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLimits {
    /// The longest extension of one chunk, in bytes.
    pub extension_bytes_max: usize,
    /// Framing in excess of 8 bytes for each byte of data, over the whole body, in bytes.
    pub overhead_bytes_max: u64,
    /// The longest trailer section, in bytes.
    pub trailer_bytes_max: usize,
    /// The most trailer lines.
    pub trailers_max: usize,
}

impl Default for ChunkLimits {
    fn default() -> Self {
        ChunkLimits {
            extension_bytes_max: 256,
            overhead_bytes_max: 4 << 10,
            trailer_bytes_max: 16 << 10,
            trailers_max: 100,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The chunk's size, of which that many digits have come.
    Size(u8),
    Extension,
    /// The LF of a chunk's first line.
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    /// The LF that ends the body.
    EndLf,
    Done,
}

/// What a call to [`Chunked::advance`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// How many bytes of the input are dealt with.
    pub consumed: usize,
    /// Where in the input this step's data lies; empty at the end of the input or the body.
    pub data: Range<usize>,
}

/// The decoder of one chunked body.
#[derive(Clone, Debug)]
pub struct Chunked {
    limits: ChunkLimits,
    state: State,
    /// What is left of the chunk, in bytes.
    remaining: u64,
    extension_bytes: usize,
    trailer_bytes: usize,
    trailers: usize,
    data_bytes: u64,
    overhead_bytes: u64,
}

impl Chunked {
    /// A decoder at the start of a body.
    pub fn new(limits: ChunkLimits) -> Self {
        Chunked {
            limits,
            state: State::Size(0),
            remaining: 0,
            extension_bytes: 0,
            trailer_bytes: 0,
            trailers: 0,
            data_bytes: 0,
            overhead_bytes: 0,
        }
    }

    /// Whether the whole body, trailers included, has been read.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads on. Each call yields at most one run of data; call again with what it did not
    /// consume until it consumes nothing.
    pub fn advance(&mut self, input: &[u8]) -> Result<Step, Refusal> {
        let mut at = 0;
        while let Some(byte) = input.get(at) {
            match self.state {
                State::Data => {
                    let left = input.len() - at;
                    let length = usize::try_from(self.remaining).unwrap_or(left).min(left);
                    self.remaining -= length as u64;
                    self.data_bytes += length as u64;
                    if self.remaining == 0 {
                        self.state = State::DataCr;
                    }
                    return Ok(Step { consumed: at + length, data: at..at + length });
                }
                State::Done => break,
                _ => {
                    self.state = self.framing(*byte)?;
                    at += 1;
                }
            }
        }
        Ok(Step { consumed: at, data: at..at })
    }

    /// Takes one byte that is not data.
    fn framing(&mut self, byte: u8) -> Result<State, Refusal> {
        self.overhead_bytes += 1;
        let in_trailers = self.trailer_bytes > 0;
        if !in_trailers
            && self.overhead_bytes > self.limits.overhead_bytes_max + 8 * self.data_bytes
        {
            return Err(Refusal::Chunk);
        }
        match (self.state, byte) {
            (State::Size(digits), _) => self.size(digits, byte),
            (State::Extension, b'\r') => Ok(State::SizeLf),
            (State::Extension, _) => {
                self.extension_bytes += 1;
                let allowed = byte == b'\t' || (byte >= b' ' && byte != 0x7f);
                let within = self.extension_bytes <= self.limits.extension_bytes_max;
                if allowed && within { Ok(State::Extension) } else { Err(Refusal::Chunk) }
            }
            (State::SizeLf, b'\n') if self.remaining == 0 => Ok(State::TrailerStart),
            (State::SizeLf, b'\n') => Ok(State::Data),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(State::Size(0)),
            (State::EndLf, b'\n') => Ok(State::Done),
            (
                State::TrailerStart | State::TrailerName | State::TrailerValue | State::TrailerLf,
                _,
            ) => self.trailer(byte),
            _ => Err(Refusal::Chunk),
        }
    }

    fn size(&mut self, digits: u8, byte: u8) -> Result<State, Refusal> {
        match (char::from(byte).to_digit(16), byte) {
            // Fifteen digits are 2^60: no sum with them overflows.
            (Some(digit), _) if digits < 15 => {
                self.remaining = self.remaining * 16 + u64::from(digit);
                Ok(State::Size(digits + 1))
            }
            (None, b'\r') if digits > 0 => Ok(State::SizeLf),
            (None, b';') if digits > 0 => {
                self.extension_bytes = 0;
                Ok(State::Extension)
            }
            _ => Err(Refusal::Chunk),
        }
    }

    fn trailer(&mut self, byte: u8) -> Result<State, Refusal> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > self.limits.trailer_bytes_max {
            return Err(Refusal::TrailerTooLarge);
        }
        match (self.state, byte) {
            (State::TrailerStart, b'\r') => Ok(State::EndLf),
            (State::TrailerStart, _) if scan::is_token(byte) => {
                self.trailers += 1;
                let within = self.trailers <= self.limits.trailers_max;
                if within { Ok(State::TrailerName) } else { Err(Refusal::TrailerTooLarge) }
            }
            (State::TrailerName, b':') => Ok(State::TrailerValue),
            (State::TrailerName, _) if scan::is_token(byte) => Ok(State::TrailerName),
            (State::TrailerValue, b'\r') => Ok(State::TrailerLf),
            (State::TrailerValue, _) if byte == b'\t' || (byte >= b' ' && byte != 0x7f) => {
                Ok(State::TrailerValue)
            }
            (State::TrailerLf, b'\n') => Ok(State::TrailerStart),
            _ => Err(Refusal::Chunk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds `input` in pieces of `step` bytes: the data, and how much was consumed.
    fn decode(input: &[u8], step: usize, limits: ChunkLimits) -> Result<(Vec<u8>, usize), Refusal> {
        let mut decoder = Chunked::new(limits);
        let (mut data, mut consumed) = (Vec::new(), 0);
        for piece in input.chunks(step.max(1)) {
            let mut rest = piece;
            while !rest.is_empty() && !decoder.is_done() {
                let step = decoder.advance(rest)?;
                data.extend_from_slice(&rest[step.data]);
                consumed += step.consumed;
                rest = &rest[step.consumed..];
            }
        }
        if decoder.is_done() { Ok((data, consumed)) } else { Err(Refusal::StartLine) }
    }

    fn all_cuts(input: &[u8]) -> Result<(Vec<u8>, usize), Refusal> {
        let whole = decode(input, input.len(), ChunkLimits::default());
        for step in 1..input.len() {
            assert_eq!(decode(input, step, ChunkLimits::default()), whole, "in steps of {step}");
        }
        whole
    }

    #[test]
    fn bodies_are_decoded_however_they_are_cut() {
        let (data, consumed) =
            all_cuts(b"4\r\nWiki\r\n5;a=\"b\"\r\npedia\r\n0\r\nX-A: b\r\nY:\r\n\r\nGET").unwrap();
        assert_eq!(data, b"Wikipedia");
        assert_eq!(consumed, 42);
        assert_eq!(all_cuts(b"0\r\n\r\n").unwrap().0, b"");
        assert_eq!(all_cuts(b"00A\r\n0123456789\r\n000\r\n\r\n").unwrap().0, b"0123456789");
    }

    #[test]
    fn broken_framing_is_refused() {
        for bad in [
            "\r\n",
            ";a\r\n",
            "g\r\n",
            "4\nWiki",
            "4\r\nWikix",
            "4\r\nWiki\n",
            " 4\r\n",
            "4 \r\n",
            "+4\r\n",
            "0x4\r\n",
            "4\rWiki",
            "0\r\n\n",
            "0\r\n:a\r\n\r\n",
            "0\r\nA b:c\r\n\r\n",
            "0\r\nA: b\n\r\n",
            "0\r\n A: b\r\n\r\n",
            "1000000000000000\r\n",
            "4;\x01\r\n",
            "0\r\nA\r\n\r\n",
        ] {
            assert_eq!(all_cuts(bad.as_bytes()), Err(Refusal::Chunk), "{bad:?}");
        }
    }

    #[test]
    fn framing_is_bounded() {
        let extension = format!("1;{}\r\n", "a".repeat(300));
        assert_eq!(all_cuts(extension.as_bytes()), Err(Refusal::Chunk));
        // Single bytes in chunks of their own are poor manners but allowed.
        let drip = [b"1\r\nx\r\n".repeat(5000), b"0\r\n\r\n".to_vec()].concat();
        assert_eq!(decode(&drip, 7, ChunkLimits::default()).unwrap().0.len(), 5000);
        let padded = format!("1;{}\r\nx\r\n", "a".repeat(200)).repeat(100);
        assert_eq!(decode(padded.as_bytes(), 64, ChunkLimits::default()), Err(Refusal::Chunk));
        let trailers = format!("0\r\n{}\r\n", "a: b\r\n".repeat(101));
        assert_eq!(all_cuts(trailers.as_bytes()), Err(Refusal::TrailerTooLarge));
        let long = format!("0\r\na: {}\r\n\r\n", "b".repeat(17 << 10));
        let refused = decode(long.as_bytes(), 1000, ChunkLimits::default());
        assert_eq!(refused, Err(Refusal::TrailerTooLarge));
    }

    proptest! {
        #[test]
        fn what_was_cut_into_chunks_comes_back(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
            step in 1usize..50,
        ) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            let (data, consumed) = decode(&wire, step, ChunkLimits::default()).unwrap();
            prop_assert_eq!(data, chunks.concat());
            prop_assert_eq!(consumed, wire.len());
        }

        #[test]
        fn any_bytes_give_the_same_however_they_are_cut(
            bytes in prop::collection::vec(prop::sample::select(b"01aA;=\r\n: x".to_vec()), 0..60),
        ) {
            let _ = all_cuts(&bytes);
        }
    }
}
