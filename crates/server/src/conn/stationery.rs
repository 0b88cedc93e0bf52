//! Writing a response's head: the lines that every head begins with are made once a second.

use super::outbox::Outbox;
use crate::response::Response;
use serval_proto::date;
use serval_proto::h1::write;
use serval_proto::status::Status;

/// The beginning of a head for this second.
#[derive(Debug)]
pub struct Stationery {
    unix_seconds: i64,
    /// Status line of 200, `Server` and `Date`.
    ok: Vec<u8>,
    /// How much of `ok` is the status line.
    status_line_bytes: usize,
}

impl Stationery {
    /// None written yet.
    pub fn new() -> Stationery {
        Stationery { unix_seconds: i64::MIN, ok: Vec::new(), status_line_bytes: 0 }
    }

    /// Appends status line, `Server` and `Date` for that second.
    #[inline]
    fn begin(&mut self, status: Status, unix_seconds: i64, out: &mut Vec<u8>) {
        if unix_seconds != self.unix_seconds {
            self.renew(unix_seconds);
        }
        if status == Status::OK {
            out.extend_from_slice(&self.ok);
        } else {
            write::status_line(status, out);
            out.extend_from_slice(self.ok.get(self.status_line_bytes..).unwrap_or_default());
        }
    }

    /// Queues a response: where its body begins in all that the connection writes. `option` is the
    /// line about the connection, if there is one.
    #[inline]
    pub fn queue(
        &mut self,
        response: &Response,
        unix_seconds: i64,
        option: Option<&str>,
        outbox: &mut Outbox,
    ) -> u64 {
        let mut write_head = |out: &mut Vec<u8>| {
            self.begin(response.status, unix_seconds, out);
            if let Some(option) = option {
                out.extend_from_slice(option.as_bytes());
            }
            out.extend_from_slice(response.file_fields());
            out.extend_from_slice(&response.fields);
            out.extend_from_slice(b"\r\n");
        };
        if option.is_none()
            && outbox.is_empty()
            && let Some(entry) = response.whole_file()
            && let Some(range) = entry.prefixed(unix_seconds, &mut write_head)
        {
            outbox.push_prefixed(entry.clone(), range, unix_seconds);
            return outbox.queued() - response.content_length();
        }
        outbox.push_bytes(write_head);
        let body_start = outbox.queued();
        outbox.push_body(response);
        body_start
    }

    fn renew(&mut self, unix_seconds: i64) {
        self.unix_seconds = unix_seconds;
        self.ok.clear();
        write::status_line(Status::OK, &mut self.ok);
        self.status_line_bytes = self.ok.len();
        write::field("Server", b"serval", &mut self.ok);
        write::field("Date", &date::format(unix_seconds), &mut self.ok);
    }
}

impl Default for Stationery {
    fn default() -> Self {
        Stationery::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_has_its_own() {
        let mut stationery = Stationery::new();
        let mut begin = |status, seconds| {
            let mut out = Vec::new();
            stationery.begin(status, seconds, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            begin(Status::OK, 0),
            "HTTP/1.1 200 OK\r\nServer: serval\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
        );
        assert_eq!(
            begin(Status::NOT_FOUND, 1),
            "HTTP/1.1 404 Not Found\r\nServer: serval\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\n"
        );
    }
}
