//! Preconditions (RFC 9110 §13): whether a request goes ahead, given what the client already has.
//!
//! One function for all handlers, so that files, listings and cached answers cannot disagree. How
//! validators are made is not known here, nor is the time: the caller hands in both.

use crate::date;
use crate::etag::{self, EntityTag};
use crate::field::{Fields, Name};

/// What identifies the current state of a representation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validators<'a> {
    /// Its entity tag, if it has one.
    pub etag: Option<EntityTag<'a>>,
    /// When it last changed, in Unix seconds, if that is known.
    pub last_modified: Option<i64>,
}

/// What a request's preconditions ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Do what the method says; a `Range` counts if [`range_applies`].
    Proceed,
    /// Answer 304: the client's copy is still good.
    NotModified,
    /// Answer 412: the representation is not the one that the client means.
    PreconditionFailed,
}

/// Evaluates the preconditions in the order of RFC 9110 §13.2.2.
///
/// `safe` says that the method is GET or HEAD. `current` is `None` if there is no representation.
/// `now` is in Unix seconds and used only to read two-digit years.
///
/// A field that is repeated is one list. The part of a line behind a malformed tag matches
/// nothing. `*` counts only if it is all there is. A date that is invalid or repeated is ignored
/// (RFC 9110 §13.1.3, §13.1.4), as is one where the current date is not known.
pub fn evaluate(
    fields: &Fields<'_>,
    safe: bool,
    current: Option<&Validators<'_>>,
    now: i64,
) -> Verdict {
    let modified = current.and_then(|current| current.last_modified);
    if fields.has(Name::IfMatch) {
        if !any_matches(fields, Name::IfMatch, current, EntityTag::strong_eq) {
            return Verdict::PreconditionFailed;
        }
    } else if let Some(modified) = modified
        && let Some(date) = sole_date(fields, Name::IfUnmodifiedSince, now)
        && modified > date
    {
        return Verdict::PreconditionFailed;
    }
    if fields.has(Name::IfNoneMatch) {
        if any_matches(fields, Name::IfNoneMatch, current, EntityTag::weak_eq) {
            return if safe { Verdict::NotModified } else { Verdict::PreconditionFailed };
        }
    } else if safe
        && let Some(modified) = modified
        && let Some(date) = sole_date(fields, Name::IfModifiedSince, now)
        && modified <= date
    {
        return Verdict::NotModified;
    }
    Verdict::Proceed
}

/// Whether `If-Range` lets the request's `Range` count (RFC 9110 §13.1.5); true without the field.
///
/// A tag must be the current one by strong comparison. A date must be exactly the current one, and
/// that must lie at least one second before `now` (Unix seconds): while its second lasts, another
/// change would have the same date. A change earlier in that second is not noticed, which is why
/// clients should prefer tags. A malformed or repeated field lets no range count.
pub fn range_applies(fields: &Fields<'_>, current: Option<&Validators<'_>>, now: i64) -> bool {
    if !fields.has(Name::IfRange) {
        return true;
    }
    let (Some(value), Some(current)) = (sole(fields, Name::IfRange), current) else { return false };
    if let Some(tag) = EntityTag::parse(value) {
        return current.etag.is_some_and(|etag| etag.strong_eq(&tag));
    }
    match (date::parse(value, now), current.last_modified) {
        (Some(date), Some(modified)) => date == modified && modified < now,
        _ => false,
    }
}

/// Whether `*` or one of the listed tags stands for the current representation.
fn any_matches<'a>(
    fields: &Fields<'a>,
    name: Name,
    current: Option<&Validators<'a>>,
    equal: impl Fn(&EntityTag<'a>, &EntityTag<'a>) -> bool,
) -> bool {
    let Some(current) = current else { return false };
    if sole(fields, name) == Some(b"*") {
        return true;
    }
    let Some(etag) = current.etag else { return false };
    fields.all(name).flat_map(etag::list).any(|tag| equal(&tag, &etag))
}

/// The date of a field that has one line.
fn sole_date(fields: &Fields<'_>, name: Name, now: i64) -> Option<i64> {
    sole(fields, name).and_then(|value| date::parse(value, now))
}

