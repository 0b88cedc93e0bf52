//! The combined format: `address - - [time] "request" status bytes "referer" "user agent"`.

use super::{Facts, escape};
use serval_net::accept::Peer;
use serval_proto::date;
use serval_proto::h1::write;
use std::io::Write;

/// Appends everything up to the number of bytes.
pub fn before(facts: &Facts<'_>, out: &mut Vec<u8>) {
    match facts.peer {
        Peer::Tcp(address) => drop(write!(out, "{}", address.ip())),
        Peer::Unix => out.extend_from_slice(b"unix:"),
    }
    out.extend_from_slice(b" - - [");
    out.extend_from_slice(&date::log_time(facts.unix_seconds));
    out.extend_from_slice(b"] \"");
    if facts.method.is_empty() {
        out.push(b'-');
    } else {
        escape(facts.method, out);
        out.push(b' ');
        escape(facts.target, out);
        out.push(b' ');
        out.extend_from_slice(facts.version.as_bytes());
    }
    out.extend_from_slice(b"\" ");
    write::decimal(facts.status.into(), out);
    out.push(b' ');
}

/// Appends everything behind it.
pub fn after(facts: &Facts<'_>, out: &mut Vec<u8>) {
    for value in [facts.referer, facts.user_agent] {
        out.extend_from_slice(b" \"");
        escape(value.unwrap_or(b"-"), out);
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FACTS, line};
    use super::super::{Facts, Format};

    #[test]
    fn lines_look_as_analysers_expect() {
        assert_eq!(
            line(Format::Combined, &FACTS),
            "192.0.2.7 - - [20/Nov/2026:12:00:00 +0000] \"GET /a\\\"b HTTP/1.1\" 200 102 \
             \"-\" \"curl/8 \\x1b[31m\\xff\"\n"
        );
        let unread = Facts { method: b"", status: 400, user_agent: None, ..FACTS };
        assert_eq!(
            line(Format::Combined, &unread),
            "192.0.2.7 - - [20/Nov/2026:12:00:00 +0000] \"-\" 400 102 \"-\" \"-\"\n"
        );
    }
}
