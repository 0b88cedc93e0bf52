//! Request targets (RFC 9112 §3.2) and the path in them, made canonical once.
//!
//! Everything above works with the canonical path only, so that no two parts of the program can
//! disagree about what a path means. It must not know files: a path here is a run of bytes.

use crate::host::Authority;
use crate::method::Method;
use crate::scan;

/// What a request is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The authority of an absolute-form target.
    pub authority: Option<Authority<'a>>,
    /// The path as it was sent, never empty; `*` for the asterisk form.
    pub path: &'a [u8],
    /// The query without its question mark.
    pub query: Option<&'a [u8]>,
}

/// Why a target is refused; always 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// None of the four forms, or not one for this method.
    Form,
    /// A percent sign without two hexadecimal digits.
    Percent,
    /// An encoded NUL, or an encoded slash, which could be read in two ways.
    Encoded,
    /// Dot segments that lead above the root.
    AboveRoot,
}

impl<'a> Target<'a> {
    /// Reads the target of a request. Its bytes have been checked by the head parser.
    #[inline]
    pub fn parse(method: Method, text: &'a [u8]) -> Result<Target<'a>, TargetError> {
        match text {
            [b'/', ..] => Ok(Target::of_path(None, text)),
            b"*" if method == Method::Options => {
                Ok(Target { authority: None, path: text, query: None })
            }
            _ if method == Method::Connect => {
                let authority = Authority::parse(text).filter(|a| !a.port.is_empty());
                Ok(Target {
                    authority: Some(authority.ok_or(TargetError::Form)?),
                    path: b"/",
                    query: None,
                })
            }
            _ => Target::absolute(text).ok_or(TargetError::Form),
        }
    }

    fn absolute(text: &'a [u8]) -> Option<Target<'a>> {
        let colon = text.iter().position(|byte| *byte == b':')?;
        let (scheme, rest) = text.split_at_checked(colon)?;
        if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
            return None;
        }
        let rest = rest.strip_prefix(b"://")?;
        let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        Some(Target::of_path(Some(Authority::parse(authority)?), path))
    }

    #[inline]
    fn of_path(authority: Option<Authority<'a>>, text: &'a [u8]) -> Target<'a> {
        let (path, query) = match memchr::memchr(b'?', text) {
            Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
            None => (text, None),
        };
        Target { authority, path: if path.is_empty() { b"/" } else { path }, query }
    }
}

/// The canonical form of a path: percent-decoded once, runs of slashes made one, dot segments
/// resolved. It starts with a slash and has no empty, `.` or `..` segment (a trailing slash
/// stays). A path that is canonical already, as nearly all are, is returned as it is; else the
/// answer is written to `scratch`.
///
/// `%2F` and `%00` are refused: a slash inside a name cannot be served, and what stands behind us
/// or before us could take it for a separator.
#[inline]
pub fn canonical<'b>(path: &'b [u8], scratch: &'b mut Vec<u8>) -> Result<&'b [u8], TargetError> {
    if !scan::is_plain_path(path) {
        return resolve(path, scratch);
    }
    match path {
        [b'/', ..] => Ok(path),
        _ => Err(TargetError::Form),
    }
}

/// The long way of [`canonical`].
fn resolve<'b>(path: &[u8], out: &'b mut Vec<u8>) -> Result<&'b [u8], TargetError> {
    let rest = path.strip_prefix(b"/").ok_or(TargetError::Form)?;
    out.clear();
    out.push(b'/');
    let mut segments = rest.split(|byte| *byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let start = out.len();
        decode(segment, out)?;
        let last = segments.peek().is_none();
        match out.get(start..).unwrap_or_default() {
            [] => {}
            b"." => out.truncate(start),
            b".." => {
                let parent = out.get(..start.saturating_sub(1)).unwrap_or_default();
                let slash = parent.iter().rposition(|byte| *byte == b'/');
                out.truncate(slash.ok_or(TargetError::AboveRoot)? + 1);
            }
            _ if last => {}
            _ => out.push(b'/'),
        }
    }
    Ok(out)
}

/// Appends `text` with its escapes decoded.
fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<(), TargetError> {
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        let mut byte = *byte;
        if byte == b'%' {
            let [high, low, tail @ ..] = rest else { return Err(TargetError::Percent) };
            let digit = |of: &u8| char::from(*of).to_digit(16).ok_or(TargetError::Percent);
            byte = (digit(high)? * 16 + digit(low)?) as u8;
            rest = tail;
            if matches!(byte, 0 | b'/') {
                return Err(TargetError::Encoded);
            }
        }
        out.push(byte);
    }
    Ok(())
}

