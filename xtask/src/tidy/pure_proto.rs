//! `crates/proto` says what bytes mean and does nothing: no input or output, no clock, no threads,
//! no randomness, no async. The caller hands in the bytes and the time.

use crate::source::{mentions, numbered};
use crate::tree::{File, Tree, Violation};

/// Paths that it must not name, alone or in a group of imports.
const PATHS: &[&str] =
    &["std::env", "std::fs", "std::io", "std::net", "std::os", "std::process", "std::thread"];

/// Words that it must not use wherever they come from.
const WORDS: &[&str] = &[
    ".await",
    "Instant",
    "RandomState",
    "SystemTime",
    "async fn",
    "async move",
    "getrandom",
    "thread_rng",
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (file, source) in tree.rust().filter(|(file, _)| is_judged(file)) {
        for (line, text) in source.code_outside_tests() {
            for word in WORDS.iter().filter(|word| mentions(text, word)) {
                violations.push(file.violation(line, advice(word)));
            }
        }
        for path in PATHS {
            for line in source.lines_naming(path) {
                // Writing into a vector needs the trait, and is no output.
                let is_write =
                    numbered(&source.code).nth(line - 1).is_some_and(|(_, text)| writes(text));
                if !source.test[line - 1] && !is_write {
                    violations.push(file.violation(line, advice(path)));
                }
            }
        }
    }
    violations
}

fn is_judged(file: &File) -> bool {
    file.path.starts_with("crates/proto/src/") && !file.is_test()
}

fn writes(text: &str) -> bool {
    mentions(text, "std::io::Write")
}

fn advice(what: &str) -> String {
    format!("`{what}` in proto, let the caller do it and hand in the bytes or the time")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn a_clock_a_socket_and_a_task_fail() {
        let path = "crates/proto/src/a.rs";
        assert_eq!(found(path, "use std::time::Instant;"), 1);
        assert_eq!(found(path, "use std::{fmt, net::IpAddr};"), 1);
        assert_eq!(found(path, "async fn f() { g().await }"), 2);
        assert_eq!(found(path, "fn f() { std::thread::yield_now() }"), 1);
        assert_eq!(found(path, "use std::io::Read;"), 1);
    }

    #[test]
    fn durations_tests_comments_and_other_crates_pass() {
        let path = "crates/proto/src/a.rs";
        assert_eq!(
            found(path, "use std::time::Duration; // no Instant\nconst X: &str = \".await\";"),
            0
        );
        assert_eq!(found(path, "#[cfg(test)]\nmod tests {\n    use std::fs;\n}"), 0);
        assert_eq!(found(path, "use std::io::Write as _;"), 0);
        assert_eq!(found("crates/proto/src/h1/tests.rs", "use std::fs;"), 0);
        assert_eq!(found("crates/proto/tests/all.rs", "use std::fs;"), 0);
        assert_eq!(found("crates/net/src/a.rs", "use std::time::Instant;"), 0);
    }
}
