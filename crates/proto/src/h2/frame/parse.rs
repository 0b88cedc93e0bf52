//! What a frame's payload says.

use super::{Head, Kind, PAYLOAD_BYTES_MIN, U31_MAX, flag};
use crate::h2::error::{ErrorCode, Fault};

/// A frame, borrowed from the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Content, without its padding.
    Data(&'a [u8]),
    /// The beginning of a field section, without padding and priority.
    Headers(&'a [u8]),
    /// Deprecated, and of no effect.
    Priority,
    /// The end of a stream.
    RstStream(ErrorCode),
    /// What the sender takes.
    Settings(Settings<'a>),
    /// Our settings were seen.
    SettingsAck,
    /// A response nobody asked for: we do not allow it.
    PushPromise,
    /// To be sent back.
    Ping([u8; 8]),
    /// What we sent has come back.
    PingAck([u8; 8]),
    /// No streams beyond `last` are or will be processed.
    GoAway {
        /// The last stream that may have been acted upon.
        last: u32,
        /// Why.
        code: ErrorCode,
    },
    /// Room for so many bytes more.
    WindowUpdate(u32),
    /// More of a field section.
    Continuation(&'a [u8]),
    /// The priority of a stream (RFC 9218 §7.1).
    PriorityUpdate {
        /// Which stream's.
        stream: u32,
        /// What the `priority` field would say.
        value: &'a [u8],
    },
    /// One of a type that we do not know.
    Unknown,
}

const SIZE: Fault = Fault::Connection(ErrorCode::FRAME_SIZE_ERROR);
const PROTOCOL: Fault = Fault::Connection(ErrorCode::PROTOCOL_ERROR);

impl<'a> Frame<'a> {
    /// Reads a payload of which all is there.
    pub fn parse(head: &Head, payload: &'a [u8]) -> Result<Frame<'a>, Fault> {
        check_stream(head)?;
        match head.kind {
            Kind::DATA => Ok(Frame::Data(unpadded(head, payload)?)),
            Kind::HEADERS => headers(head, payload),
            Kind::PRIORITY => priority(head, payload),
            Kind::RST_STREAM => Ok(Frame::RstStream(ErrorCode(u32_of(payload)?))),
            Kind::SETTINGS => settings(head, payload),
            Kind::PUSH_PROMISE => Ok(Frame::PushPromise),
            Kind::PING => {
                let data = <[u8; 8]>::try_from(payload).map_err(|_| SIZE)?;
                Ok(if head.has(flag::ACK) { Frame::PingAck(data) } else { Frame::Ping(data) })
            }
            Kind::GOAWAY => {
                let [a, b, c, d, e, f, g, h] = *payload.first_chunk::<8>().ok_or(SIZE)?;
                let last = u32::from_be_bytes([a, b, c, d]) & U31_MAX;
                Ok(Frame::GoAway { last, code: ErrorCode(u32::from_be_bytes([e, f, g, h])) })
            }
            Kind::WINDOW_UPDATE => match u32_of(payload)? & U31_MAX {
                0 if head.stream == 0 => Err(PROTOCOL),
                0 => Err(Fault::Stream(ErrorCode::PROTOCOL_ERROR)),
                increment => Ok(Frame::WindowUpdate(increment)),
            },
            Kind::CONTINUATION => Ok(Frame::Continuation(payload)),
            Kind::PRIORITY_UPDATE => {
                let (stream, value) = payload.split_first_chunk::<4>().ok_or(SIZE)?;
                match u32::from_be_bytes(*stream) & U31_MAX {
                    0 => Err(PROTOCOL),
                    stream => Ok(Frame::PriorityUpdate { stream, value }),
                }
            }
            _ => Ok(Frame::Unknown),
        }
    }
}

/// Which types belong to a stream, and which to the connection.
fn check_stream(head: &Head) -> Result<(), Fault> {
    let is_right = match head.kind {
        Kind::DATA
        | Kind::HEADERS
        | Kind::PRIORITY
        | Kind::RST_STREAM
        | Kind::PUSH_PROMISE
        | Kind::CONTINUATION => head.stream != 0,
        Kind::SETTINGS | Kind::PING | Kind::GOAWAY | Kind::PRIORITY_UPDATE => head.stream == 0,
        _ => true,
    };
    if is_right { Ok(()) } else { Err(PROTOCOL) }
}

fn u32_of(payload: &[u8]) -> Result<u32, Fault> {
    Ok(u32::from_be_bytes(payload.try_into().map_err(|_| SIZE)?))
}

/// How much of a padded DATA frame's payload comes before and behind the content; `first` is the
/// payload's first byte.
pub fn data_padding(head: &Head, first: u8) -> Result<(usize, usize), Fault> {
    if !head.has(flag::PADDED) {
        return Ok((0, 0));
    }
    let padding = usize::from(first);
    // Padding as long as the payload leaves no room for its own length.
    if padding < head.length { Ok((1, padding)) } else { Err(PROTOCOL) }
}

fn unpadded<'a>(head: &Head, payload: &'a [u8]) -> Result<&'a [u8], Fault> {
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or(SIZE)?;
    let length = rest.len().checked_sub(usize::from(*padding)).ok_or(PROTOCOL)?;
    Ok(rest.get(..length).unwrap_or_default())
}

fn headers<'a>(head: &Head, payload: &'a [u8]) -> Result<Frame<'a>, Fault> {
    let payload = unpadded(head, payload)?;
    if !head.has(flag::PRIORITY) {
        return Ok(Frame::Headers(payload));
    }
    let ([a, b, c, d, _], block) = payload.split_first_chunk::<5>().ok_or(SIZE)?;
    // That a stream depends on itself is a stream's error, but its fields could not be decoded
    // then; who sends such a thing is answered like any other breach of the protocol.
    if u32::from_be_bytes([*a, *b, *c, *d]) & U31_MAX == head.stream {
        return Err(PROTOCOL);
    }
    Ok(Frame::Headers(block))
}

