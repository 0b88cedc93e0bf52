//! Rust text taken apart far enough for the rules: what is code, what is comment, what is test.
//!
//! A scanner, not a parser: it knows strings, raw strings, character literals, lifetimes and
//! nested comments, and counts braces. It does not expand macros or resolve names.

/// One Rust file with its layers apart. Both texts have the lines and columns of the original;
/// what belongs to the other layer is blank, and so are literals in both.
pub(crate) struct Source {
    pub(crate) code: String,
    pub(crate) comments: String,
    /// For each line, whether it belongs to an item under `#[cfg(test)]`.
    pub(crate) test: Vec<bool>,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Where `fn` stands, counted from 1.
    pub(crate) line: usize,
    /// From `fn` to the closing brace, both included.
    pub(crate) lines: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut source = Self { code: String::new(), comments: String::new(), test: Vec::new() };
        let mut at = 0;
        while at < chars.len() {
            let (kind, length) = piece(&chars, at);
            for &c in &chars[at..at + length] {
                source.push(kind, c);
            }
            at += length;
        }
        source.test = test_lines(&source.code);
        source
    }

    fn push(&mut self, kind: Kind, c: char) {
        let blank = if c == '\n' { c } else { ' ' };
        self.code.push(if kind == Kind::Code { c } else { blank });
        self.comments.push(if kind == Kind::Comment { c } else { blank });
    }

    /// The lines of code with their numbers from 1, those of tests left out.
    pub(crate) fn code_outside_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.code).filter(|(line, _)| !self.test[line - 1])
    }

    /// The functions that have a body, in order.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let code = self.code.as_str();
        occurrences(code, "fn").filter_map(|start| function(code, start)).collect()
    }

    /// The lines that name `path` (such as `std::io`), also in a group: `use std::{io, fmt}`.
    pub(crate) fn lines_naming(&self, path: &str) -> Vec<usize> {
        let code = self.code.as_str();
        let mut lines: Vec<usize> =
            occurrences(code, path).map(|start| line_of(code, start)).collect();
        if let Some((head, tail)) = path.rsplit_once("::") {
            for start in occurrences(code, &format!("{head}::{{")) {
                let open = start + head.len() + 2;
                lines.extend(group_members(code, open, tail).map(|at| line_of(code, at)));
            }
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// Lines with their numbers, counted from 1.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Whether `pattern` occurs in `text`, not as a part of a longer word.
pub(crate) fn mentions(text: &str, pattern: &str) -> bool {
    occurrences(text, pattern).next().is_some()
}

/// Where `pattern` occurs in `text`, not as a part of a longer word.
pub(crate) fn occurrences<'a>(text: &'a str, pattern: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (opens, closes) = (is_word(pattern.chars().next()), is_word(pattern.chars().next_back()));
    text.match_indices(pattern).map(|(start, _)| start).filter(move |&start| {
        let before = text[..start].chars().next_back();
        let after = text[start + pattern.len()..].chars().next();
        !(opens && is_word(before) || closes && is_word(after))
    })
}

/// What stands at `at`, and how many characters of it.
fn piece(chars: &[char], at: usize) -> (Kind, usize) {
    let rest = &chars[at..];
    let after_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match rest {
        ['/', '/', ..] => {
            (Kind::Comment, rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()))
        }
        ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
        ['"', ..] => (Kind::Literal, quoted(rest, '"')),
        ['\'', '\\', ..] => (Kind::Literal, quoted(rest, '\'')),
        ['\'', _, '\'', ..] => (Kind::Literal, 3),
        ['r', ..] | ['b' | 'c', 'r', ..] if !after_word => {
            raw_string(rest).map_or((Kind::Code, 1), |length| (Kind::Literal, length))
        }
        _ => (Kind::Code, 1),
    }
}

/// The length of a comment that may hold others.
fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a literal between quotes, with its escapes.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The length of a raw string that opens here, if one does; `r#name` is none.
fn raw_string(rest: &[char]) -> Option<usize> {
    let prefix = rest.iter().position(|&c| c == 'r')? + 1;
    let hashes = rest[prefix..].iter().take_while(|&&c| c == '#').count();
    let body = prefix + hashes + 1;
    if rest.get(body - 1) != Some(&'"') {
        return None;
    }
    let closes = |at: &usize| {
        rest[*at] == '"' && rest[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes
    };
    let end = (body..rest.len()).find(closes).map_or(rest.len(), |at| at + 1 + hashes);
    Some(end)
}

/// From `start`, the next block outside parentheses and brackets: where it opens and where its
/// end is. `None` when a semicolon comes first.
fn block(code: &str, start: usize) -> Option<(usize, usize)> {
    let mut nested = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' => nested += 1,
            b')' | b']' => nested = nested.saturating_sub(1),
            b';' if nested == 0 => return None,
            b'{' if nested == 0 => return Some((at, closing_brace(code, at))),
            _ => {}
        }
    }
    None
}

