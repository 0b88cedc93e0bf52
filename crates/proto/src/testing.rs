//! Heads made from text, for the tests of this crate only.

use crate::field::{FieldTable, Fields, Name, Span};

/// A head that owns its bytes, so that a test can borrow [`Fields`] from it.
pub(crate) struct Head {
    bytes: Vec<u8>,
    table: FieldTable,
}

impl Head {
    /// Lines of `name: value`, one per text line. Values must be written without blanks around
    /// them, as a parser would hand them on.
    pub(crate) fn of(text: &str) -> Head {
        let mut table = FieldTable::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let body = line.trim_end_matches('\n');
            let colon = body.find(": ").expect("a colon and a space");
            let name_at = (at as u16, (at + colon) as u16);
            let value_at = ((at + colon + 2) as u16, (at + body.len()) as u16);
            table.push(Span { name: Name::of(&body.as_bytes()[..colon]), name_at, value_at });
            at += line.len();
        }
        Head { bytes: text.as_bytes().to_vec(), table }
    }

    /// The field lines.
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.bytes, &self.table)
    }
}
