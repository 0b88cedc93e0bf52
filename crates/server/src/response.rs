//! A response in the making. A worker keeps one and uses it for every request, so that an answer
//! is put together without allocating.

use crate::files::entry::FieldSet;
use crate::files::view::Held;
use serval_proto::h1::write;
use serval_proto::status::Status;
use std::ops::Range;

/// The answer to one request, of no particular version of HTTP.
///
/// Its field lines are held as `name: value` with CRLF: first those of the file that is served,
/// written when it entered the cache, then those of this answer alone.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: Status,
    /// The file that is served and which of its field lines to use.
    file: Option<(Held, FieldSet)>,
    /// Field lines of this answer alone.
    pub fields: Vec<u8>,
    /// Bytes of our own that the body is made of.
    own: Vec<u8>,
    /// The body, in order.
    body: Vec<Segment>,
}

/// A run of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Bytes of [`Response::own`].
    Own(Range<usize>),
    /// Bytes of the file.
    File(Range<u64>),
}

impl Response {
    /// An answer that says nothing yet.
    pub fn new() -> Response {
        Response {
            status: Status::OK,
            file: None,
            fields: Vec::new(),
            own: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Forgets everything but the memory.
    #[inline]
    pub fn reset(&mut self, status: Status) {
        self.status = status;
        self.file = None;
        self.fields.clear();
        self.own.clear();
        self.body.clear();
    }

    /// Serves from this file, with these of its field lines.
    #[inline]
    pub fn set_file(&mut self, entry: Held, set: FieldSet) {
        self.file = Some((entry, set));
    }

    /// Adds a run of the file to the body.
    #[inline]
    pub fn push_file(&mut self, range: Range<u64>) {
        self.body.push(Segment::File(range));
    }

    /// Adds what `write` appends to the body.
    pub fn push_own(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.own.len();
        write(&mut self.own);
        self.body.push(Segment::Own(start..self.own.len()));
    }

    /// Adds a field line.
    pub fn field(&mut self, name: &str, value: &[u8]) {
        write::field(name, value, &mut self.fields);
    }

    /// The field lines that the file brings.
    #[inline]
    pub fn file_fields(&self) -> &[u8] {
        match &self.file {
            Some((entry, set)) => entry.file().map_or(&[], |file| file.fields(*set)),
            None => &[],
        }
    }

    /// The file that is served.
    #[inline]
    pub fn entry(&self) -> Option<&Held> {
        self.file.as_ref().map(|(entry, _)| entry)
    }

    /// The file, if the answer is all of it and says nothing but what the file's own field lines
    /// say: the same answer for everybody.
    #[inline]
    pub fn whole_file(&self) -> Option<&Held> {
        match &self.file {
            Some((entry, FieldSet::Whole)) if self.fields.is_empty() && self.body.len() == 1 => {
                Some(entry)
            }
            _ => None,
        }
    }

    /// The bytes of our own in that run.
    pub fn own(&self, range: &Range<usize>) -> &[u8] {
        self.own.get(range.clone()).unwrap_or_default()
    }

    /// The body, in order.
    #[inline]
    pub fn body(&self) -> &[Segment] {
        &self.body
    }

    /// How long the body is, in bytes.
    pub fn content_length(&self) -> u64 {
        let length = |segment: &Segment| match segment {
            Segment::Own(range) => range.len() as u64,
            Segment::File(range) => range.end - range.start,
        };
        self.body.iter().map(length).sum()
    }

    /// Takes the body away and leaves the field lines: the answer to HEAD.
    pub fn drop_body(&mut self) {
        self.body.clear();
    }
}

impl Default for Response {
    fn default() -> Self {
        Response::new()
    }
}
