//! Field lines of a message head, as spans over the bytes they were read from.
//!
//! HTTP/1 and HTTP/2 both decode a head into one run of bytes and a [`FieldTable`] over it; the
//! code above asks [`Fields`] by [`Name`] and never learns which version it was. A table is meant
//! to be kept by a worker and used for one head after another, so that reading a head allocates
//! nothing.

use crate::scan::{self, Folded, NAME_BYTES_MAX};

/// Declares the field names that the program knows. All others are [`Name::Other`].
macro_rules! known_names {
    ($($variant:ident = $text:literal,)*) => {
        /// A field name that the program knows, compared without regard to case (RFC 9110 §5.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Name {
            $(#[doc = $text] $variant,)*
            /// Any other name; its text is in [`Line::name`].
            Other,
        }

        impl Name {
            /// How many names are known.
            const KNOWN: usize = Name::Other as usize;

            /// The name's text in lower case, as HTTP/2 writes it; empty for `Other`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Name::$variant => $text,)* Name::Other => "" }
            }
        }

        /// Known names, folded, by their [`slot`]. That no two have the same is checked when this
        /// is compiled.
        static BY_SLOT: [(Folded, Name); SLOTS] = {
            let mut table = [([0; 4], Name::Other); SLOTS];
            $({
                let name = scan::folded($text.as_bytes());
                let slot = slot(&name);
                assert!(matches!(table[slot].1, Name::Other), "choose another factor for `slot`");
                table[slot] = (name, Name::$variant);
            })*
            table
        };
    };
}

// Those that the program asks for, and those that clients send all the time: a name that is known
// need not be checked byte by byte.
known_names! {
    Accept = "accept",
    AcceptEncoding = "accept-encoding",
    AcceptLanguage = "accept-language",
    Authorization = "authorization",
    CacheControl = "cache-control",
    Connection = "connection",
    ContentEncoding = "content-encoding",
    ContentLength = "content-length",
    ContentType = "content-type",
    Cookie = "cookie",
    Date = "date",
    DoNotTrack = "dnt",
    Etag = "etag",
    Expect = "expect",
    Forwarded = "forwarded",
    Host = "host",
    IfMatch = "if-match",
    IfModifiedSince = "if-modified-since",
    IfNoneMatch = "if-none-match",
    IfRange = "if-range",
    IfUnmodifiedSince = "if-unmodified-since",
    KeepAlive = "keep-alive",
    LastModified = "last-modified",
    Location = "location",
    Origin = "origin",
    Pragma = "pragma",
    Priority = "priority",
    Range = "range",
    Referer = "referer",
    SecChUa = "sec-ch-ua",
    SecChUaMobile = "sec-ch-ua-mobile",
    SecChUaPlatform = "sec-ch-ua-platform",
    SecFetchDest = "sec-fetch-dest",
    SecFetchMode = "sec-fetch-mode",
    SecFetchSite = "sec-fetch-site",
    SecFetchUser = "sec-fetch-user",
    SecGpc = "sec-gpc",
    Server = "server",
    Te = "te",
    Trailer = "trailer",
    TransferEncoding = "transfer-encoding",
    Upgrade = "upgrade",
    UpgradeInsecureRequests = "upgrade-insecure-requests",
    UserAgent = "user-agent",
    XForwardedFor = "x-forwarded-for",
    XForwardedProto = "x-forwarded-proto",
}

/// How many slots there are: more than names, so that few of the others need a comparison.
const SLOTS: usize = 128;

/// A number below [`SLOTS`] for a name.
#[inline]
const fn slot(name: &Folded) -> usize {
    // Chosen by trial.
    const FACTOR: u64 = 0xbb76_59c2_723a_d467;
    let [a, b, c, d] = *name;
    let sum = a.wrapping_add(b.wrapping_mul(3)).wrapping_add(c.wrapping_mul(5));
    let sum = sum.wrapping_add(d.wrapping_mul(9));
    (sum.wrapping_mul(FACTOR) >> (64 - SLOTS.trailing_zeros())) as usize
}

impl Name {
    /// The known name that `text` spells, in any case.
    pub fn of(text: &[u8]) -> Name {
        let can_be_known = text.len() <= NAME_BYTES_MAX && text.iter().all(|byte| *byte >= b'-');
        if can_be_known { Name::of_folded(&scan::folded(text)) } else { Name::Other }
    }

    /// The known name at the start of a field line, and its length.
    #[inline]
    pub(crate) fn before_colon(line: &[u8]) -> Option<(Name, usize)> {
        let (folded, length) = scan::name_before_colon(line)?;
        match Name::of_folded(&folded) {
            Name::Other => None,
            name => Some((name, length)),
        }
    }

    #[inline]
    fn of_folded(folded: &Folded) -> Name {
        let (name, known) = &BY_SLOT[slot(folded)];
        if name == folded { *known } else { Name::Other }
    }
}

/// One field line as offsets into the head's bytes. A head is at most 65,535 bytes long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) name: Name,
    pub(crate) name_at: (u16, u16),
    pub(crate) value_at: (u16, u16),
}

