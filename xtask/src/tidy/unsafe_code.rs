//! `unsafe` lives behind walls of its own: only in the files listed here, each time with a
//! `SAFETY:` comment that says why it is sound.

use crate::source::{mentions, numbered};
use crate::tree::{Tree, Violation};

/// The files that may hold unsafe code.
const ALLOWED: &[&str] = &["crates/net/src/sys.rs"];

/// How far above the comment may begin.
const REACH_LINES: usize = 6;

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (file, source) in tree.rust() {
        let comments: Vec<&str> = source.comments.lines().collect();
        for (line, _) in numbered(&source.code).filter(|(_, text)| mentions(text, "unsafe")) {
            let near = &comments[line.saturating_sub(REACH_LINES + 1)..line];
            if !ALLOWED.contains(&file.path.as_str()) {
                violations.push(file.violation(
                    line,
                    "`unsafe` outside the files that may hold it, find a safe way",
                ));
            } else if !near.iter().any(|comment| comment.contains("SAFETY:")) {
                violations.push(file.violation(
                    line,
                    "`unsafe` without a `SAFETY:` comment above, say why it is sound",
                ));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn unsafe_needs_a_listed_file_and_a_reason() {
        let bare = "fn f() { unsafe { g() } }";
        let reasoned = "fn f() {\n    // SAFETY: g has no conditions.\n    unsafe { g() }\n}";
        assert_eq!(found("crates/net/src/sys.rs", reasoned), 0);
        assert_eq!(found("crates/net/src/sys.rs", bare), 1);
        assert_eq!(found("crates/net/src/stream.rs", reasoned), 1);
    }

    #[test]
    fn only_code_counts() {
        let text = "#![forbid(unsafe_code)]\n// unsafe\nconst X: &str = \"unsafe\";";
        assert_eq!(found("crates/net/src/stream.rs", text), 0);
    }

    #[test]
    fn a_reason_far_away_is_none() {
        let text = format!("// SAFETY: x\n{}unsafe {{ g() }}", "\n".repeat(REACH_LINES));
        assert_eq!(found("crates/net/src/sys.rs", &text), 1);
    }
}
