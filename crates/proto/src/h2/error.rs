//! Error codes (RFC 9113 §7), and what a fault costs.

/// Why a stream or a connection ends; a code that is not listed means no more than that it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

macro_rules! codes {
    ($($constant:ident = $code:literal $why:literal,)*) => {
        impl ErrorCode {
            $(#[doc = $why] pub const $constant: ErrorCode = ErrorCode($code);)*

            /// The code's name in the registry; empty for one that is not in it.
            pub const fn name(self) -> &'static str {
                match self.0 { $($code => stringify!($constant),)* _ => "" }
            }
        }
    };
}

codes! {
    NO_ERROR = 0x0 "It ends as it should.",
    PROTOCOL_ERROR = 0x1 "What was sent is not allowed there.",
    INTERNAL_ERROR = 0x2 "We failed.",
    FLOW_CONTROL_ERROR = 0x3 "More was sent than there was room for, or a window overflowed.",
    SETTINGS_TIMEOUT = 0x4 "Our settings were not acknowledged in time.",
    STREAM_CLOSED = 0x5 "A frame for a stream that its sender had ended.",
    FRAME_SIZE_ERROR = 0x6 "A frame of a length that it cannot have.",
    REFUSED_STREAM = 0x7 "Nothing was done about the request; it can be sent again.",
    CANCEL = 0x8 "The answer is no longer wanted.",
    COMPRESSION_ERROR = 0x9 "A header block could not be decoded.",
    CONNECT_ERROR = 0xa "The other side of a tunnel failed.",
    ENHANCE_YOUR_CALM = 0xb "The peer makes more work than it has a use for.",
    INADEQUATE_SECURITY = 0xc "The transport is not safe enough.",
    HTTP_1_1_REQUIRED = 0xd "Only HTTP/1.1 will do.",
}

/// What the peer did wrong, by what it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The frame's stream.
    Stream(ErrorCode),
    /// The connection.
    Connection(ErrorCode),
}
