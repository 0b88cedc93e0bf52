//! Frames (RFC 9113 §4 and §6): their head, what their payload says, and writing them.
//!
//! A frame is parsed where it lies. Only what can be known from the frame itself is checked here;
//! whether it may come now is the connection's business.

pub mod write;

mod parse;

pub use parse::{Frame, Settings, data_padding};

/// What a client sends before all frames (RFC 9113 §3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The length of a frame's head, in bytes.
pub const HEAD_BYTES: usize = 9;

/// The longest payload that every peer takes, in bytes (RFC 9113 §4.2).
pub const PAYLOAD_BYTES_MIN: usize = 16_384;

/// The largest stream identifier, window and window increment.
pub const U31_MAX: u32 = 0x7fff_ffff;

/// A frame's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub u8);

impl Kind {
    /// Content.
    pub const DATA: Kind = Kind(0);
    /// The beginning of a field section.
    pub const HEADERS: Kind = Kind(1);
    /// A priority of the deprecated kind.
    pub const PRIORITY: Kind = Kind(2);
    /// The end of a stream.
    pub const RST_STREAM: Kind = Kind(3);
    /// What the sender takes, or that it has seen what we take.
    pub const SETTINGS: Kind = Kind(4);
    /// A response nobody asked for.
    pub const PUSH_PROMISE: Kind = Kind(5);
    /// Is anybody there?
    pub const PING: Kind = Kind(6);
    /// No more streams.
    pub const GOAWAY: Kind = Kind(7);
    /// Room for more content.
    pub const WINDOW_UPDATE: Kind = Kind(8);
    /// More of a field section.
    pub const CONTINUATION: Kind = Kind(9);
    /// A priority (RFC 9218 §7.1).
    pub const PRIORITY_UPDATE: Kind = Kind(0x10);
}

/// Flags; which one means what depends on the type.
pub mod flag {
    /// Of DATA and HEADERS: the stream's last frame from this side.
    pub const END_STREAM: u8 = 0x1;
    /// Of SETTINGS and PING: it answers one of ours.
    pub const ACK: u8 = 0x1;
    /// Of HEADERS and CONTINUATION: the last of the field section.
    pub const END_HEADERS: u8 = 0x4;
    /// Of DATA and HEADERS: the payload begins with a length of padding.
    pub const PADDED: u8 = 0x8;
    /// Of HEADERS: a priority of the deprecated kind comes before the fields.
    pub const PRIORITY: u8 = 0x20;
}

/// A frame's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The payload's length, in bytes.
    pub length: usize,
    /// The type.
    pub kind: Kind,
    /// The flags.
    pub flags: u8,
    /// The stream; 0 for the connection.
    pub stream: u32,
}

impl Head {
    /// Reads the head at the start of `bytes`: `None` while it is incomplete.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Option<Head> {
        let [a, b, c, kind, flags, s, t, u, v] = *bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Head {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind: Kind(kind),
            flags,
            stream: u32::from_be_bytes([s, t, u, v]) & U31_MAX,
        })
    }

    /// Whether it has that flag.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The bytes of the head.
    #[inline]
    pub fn bytes(&self) -> [u8; HEAD_BYTES] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [s, t, u, v] = self.stream.to_be_bytes();
        [a, b, c, self.kind.0, self.flags, s, t, u, v]
    }
}