/// Appends a canonical path with all bytes escaped that could mean something else in a URL or a
/// field: the inverse of [`canonical`].
pub fn encode(path: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in path {
        if scan::is_path(*byte) {
            out.push(*byte);
        } else {
            out.push(b'%');
            out.push(DIGITS[usize::from(byte >> 4)]);
            out.push(DIGITS[usize::from(byte & 15)]);
        }
    }
}

/// Whether a canonical path names something that is never shown: a segment that starts with a dot
/// (but for `/.well-known/`, RFC 8615), an editor's backup (`name~`), or a private key.
pub fn is_hidden(path: &[u8]) -> bool {
    let visible = path.strip_prefix(b"/.well-known").filter(|rest| matches!(rest, [] | [b'/', ..]));
    let rest = visible.unwrap_or(path);
    if memchr::memmem::find(rest, b"/.").is_some() {
        return true;
    }
    let secret: [&[u8]; 3] = [b"~", b".key", b".pem"];
    rest.split(|byte| *byte == b'/').any(|segment| secret.iter().any(|end| segment.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path_of(text: &str) -> Result<String, TargetError> {
        let mut scratch = Vec::new();
        let path = canonical(text.as_bytes(), &mut scratch)?;
        Ok(String::from_utf8_lossy(path).into_owned())
    }

    #[test]
    fn the_four_forms() {
        let origin = Target::parse(Method::Get, b"/a/b?c=d?e").unwrap();
        assert_eq!((origin.path, origin.query), (&b"/a/b"[..], Some(&b"c=d?e"[..])));
        let absolute = Target::parse(Method::Get, b"HTTP://a.example:80?q").unwrap();
        assert_eq!(absolute.authority.unwrap().host, b"a.example");
        assert_eq!((absolute.path, absolute.query), (&b"/"[..], Some(&b"q"[..])));
        assert_eq!(Target::parse(Method::Options, b"*").unwrap().path, b"*");
        assert!(Target::parse(Method::Connect, b"a.example:443").is_ok());
        for (method, bad) in [
            (Method::Get, "*"),
            (Method::Get, "a"),
            (Method::Get, "ftp://a/"),
            (Method::Get, "http:/a"),
            (Method::Get, "http:///a"),
            (Method::Get, "http://u@a/"),
            (Method::Connect, "a.example"),
        ] {
            assert_eq!(Target::parse(method, bad.as_bytes()), Err(TargetError::Form), "{bad}");
        }
    }

    #[test]
    fn paths_become_canonical() {
        for (text, expected) in [
            ("/", "/"),
            ("/a/b.html", "/a/b.html"),
            ("/a/", "/a/"),
            ("//a///b//", "/a/b/"),
            ("/a/./b/../c", "/a/c"),
            ("/a/..", "/"),
            ("/a/b/..", "/a/"),
            ("/a/.", "/a/"),
            ("/%61%2e", "/a."),
            ("/a/%2e%2E/b", "/b"),
            ("/a%2", "!"),
            ("/a%zz", "!"),
            ("/%2525", "/%25"),
            ("/.a", "/.a"),
            ("/...", "/..."),
            ("/a/../../b", "!"),
            ("/..", "!"),
            ("/a%2fb", "!"),
            ("/a%00", "!"),
            ("/a\\b", "/a\\b"),
        ] {
            assert_eq!(path_of(text).unwrap_or("!".into()), expected, "{text}");
        }
    }

    #[test]
    fn hidden_names() {
        for path in ["/.git/config", "/a/.env", "/.well-known/.x", "/.well-knownx", "/a~", "/k.pem"]
        {
            assert!(is_hidden(path.as_bytes()), "{path}");
        }
        for path in ["/", "/a.b/c", "/.well-known/acme", "/.well-known", "/a~b", "/keys"] {
            assert!(!is_hidden(path.as_bytes()), "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_canonical_path_has_no_surprises(path in "/[a-c./%2eE]{0,24}") {
            let mut scratch = Vec::new();
            if let Ok(path) = canonical(path.as_bytes(), &mut scratch) {
                let path = path.to_vec();
                prop_assert_eq!(path.first(), Some(&b'/'));
                let segments: Vec<_> = path[1..].split(|b| *b == b'/').collect();
                for (i, segment) in segments.iter().enumerate() {
                    prop_assert!(!matches!(*segment, b"." | b".."));
                    prop_assert!(!segment.is_empty() || i + 1 == segments.len());
                }
                let mut url = Vec::new();
                encode(&path, &mut url);
                let mut again = Vec::new();
                prop_assert_eq!(canonical(&url, &mut again).unwrap(), &path[..]);
            }
        }

        #[test]
        fn any_bytes_are_survived(path in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut scratch = Vec::new();
            let _ = canonical(&path, &mut scratch);
            let _ = Target::parse(Method::Get, &path);
            let _ = is_hidden(&path);
        }
    }
}
