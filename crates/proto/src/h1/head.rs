//! Message heads: the request line or status line and the field lines (RFC 9112 §2 to §5).
//!
//! The parser borrows from the input, fills a [`FieldTable`] that its caller keeps, and starts
//! over when more input has come: a head nearly always arrives in one piece, and
//! [`is_worth_parsing`] keeps a sender of single bytes from making it start over for each of them.

use super::cursor::{Cursor, Stop};
use super::framing::{self, Framing};
use super::refusal::Refusal;
use crate::field::{FieldTable, Fields, Name, Span};
use crate::host::Authority;
use crate::method::Method;
use crate::scan;
use crate::status::Status;
use crate::target::Target;

/// The longest method, in bytes; the registry's longest has 17.
const METHOD_BYTES_MAX: usize = 32;

/// How much a head may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest request line or status line, in bytes, without its CRLF.
    pub line_bytes_max: usize,
    /// The longest field section, in bytes, with every CRLF.
    pub fields_bytes_max: usize,
    /// The most field lines; at most [`FieldTable::LINES_MAX`].
    pub fields_max: usize,
}

impl Limits {
    /// The longest head that the parser can represent, in bytes.
    pub const HEAD_BYTES_MAX: usize = u16::MAX as usize;

    /// The most bytes that a head within these limits can have, a leading empty line included.
    pub const fn head_bytes_max(&self) -> usize {
        self.line_bytes_max + self.fields_bytes_max + 4
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { line_bytes_max: 8 << 10, fields_bytes_max: 16 << 10, fields_max: 100 }
    }
}

/// The versions of HTTP that this syntax carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `HTTP/1.0`
    Http10,
    /// `HTTP/1.1`
    Http11,
}

/// A request's head.
#[derive(Debug)]
pub struct RequestHead<'a> {
    /// The method.
    pub method: Method,
    /// The method's text.
    pub method_text: &'a [u8],
    /// The target as it was sent.
    pub target_text: &'a [u8],
    /// The target.
    pub target: Target<'a>,
    /// The version.
    pub version: Version,
    /// The field lines.
    pub fields: Fields<'a>,
    /// How the body is delimited.
    pub framing: Framing,
    /// Whether the client means to keep the connection (RFC 9112 §9.3).
    pub persistent: bool,
    /// How many bytes of the input the head took.
    pub length: usize,
}

/// A response's head.
#[derive(Debug)]
pub struct ResponseHead<'a> {
    /// The version.
    pub version: Version,
    /// The status.
    pub status: Status,
    /// The phrase, which means nothing to a program.
    pub reason: &'a [u8],
    /// The field lines.
    pub fields: Fields<'a>,
    /// How the body is delimited.
    pub framing: Framing,
    /// Whether the server means to keep the connection.
    pub persistent: bool,
    /// How many bytes of the input the head took.
    pub length: usize,
}

/// Whether parsing an unfinished head again can lead further now that `new` has come after it: a
/// parser gets on by whole lines, or stops because a limit is passed.
pub fn is_worth_parsing(new: &[u8], total: usize, limits: &Limits) -> bool {
    total > limits.line_bytes_max || memchr::memchr(b'\n', new).is_some()
}

/// Reads the head of a request from the start of `bytes`: `None` while it is incomplete.
#[inline]
pub fn parse_request<'a>(
    bytes: &'a [u8],
    table: &'a mut FieldTable,
    limits: &Limits,
) -> Result<Option<RequestHead<'a>>, Refusal> {
    match request(bytes, table, limits) {
        Ok(head) => Ok(Some(head)),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Partial) => Ok(None),
    }
}

/// Reads the head of a response to a request with `method` from the start of `bytes`: `None`
/// while it is incomplete. An interim response (1xx) is a head like any other.
pub fn parse_response<'a>(
    bytes: &'a [u8],
    table: &'a mut FieldTable,
    limits: &Limits,
    method: Method,
) -> Result<Option<ResponseHead<'a>>, Refusal> {
    match response(bytes, table, limits, method) {
        Ok(head) => Ok(Some(head)),
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Partial) => Ok(None),
    }
}

