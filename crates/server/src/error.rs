//! Errors: whose fault it is, with which status, and the one place that makes an answer of them.

use crate::response::Response;
use rustix::io::Errno;
use serval_proto::h1::write;
use serval_proto::status::Status;

/// Why a request does not get what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The client's fault.
    Client(Status),
    /// The client spoke plain HTTP where TLS is expected.
    PlainText,
    /// A method that this resource does not have.
    Method,
    /// A range that starts behind the end of a file of that many bytes.
    Range(u64),
    /// The system's: it lacks descriptors or memory, or the disk fails.
    System(Errno),
}

/// What may be done with a file.
pub const ALLOWED: &[u8] = b"GET, HEAD, OPTIONS";

impl Error {
    /// The status of the answer.
    pub fn status(self) -> Status {
        match self {
            Error::Client(status) => status,
            Error::PlainText => Status::BAD_REQUEST,
            Error::Method => Status::METHOD_NOT_ALLOWED,
            Error::Range(_) => Status::RANGE_NOT_SATISFIABLE,
            Error::System(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS) => {
                Status::SERVICE_UNAVAILABLE
            }
            Error::System(_) => Status::INTERNAL_SERVER_ERROR,
        }
    }

    /// What the client can do about it, where the status does not say.
    fn explanation(self) -> &'static str {
        match self {
            Error::PlainText => "This port speaks HTTPS: put https:// before the address.",
            _ => "",
        }
    }

    /// Makes the answer.
    pub fn answer(self, response: &mut Response) {
        plain_page(self.status(), self.explanation(), response);
        match self {
            Error::Method => response.field("Allow", ALLOWED),
            Error::Range(size) => {
                let mut value = Vec::new();
                serval_proto::range::unsatisfied_range(size, &mut value);
                response.field("Content-Range", &value);
            }
            Error::System(_) if self.status() == Status::SERVICE_UNAVAILABLE => {
                response.field("Retry-After", b"1");
            }
            Error::Client(_) | Error::PlainText | Error::System(_) => {}
        }
    }
}

/// A small page that says the status, and what can be done about it if there is something.
pub fn plain_page(status: Status, explanation: &str, response: &mut Response) {
    response.reset(status);
    response.push_own(|body| {
        body.extend_from_slice(
            b"<!doctype html><meta charset=utf-8><meta name=color-scheme content=\"light dark\">\
              <title>",
        );
        let phrase = |body: &mut Vec<u8>| {
            write::decimal(status.0.into(), body);
            body.push(b' ');
            body.extend_from_slice(status.reason().as_bytes());
        };
        phrase(body);
        body.extend_from_slice(b"</title><h1>");
        phrase(body);
        body.extend_from_slice(b"</h1>\n");
        if !explanation.is_empty() {
            body.extend_from_slice(b"<p>");
            body.extend_from_slice(explanation.as_bytes());
            body.push(b'\n');
        }
    });
    response.field("Content-Type", b"text/html; charset=utf-8");
    response.field("X-Content-Type-Options", b"nosniff");
    write::number_field("Content-Length", response.content_length(), &mut response.fields);
}
