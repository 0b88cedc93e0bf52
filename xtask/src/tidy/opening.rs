//! Every Rust file opens with `//!`: what it is, why it is here, what it must not know.

use crate::tree::{Tree, Violation};

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let files = tree.rust().map(|(file, _)| file).filter(|file| !file.is_data());
    files
        .filter(|file| !opens_well(&file.path, &file.text))
        .map(|file| {
            file.violation(1, "no `//!` at the top, say what the file is and what it must not know")
        })
        .collect()
}

fn opens_well(path: &str, text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut first = lines.next();
    // A fuzz target's linker attribute has to come first.
    if path.starts_with("fuzz/") && first == Some("#![no_main]") {
        first = lines.next();
    }
    first.is_some_and(|line| line.starts_with("//! "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn a_file_says_what_it_is() {
        assert_eq!(found("crates/net/src/a.rs", "//! What it is.\nfn f() {}"), 0);
        assert_eq!(found("crates/net/src/a.rs", "fn f() {}"), 1);
        assert_eq!(found("crates/net/src/a.rs", "//!\n"), 1);
        assert_eq!(found("crates/net/src/a.rs", ""), 1);
    }

    #[test]
    fn fuzz_targets_and_fixtures_have_their_ways() {
        assert_eq!(found("fuzz/targets/a.rs", "#![no_main]\n//! What it is.\n"), 0);
        assert_eq!(found("crates/net/src/a.rs", "#![no_main]\n//! What it is.\n"), 1);
        assert_eq!(found("crates/net/tests/fixtures/a.rs", "fn f() {}"), 0);
    }
}
