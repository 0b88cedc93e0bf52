//! Entity tags (RFC 9110 §8.8.3): reading one, reading a list of them, comparing two.
//!
//! They decide whether a client's copy is still good. What a tag's text means is its maker's
//! business and not known here.

/// An entity tag, as a view into the field value that holds it.
///
/// There is no `==` that ignores weakness: callers say which of the two comparisons they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag<'a> {
    /// Whether it was marked with `W/`.
    pub weak: bool,
    /// The text between the quotes.
    pub opaque: &'a [u8],
}

impl<'a> EntityTag<'a> {
    /// Reads exactly one tag: nothing may stand before or after it.
    pub fn parse(value: &'a [u8]) -> Option<EntityTag<'a>> {
        match take(value)? {
            (tag, []) => Some(tag),
            _ => None,
        }
    }

    /// Both are strong and have the same text (RFC 9110 §8.8.3.2).
    #[inline]
    pub fn strong_eq(&self, other: &EntityTag<'_>) -> bool {
        !self.weak && !other.weak && self.opaque == other.opaque
    }

    /// Both have the same text (RFC 9110 §8.8.3.2).
    #[inline]
    pub fn weak_eq(&self, other: &EntityTag<'_>) -> bool {
        self.opaque == other.opaque
    }
}

/// Reads the tags of an `If-Match` or `If-None-Match` line, in order.
///
/// Empty elements are skipped (RFC 9110 §5.6.1). The list ends before the first element that is
/// not a tag, because what stands behind it can no longer be told apart.
pub fn list(value: &[u8]) -> List<'_> {
    List { rest: value }
}

/// The tags of one line; made by [`list`].
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for List<'a> {
    type Item = EntityTag<'a>;

    fn next(&mut self) -> Option<EntityTag<'a>> {
        let element = skip(self.rest, |byte| matches!(byte, b' ' | b'\t' | b','));
        self.rest = &[];
        let (tag, rest) = take(element)?;
        match skip(rest, |byte| matches!(byte, b' ' | b'\t')) {
            [] => {}
            [b',', rest @ ..] => self.rest = rest,
            _ => return None,
        }
        Some(tag)
    }
}

impl std::iter::FusedIterator for List<'_> {}

/// Reads the tag that `value` begins with, and gives what follows it.
fn take(value: &[u8]) -> Option<(EntityTag<'_>, &[u8])> {
    let (weak, value) = match value.strip_prefix(b"W/") {
        Some(value) => (true, value),
        None => (false, value),
    };
    let value = value.strip_prefix(b"\"")?;
    let end = value.iter().position(|byte| !is_etagc(*byte))?;
    let (opaque, rest) = value.split_at_checked(end)?;
    Some((EntityTag { weak, opaque }, rest.strip_prefix(b"\"")?))
}

/// `value` without the bytes at its start that `unwanted` names.
fn skip(value: &[u8], unwanted: impl Fn(u8) -> bool) -> &[u8] {
    let start = value.iter().position(|byte| !unwanted(*byte));
    start.and_then(|start| value.get(start..)).unwrap_or_default()
}

