//! Writing frames. All of it appends to a buffer that the caller keeps.

use super::{HEAD_BYTES, Head, Kind, PAYLOAD_BYTES_MIN, flag};
use crate::h2::error::ErrorCode;

/// Appends a frame.
pub fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&Head { length: payload.len(), kind, flags, stream }.bytes());
    out.extend_from_slice(payload);
}

/// Appends the head of a DATA frame; its content has to follow.
#[inline]
pub fn data_head(stream: u32, length: usize, is_end: bool, out: &mut Vec<u8>) {
    let flags = if is_end { flag::END_STREAM } else { 0 };
    out.extend_from_slice(&Head { length, kind: Kind::DATA, flags, stream }.bytes());
}

/// Appends a field section: HEADERS with the block that `write` appends, and CONTINUATIONs where
/// it is longer than every peer takes.
#[inline]
pub fn headers(stream: u32, is_end: bool, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    write(out);
    let length = out.len() - start - HEAD_BYTES;
    let end = if is_end { flag::END_STREAM } else { 0 };
    if length > PAYLOAD_BYTES_MIN {
        return split(stream, end, start, out);
    }
    let head = Head { length, kind: Kind::HEADERS, flags: end | flag::END_HEADERS, stream };
    if let Some(place) = out.get_mut(start..start + HEAD_BYTES) {
        place.copy_from_slice(&head.bytes());
    }
}

/// Writes what begins at `start` again, as several frames.
#[cold]
fn split(stream: u32, end: u8, start: usize, out: &mut Vec<u8>) {
    let block = out.split_off(start + HEAD_BYTES);
    out.truncate(start);
    let mut pieces = block.chunks(PAYLOAD_BYTES_MIN).peekable();
    let (mut kind, mut flags) = (Kind::HEADERS, end);
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            flags |= flag::END_HEADERS;
        }
        frame(kind, flags, stream, piece, out);
        (kind, flags) = (Kind::CONTINUATION, 0);
    }
}

/// Appends settings.
pub fn settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (setting, value) in settings {
        payload.extend_from_slice(&setting.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame(Kind::SETTINGS, 0, 0, &payload, out);
}

/// Appends that the peer's settings were seen.
pub fn settings_ack(out: &mut Vec<u8>) {
    frame(Kind::SETTINGS, flag::ACK, 0, &[], out);
}

/// Appends a ping, or the answer to one.
pub fn ping(data: &[u8; 8], is_ack: bool, out: &mut Vec<u8>) {
    frame(Kind::PING, if is_ack { flag::ACK } else { 0 }, 0, data, out);
}

/// Appends the end of a stream.
pub fn rst_stream(stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
    frame(Kind::RST_STREAM, 0, stream, &code.0.to_be_bytes(), out);
}

/// Appends that no stream beyond `last` is processed.
pub fn goaway(last: u32, code: ErrorCode, out: &mut Vec<u8>) {
    let (last, code) = (last.to_be_bytes(), code.0.to_be_bytes());
    frame(Kind::GOAWAY, 0, 0, &[last, code].concat(), out);
}

/// Appends room for more content.
pub fn window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    frame(Kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes(), out);
}

/// Appends a stream's priority (RFC 9218 §7.1).
pub fn priority_update(stream: u32, value: &[u8], out: &mut Vec<u8>) {
    frame(Kind::PRIORITY_UPDATE, 0, 0, &[&stream.to_be_bytes(), value].concat(), out);
}
