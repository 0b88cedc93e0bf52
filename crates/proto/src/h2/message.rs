//! From a field section to a message, by the rules of RFC 9113 §8: what is malformed is none.

use super::section::{Pseudo, Section};
use crate::field::{Fields, Name};
use crate::h1::framing::decimal;
use crate::host::Authority;
use crate::method::Method;
use crate::status::Status;
use crate::target::Target;

/// A request's head.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The method's text.
    pub method_text: &'a [u8],
    /// `http` or `https`; empty for CONNECT.
    pub scheme: &'a [u8],
    /// The path and query as they were sent; the authority for CONNECT.
    pub target_text: &'a [u8],
    /// The target. Its authority is always there: `:authority`, or else the `host` field.
    pub target: Target<'a>,
    /// The fields.
    pub fields: Fields<'a>,
    /// The length of the content, if it was announced. What comes is checked against it.
    pub content_length: Option<u64>,
}

/// A response's head.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status. A response with 1xx is not the last one.
    pub status: Status,
    /// The fields.
    pub fields: Fields<'a>,
    /// The length of the content, if it was announced.
    pub content_length: Option<u64>,
}

/// The request that a section is, unless it is malformed.
pub fn request(section: &Section) -> Option<Request<'_>> {
    if section.is_malformed() || section.pseudo(Pseudo::Status).is_some() {
        return None;
    }
    let fields = section.fields();
    let content_length = content_length(section)?;
    let method_text = section.pseudo(Pseudo::Method)?;
    let method = Method::of(method_text);
    let scheme = section.pseudo(Pseudo::Scheme);
    let path = section.pseudo(Pseudo::Path);
    let authority = authority(section, &fields, scheme.unwrap_or_default())?;
    if method == Method::Connect {
        // Neither scheme nor path (RFC 9113 §8.5).
        let target_text = section.pseudo(Pseudo::Authority)?;
        let target = Target::parse(method, target_text).ok()?;
        let scheme: &[u8] = b"";
        let is_right = section.pseudo(Pseudo::Scheme).is_none() && path.is_none();
        return is_right.then_some(Request {
            method,
            method_text,
            scheme,
            target_text,
            target,
            fields,
            content_length,
        });
    }
    let (scheme, target_text) = (scheme?, path?);
    let has_form = matches!(target_text, [b'/', ..] | b"*");
    if !has_form || !matches!(scheme, b"https" | b"http") {
        return None;
    }
    let mut target = Target::parse(method, target_text).ok()?;
    target.authority = Some(authority);
    Some(Request { method, method_text, scheme, target_text, target, fields, content_length })
}

/// The response that a section is, unless it is malformed.
pub fn response(section: &Section) -> Option<Response<'_>> {
    let of_request = [Pseudo::Method, Pseudo::Scheme, Pseudo::Path, Pseudo::Authority];
    let is_request = of_request.iter().any(|pseudo| section.pseudo(*pseudo).is_some());
    if section.is_malformed() || is_request {
        return None;
    }
    let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = *section.pseudo(Pseudo::Status)?
    else {
        return None;
    };
    let status = [a, b, c].iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    // HTTP/2 knows no upgrade (RFC 9113 §8.6).
    if status == Status::SWITCHING_PROTOCOLS.0 {
        return None;
    }
    let fields = section.fields();
    Some(Response { status: Status(status), fields, content_length: content_length(section)? })
}

/// The trailers that a section is, unless it is malformed.
pub fn trailers(section: &Section) -> Option<Fields<'_>> {
    let fields = section.fields();
    (!section.is_malformed() && section.has_no_pseudo() && has_no_connection_fields(section))
        .then_some(fields)
}

/// What is about an HTTP/1 connection has no place here (RFC 9113 §8.2.2).
fn has_no_connection_fields(section: &Section) -> bool {
    const BANNED: u64 = 1 << Name::Connection as u64
        | 1 << Name::KeepAlive as u64
        | 1 << Name::TransferEncoding as u64
        | 1 << Name::Upgrade as u64;
    let te = !section.has_any(1 << Name::Te as u64)
        || section.fields().all(Name::Te).all(|value| value == b"trailers");
    te && !section.has_any(BANNED)
}

/// The announced length, if there is one; `None` for a section with fields that may not be there.
#[inline]
fn content_length(section: &Section) -> Option<Option<u64>> {
    let fields = section.fields();
    if !has_no_connection_fields(section) || fields.is_repeated(Name::ContentLength) {
        return None;
    }
    match fields.get(Name::ContentLength) {
        Some(text) => Some(Some(decimal(text)?)),
        None => Some(None),
    }
}

/// One authority, and only one (RFC 9113 §8.3.1).
fn authority<'a>(
    section: &'a Section,
    fields: &Fields<'a>,
    scheme: &[u8],
) -> Option<Authority<'a>> {
    let given = section.pseudo(Pseudo::Authority);
    let Some(host) = fields.get(Name::Host) else { return Authority::parse(given?) };
    let host = Authority::parse(host).filter(|_| !fields.is_repeated(Name::Host))?;
    let Some(given) = given else { return Some(host) };
    let default_port: &[u8] = if scheme == b"http" { b"80" } else { b"443" };
    Authority::parse(given).filter(|given| given.agrees_with(&host, default_port))
}
