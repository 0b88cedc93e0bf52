//! A request's body that nobody asked for: read and thrown away, so that the request behind it
//! can be read.

use serval_proto::h1::Framing;
use serval_proto::h1::chunked::{ChunkLimits, Chunked};

/// What is left of such a body.
#[derive(Debug)]
pub struct Discard {
    rest: Rest,
    /// How much more data is put up with, in bytes.
    allowance: u64,
}

#[derive(Debug)]
enum Rest {
    Bytes(u64),
    Chunks(Chunked),
}

/// How it went with the bytes given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All of them were of the body.
    More,
    /// The body ended, and took that many of them.
    Done(usize),
    /// It is too large, or its framing is broken: the connection has to close.
    Hopeless,
}

impl Discard {
    /// The body that the framing announces; `None` if it is not worth reading.
    pub fn new(framing: Framing, limits: ChunkLimits, allowance: u64) -> Option<Discard> {
        let rest = match framing {
            Framing::Length(length) if length <= allowance => Rest::Bytes(length),
            Framing::Chunked => Rest::Chunks(Chunked::new(limits)),
            Framing::Length(_) | Framing::UntilClose => return None,
        };
        Some(Discard { rest, allowance })
    }

    /// Takes what it can of `input`.
    pub fn feed(&mut self, input: &[u8]) -> Progress {
        match &mut self.rest {
            Rest::Bytes(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= taken as u64;
                if *left == 0 { Progress::Done(taken) } else { Progress::More }
            }
            Rest::Chunks(decoder) => {
                let mut at = 0;
                while at < input.len() && !decoder.is_done() {
                    let Ok(step) = decoder.advance(input.get(at..).unwrap_or_default()) else {
                        return Progress::Hopeless;
                    };
                    at += step.consumed;
                    match self.allowance.checked_sub(step.data.len() as u64) {
                        Some(allowance) => self.allowance = allowance,
                        None => return Progress::Hopeless,
                    }
                }
                if decoder.is_done() { Progress::Done(at) } else { Progress::More }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(framing: Framing) -> Discard {
        Discard::new(framing, ChunkLimits::default(), 10).unwrap()
    }

    #[test]
    fn a_body_ends_where_it_says() {
        let mut body = of(Framing::Length(5));
        assert_eq!(body.feed(b"abc"), Progress::More);
        assert_eq!(body.feed(b"deGET"), Progress::Done(2));
        let mut body = of(Framing::Chunked);
        assert_eq!(body.feed(b"3\r\nabc\r"), Progress::More);
        assert_eq!(body.feed(b"\n0\r\n\r\nGET"), Progress::Done(6));
    }

    #[test]
    fn too_much_is_not_read() {
        assert!(Discard::new(Framing::Length(11), ChunkLimits::default(), 10).is_none());
        assert_eq!(of(Framing::Chunked).feed(b"b\r\n01234567890\r\n"), Progress::Hopeless);
        assert_eq!(of(Framing::Chunked).feed(b"x"), Progress::Hopeless);
    }
}
