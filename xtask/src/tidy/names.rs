//! No file, folder, module or type is named for having no subject: such a name collects whatever
//! has no home. The name of what it does belongs there.

use std::collections::BTreeSet;

use crate::source::numbered;
use crate::tree::{Tree, Violation};

const EMPTY_WORDS: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "manager", "managers", "misc"];

/// What a name follows when it is declared.
const DECLARATIONS: &[&str] = &["mod", "struct", "enum", "trait", "union", "type"];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut reported = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with("crates/")) {
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            let upto = file.path.find(part).unwrap_or(0) + part.len();
            if is_empty_name(stem) && reported.insert(&file.path[..upto]) {
                violations.push(file.violation(1, advice(part)));
            }
        }
        let code = file.source.as_ref().map_or("", |source| source.code.as_str());
        for (line, text) in numbered(code) {
            violations.extend(
                declared(text)
                    .filter(|name| is_empty_name(name))
                    .map(|name| file.violation(line, advice(name))),
            );
        }
    }
    violations
}

fn advice(name: &str) -> String {
    format!("`{name}` says nothing about its subject, name what it does")
}

/// The names that a line of code declares.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let pairs: Vec<_> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().filter(|(word, _)| DECLARATIONS.contains(word)).map(|(_, name)| name)
}

/// Whether the last word of a name is empty. The first may be one: the Common Log Format is.
fn is_empty_name(name: &str) -> bool {
    let tail = name.rsplit(['_', '-']).next().unwrap_or(name);
    let has_lower = tail.chars().any(char::is_lowercase);
    let start = if has_lower { tail.rfind(char::is_uppercase).unwrap_or(0) } else { 0 };
    EMPTY_WORDS.contains(&tail[start..].to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn empty_names_fail() {
        assert_eq!(found("crates/net/src/utils.rs", ""), 1);
        assert_eq!(found("crates/net/src/common/a.rs", ""), 1);
        assert_eq!(found("crates/net/src/a.rs", "mod helpers;\npub struct CacheManager;"), 2);
        assert_eq!(found("crates/net/src/a.rs", "pub(crate) type Misc = u8;"), 1);
    }

    #[test]
    fn a_folder_is_reported_once() {
        let files = [("crates/net/src/util/a.rs", ""), ("crates/net/src/util/b.rs", "")];
        assert_eq!(check(&Tree::of(&files)).len(), 1);
    }

    #[test]
    fn names_with_a_subject_pass() {
        assert_eq!(found("crates/server/src/log/common_log.rs", "struct CommonLog;"), 0);
        assert_eq!(found("crates/net/src/a.rs", "// mod utils\nfn common() {}"), 0);
        assert_eq!(found("docs/common.md", ""), 0);
    }
}
