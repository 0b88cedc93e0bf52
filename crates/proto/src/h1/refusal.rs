//! Why a message is refused, and with which status.

use crate::status::Status;

/// Why a message head, a body's framing or a target is refused. The sender is at fault in each
/// case, and the connection closes: where the message ends is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request line or status line is not of the form that RFC 9112 §3 and §4 give.
    StartLine,
    /// An HTTP version other than 1.0 and 1.1.
    Version,
    /// The request line is longer than the limit.
    LineTooLong,
    /// The field section is longer than the limit.
    HeadTooLarge,
    /// More field lines than the limit.
    TooManyFields,
    /// A byte in a field name that is not `tchar`, an empty name, or a space before the colon.
    FieldName,
    /// A control byte in a field value.
    FieldValue,
    /// A line that ends in a bare LF, or a CR without its LF (RFC 9112 §2.2).
    LineEnd,
    /// A field line that is continued on the next (`obs-fold`, RFC 9112 §5.2).
    Folded,
    /// No Host, several, or one that is not a host (RFC 9112 §3.2).
    Host,
    /// The authority of an absolute-form target is not the one of Host.
    HostMismatch,
    /// A target of none of the four forms, or a path that cannot be decoded.
    Target,
    /// A Content-Length that is not one run of digits within 63 bits, or given twice.
    ContentLength,
    /// Content-Length beside Transfer-Encoding (RFC 9112 §6.1): the mark of request smuggling.
    LengthAndCoding,
    /// A Transfer-Encoding on HTTP/1.0, given twice, or in a wrong form.
    TransferEncoding,
    /// A transfer coding other than `chunked`.
    UnknownCoding,
    /// A chunked body whose framing is broken or beyond its limits.
    Chunk,
    /// A chunked body's trailer section is beyond its limits.
    TrailerTooLarge,
}

impl Refusal {
    /// The status that tells the client.
    pub const fn status(self) -> Status {
        match self {
            Refusal::Version => Status::HTTP_VERSION_NOT_SUPPORTED,
            Refusal::LineTooLong => Status::URI_TOO_LONG,
            Refusal::HeadTooLarge | Refusal::TooManyFields | Refusal::TrailerTooLarge => {
                Status::REQUEST_HEADER_FIELDS_TOO_LARGE
            }
            Refusal::UnknownCoding => Status::NOT_IMPLEMENTED,
            _ => Status::BAD_REQUEST,
        }
    }
}
