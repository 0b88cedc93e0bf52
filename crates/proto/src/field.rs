//! Field lines of a message head, as spans over the bytes they were read from.
//!
//! HTTP/1 and HTTP/2 both decode a head into one run of bytes and a [`FieldTable`] over it; the
//! code above asks [`Fields`] by [`Name`] and never learns which version it was. A table is meant
//! to be kept by a worker and used for one head after another, so that reading a head allocates
//! nothing.

/// Declares the field names that the program itself asks for. All others are [`Name::Other`].
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

        /// Known names by their length, each with its first letter.
        static BY_LENGTH: [[(u8, Name); 4]; 32] = {
            let mut table = [[(0, Name::Other); 4]; 32];
            $({
                let row = $text.len();
                let mut column = 0;
                while table[row][column].0 != 0 {
                    column += 1;
                }
                table[row][column] = ($text.as_bytes()[0], Name::$variant);
            })*
            table
        };
    };
}

known_names! {
    Accept = "accept",
    AcceptEncoding = "accept-encoding",
    Authorization = "authorization",
    Connection = "connection",
    ContentEncoding = "content-encoding",
    ContentLength = "content-length",
    ContentType = "content-type",
    Date = "date",
    Etag = "etag",
    Expect = "expect",
    Host = "host",
    IfMatch = "if-match",
    IfModifiedSince = "if-modified-since",
    IfNoneMatch = "if-none-match",
    IfRange = "if-range",
    IfUnmodifiedSince = "if-unmodified-since",
    KeepAlive = "keep-alive",
    LastModified = "last-modified",
    Location = "location",
    Range = "range",
    Referer = "referer",
    Te = "te",
    Trailer = "trailer",
    TransferEncoding = "transfer-encoding",
    Upgrade = "upgrade",
    UserAgent = "user-agent",
}

impl Name {
    /// The known name that `text` spells, in any case.
    #[inline]
    pub fn of(text: &[u8]) -> Name {
        let (Some(row), Some(first)) = (BY_LENGTH.get(text.len()), text.first()) else {
            return Name::Other;
        };
        for (initial, name) in row {
            // Most names are told apart by their first letter: only a likely one is compared.
            if *initial == first | 0x20 && is_lower_of(name.as_str().as_bytes(), text) {
                return *name;
            }
        }
        Name::Other
    }
}

/// Whether `text` is `name`, which is as long and in lower case, in any case. Looks at all bytes
/// without a branch for each. Only letters become a letter with that bit set, and only a carriage
/// return besides the hyphen itself a hyphen: it is looked for apart.
#[inline]
fn is_lower_of(name: &[u8], text: &[u8]) -> bool {
    let both = name.iter().zip(text);
    let (unlike, lowest) = both.fold((0, u8::MAX), |(unlike, lowest), (name, byte)| {
        (unlike | ((byte | 0x20) ^ name), lowest.min(*byte))
    });
    unlike == 0 && lowest >= b'-'
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
    repeated: u32,
}

// A bit for each name has to fit.
const _: () = assert!(Name::KNOWN <= 32);

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
            Some(_) => self.repeated |= 1 << span.name as u32,
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
        self.table.repeated & 1_u32.checked_shl(name as u32).unwrap_or(0) != 0
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
        assert_eq!(Name::of(b"x-forwarded-for"), Name::Other);
        assert_eq!(Name::of(b""), Name::Other);
        assert_eq!(Name::of(b"if\rmatch"), Name::Other);
        assert_eq!(Name::of(&[b'a'; 300]), Name::Other);
    }

    #[test]
    fn every_known_name_finds_itself() {
        for row in BY_LENGTH {
            for (_, name) in row.into_iter().filter(|(initial, _)| *initial != 0) {
                assert_eq!(Name::of(name.as_str().as_bytes()), name);
            }
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
