//! Writing message heads and chunk heads. All of it appends to a buffer that the caller keeps.

use crate::status::Status;

/// Appends `HTTP/1.1 200 OK` and the CRLF.
pub fn status_line(status: Status, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    decimal(u64::from(status.0), out);
    out.push(b' ');
    out.extend_from_slice(status.reason().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Appends a field line. A control byte in the value, which would let a value write lines of its
/// own, is left out.
pub fn field(name: &str, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend(value.iter().copied().filter(|byte| !byte.is_ascii_control() || *byte == b'\t'));
    out.extend_from_slice(b"\r\n");
}

/// Appends a field line whose value is a number.
pub fn number_field(name: &str, value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    decimal(value, out);
    out.extend_from_slice(b"\r\n");
}

/// Appends a number in decimal digits.
pub fn decimal(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    let mut rest = value;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        start -= 1;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for value in [0, 9, 10, 102, u64::MAX] {
            let mut out = Vec::new();
            decimal(value, &mut out);
            assert_eq!(out, value.to_string().as_bytes());
        }
    }

    #[test]
    fn a_value_cannot_add_lines() {
        let mut out = Vec::new();
        field("Location", b"/a\r\nSet-Cookie: b", &mut out);
        assert_eq!(out, b"Location: /aSet-Cookie: b\r\n");
    }
}
