//! Authorities: the value of `Host` and the one in an absolute-form target (RFC 3986 §3.2).

use crate::scan;

/// A host and, where one was given, a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    /// The name or address, brackets of an IPv6 address included, in the case that was sent.
    pub host: &'a [u8],
    /// The port's digits; empty where none was given.
    pub port: &'a [u8],
}

impl<'a> Authority<'a> {
    /// Reads `uri-host [ ":" port ]`. `None` if the host is empty or either part has a byte that
    /// cannot be in it. User information is refused: it has no place in a request.
    pub fn parse(text: &'a [u8]) -> Option<Authority<'a>> {
        let length = match text {
            [b'[', address @ ..] => {
                let length = scan::run_of(address, scan::is_address);
                if length < 2 || address.get(length) != Some(&b']') {
                    return None;
                }
                length + 2
            }
            _ => scan::run_of(text, scan::is_host),
        };
        let (host, rest) = text.split_at_checked(length)?;
        let port = match rest {
            [] => rest,
            [b':', port @ ..] if port.len() <= 5 && port.iter().all(u8::is_ascii_digit) => port,
            _ => return None,
        };
        (!host.is_empty()).then_some(Authority { host, port })
    }

    /// Whether both name the same origin when the scheme's port is `default_port`.
    pub fn agrees_with(&self, other: &Authority<'_>, default_port: &[u8]) -> bool {
        let port = |given| if <[u8]>::is_empty(given) { default_port } else { given };
        self.host.eq_ignore_ascii_case(other.host) && port(self.port) == port(other.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports() {
        let parse = |text: &'static str| {
            Authority::parse(text.as_bytes())
                .map(|a| (String::from_utf8_lossy(a.host), String::from_utf8_lossy(a.port)))
        };
        assert_eq!(parse("example.com"), Some(("example.com".into(), "".into())));
        assert_eq!(parse("example.com:8080"), Some(("example.com".into(), "8080".into())));
        assert_eq!(parse("127.0.0.1:80"), Some(("127.0.0.1".into(), "80".into())));
        assert_eq!(parse("[::1]:80"), Some(("[::1]".into(), "80".into())));
        assert_eq!(parse("[::1]"), Some(("[::1]".into(), "".into())));
        assert_eq!(parse("example.com:"), Some(("example.com".into(), "".into())));
        for bad in [
            "",
            ":80",
            "[]",
            "[::1",
            "[x]",
            "a b",
            "user@host",
            "a:b",
            "a:1:2",
            "a/b",
            "a:123456",
            "[::1]x",
            "h\u{e9}",
            "a,b:c",
            "a\\b",
            "a?b",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_default_port_agrees_with_none() {
        let agree = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| Authority::parse(text.as_bytes()).unwrap());
            a.agrees_with(&b, b"80")
        };
        assert!(agree("a.example", "A.Example:80"));
        assert!(!agree("a.example", "a.example:81"));
        assert!(!agree("a.example", "b.example"));
    }
}