fn priority<'a>(head: &Head, payload: &[u8]) -> Result<Frame<'a>, Fault> {
    let [a, b, c, d, _] = *payload else {
        return Err(Fault::Stream(ErrorCode::FRAME_SIZE_ERROR));
    };
    if u32::from_be_bytes([a, b, c, d]) & U31_MAX == head.stream {
        return Err(Fault::Stream(ErrorCode::PROTOCOL_ERROR));
    }
    Ok(Frame::Priority)
}

fn settings<'a>(head: &Head, payload: &'a [u8]) -> Result<Frame<'a>, Fault> {
    if head.has(flag::ACK) {
        return if payload.is_empty() { Ok(Frame::SettingsAck) } else { Err(SIZE) };
    }
    if !payload.len().is_multiple_of(6) {
        return Err(SIZE);
    }
    let settings = Settings { payload };
    for (setting, value) in settings.iter() {
        let code = match setting {
            Settings::ENABLE_PUSH if value > 1 => ErrorCode::PROTOCOL_ERROR,
            Settings::INITIAL_WINDOW_SIZE if value > U31_MAX => ErrorCode::FLOW_CONTROL_ERROR,
            Settings::MAX_FRAME_SIZE if !(PAYLOAD_BYTES_MIN as u32..1 << 24).contains(&value) => {
                ErrorCode::PROTOCOL_ERROR
            }
            Settings::NO_RFC7540_PRIORITIES if value > 1 => ErrorCode::PROTOCOL_ERROR,
            _ => continue,
        };
        return Err(Fault::Connection(code));
    }
    Ok(Frame::Settings(settings))
}

/// Settings, each within the range that it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    payload: &'a [u8],
}

