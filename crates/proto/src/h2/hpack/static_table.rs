//! The table that every connection begins with (RFC 7541 Appendix A).

use super::dynamic_table::Entry;
use crate::field::Name;
use crate::h2::section::{Kind, Pseudo};

/// How many entries there are; they are counted from one.
pub(super) const LENGTH: usize = 61;

/// Declares the entries: what the name is, the name, the value.
macro_rules! entries {
    ($($kind:expr, $name:literal, $value:literal;)*) => {
        static ENTRIES: [Entry<'static>; LENGTH] = [$(Entry {
            kind: $kind,
            is_valid: true,
            name_length: $name.len() as u16,
            text: concat!($name, $value).as_bytes(),
        },)*];
    };
}

use Kind::{Field, Pseudo as Colon};

entries! {
    Colon(Pseudo::Authority), ":authority", "";
    Colon(Pseudo::Method), ":method", "GET";
    Colon(Pseudo::Method), ":method", "POST";
    Colon(Pseudo::Path), ":path", "/";
    Colon(Pseudo::Path), ":path", "/index.html";
    Colon(Pseudo::Scheme), ":scheme", "http";
    Colon(Pseudo::Scheme), ":scheme", "https";
    Colon(Pseudo::Status), ":status", "200";
    Colon(Pseudo::Status), ":status", "204";
    Colon(Pseudo::Status), ":status", "206";
    Colon(Pseudo::Status), ":status", "304";
    Colon(Pseudo::Status), ":status", "400";
    Colon(Pseudo::Status), ":status", "404";
    Colon(Pseudo::Status), ":status", "500";
    Field(Name::Other), "accept-charset", "";
    Field(Name::AcceptEncoding), "accept-encoding", "gzip, deflate";
    Field(Name::AcceptLanguage), "accept-language", "";
    Field(Name::Other), "accept-ranges", "";
    Field(Name::Accept), "accept", "";
    Field(Name::Other), "access-control-allow-origin", "";
    Field(Name::Other), "age", "";
    Field(Name::Other), "allow", "";
    Field(Name::Authorization), "authorization", "";
    Field(Name::CacheControl), "cache-control", "";
    Field(Name::Other), "content-disposition", "";
    Field(Name::ContentEncoding), "content-encoding", "";
    Field(Name::Other), "content-language", "";
    Field(Name::ContentLength), "content-length", "";
    Field(Name::Other), "content-location", "";
    Field(Name::Other), "content-range", "";
    Field(Name::ContentType), "content-type", "";
    Field(Name::Cookie), "cookie", "";
    Field(Name::Date), "date", "";
    Field(Name::Etag), "etag", "";
    Field(Name::Expect), "expect", "";
    Field(Name::Other), "expires", "";
    Field(Name::Other), "from", "";
    Field(Name::Host), "host", "";
    Field(Name::IfMatch), "if-match", "";
    Field(Name::IfModifiedSince), "if-modified-since", "";
    Field(Name::IfNoneMatch), "if-none-match", "";
    Field(Name::IfRange), "if-range", "";
    Field(Name::IfUnmodifiedSince), "if-unmodified-since", "";
    Field(Name::LastModified), "last-modified", "";
    Field(Name::Other), "link", "";
    Field(Name::Location), "location", "";
    Field(Name::Other), "max-forwards", "";
    Field(Name::Other), "proxy-authenticate", "";
    Field(Name::Other), "proxy-authorization", "";
    Field(Name::Range), "range", "";
    Field(Name::Referer), "referer", "";
    Field(Name::Other), "refresh", "";
    Field(Name::Other), "retry-after", "";
    Field(Name::Server), "server", "";
    Field(Name::Other), "set-cookie", "";
    Field(Name::Other), "strict-transport-security", "";
    Field(Name::TransferEncoding), "transfer-encoding", "";
    Field(Name::UserAgent), "user-agent", "";
    Field(Name::Other), "vary", "";
    Field(Name::Other), "via", "";
    Field(Name::Other), "www-authenticate", "";
}

/// The entry at `index`, from 1 to [`LENGTH`].
#[inline]
pub(super) fn at(index: usize) -> Option<&'static Entry<'static>> {
    ENTRIES.get(index.wrapping_sub(1))
}

/// Where a field or at least its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Both are, at this index.
    Both(usize),
    /// The name is, first at this index.
    Name(usize),
}

/// Where a field is.
pub(super) fn find(name: &[u8], value: &[u8]) -> Option<Found> {
    let mut found = None;
    for (number, entry) in ENTRIES.iter().enumerate() {
        if entry.name() != name {
            continue;
        }
        if entry.value() == value && !value.is_empty() {
            return Some(Found::Both(number + 1));
        }
        found = found.or(Some(Found::Name(number + 1)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_know_what_they_are() {
        for entry in &ENTRIES {
            assert_eq!(Kind::of(entry.name()), entry.kind);
        }
        assert_eq!(at(0).map(Entry::name), None);
        assert_eq!(at(61).map(Entry::name), Some(&b"www-authenticate"[..]));
        assert_eq!(at(62).map(Entry::name), None);
    }

    #[test]
    fn fields_are_found() {
        assert_eq!(find(b":status", b"404"), Some(Found::Both(13)));
        assert_eq!(find(b":status", b"403"), Some(Found::Name(8)));
        assert_eq!(find(b"accept", b""), Some(Found::Name(19)));
        assert_eq!(find(b"x", b""), None);
    }
}
