//! A line has at most 100 columns, so that two files fit side by side.
//!
//! Prose and data are exempt: a Markdown paragraph is one line, a fixture is what it is.

use crate::source::numbered;
use crate::tree::{Tree, Violation};

const COLUMNS_MAX: usize = 100;

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.files.iter().filter(|file| is_code(&file.path) && !file.is_data()) {
        for (line, text) in numbered(&file.text) {
            let columns = text.chars().count();
            if columns > COLUMNS_MAX && !is_only_a_link(text) {
                violations.push(file.violation(
                    line,
                    format!("{columns} columns, break the line to have at most {COLUMNS_MAX}"),
                ));
            }
        }
    }
    violations
}

fn is_code(path: &str) -> bool {
    path == ".ci/run" || [".rs", ".toml", ".sh"].iter().any(|end| path.ends_with(end))
}

/// Whether a line is a comment with nothing but an address, which cannot be broken.
fn is_only_a_link(text: &str) -> bool {
    let text = text.trim();
    let Some(comment) = text.strip_prefix("//").or_else(|| text.strip_prefix('#')) else {
        return false;
    };
    let comment = comment.trim_start_matches(['/', '!']).trim_start();
    // A reference link has its label before the address.
    let address = comment.split_once("]: ").map_or(comment, |(_, address)| address);
    address.contains("://") && !address.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn columns_are_characters() {
        assert_eq!(found("a.rs", &"é".repeat(100)), 0);
        assert_eq!(found("a.rs", &"é".repeat(101)), 1);
        assert_eq!(found(".ci/run", &"x".repeat(101)), 1);
    }

    #[test]
    fn prose_data_and_links_are_exempt() {
        let long = "x".repeat(120);
        assert_eq!(found("README.md", &long), 0);
        assert_eq!(found("crates/net/tests/fixtures/a.toml", &long), 0);
        assert_eq!(found("a.rs", &format!("    // https://example.org/{long}")), 0);
        assert_eq!(found("a.rs", &format!("//! [RFC 9110]: https://example.org/{long}")), 0);
        assert_eq!(found("a.rs", &format!("// see https://example.org/{long}")), 1);
    }
}