/// The brace that closes the one at `open`; the end of the text when none does.
fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// The function whose `fn` is at `start`; a pointer type and a bodiless signature are none.
fn function(code: &str, start: usize) -> Option<Function> {
    let rest = code[start + 2..].trim_start();
    let name: String =
        rest.chars().take_while(|&c| c.is_alphanumeric() || matches!(c, '_' | '#' | '$')).collect();
    if name.is_empty() {
        return None;
    }
    let (_, end) = block(code, start)?;
    let line = line_of(code, start);
    Some(Function { name, line, lines: line_of(code, end) - line + 1 })
}

/// Which lines belong to an item under `#[cfg(test)]`.
fn test_lines(code: &str) -> Vec<bool> {
    const MARK: &str = "#[cfg(test)]";
    let mut test = vec![false; code.lines().count()];
    for (start, _) in code.match_indices(MARK) {
        let after = start + MARK.len();
        let end = match block(code, after) {
            Some((_, end)) => end,
            None => code[after..].find(';').map_or(code.len(), |length| after + length),
        };
        let last = line_of(code, end).min(test.len());
        test[line_of(code, start) - 1..last].fill(true);
    }
    test
}

/// Where `member` opens an entry of the group of imports whose brace is at `open`.
fn group_members<'a>(
    code: &'a str,
    open: usize,
    member: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let group = &code[open..closing_brace(code, open)];
    occurrences(group, member)
        .filter(|&at| {
            let before = &group[..at];
            let depth = before.matches('{').count() - before.matches('}').count();
            depth == 1 && before.trim_end().ends_with(['{', ','])
        })
        .map(move |at| open + at)
}

/// The number, from 1, of the line that holds the byte at `at`.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::new(text).code
    }

    #[test]
    fn literals_and_comments_are_blank_in_code() {
        for (text, visible) in [
            (r#"a("{ \" }") // }"#, "a()"),
            ("r#\"\"}\"# + br\"}\" + c\"}\"", "++c"),
            ("/* { /* { */ */ x", "x"),
            (r"'{' + '\'' + '\u{7d}' + b'}' x", "+++bx"),
        ] {
            let code = code(text);
            assert_eq!(code.replace(' ', ""), visible);
            assert_eq!(code.chars().count(), text.chars().count());
        }
    }

    #[test]
    fn lifetimes_and_raw_names_stay_code() {
        for text in ["fn f<'a>(x: &'a str) {}", "'outer: loop {}", "r#fn", "bar", "char"] {
            assert_eq!(code(text), text);
        }
    }

    #[test]
    fn comments_keep_their_place() {
        let source = Source::new("let x = \"// no\"; // yes\nnext");
        assert_eq!(source.comments, "                 // yes\n    ");
    }

    #[test]
    fn functions_are_measured_from_fn_to_brace() {
        let text = "fn one() {}\nfn two(\n    x: [u8; { 3 }],\n) {\n    '}';\n}\n\
                    trait T { fn none(&self); }\ntype F = fn(u8) -> u8;\n";
        let function = |name: &str, line, lines| Function { name: name.to_owned(), line, lines };
        assert_eq!(Source::new(text).functions(), [function("one", 1, 1), function("two", 2, 5)]);
    }

    #[test]
    fn test_items_are_marked() {
        let text = "fn a() {}\n#[cfg(test)]\nuse x;\nfn b() {}\n#[cfg(test)]\nmod tests {\n}\n";
        let source = Source::new(text);
        assert_eq!(source.test, [false, true, true, false, true, true, true]);
        let outside: Vec<usize> = source.code_outside_tests().map(|(line, _)| line).collect();
        assert_eq!(outside, [1, 4]);
    }

    #[test]
    fn paths_are_found_whole_and_in_groups() {
        let naming = |text: &str| Source::new(text).lines_naming("std::io");
        assert_eq!(naming("use std::io::Read;"), [1]);
        assert_eq!(naming("use std::{\n    fmt,\n    io::{self, Read},\n};"), [3]);
        assert!(naming("use std::iota; // std::io\nuse std::{x::io, rio, fmt::{io}};").is_empty());
    }

    #[test]
    fn mentions_wants_whole_words() {
        assert!(mentions("x dbg!(y)", "dbg!("));
        assert!(!mentions("xdbg!(y)", "dbg!("));
        assert!(!mentions("unsafe_code", "unsafe"));
    }
}
