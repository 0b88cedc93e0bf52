//! The lines that every head begins with, written once a second.

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
    pub fn begin(&mut self, status: Status, unix_seconds: i64, out: &mut Vec<u8>) {
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