/// The field lines of one head: kept by a worker and used again for every head.
#[derive(Debug)]
pub struct FieldTable {
    spans: Vec<Span>,
    /// For each known name, one more than the index of its first line; 0 where there is none.
    first: [u8; Name::KNOWN],
    /// A bit for each known name that more than one line has.
    repeated: u64,
}

// A bit for each name has to fit.
const _: () = assert!(Name::KNOWN <= 64);

impl FieldTable {
    /// The most lines that a table can hold, whatever the limits say.
    pub const LINES_MAX: usize = 254;

    /// An empty table.
    pub const fn new() -> Self {
        FieldTable { spans: Vec::new(), first: [0; Name::KNOWN], repeated: 0 }
    }

    /// Forgets all lines; keeps the memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.first = [0; Name::KNOWN];
        self.repeated = 0;
    }

    /// How many lines there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Adds a line. The caller bounds the number of lines by [`FieldTable::LINES_MAX`].
    #[inline]
    pub(crate) fn push(&mut self, span: Span) {
        self.spans.push(span);
        match self.first.get_mut(span.name as usize) {
            Some(first) if *first == 0 => *first = self.spans.len() as u8,
            Some(_) => self.repeated |= 1 << span.name as u64,
            None => {}
        }
    }
}

impl Default for FieldTable {
    fn default() -> Self {
        FieldTable::new()
    }
}

/// One field line: its name as it was written, and its value without the blanks around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The name, in the case that was sent.
    pub name: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// The field lines of a head.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    table: &'a FieldTable,
}

impl<'a> Fields<'a> {
    /// Reads `table` over the bytes that it was made from.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8], table: &'a FieldTable) -> Self {
        Fields { bytes, table }
    }

    /// The value of the first line of that name.
    #[inline]
    pub fn get(&self, name: Name) -> Option<&'a [u8]> {
        let first = *self.table.first.get(name as usize)?;
        let span = self.table.spans.get(usize::from(first).checked_sub(1)?)?;
        Some(self.slice(span.value_at))
    }

    /// Whether there is a line of that name.
    #[inline]
    pub fn has(&self, name: Name) -> bool {
        self.table.first.get(name as usize).is_some_and(|first| *first != 0)
    }

    /// Whether more than one line has that known name.
    #[inline]
    pub fn is_repeated(&self, name: Name) -> bool {
        self.table.repeated & 1_u64.checked_shl(name as u32).unwrap_or(0) != 0
    }

    /// The values of all lines of that known name, in order.
    pub fn all(&self, name: Name) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let this = *self;
        let none = !this.has(name);
        this.table
            .spans
            .iter()
            .take(if none { 0 } else { usize::MAX })
            .filter(move |span| span.name == name)
            .map(move |span| this.slice(span.value_at))
    }

    /// All lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let this = *self;
        this.table.spans.iter().map(move |span| Line {
            name: this.slice(span.name_at),
            value: this.slice(span.value_at),
        })
    }

    #[inline]
    fn slice(&self, (start, end): (u16, u16)) -> &'a [u8] {
        self.bytes.get(usize::from(start)..usize::from(end)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(Name::of(b"Host"), Name::Host);
        assert_eq!(Name::of(b"IF-NONE-MATCH"), Name::IfNoneMatch);
        assert_eq!(Name::of(b"x-forwarded-four"), Name::Other);
        assert_eq!(Name::of(b""), Name::Other);
        assert_eq!(Name::of(b"if\rmatch"), Name::Other);
        assert_eq!(Name::of(&[b'a'; 300]), Name::Other);
    }

    #[test]
    fn every_known_name_finds_itself() {
        let known: Vec<Name> =
            BY_SLOT.map(|(_, name)| name).into_iter().filter(|name| *name != Name::Other).collect();
        assert_eq!(known.len(), Name::KNOWN);
        for name in known {
            assert_eq!(Name::of(name.as_str().as_bytes()), name);
            assert_eq!(Name::of(name.as_str().to_ascii_uppercase().as_bytes()), name);
        }
    }

    #[test]
    fn the_first_line_wins_and_all_are_listed() {
        let bytes = b"Host: a\r\nhost: b";
        let mut table = FieldTable::new();
        table.push(Span { name: Name::Host, name_at: (0, 4), value_at: (6, 7) });
        table.push(Span { name: Name::Host, name_at: (9, 13), value_at: (15, 16) });
        let fields = Fields::new(bytes, &table);
        assert_eq!(fields.get(Name::Host), Some(&b"a"[..]));
        assert_eq!(fields.all(Name::Host).collect::<Vec<_>>(), [b"a", b"b"]);
        assert!(fields.is_repeated(Name::Host) && !fields.is_repeated(Name::Range));
        assert_eq!(fields.get(Name::Range), None);
        assert_eq!(fields.all(Name::Range).count(), 0);
        assert_eq!(fields.lines().count(), 2);
        table.clear();
        assert!(!Fields::new(bytes, &table).has(Name::Host));
    }
}