#[inline]
fn request<'a>(
    bytes: &'a [u8],
    table: &'a mut FieldTable,
    limits: &Limits,
) -> Result<RequestHead<'a>, Stop> {
    let mut cursor = Cursor { bytes, at: 0 };
    if bytes.first() == Some(&b'\r') {
        // An empty line that a client put after the body before (RFC 9112 §2.2).
        cursor.line_end(Refusal::StartLine)?;
    }
    let (method_text, target_text, version) = within_line(&mut cursor, limits, |line| {
        let (method, target) = method_and_target(line)?;
        let version = version(line)?;
        line.line_end(Refusal::StartLine)?;
        Ok((method, target, version))
    })?;
    field_lines(&mut cursor, table, limits)?;

    let fields = Fields::new(bytes, table);
    let method = Method::of(method_text);
    let target = Target::parse(method, target_text).map_err(|_| Refusal::Target)?;
    check_host(version, &target, &fields)?;
    let framing = framing::of_request(version, &fields)?;
    let persistent = framing::is_persistent(version, &fields);
    let length = cursor.at;
    Ok(RequestHead {
        method,
        method_text,
        target_text,
        target,
        version,
        fields,
        framing,
        persistent,
        length,
    })
}

fn response<'a>(
    bytes: &'a [u8],
    table: &'a mut FieldTable,
    limits: &Limits,
    method: Method,
) -> Result<ResponseHead<'a>, Stop> {
    let mut cursor = Cursor { bytes, at: 0 };
    let (version, status, reason) = within_line(&mut cursor, limits, |line| {
        let version = version(line)?;
        line.expect(b" ", Refusal::StartLine)?;
        let status = status(line)?;
        // The space after the code is required even where no phrase follows; many leave it out.
        let mut reason: &[u8] = b"";
        if line.peek()? == b' ' {
            line.at += 1;
            reason = line.take(scan::value_end(line.bytes, line.at) - line.at);
        }
        line.line_end(Refusal::StartLine)?;
        Ok((version, status, reason))
    })?;
    field_lines(&mut cursor, table, limits)?;

    let fields = Fields::new(bytes, table);
    let framing = framing::of_response(version, status, method, &fields)?;
    let persistent = framing::is_persistent(version, &fields) && framing != Framing::UntilClose;
    Ok(ResponseHead { version, status, reason, fields, framing, persistent, length: cursor.at })
}

/// Has `parse` read a start line, which may not go on behind the limit. What is wrong within it is
/// said first, so that the refusal does not hang on how much has come.
#[inline]
fn within_line<'a, T>(
    cursor: &mut Cursor<'a>,
    limits: &Limits,
    parse: impl FnOnce(&mut Cursor<'a>) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let whole = cursor.bytes;
    let window = whole.get(..cursor.at + limits.line_bytes_max + 2);
    cursor.bytes = window.unwrap_or(whole);
    let parsed = parse(cursor);
    cursor.bytes = whole;
    match parsed {
        Err(Stop::Partial) if window.is_some() => Err(Refusal::LineTooLong.into()),
        parsed => parsed,
    }
}

#[inline]
fn method_and_target<'a>(line: &mut Cursor<'a>) -> Result<(&'a [u8], &'a [u8]), Stop> {
    let length = scan::run_of(line.rest(), scan::is_token);
    let method = word(line, length)?;
    if method.len() > METHOD_BYTES_MAX {
        return Err(Refusal::StartLine.into());
    }
    let length = scan::target_end(line.rest());
    Ok((method, word(line, length)?))
}

/// Takes `length` bytes and the one space that has to follow.
#[inline]
fn word<'a>(line: &mut Cursor<'a>, length: usize) -> Result<&'a [u8], Stop> {
    let rest = line.rest();
    match rest.get(length) {
        None => Err(Stop::Partial),
        Some(b' ') if length > 0 => {
            let word = line.take(length);
            line.at += 1;
            Ok(word)
        }
        Some(_) => Err(Refusal::StartLine.into()),
    }
}

#[inline]
fn version(cursor: &mut Cursor<'_>) -> Result<Version, Stop> {
    cursor.expect(b"HTTP/", Refusal::StartLine)?;
    let version = match cursor.rest() {
        [b'1', b'.', b'1', ..] => Version::Http11,
        [b'1', b'.', b'0', ..] => Version::Http10,
        [major, b'.', minor, ..] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            return Err(Refusal::Version.into());
        }
        [] => return Err(Stop::Partial),
        [digit] | [digit, b'.'] if digit.is_ascii_digit() => return Err(Stop::Partial),
        _ => return Err(Refusal::StartLine.into()),
    };
    cursor.at += 3;
    Ok(version)
}

fn status(cursor: &mut Cursor<'_>) -> Result<Status, Stop> {
    let digits = cursor.rest();
    let digits = digits.get(..3).unwrap_or(digits);
    if !digits.iter().all(u8::is_ascii_digit) || digits.first().is_some_and(|first| *first == b'0')
    {
        return Err(Refusal::StartLine.into());
    }
    let [a, b, c] = *digits else { return Err(Stop::Partial) };
    cursor.at += 3;
    let value = |digit: u8| u16::from(digit - b'0');
    Ok(Status(value(a) * 100 + value(b) * 10 + value(c)))
}

