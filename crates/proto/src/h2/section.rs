//! A decoded field section: what a header block said, before its rules as a message are applied.
//!
//! A section is kept by a worker and used for one block after another, on all its connections. It
//! holds at most [`SectionLimits`]; what is beyond them is decoded, for the sake of the table that
//! both ends share, and dropped.

use crate::field::{FieldTable, Fields, Name, Span};
use crate::scan;

/// How much a section may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionLimits {
    /// The most bytes of names and values, with 32 for each field (RFC 9113 §10.5.1).
    pub bytes_max: usize,
    /// The most fields, pseudo-header fields and each crumb of a cookie among them.
    pub fields_max: usize,
}

impl SectionLimits {
    /// The most bytes that can be represented.
    const BYTES_MAX: usize = u16::MAX as usize;
}

impl Default for SectionLimits {
    fn default() -> Self {
        SectionLimits { bytes_max: 16 << 10, fields_max: 100 }
    }
}

/// The pseudo-header fields of RFC 9113 §8.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Pseudo {
    /// `:authority`
    Authority,
    /// `:method`
    Method,
    /// `:path`
    Path,
    /// `:scheme`
    Scheme,
    /// `:status`
    Status,
}

impl Pseudo {
    const COUNT: usize = 5;
}

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A field.
    Field(Name),
    /// A pseudo-header field.
    Pseudo(Pseudo),
    /// Not a name, or not one in lower case, or an unknown one with a colon.
    Malformed,
}

impl Kind {
    /// What `name` is.
    pub(crate) fn of(name: &[u8]) -> Kind {
        match name {
            b":authority" => Kind::Pseudo(Pseudo::Authority),
            b":method" => Kind::Pseudo(Pseudo::Method),
            b":path" => Kind::Pseudo(Pseudo::Path),
            b":scheme" => Kind::Pseudo(Pseudo::Scheme),
            b":status" => Kind::Pseudo(Pseudo::Status),
            // Of those about a connection (RFC 9113 §8.2.2), the one that nobody else asks for.
            b"proxy-connection" => Kind::Malformed,
            _ => {
                let lower = |byte: u8| scan::is_token(byte) && !byte.is_ascii_uppercase();
                let is_name = !name.is_empty() && scan::run_of(name, lower) == name.len();
                if is_name { Kind::Field(Name::of(name)) } else { Kind::Malformed }
            }
        }
    }
}

/// Whether a field's value may be that (RFC 9113 §8.2.1): no control but the tab, and no blank at
/// either end.
pub(crate) fn is_value(value: &[u8]) -> bool {
    scan::value_end(value, 0) == value.len() && scan::trim(value).len() == value.len()
}

impl Kind {
    /// Whether a value may be that, as far as bytes go. It is asked once for each literal, not each
    /// time a table's entry is used.
    pub(crate) fn allows(self, value: &[u8]) -> bool {
        match self {
            Kind::Pseudo(Pseudo::Path) => scan::target_end(value) == value.len(),
            Kind::Pseudo(Pseudo::Method) => {
                !value.is_empty() && scan::run_of(value, scan::is_token) == value.len()
            }
            _ => is_value(value),
        }
    }
}

/// A field section.
#[derive(Debug, Default)]
pub struct Section {
    /// Names and values, one behind the other.
    bytes: Vec<u8>,
    table: FieldTable,
    pseudo: [(u16, u16); Pseudo::COUNT],
    /// A bit for each pseudo-header field that there is.
    present: u8,
    /// How many fields more, and how many bytes with 32 for each, the limits allow; less than
    /// nothing when they are passed.
    fields_left: isize,
    bytes_left: isize,
    bytes_max: isize,
    /// A bit for each known name that a field has.
    names: u64,
    is_malformed: bool,
    is_too_large: bool,
}

impl Section {
    /// An empty section.
    pub fn new() -> Section {
        Section::default()
    }

    /// Forgets everything but the memory.
    #[inline]
    pub(crate) fn begin(&mut self, limits: &SectionLimits) {
        self.bytes.clear();
        self.table.clear();
        self.present = 0;
        self.names = 0;
        (self.is_malformed, self.is_too_large) = (false, false);
        self.bytes_max = limits.bytes_max.min(SectionLimits::BYTES_MAX) as isize;
        self.bytes_left = self.bytes_max;
        self.fields_left = limits.fields_max.min(FieldTable::LINES_MAX) as isize;
    }

    /// Where the next field's name and value are to be appended.
    #[inline]
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What was appended from `start` on.
    pub(crate) fn appended(&self, start: usize) -> &[u8] {
        self.bytes.get(start..).unwrap_or_default()
    }

    /// Where the next field will start.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.bytes.len()
    }

    /// Takes what was appended from `start` on as a field, its first `name_length` bytes the name.
    #[inline(always)]
    pub(crate) fn commit(&mut self, start: usize, kind: Kind, is_valid: bool, name_length: usize) {
        let end = self.bytes.len();
        self.fields_left -= 1;
        self.bytes_left -= (end - start) as isize + 32;
        if (self.bytes_left | self.fields_left) < 0 {
            self.is_too_large = true;
            self.bytes.truncate(start);
            return;
        }
        self.is_malformed |= !is_valid;
        let value_at = ((start + name_length) as u16, end as u16);
        match kind {
            Kind::Field(name) => {
                let name_at = (start as u16, (start + name_length) as u16);
                self.table.push(Span { name, name_at, value_at });
                self.names |= 1 << name as u64;
            }
            Kind::Pseudo(pseudo) => {
                // Once each, and before all fields (RFC 9113 §8.3).
                let bit = 1 << pseudo as u8;
                self.is_malformed |= self.present & bit != 0 || self.table.len() > 0;
                self.present |= bit;
                self.pseudo[pseudo as usize] = value_at;
            }
            Kind::Malformed => self.is_malformed = true,
        }
    }

    /// Whether there was more than the limits allow.
    #[inline]
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Whether there was so much more that decoding the rest would be work for its own sake.
    #[inline]
    pub(crate) fn is_bomb(&self) -> bool {
        self.is_too_large && self.bytes_left < -3 * self.bytes_max
    }

    /// Whether it cannot be part of any message (RFC 9113 §8.2 and §8.3).
    #[inline]
    pub fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// A pseudo-header field's value.
    #[inline]
    pub fn pseudo(&self, pseudo: Pseudo) -> Option<&[u8]> {
        let (start, end) = self.pseudo[pseudo as usize];
        let is_present = self.present & 1 << pseudo as u8 != 0;
        is_present.then(|| self.bytes.get(usize::from(start)..usize::from(end)).unwrap_or_default())
    }

    /// Whether a field has one of the names whose bits are set.
    #[inline]
    pub(crate) fn has_any(&self, names: u64) -> bool {
        self.names & names != 0
    }

    /// Whether there is no pseudo-header field.
    pub(crate) fn has_no_pseudo(&self) -> bool {
        self.present == 0
    }

    /// The fields.
    #[inline]
    pub fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.table)
    }

    /// How many bytes of memory it holds.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}