/// What may stand between the quotes: no quote, no blank, no control character.
fn is_etagc(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x7e | 0x80..=0xff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strong(opaque: &[u8]) -> EntityTag<'_> {
        EntityTag { weak: false, opaque }
    }

    fn weak(opaque: &[u8]) -> EntityTag<'_> {
        EntityTag { weak: true, opaque }
    }

    #[test]
    fn one_tag_is_read() {
        assert_eq!(EntityTag::parse(b"\"xyzzy\""), Some(strong(b"xyzzy")));
        assert_eq!(EntityTag::parse(b"W/\"xyzzy\""), Some(weak(b"xyzzy")));
        assert_eq!(EntityTag::parse(b"\"\""), Some(strong(b"")));
        assert_eq!(EntityTag::parse(b"\"!#,\x7e\x80\xff\\\""), Some(strong(b"!#,\x7e\x80\xff\\")));
    }

    #[test]
    fn anything_but_one_tag_is_refused() {
        let cases: [&[u8]; 15] = [
            b"",
            b"\"",
            b"a",
            b"xyzzy",
            b"\"a",
            b"a\"",
            b"w/\"a\"",
            b"W\"a\"",
            b"W/ \"a\"",
            b"W/",
            b"\"a b\"",
            b"\"a\tb\"",
            b"\"a\x7f\"",
            b" \"a\"",
            b"\"a\" ",
        ];
        for case in cases {
            assert_eq!(EntityTag::parse(case), None, "{case:?}");
        }
        assert_eq!(EntityTag::parse(b"\"a\"\"b\""), None);
        assert_eq!(EntityTag::parse(b"\"a\",\"b\""), None);
        assert_eq!(EntityTag::parse(b"*"), None);
        assert_eq!(EntityTag::parse(b"\"a\0\""), None);
    }

    /// The table of RFC 9110 §8.8.3.2.
    #[test]
    fn tags_compare_as_the_rfc_shows() {
        let cases = [
            (weak(b"1"), weak(b"1"), false, true),
            (weak(b"1"), weak(b"2"), false, false),
            (weak(b"1"), strong(b"1"), false, true),
            (strong(b"1"), strong(b"1"), true, true),
        ];
        for (a, b, strongly, weakly) in cases {
            assert_eq!(a.strong_eq(&b), strongly, "{a:?} {b:?}");
            assert_eq!(b.strong_eq(&a), strongly, "{a:?} {b:?}");
            assert_eq!(a.weak_eq(&b), weakly, "{a:?} {b:?}");
            assert_eq!(b.weak_eq(&a), weakly, "{a:?} {b:?}");
        }
    }

    fn tags(value: &[u8]) -> Vec<EntityTag<'_>> {
        list(value).collect()
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(tags(b"\"xyzzy\""), [strong(b"xyzzy")]);
        assert_eq!(
            tags(b"\"xyzzy\", \"r2d2xxxx\", \"c3piozzzz\""),
            [strong(b"xyzzy"), strong(b"r2d2xxxx"), strong(b"c3piozzzz")]
        );
        assert_eq!(tags(b"W/\"a\",\"b\"\t,\tW/\"c\""), [weak(b"a"), strong(b"b"), weak(b"c")]);
        assert_eq!(tags(b"\"a,b\", \"c\""), [strong(b"a,b"), strong(b"c")]);
    }

    #[test]
    fn empty_elements_are_skipped() {
        assert_eq!(tags(b""), []);
        assert_eq!(tags(b" , ,, "), []);
        assert_eq!(tags(b",\"a\" ,, , \"b\",  "), [strong(b"a"), strong(b"b")]);
    }

    #[test]
    fn a_list_ends_where_it_is_broken() {
        assert_eq!(tags(b"a, \"b\""), []);
        assert_eq!(tags(b"*"), []);
        assert_eq!(tags(b"\"a\", b, \"c\""), [strong(b"a")]);
        assert_eq!(tags(b"\"a\", \"b"), [strong(b"a")]);
        assert_eq!(tags(b"\"a\", \"b\"x, \"c\""), [strong(b"a")]);
        assert_eq!(tags(b"\"a\" \"b\""), []);
        assert_eq!(tags(b"\"a\"\n,\"b\"\x0b"), []);
        let mut broken = list(b"x, \"a\"");
        assert_eq!((broken.next(), broken.next()), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(value in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = EntityTag::parse(&value);
            let _ = list(&value).count();
        }

        #[test]
        fn what_is_joined_is_read_again(tags in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(0x23..=0x7e_u8, 0..9)),
            0..9,
        )) {
            let mut value = Vec::new();
            for (weak, opaque) in &tags {
                value.extend_from_slice(if *weak { b" , W/\"" } else { b",\t\"" });
                value.extend_from_slice(opaque);
                value.push(b'"');
            }
            let read: Vec<_> = list(&value).map(|tag| (tag.weak, tag.opaque.to_vec())).collect();
            prop_assert_eq!(read, tags);
        }
    }
}