/// Reads field lines up to and with the empty line that ends them.
#[inline]
fn field_lines(
    cursor: &mut Cursor<'_>,
    table: &mut FieldTable,
    limits: &Limits,
) -> Result<(), Stop> {
    table.clear();
    let start = cursor.at;
    let fields_max = limits.fields_max.min(FieldTable::LINES_MAX);
    loop {
        let line = field_line(cursor, table);
        let reached = match line {
            Err(Stop::Refused(refusal)) => return Err(refusal.into()),
            // All that has come counts, or a line without an end would never be too long.
            Err(Stop::Partial) => cursor.bytes.len(),
            Ok(_) => cursor.at,
        };
        if reached - start > limits.fields_bytes_max || reached > Limits::HEAD_BYTES_MAX {
            return Err(Refusal::HeadTooLarge.into());
        }
        if table.len() > fields_max {
            return Err(Refusal::TooManyFields.into());
        }
        if line? {
            return Ok(());
        }
    }
}

/// Reads one field line; true when it was the empty line that ends the section.
#[inline]
fn field_line(cursor: &mut Cursor<'_>, table: &mut FieldTable) -> Result<bool, Stop> {
    let rest = cursor.rest();
    let (known, name_length) = field_name(rest);
    match rest.get(name_length) {
        Some(b':') if name_length > 0 => {}
        None => return Err(Stop::Partial),
        Some(b'\r' | b'\n') if name_length == 0 => {
            cursor.line_end(Refusal::FieldName)?;
            return Ok(true);
        }
        Some(b' ' | b'\t') if name_length == 0 => return Err(Refusal::Folded.into()),
        Some(_) => return Err(Refusal::FieldName.into()),
    }
    let name_start = cursor.at;
    cursor.at += name_length + 1;
    let blanks = scan::run_of(cursor.rest(), |byte| matches!(byte, b' ' | b'\t'));
    let value_start = cursor.at + blanks;
    let value_end = scan::value_end(cursor.bytes, value_start);
    cursor.at = value_end;
    cursor.line_end(Refusal::FieldValue)?;
    let value = scan::trim_end(cursor.bytes.get(value_start..value_end).unwrap_or_default());
    let span = Span {
        name: known,
        name_at: (name_start as u16, (name_start + name_length) as u16),
        value_at: (value_start as u16, (value_start + value.len()) as u16),
    };
    table.push(span);
    Ok(false)
}

/// The name that `line` begins with, and how many bytes of it can be in a name. One that is known
/// has none but those.
#[inline]
fn field_name(line: &[u8]) -> (Name, usize) {
    Name::before_colon(line).unwrap_or_else(|| {
        let length = scan::run_of(line, scan::is_token);
        (Name::of(line.get(..length).unwrap_or_default()), length)
    })
}