/// The value of a field that has one line.
fn sole<'a>(fields: &Fields<'a>, name: Name) -> Option<&'a [u8]> {
    let mut values = fields.all(name);
    let value = values.next();
    if values.next().is_some() { None } else { value }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{NotModified, PreconditionFailed, Proceed};
    use super::*;
    use crate::testing::Head;
    use proptest::prelude::*;

    /// 2026-11-20T12:00:00Z
    const NOW: i64 = 1_795_176_000;
    /// 1994-10-29T19:43:31Z
    const MODIFIED: i64 = 783_459_811;

    const BEFORE: &str = "Sat, 29 Oct 1994 19:43:30 GMT";
    const SAME: &str = "Sat, 29 Oct 1994 19:43:31 GMT";
    const AFTER: &str = "Sat, 29 Oct 1994 19:43:32 GMT";

    const STRONG: Validators<'_> = Validators {
        etag: Some(EntityTag { weak: false, opaque: b"a" }),
        last_modified: Some(MODIFIED),
    };
    const WEAK: Validators<'_> = Validators {
        etag: Some(EntityTag { weak: true, opaque: b"a" }),
        last_modified: Some(MODIFIED),
    };
    const BARE: Validators<'_> = Validators { etag: None, last_modified: None };

    fn verdict(text: &str, safe: bool, current: Option<&Validators<'_>>) -> Verdict {
        evaluate(&Head::of(text).fields(), safe, current, NOW)
    }

    /// The verdicts for a strong tag on a safe and on another method.
    fn both(text: &str) -> (Verdict, Verdict) {
        (verdict(text, true, Some(&STRONG)), verdict(text, false, Some(&STRONG)))
    }

    #[test]
    fn nothing_asked_is_nothing_refused() {
        assert_eq!(both(""), (Proceed, Proceed));
        assert_eq!(both("Host: a\nRange: bytes=0-1"), (Proceed, Proceed));
        assert_eq!(verdict("", true, None), Proceed);
    }

    #[test]
    fn if_match_compares_strongly() {
        assert_eq!(both("If-Match: \"a\""), (Proceed, Proceed));
        assert_eq!(both("If-Match: \"b\", \"a\""), (Proceed, Proceed));
        assert_eq!(both("If-Match: \"b\"\nIf-Match: \"a\""), (Proceed, Proceed));
        assert_eq!(both("If-Match: *"), (Proceed, Proceed));
        for value in ["\"b\"", "W/\"a\"", "a", "", "*, \"b\"", "\"b\", *", "b, \"a\""] {
            let text = format!("If-Match: {value}");
            assert_eq!(both(&text), (PreconditionFailed, PreconditionFailed), "{value}");
        }
        assert_eq!(verdict("If-Match: \"a\"", true, Some(&WEAK)), PreconditionFailed);
        assert_eq!(verdict("If-Match: W/\"a\"", true, Some(&WEAK)), PreconditionFailed);
        assert_eq!(verdict("If-Match: *", true, Some(&WEAK)), Proceed);
        assert_eq!(verdict("If-Match: *", true, Some(&BARE)), Proceed);
        assert_eq!(verdict("If-Match: \"a\"", true, Some(&BARE)), PreconditionFailed);
        assert_eq!(verdict("If-Match: *", false, None), PreconditionFailed);
        assert_eq!(verdict("If-Match: \"a\"", false, None), PreconditionFailed);
    }

    #[test]
    fn if_none_match_compares_weakly() {
        for value in ["\"a\"", "W/\"a\"", "\"b\", W/\"a\"", "*", "\"b\", , \"a\", c"] {
            let text = format!("If-None-Match: {value}");
            assert_eq!(both(&text), (NotModified, PreconditionFailed), "{value}");
            assert_eq!(verdict(&text, true, Some(&WEAK)), NotModified, "{value}");
        }
        let two_lines = "If-None-Match: \"b\"\nHost: x\nIf-None-Match: \"a\"";
        assert_eq!(both(two_lines), (NotModified, PreconditionFailed));
        for value in ["\"b\"", "", "a", "b, \"a\"", "*, \"b\"", "\"A\""] {
            assert_eq!(both(&format!("If-None-Match: {value}")), (Proceed, Proceed), "{value}");
        }
        assert_eq!(both("If-None-Match: *\nIf-None-Match: *"), (Proceed, Proceed));
        assert_eq!(verdict("If-None-Match: *", false, None), Proceed);
        assert_eq!(verdict("If-None-Match: \"a\"", true, None), Proceed);
        assert_eq!(verdict("If-None-Match: \"a\"", true, Some(&BARE)), Proceed);
        assert_eq!(verdict("If-None-Match: *", true, Some(&BARE)), NotModified);
    }

    #[test]
    fn if_modified_since_is_for_get_and_head() {
        assert_eq!(both(&format!("If-Modified-Since: {BEFORE}")), (Proceed, Proceed));
        assert_eq!(both(&format!("If-Modified-Since: {SAME}")), (NotModified, Proceed));
        assert_eq!(both(&format!("If-Modified-Since: {AFTER}")), (NotModified, Proceed));
        let text = format!("If-Modified-Since: {SAME}");
        assert_eq!(verdict(&text, true, Some(&BARE)), Proceed);
        assert_eq!(verdict(&text, true, None), Proceed);
    }

    #[test]
    fn if_unmodified_since_guards_against_change() {
        let refused = (PreconditionFailed, PreconditionFailed);
        assert_eq!(both(&format!("If-Unmodified-Since: {BEFORE}")), refused);
        assert_eq!(both(&format!("If-Unmodified-Since: {SAME}")), (Proceed, Proceed));
        assert_eq!(both(&format!("If-Unmodified-Since: {AFTER}")), (Proceed, Proceed));
        let text = format!("If-Unmodified-Since: {BEFORE}");
        assert_eq!(verdict(&text, true, Some(&BARE)), Proceed);
        assert_eq!(verdict(&text, true, None), Proceed);
    }

    #[test]
    fn invalid_and_repeated_dates_are_ignored() {
        for value in ["", "0", "yesterday", "Sat, 29 Oct 1994 19:43:31", "1994-10-29"] {
            assert_eq!(both(&format!("If-Modified-Since: {value}")), (Proceed, Proceed));
            assert_eq!(both(&format!("If-Unmodified-Since: {value}")), (Proceed, Proceed));
        }
        for name in ["If-Modified-Since", "If-Unmodified-Since"] {
            let date = if name == "If-Modified-Since" { AFTER } else { BEFORE };
            assert_eq!(both(&format!("{name}: {date}\n{name}: {date}")), (Proceed, Proceed));
            assert_eq!(both(&format!("{name}: {date}, {date}")), (Proceed, Proceed));
        }
    }

    #[test]
    fn tags_win_over_dates() {
        let text = format!("If-Match: \"a\"\nIf-Unmodified-Since: {BEFORE}");
        assert_eq!(both(&text), (Proceed, Proceed));
        let text = format!("If-None-Match: \"b\"\nIf-Modified-Since: {AFTER}");
        assert_eq!(both(&text), (Proceed, Proceed));
        let text = format!("If-None-Match: \"a\"\nIf-Modified-Since: {BEFORE}");
        assert_eq!(both(&text), (NotModified, PreconditionFailed));
        // A tag that cannot be read is still a tag field.
        let text = format!("If-None-Match: nonsense\nIf-Modified-Since: {AFTER}");
        assert_eq!(both(&text), (Proceed, Proceed));
    }

    #[test]
    fn what_fails_comes_before_what_is_not_modified() {
        let text = "If-Match: \"b\"\nIf-None-Match: \"a\"";
        assert_eq!(both(text), (PreconditionFailed, PreconditionFailed));
        let text = "If-Match: \"a\"\nIf-None-Match: \"a\"";
        assert_eq!(both(text), (NotModified, PreconditionFailed));
        let text = format!("If-Unmodified-Since: {BEFORE}\nIf-Modified-Since: {AFTER}");
        assert_eq!(both(&text), (PreconditionFailed, PreconditionFailed));
        let text = format!("If-Unmodified-Since: {SAME}\nIf-Modified-Since: {SAME}");
        assert_eq!(both(&text), (NotModified, Proceed));
    }

    fn applies(text: &str, current: Option<&Validators<'_>>, now: i64) -> bool {
        range_applies(&Head::of(text).fields(), current, now)
    }

    #[test]
    fn a_range_applies_to_the_same_representation_only() {
        assert!(applies("Range: bytes=0-1", Some(&BARE), NOW));
        assert!(applies("", None, NOW));
        assert!(applies("If-Range: \"a\"", Some(&STRONG), NOW));
        assert!(!applies("If-Range: \"b\"", Some(&STRONG), NOW));
        assert!(!applies("If-Range: W/\"a\"", Some(&STRONG), NOW));
        assert!(!applies("If-Range: W/\"a\"", Some(&WEAK), NOW));
        assert!(!applies("If-Range: \"a\"", Some(&WEAK), NOW));
        assert!(!applies("If-Range: \"a\"", Some(&BARE), NOW));
        assert!(!applies("If-Range: \"a\"", None, NOW));
        for value in ["", "*", "a", "\"a\", \"a\"", "\"a", "yesterday"] {
            assert!(!applies(&format!("If-Range: {value}"), Some(&STRONG), NOW), "{value}");
        }
        assert!(!applies("If-Range: \"a\"\nIf-Range: \"a\"", Some(&STRONG), NOW));
    }

    #[test]
    fn a_date_lets_a_range_apply_if_it_is_exact_and_past() {
        assert!(applies(&format!("If-Range: {SAME}"), Some(&STRONG), NOW));
        assert!(applies(&format!("If-Range: {SAME}"), Some(&WEAK), NOW));
        assert!(!applies(&format!("If-Range: {BEFORE}"), Some(&STRONG), NOW));
        assert!(!applies(&format!("If-Range: {AFTER}"), Some(&STRONG), NOW));
        assert!(!applies(&format!("If-Range: {SAME}"), Some(&BARE), NOW));
        assert!(!applies(&format!("If-Range: {SAME}"), Some(&STRONG), MODIFIED));
        assert!(!applies(&format!("If-Range: {SAME}"), Some(&STRONG), MODIFIED - 1));
        assert!(applies(&format!("If-Range: {SAME}"), Some(&STRONG), MODIFIED + 1));
    }

    const NAMES: [&str; 5] =
        ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"];

    proptest! {
        #[test]
        fn any_values_are_survived(
            lines in prop::collection::vec((0..5_usize, "[ -~]{0,40}"), 0..8),
            safe: bool,
            now: i64,
        ) {
            let mut text = String::new();
            for (name, value) in &lines {
                text += &format!("{}: {value}\n", NAMES[*name]);
            }
            let head = Head::of(&text);
            for current in [None, Some(&STRONG), Some(&WEAK), Some(&BARE)] {
                let verdict = evaluate(&head.fields(), safe, current, now);
                prop_assert!(safe || verdict != NotModified);
                prop_assert!(current.is_some() || verdict != NotModified);
                let _ = range_applies(&head.fields(), current, now);
            }
        }
    }
}
