//! Status codes and their phrases (RFC 9110 §15).

/// A three-digit status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Status(pub u16);

macro_rules! statuses {
    ($($constant:ident = $code:literal $reason:literal,)*) => {
        impl Status {
            $(#[doc = concat!($code, " ", $reason)] pub const $constant: Status = Status($code);)*

            /// The phrase that goes with the code; empty for a code that is not listed.
            pub const fn reason(self) -> &'static str {
                match self.0 { $($code => $reason,)* _ => "" }
            }
        }
    };
}

statuses! {
    CONTINUE = 100 "Continue",
    SWITCHING_PROTOCOLS = 101 "Switching Protocols",
    EARLY_HINTS = 103 "Early Hints",
    OK = 200 "OK",
    CREATED = 201 "Created",
    ACCEPTED = 202 "Accepted",
    NO_CONTENT = 204 "No Content",
    PARTIAL_CONTENT = 206 "Partial Content",
    MOVED_PERMANENTLY = 301 "Moved Permanently",
    FOUND = 302 "Found",
    SEE_OTHER = 303 "See Other",
    NOT_MODIFIED = 304 "Not Modified",
    TEMPORARY_REDIRECT = 307 "Temporary Redirect",
    PERMANENT_REDIRECT = 308 "Permanent Redirect",
    BAD_REQUEST = 400 "Bad Request",
    UNAUTHORIZED = 401 "Unauthorized",
    FORBIDDEN = 403 "Forbidden",
    NOT_FOUND = 404 "Not Found",
    METHOD_NOT_ALLOWED = 405 "Method Not Allowed",
    NOT_ACCEPTABLE = 406 "Not Acceptable",
    REQUEST_TIMEOUT = 408 "Request Timeout",
    CONFLICT = 409 "Conflict",
    GONE = 410 "Gone",
    LENGTH_REQUIRED = 411 "Length Required",
    PRECONDITION_FAILED = 412 "Precondition Failed",
    CONTENT_TOO_LARGE = 413 "Content Too Large",
    URI_TOO_LONG = 414 "URI Too Long",
    UNSUPPORTED_MEDIA_TYPE = 415 "Unsupported Media Type",
    RANGE_NOT_SATISFIABLE = 416 "Range Not Satisfiable",
    EXPECTATION_FAILED = 417 "Expectation Failed",
    MISDIRECTED_REQUEST = 421 "Misdirected Request",
    TOO_EARLY = 425 "Too Early",
    UPGRADE_REQUIRED = 426 "Upgrade Required",
    TOO_MANY_REQUESTS = 429 "Too Many Requests",
    REQUEST_HEADER_FIELDS_TOO_LARGE = 431 "Request Header Fields Too Large",
    INTERNAL_SERVER_ERROR = 500 "Internal Server Error",
    NOT_IMPLEMENTED = 501 "Not Implemented",
    BAD_GATEWAY = 502 "Bad Gateway",
    SERVICE_UNAVAILABLE = 503 "Service Unavailable",
    GATEWAY_TIMEOUT = 504 "Gateway Timeout",
    HTTP_VERSION_NOT_SUPPORTED = 505 "HTTP Version Not Supported",
    INSUFFICIENT_STORAGE = 507 "Insufficient Storage",
}

impl Status {
    /// Whether a response with this status never has content (RFC 9110 §6.4.1).
    pub const fn is_bodiless(self) -> bool {
        matches!(self.0, 100..=199 | 204 | 304)
    }
}