/// One valid Host on HTTP/1.1, at most one on 1.0, and the same authority in the target
/// (RFC 9112 §3.2).
#[inline]
fn check_host(version: Version, target: &Target<'_>, fields: &Fields<'_>) -> Result<(), Refusal> {
    let Some(value) = fields.get(Name::Host) else {
        return if version == Version::Http10 { Ok(()) } else { Err(Refusal::Host) };
    };
    if fields.is_repeated(Name::Host) {
        return Err(Refusal::Host);
    }
    let host = Authority::parse(value).ok_or(Refusal::Host)?;
    match target.authority {
        Some(authority) if !authority.agrees_with(&host, b"80") => Err(Refusal::HostMismatch),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { line_bytes_max: 200, fields_bytes_max: 400, fields_max: 8 };

    /// Parses a request, checks that every cut of it is either incomplete or refused for the same
    /// reason, and returns what the whole one gives.
    fn request(text: &[u8]) -> Result<Option<String>, Refusal> {
        let mut table = FieldTable::new();
        let whole = summary(text, &mut table);
        for cut in 0..text.len() {
            match (summary(&text[..cut], &mut table), &whole) {
                (Ok(None), _) => {}
                (early, whole) => assert_eq!(&early, whole, "cut at {cut}"),
            }
        }
        whole
    }

    fn summary(text: &[u8], table: &mut FieldTable) -> Result<Option<String>, Refusal> {
        let head = parse_request(text, table, &LIMITS)?;
        Ok(head.map(|head| {
            let lines: Vec<String> = head
                .fields
                .lines()
                .map(|l| [l.name, b"=", l.value].concat())
                .map(|l| String::from_utf8_lossy(&l).into_owned())
                .collect();
            format!(
                "{} {} {:?} {} {:?} {} {}",
                String::from_utf8_lossy(head.method_text),
                String::from_utf8_lossy(head.target_text),
                head.version,
                lines.join("|"),
                head.framing,
                if head.persistent { "keep" } else { "close" },
                head.length,
            )
        }))
    }

    #[test]
    fn whole_requests() {
        for (text, expected) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / Http11 Host=a Length(0) keep 27"),
            (
                "\r\nGET /a?b HTTP/1.1\r\nHOST:a:80\r\nX: \t b c\t \r\nY:\r\n\r\nrest",
                "GET /a?b Http11 HOST=a:80|X=b c|Y= Length(0) keep 50",
            ),
            ("GET / HTTP/1.0\r\n\r\n", "GET / Http10  Length(0) close 18"),
            (
                "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
                "GET / Http10 Connection=Keep-Alive Length(0) keep 42",
            ),
            (
                "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nConnection: x, close\r\n\r\n",
                "POST /x Http11 Host=a|Content-Length=12|Connection=x, close Length(12) close 71",
            ),
            (
                "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n",
                "PUT /x Http11 Host=a|Transfer-Encoding=Chunked Chunked keep 56",
            ),
            (
                "GET http://a.b:80/x HTTP/1.1\r\nhost: A.B\r\n\r\n",
                "GET http://a.b:80/x Http11 host=A.B Length(0) keep 43",
            ),
        ] {
            assert_eq!(request(text.as_bytes()), Ok(Some(expected.into())), "{text:?}");
        }
    }

    #[test]
    fn what_is_refused_and_why() {
        use Refusal::*;
        for (text, refusal) in [
            (" GET / HTTP/1.1\r\n", StartLine),
            ("\x16\x03\x01", StartLine),
            ("GET  / HTTP/1.1\r\n", StartLine),
            ("GET / HTTP/1.1 \r\n", StartLine),
            ("GET /\r\n", StartLine),
            ("GET /a b HTTP/1.1\r\n", StartLine),
            ("GET /\x7f HTTP/1.1\r\n", StartLine),
            ("GET /# HTTP/1.1\r\n", StartLine),
            ("GET / http/1.1\r\n", StartLine),
            ("GET / HTTP/11\r\n", StartLine),
            ("\r\n\r\nGET / HTTP/1.1\r\n", StartLine),
            ("G\u{e9}T / HTTP/1.1\r\n", StartLine),
            ("GET / HTTP/2.0\r\n", Version),
            ("GET / HTTP/1.2\r\n", Version),
            ("GET / HTTP/1.1\nHost: a\n\n", LineEnd),
            ("GET / HTTP/1.1\rHost: a\r\n", LineEnd),
            ("GET / HTTP/1.1\r\nHost: a\n\r\n", LineEnd),
            ("GET / HTTP/1.1\r\nHost: a\rb\r\n", LineEnd),
            ("GET / HTTP/1.1\r\nHost: a\r\n\n", LineEnd),
            ("GET / HTTP/1.1\r\n Host: a\r\n", Folded),
            ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n", Folded),
            ("GET / HTTP/1.1\r\nHost : a\r\n", FieldName),
            ("GET / HTTP/1.1\r\n: a\r\n", FieldName),
            ("GET / HTTP/1.1\r\nHost\r\n", FieldName),
            ("GET / HTTP/1.1\r\nH(: a\r\n", FieldName),
            ("GET / HTTP/1.1\r\nX: \x01\r\n", FieldValue),
            ("GET / HTTP/1.1\r\nX: a\x00b\r\n", FieldValue),
            ("GET / HTTP/1.1\r\n\r\n", Host),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", Host),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", Host),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", Host),
            ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", Host),
            ("GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", HostMismatch),
            ("GET a HTTP/1.1\r\nHost: b\r\n\r\n", Target),
            ("GET * HTTP/1.1\r\nHost: b\r\n\r\n", Target),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", ContentLength),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", ContentLength),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                ContentLength,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\
                 Transfer-Encoding: chunked\r\n\r\n",
                LengthAndCoding,
            ),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", TransferEncoding),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", TransferEncoding),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n", FieldValue),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\
                 Transfer-Encoding: chunked\r\n\r\n",
                TransferEncoding,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                UnknownCoding,
            ),
        ] {
            assert_eq!(request(text.as_bytes()), Err(refusal), "{text:?}");
        }
    }

    #[test]
    fn limits_hold_for_unfinished_heads_too() {
        let line = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(300));
        assert_eq!(request(line.as_bytes()), Err(Refusal::LineTooLong));
        assert_eq!(request(&[b'a'; 300]), Err(Refusal::LineTooLong));
        let wrong = [&b"GET / HTTP/9.9"[..], &[b'a'; 300]].concat();
        assert_eq!(request(&wrong), Err(Refusal::Version));
        let value = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "b".repeat(500));
        assert_eq!(request(value.as_bytes()), Err(Refusal::HeadTooLarge));
        let name = format!("GET / HTTP/1.1\r\nHost: a\r\n{}", "b".repeat(500));
        assert_eq!(request(name.as_bytes()), Err(Refusal::HeadTooLarge));
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "b:c\r\n".repeat(8));
        assert_eq!(request(many.as_bytes()), Err(Refusal::TooManyFields));
        let enough = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "b:c\r\n".repeat(7));
        assert!(request(enough.as_bytes()).unwrap().is_some());
        let longest = format!("GET /{} HTTP/1.1", "a".repeat(200 - 14));
        let head = format!("{longest}\r\nHost: a\r\n\r\n");
        assert!(request(head.as_bytes()).unwrap().is_some());
    }

    #[test]
    fn a_head_as_large_as_can_be_is_refused_not_misread() {
        let limits =
            Limits { line_bytes_max: 1 << 20, fields_bytes_max: 1 << 20, fields_max: 1000 };
        let text = format!(
            "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\nY: b\r\n\r\n",
            "x".repeat(Limits::HEAD_BYTES_MAX)
        );
        let mut table = FieldTable::new();
        let refused = parse_request(text.as_bytes(), &mut table, &limits).unwrap_err();
        assert_eq!(refused, Refusal::HeadTooLarge);
    }

    #[test]
    fn responses() {
        let mut table = FieldTable::new();
        let mut parse = |text: &str, method| {
            let head = parse_response(text.as_bytes(), &mut table, &LIMITS, method);
            head.map(|h| h.map(|h| (h.status.0, h.framing, h.persistent, h.length)))
        };
        let get = Method::Get;
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(parse(text, get), Ok(Some((200, Framing::Length(5), true, 38))));
        assert_eq!(parse(text, Method::Head), Ok(Some((200, Framing::Length(0), true, 38))));
        assert_eq!(
            parse("HTTP/1.1 304\r\nContent-Length: 5\r\n\r\n", get),
            Ok(Some((304, Framing::Length(0), true, 35)))
        );
        let text = "HTTP/1.0 200 \r\n\r\n";
        assert_eq!(parse(text, get), Ok(Some((200, Framing::UntilClose, false, 17))));
        assert_eq!(parse("HTTP/1.1 20", get), Ok(None));
        assert_eq!(parse("HTTP/1.1 2000\r\n\r\n", get), Err(Refusal::StartLine));
        assert_eq!(parse("HTTP/1.1 099 x\r\n\r\n", get), Err(Refusal::StartLine));
        assert_eq!(parse("HTTP/1.1 2x0 x\r\n\r\n", get), Err(Refusal::StartLine));
    }

    #[test]
    fn parsing_again_is_worth_it_for_a_line_or_a_limit() {
        assert!(!is_worth_parsing(b"abc", 10, &LIMITS));
        assert!(is_worth_parsing(b"a\r\nb", 10, &LIMITS));
        assert!(is_worth_parsing(b"abc", 201, &LIMITS));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = request(&bytes);
        }

        #[test]
        fn a_request_made_of_parts_is_read_back(
            target in "/[!-\"$-~]{0,20}",
            fields in prop::collection::vec(("[a-zA-Z-]{1,12}", "[!-~]([ -~]{0,12}[!-~])?"), 0..6),
        ) {
            let known = |name: &str| Name::of(name.as_bytes()) != Name::Other;
            prop_assume!(!fields.iter().any(|(name, _)| known(name)));
            let mut text = format!("GET {target} HTTP/1.1\r\nHost: a\r\n");
            for (name, value) in &fields {
                text += &format!("{name}: {value}\r\n");
            }
            text += "\r\n";
            let lines: String = fields.iter().map(|(n, v)| format!("|{n}={v}")).collect();
            let expected =
                format!("GET {target} Http11 Host=a{lines} Length(0) keep {}", text.len());
            prop_assert_eq!(request(text.as_bytes()), Ok(Some(expected)));
        }
    }
}
