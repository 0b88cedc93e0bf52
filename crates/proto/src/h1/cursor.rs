//! A place in the input, and the two ways to stop there: more input is needed, or it is refused.

use super::refusal::Refusal;

/// Why a step of the parser did not get to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// The input ends here; more may come.
    Partial,
    /// The input is wrong whatever follows.
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::Refused(refusal)
    }
}

/// The input and how much of it has been read.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    /// What has not been read.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next byte, not taken.
    #[inline]
    pub(super) fn peek(&self) -> Result<u8, Stop> {
        self.bytes.get(self.at).copied().ok_or(Stop::Partial)
    }

    /// Takes `length` bytes that are known to be there.
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> &'a [u8] {
        let end = self.at + length;
        let taken = self.bytes.get(self.at..end).unwrap_or_default();
        self.at = end;
        taken
    }

    /// Takes exactly `text`; `refusal` if something else stands there.
    #[inline]
    pub(super) fn expect(&mut self, text: &[u8], refusal: Refusal) -> Result<(), Stop> {
        let rest = self.rest();
        if rest.starts_with(text) {
            self.at += text.len();
            return Ok(());
        }
        if text.starts_with(rest) { Err(Stop::Partial) } else { Err(refusal.into()) }
    }

    /// Takes a line's CRLF. Any other control byte here gets its own refusal.
    #[inline]
    pub(super) fn line_end(&mut self, otherwise: Refusal) -> Result<(), Stop> {
        match self.rest() {
            [b'\r', b'\n', ..] => {
                self.at += 2;
                Ok(())
            }
            [] | [b'\r'] => Err(Stop::Partial),
            [b'\r' | b'\n', ..] => Err(Refusal::LineEnd.into()),
            _ => Err(otherwise.into()),
        }
    }
}
