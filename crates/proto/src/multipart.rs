//! The framing of `multipart/byteranges` (RFC 9110 §14.6): what stands before, between and behind
//! the parts.
//!
//! The length of the whole body is known before its first byte is sent, so the bytes of the parts
//! can go straight from the file. Where those bytes come from is not known here, nor is how a
//! boundary is chosen.

use crate::range::{ByteRange, content_range, content_range_len};

/// What an answer with several parts is framed with.
#[derive(Clone, Copy, Debug)]
pub struct Framing<'a> {
    /// What separates the parts, without the dashes before it: 1 to 70 letters and digits
    /// (RFC 2046 §5.1.1) that occur in no part. One that cannot be guessed is safe from a file
    /// made to hold it.
    pub boundary: &'a [u8],
    /// The value of each part's `Content-Type`; empty if it is not known, then there is none.
    pub media_type: &'a [u8],
    /// The parts, in the order that they are sent.
    pub parts: &'a [ByteRange],
    /// The size of the whole representation in bytes.
    pub size: u64,
}

const DELIMITER: &[u8] = b"\r\n--";
const CONTENT_TYPE: &[u8] = b"\r\nContent-Type: ";
const CONTENT_RANGE: &[u8] = b"\r\nContent-Range: ";
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
const CLOSE: &[u8] = b"--\r\n";

impl Framing<'_> {
    /// The length of the whole body in bytes: all heads, all parts and the closing delimiter.
    pub fn body_len(&self) -> u64 {
        let mut len = DELIMITER.len() + self.boundary.len() + CLOSE.len();
        let mut content = 0_u64;
        for (index, part) in self.parts.iter().enumerate() {
            len += self.head_len(index, part);
            content = content.saturating_add(part.len());
        }
        content.saturating_add(len as u64)
    }

    /// Appends the delimiter and the head that stand before the part of that index. Nothing is
    /// appended if there is no such part.
    pub fn head(&self, index: usize, out: &mut Vec<u8>) {
        let Some(part) = self.parts.get(index) else { return };
        out.reserve(self.head_len(index, part));
        out.extend_from_slice(delimiter(index));
        out.extend_from_slice(self.boundary);
        if !self.media_type.is_empty() {
            out.extend_from_slice(CONTENT_TYPE);
            out.extend_from_slice(self.media_type);
        }
        out.extend_from_slice(CONTENT_RANGE);
        content_range(*part, self.size, out);
        out.extend_from_slice(END_OF_HEAD);
    }

    /// Appends the delimiter that stands behind the last part.
    pub fn close(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(DELIMITER);
        out.extend_from_slice(self.boundary);
        out.extend_from_slice(CLOSE);
    }

    /// Appends the value of the answer's own `Content-Type`.
    pub fn content_type(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"multipart/byteranges; boundary=");
        out.extend_from_slice(self.boundary);
    }

    fn head_len(&self, index: usize, part: &ByteRange) -> usize {
        let media_type = match self.media_type.len() {
            0 => 0,
            len => CONTENT_TYPE.len() + len,
        };
        delimiter(index).len()
            + self.boundary.len()
            + media_type
            + CONTENT_RANGE.len()
            + content_range_len(*part, self.size)
            + END_OF_HEAD.len()
    }
}

/// The line break before a delimiter belongs to it, and before the first there is no line to end.
fn delimiter(index: usize) -> &'static [u8] {
    if index == 0 { b"--" } else { DELIMITER }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::{Selection, select};
    use proptest::prelude::*;

    fn body(framing: &Framing<'_>, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (index, part) in framing.parts.iter().enumerate() {
            framing.head(index, &mut out);
            out.extend_from_slice(&content[part.start as usize..part.end as usize]);
        }
        framing.close(&mut out);
        out
    }

    /// The shape of the example in RFC 9110 §14.6.
    #[test]
    fn two_parts_are_framed() {
        let content = b"0123456789";
        let parts = [ByteRange { start: 1, end: 3 }, ByteRange { start: 9, end: 10 }];
        let framing = Framing {
            boundary: b"THIS_STRING_SEPARATES",
            media_type: b"application/pdf",
            parts: &parts,
            size: 10,
        };
        let expected = "--THIS_STRING_SEPARATES\r\n\
            Content-Type: application/pdf\r\n\
            Content-Range: bytes 1-2/10\r\n\
            \r\n\
            12\r\n\
            --THIS_STRING_SEPARATES\r\n\
            Content-Type: application/pdf\r\n\
            Content-Range: bytes 9-9/10\r\n\
            \r\n\
            9\r\n\
            --THIS_STRING_SEPARATES--\r\n";
        assert_eq!(String::from_utf8(body(&framing, content)).unwrap(), expected);
        assert_eq!(framing.body_len(), expected.len() as u64);
        let mut out = Vec::new();
        framing.content_type(&mut out);
        assert_eq!(out, b"multipart/byteranges; boundary=THIS_STRING_SEPARATES");
    }

    #[test]
    fn an_unknown_type_has_no_line() {
        let parts = [ByteRange { start: 0, end: 1 }];
        let framing = Framing { boundary: b"B", media_type: b"", parts: &parts, size: 1 };
        let expected = b"--B\r\nContent-Range: bytes 0-0/1\r\n\r\nx\r\n--B--\r\n";
        assert_eq!(body(&framing, b"x"), expected);
        assert_eq!(framing.body_len(), expected.len() as u64);
    }

    #[test]
    fn a_part_that_is_not_there_has_no_head() {
        let framing = Framing { boundary: b"B", media_type: b"", parts: &[], size: 1 };
        let mut out = Vec::new();
        framing.head(0, &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        let parts = [ByteRange { start: 0, end: u64::MAX }];
        let framing = Framing { boundary: b"B", media_type: b"", parts: &parts, size: u64::MAX };
        assert_eq!(framing.body_len(), u64::MAX);
    }

    proptest! {
        #[test]
        fn the_length_is_what_is_written(
            set in prop::collection::vec((0..2000_u16, 0..300_u16), 1..20),
            boundary in "[A-Za-z0-9]{1,70}",
            media_type in "[a-z]{0,9}",
            size in 1..2500_u16,
        ) {
            let specs: Vec<_> =
                set.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect();
            let value = format!("bytes={}", specs.join(","));
            if let Selection::Parts(parts) = select(value.as_bytes(), u64::from(size)) {
                let framing = Framing {
                    boundary: boundary.as_bytes(),
                    media_type: media_type.as_bytes(),
                    parts: parts.as_slice(),
                    size: u64::from(size),
                };
                let written = body(&framing, &vec![b'x'; usize::from(size)]);
                prop_assert_eq!(framing.body_len(), written.len() as u64);
            }
        }
    }
}
