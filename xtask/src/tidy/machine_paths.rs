//! No file names a folder of the machine it was written on.

use crate::source::numbered;
use crate::tree::{Tree, Violation};

/// Written in two parts, so that this file passes its own rule.
const FORBIDDEN: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in &tree.files {
        for (line, text) in numbered(&file.text) {
            for path in FORBIDDEN.iter().filter(|path| names_absolute(text, path)) {
                violations.push(file.violation(
                    line,
                    format!("`{path}` exists on one machine only, write a relative path"),
                ));
            }
        }
    }
    violations
}

/// Whether `path` occurs where it is not the tail of a longer path.
fn names_absolute(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~*/})>$".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Tree::of(&[("docs/x.md", text)])).len()
    }

    #[test]
    fn absolute_paths_fail() {
        assert_eq!(found(concat!("cd /ro", "ot/site")), 1);
        assert_eq!(found(concat!("root = \"/wo", "rk/site\"")), 1);
    }

    #[test]
    fn relative_paths_pass() {
        assert_eq!(found(concat!("tests/ro", "ot/index.html, ./wo", "rk/x, $HOME/wo", "rk/x")), 0);
    }
}
