//! Where a body ends (RFC 9112 §6.3), and whether the connection outlives it (§9.3).

use super::head::Version;
use super::refusal::Refusal;
use crate::field::{Fields, Name};
use crate::method::Method;
use crate::scan;
use crate::status::Status;

/// How a message's body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// That many bytes follow the head; 0 where there is no body.
    Length(u64),
    /// Chunks follow the head.
    Chunked,
    /// All that comes until the connection closes; responses only.
    UntilClose,
}

/// A request has a body if it says so; its method does not matter.
#[inline]
pub(super) fn of_request(version: Version, fields: &Fields<'_>) -> Result<Framing, Refusal> {
    Ok(announced(version, fields)?.unwrap_or(Framing::Length(0)))
}

pub(super) fn of_response(
    version: Version,
    status: Status,
    method: Method,
    fields: &Fields<'_>,
) -> Result<Framing, Refusal> {
    let announced = announced(version, fields)?;
    if method == Method::Head || status.is_bodiless() {
        return Ok(Framing::Length(0));
    }
    Ok(announced.unwrap_or(Framing::UntilClose))
}

/// What Content-Length or Transfer-Encoding says. Neither may come twice, nor both together.
#[inline]
fn announced(version: Version, fields: &Fields<'_>) -> Result<Option<Framing>, Refusal> {
    let coding = fields.get(Name::TransferEncoding);
    let length = fields.get(Name::ContentLength);
    match (coding, length) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Refusal::LengthAndCoding),
        (Some(coding), None) => {
            if version == Version::Http10 || fields.is_repeated(Name::TransferEncoding) {
                return Err(Refusal::TransferEncoding);
            }
            if coding.eq_ignore_ascii_case(b"chunked") {
                return Ok(Some(Framing::Chunked));
            }
            let is_list = |byte: u8| scan::is_token(byte) || matches!(byte, b',' | b' ' | b'\t');
            let well_formed = !coding.is_empty() && scan::run_of(coding, is_list) == coding.len();
            Err(if well_formed { Refusal::UnknownCoding } else { Refusal::TransferEncoding })
        }
        (None, Some(length)) => {
            if fields.is_repeated(Name::ContentLength) {
                return Err(Refusal::ContentLength);
            }
            decimal(length)
                .map(|length| Some(Framing::Length(length)))
                .ok_or(Refusal::ContentLength)
        }
    }
}

/// Digits and nothing else, within 63 bits, so that sums with it cannot overflow.
pub(crate) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |value, digit| {
        let digit = u64::from(char::from(*digit).to_digit(10)?);
        value.checked_mul(10)?.checked_add(digit).filter(|value| *value <= i64::MAX as u64)
    })
}

/// HTTP/1.1 keeps a connection unless told to close it, HTTP/1.0 only when asked to keep it.
#[inline]
pub(super) fn is_persistent(version: Version, fields: &Fields<'_>) -> bool {
    let Some(first) = fields.get(Name::Connection) else { return version == Version::Http11 };
    if first.eq_ignore_ascii_case(b"keep-alive") && !fields.is_repeated(Name::Connection) {
        return true;
    }
    let has = |option: &[u8]| {
        fields.all(Name::Connection).any(|value| {
            value.split(|byte| *byte == b',').any(|o| scan::trim(o).eq_ignore_ascii_case(option))
        })
    };
    !has(b"close") && (version == Version::Http11 || has(b"keep-alive"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_digits_within_63_bits() {
        assert_eq!(decimal(b"0"), Some(0));
        assert_eq!(decimal(b"0010"), Some(10));
        assert_eq!(decimal(b"9223372036854775807"), Some(i64::MAX as u64));
        for bad in ["", "+1", "-1", "1,1", "1 1", "0x1", "9223372036854775808", "1e3"] {
            assert_eq!(decimal(bad.as_bytes()), None, "{bad}");
        }
    }
}