impl Settings<'_> {
    /// How large the table for decoding may be, in bytes.
    pub const HEADER_TABLE_SIZE: u16 = 1;
    /// Whether responses nobody asked for may be sent.
    pub const ENABLE_PUSH: u16 = 2;
    /// How many streams may be open at once.
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    /// The window that streams begin with, in bytes.
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    /// The longest payload, in bytes.
    pub const MAX_FRAME_SIZE: u16 = 5;
    /// The largest field section, in bytes with 32 for each field.
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
    /// Whether the deprecated priorities are of no effect (RFC 9218 §2.1).
    pub const NO_RFC7540_PRIORITIES: u16 = 9;

    /// Identifiers and values in the order they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u32)> + use<'_> {
        self.payload.chunks_exact(6).map(|setting| {
            let mut bytes = [0; 6];
            bytes.copy_from_slice(setting);
            let [a, b, c, d, e, f] = bytes;
            (u16::from_be_bytes([a, b]), u32::from_be_bytes([c, d, e, f]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h2::frame::{HEAD_BYTES, write};
    use proptest::prelude::*;

    /// A payload of that type, on stream 1 or on the connection.
    fn parse(kind: Kind, flags: u8, payload: &[u8]) -> Result<Frame<'_>, Fault> {
        let on_connection =
            matches!(kind, Kind::SETTINGS | Kind::PING | Kind::GOAWAY | Kind::PRIORITY_UPDATE);
        let stream = u32::from(!on_connection);
        Frame::parse(&Head { length: payload.len(), kind, flags, stream }, payload)
    }

    type Case = (Kind, u8, &'static [u8], Result<Frame<'static>, Fault>);

    const STREAM_SIZE: Fault = Fault::Stream(ErrorCode::FRAME_SIZE_ERROR);
    const STREAM_PROTOCOL: Fault = Fault::Stream(ErrorCode::PROTOCOL_ERROR);
    const FLOW: Fault = Fault::Connection(ErrorCode::FLOW_CONTROL_ERROR);

    #[test]
    fn payloads() {
        let cases: &[Case] = &[
            (Kind::DATA, 0, b"abc", Ok(Frame::Data(b"abc"))),
            (Kind::DATA, flag::PADDED, b"\x02abc..", Ok(Frame::Data(b"abc"))),
            (Kind::DATA, flag::PADDED, b"\x05abc..", Ok(Frame::Data(b""))),
            (Kind::DATA, flag::PADDED, b"\x06abc..", Err(PROTOCOL)),
            (Kind::DATA, flag::PADDED, b"", Err(SIZE)),
            (Kind::HEADERS, 0, b"abc", Ok(Frame::Headers(b"abc"))),
            (Kind::HEADERS, 0x28, b"\x01\x80\0\0\0\xffabc.", Ok(Frame::Headers(b"abc"))),
            (Kind::HEADERS, 0x20, b"\0\0\0\x01\xffabc", Err(PROTOCOL)),
            (Kind::HEADERS, 0x20, b"\0\0\0\x03", Err(SIZE)),
            (Kind::PRIORITY, 0, b"\0\0\0\x03\x10", Ok(Frame::Priority)),
            (Kind::PRIORITY, 0, b"\x80\0\0\x01\x10", Err(STREAM_PROTOCOL)),
            (Kind::PRIORITY, 0, b"\0\0\0\x03", Err(STREAM_SIZE)),
            (Kind::RST_STREAM, 0, b"\0\0\0\x08", Ok(Frame::RstStream(ErrorCode::CANCEL))),
            (Kind::RST_STREAM, 0, b"\0\0\0", Err(SIZE)),
            (Kind::SETTINGS, flag::ACK, b"", Ok(Frame::SettingsAck)),
            (Kind::SETTINGS, flag::ACK, b"\0\x02\0\0\0\0", Err(SIZE)),
            (Kind::SETTINGS, 0, b"\0\x02\0\0\0", Err(SIZE)),
            (Kind::SETTINGS, 0, b"\0\x02\0\0\0\x02", Err(PROTOCOL)),
            (Kind::SETTINGS, 0, b"\0\x04\x80\0\0\0", Err(FLOW)),
            (Kind::SETTINGS, 0, b"\0\x05\0\0\x3f\xff", Err(PROTOCOL)),
            (Kind::SETTINGS, 0, b"\0\x05\x01\0\0\0", Err(PROTOCOL)),
            (Kind::SETTINGS, 0, b"\0\x09\0\0\0\x02", Err(PROTOCOL)),
            (Kind::PING, 0, b"12345678", Ok(Frame::Ping(*b"12345678"))),
            (Kind::PING, flag::ACK, b"12345678", Ok(Frame::PingAck(*b"12345678"))),
            (Kind::PING, 0, b"1234567", Err(SIZE)),
            (
                Kind::GOAWAY,
                0,
                b"\x80\0\0\x07\0\0\0\x0bwhy",
                Ok(Frame::GoAway { last: 7, code: ErrorCode::ENHANCE_YOUR_CALM }),
            ),
            (Kind::GOAWAY, 0, b"\0\0\0\x07\0\0\0", Err(SIZE)),
            (Kind::WINDOW_UPDATE, 0, b"\x80\0\0\x07", Ok(Frame::WindowUpdate(7))),
            (Kind::WINDOW_UPDATE, 0, b"\x80\0\0\0", Err(STREAM_PROTOCOL)),
            (Kind::WINDOW_UPDATE, 0, b"\0\0\x07", Err(SIZE)),
            (
                Kind::PRIORITY_UPDATE,
                0,
                b"\0\0\0\x07u=1",
                Ok(Frame::PriorityUpdate { stream: 7, value: b"u=1" }),
            ),
            (Kind::PRIORITY_UPDATE, 0, b"\0\0\0\0u=1", Err(PROTOCOL)),
            (Kind::PRIORITY_UPDATE, 0, b"\0\0\0", Err(SIZE)),
            (Kind(0xfe), 0xff, b"abc", Ok(Frame::Unknown)),
        ];
        for (kind, flags, payload, expected) in cases {
            assert_eq!(parse(*kind, *flags, payload), *expected, "{kind:?} {payload:?}");
        }
    }

    #[test]
    fn each_type_has_its_place() {
        for (kind, stream) in [(Kind::DATA, 0), (Kind::HEADERS, 0), (Kind::PRIORITY, 0)]
            .into_iter()
            .chain([(Kind::RST_STREAM, 0), (Kind::CONTINUATION, 0), (Kind::PUSH_PROMISE, 0)])
            .chain([(Kind::SETTINGS, 1), (Kind::PING, 1), (Kind::GOAWAY, 1)])
            .chain([(Kind::PRIORITY_UPDATE, 1)])
        {
            let head = Head { length: 8, kind, flags: 0, stream };
            assert_eq!(Frame::parse(&head, b"12345678"), Err(PROTOCOL), "{kind:?}");
        }
    }

    #[test]
    fn settings_are_listed_in_order() {
        let mut out = Vec::new();
        write::settings(&[(4, 65_535), (0xabcd, 1), (4, 9)], &mut out);
        let head = Head::parse(&out).expect("a head");
        let Ok(Frame::Settings(settings)) = Frame::parse(&head, &out[HEAD_BYTES..]) else {
            panic!("settings");
        };
        assert_eq!(settings.iter().collect::<Vec<_>>(), [(4, 65_535), (0xabcd, 1), (4, 9)]);
    }

    #[test]
    fn a_long_section_goes_on_in_continuations() {
        let mut out = b"before".to_vec();
        write::headers(5, true, &mut out, |out| out.extend_from_slice(&[7; 40_000]));
        let (mut rest, mut frames) = (&out[6..], Vec::new());
        while let Some(head) = Head::parse(rest) {
            frames.push((head.kind, head.flags, head.length));
            rest = &rest[HEAD_BYTES + head.length..];
        }
        let whole = PAYLOAD_BYTES_MIN;
        let (headers, more) = (Kind::HEADERS, Kind::CONTINUATION);
        assert_eq!(frames, [(headers, 1, whole), (more, 0, whole), (more, 4, 40_000 - 2 * whole)]);
    }

    proptest! {
        #[test]
        fn a_head_is_read_as_it_was_written(
            length in 0_usize..1 << 24,
            kind in any::<u8>(),
            flags in any::<u8>(),
            stream in 0..=U31_MAX,
        ) {
            let head = Head { length, kind: Kind(kind), flags, stream };
            let bytes = head.bytes();
            prop_assert_eq!(Head::parse(&bytes), Some(head));
            prop_assert_eq!(Head::parse(&bytes[..8]), None);
        }
    }
}
