//! Long functions and long files: the limits, and a list of exceptions that only shrinks.
//!
//! `xtask/ratchet.txt` holds one exception a line, `function path name lines` or
//! `file path lines`. A new one is added by hand and argued for in review; `--update-ratchet`
//! lowers and removes. Functions of the same name in one file share a line: the longest counts.

use std::collections::BTreeMap;

use crate::source::numbered;
use crate::tree::{Tree, Violation};

pub(super) const PATH: &str = "xtask/ratchet.txt";

const FUNCTION_LINES_MAX: usize = 70;
/// Lines of a file that are not under `#[cfg(test)]`.
const FILE_LINES_MAX: usize = 500;

/// An exception's line without its number, such as `function crates/net/src/a.rs run`.
type Key = String;

/// Something longer than its limit.
struct Long {
    path: String,
    line: usize,
    lines: usize,
}

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let long = measure(tree);
    let mut violations = Vec::new();
    let mut listed = BTreeMap::new();
    for (line, text) in entries(tree) {
        let mut report = |what: String| violations.push(Violation::new(PATH, line, what));
        let Some((key, allowed)) = parse(text) else {
            report(format!("`{text}` is no exception, write `file path lines`"));
            continue;
        };
        match long.get(&key) {
            None => report(format!("`{key}` keeps its limit, remove it")),
            Some(Long { lines, .. }) if *lines < allowed => {
                report(format!("`{key}` has {lines} lines now, lower the number from {allowed}"));
            }
            Some(_) => {}
        }
        if listed.insert(key.clone(), allowed).is_some() {
            report(format!("`{key}` is listed twice, remove one"));
        }
    }
    for (key, Long { path, line, lines }) in &long {
        let what = match listed.get(key) {
            Some(allowed) if lines <= allowed => continue,
            Some(allowed) => {
                format!("`{key}` grew from {allowed} to {lines} lines, take something out")
            }
            None => format!("`{key}` has {lines} lines of at most {}, split it", limit(key)),
        };
        violations.push(Violation::new(path, *line, what));
    }
    violations
}

/// The ratchet file's text with every number as low as it can be and no needless line.
pub(super) fn lowered(tree: &Tree) -> String {
    let long = measure(tree);
    let text = tree.get(PATH).map_or("", |file| file.text.as_str());
    let mut lowered = String::new();
    for line in text.lines() {
        let kept = match parse(line) {
            None => line.to_owned(),
            Some((key, allowed)) => match long.get(&key) {
                None => continue,
                Some(Long { lines, .. }) => format!("{key} {}", allowed.min(*lines)),
            },
        };
        lowered.push_str(&kept);
        lowered.push('\n');
    }
    lowered
}

/// The lines of the ratchet file that are neither blank nor comments.
fn entries(tree: &Tree) -> impl Iterator<Item = (usize, &str)> {
    let text = tree.get(PATH).map_or("", |file| file.text.as_str());
    numbered(text).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
}

fn parse(line: &str) -> Option<(Key, usize)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (lines, key) = words.split_last()?;
    match key {
        ["function", _, _] | ["file", _] => Some((key.join(" "), lines.parse().ok()?)),
        _ => None,
    }
}

fn limit(key: &str) -> usize {
    if key.starts_with("function ") { FUNCTION_LINES_MAX } else { FILE_LINES_MAX }
}

/// Everything in the tree that is longer than its limit.
fn measure(tree: &Tree) -> BTreeMap<Key, Long> {
    let mut long: BTreeMap<Key, Long> = BTreeMap::new();
    let mut add = |key: Key, path: &str, line, lines| {
        let known = long.get(&key).map_or(0, |other| other.lines);
        if lines > limit(&key).max(known) {
            long.insert(key, Long { path: path.to_owned(), line, lines });
        }
    };
    for (file, source) in tree.rust().filter(|(file, _)| !file.is_data()) {
        let path = file.path.as_str();
        for function in source.functions() {
            let key = format!("function {path} {}", function.name);
            add(key, path, function.line, function.lines);
        }
        let lines = source.test.iter().filter(|test| !**test).count();
        add(format!("file {path}"), path, 1, lines);
    }
    long
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with a function `f` and a ratchet.
    fn tree(function_lines: usize, ratchet: &str) -> Tree {
        let code = format!("fn f() {{\n{}}}\n", "    g();\n".repeat(function_lines - 2));
        Tree::of(&[("a.rs", &code), (PATH, ratchet)])
    }

    fn found(function_lines: usize, ratchet: &str) -> Vec<String> {
        check(&tree(function_lines, ratchet)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn limits_hold_without_an_exception() {
        assert!(found(70, "").is_empty());
        assert_eq!(
            found(71, ""),
            ["a.rs:1: `function a.rs f` has 71 lines of at most 70, split it"]
        );
    }

    #[test]
    fn an_exception_only_shrinks() {
        assert!(found(80, "# why\nfunction a.rs f 80\n").is_empty());
        assert!(found(81, "function a.rs f 80")[0].contains("grew from 80 to 81"));
        assert!(found(79, "function a.rs f 80")[0].contains("lower the number from 80"));
        assert!(found(70, "function a.rs f 80")[0].contains("remove it"));
        assert!(found(70, "function a.rs 80")[0].contains("is no exception"));
        assert!(found(80, "function a.rs f 80\nfunction a.rs f 80")[0].contains("listed twice"));
    }

    #[test]
    fn files_are_measured_without_their_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(400));
        let check = |lines: usize, ratchet: &str| {
            let text = format!("{}{tests}", "\n".repeat(lines));
            check(&Tree::of(&[("a.rs", &text), (PATH, ratchet)])).len()
        };
        assert_eq!(check(500, ""), 0);
        assert_eq!(check(501, ""), 1);
        assert_eq!(check(501, "file a.rs 501"), 0);
    }

    #[test]
    fn the_update_lowers_removes_and_never_adds() {
        let ratchet = "# why\n\nfunction a.rs f 90\nfile gone.rs 600\n";
        assert_eq!(lowered(&tree(80, ratchet)), "# why\n\nfunction a.rs f 80\n");
        assert_eq!(lowered(&tree(95, ratchet)), "# why\n\nfunction a.rs f 90\n");
        assert_eq!(lowered(&tree(95, "# why\n")), "# why\n");
    }
}
