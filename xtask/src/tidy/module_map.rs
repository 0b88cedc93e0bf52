//! `ARCHITECTURE.md` names every module at the top of every crate: a map that forgets one
//! misleads whoever reads it first.

use std::collections::BTreeSet;

use crate::tree::{Tree, Violation};

const MAP: &str = "ARCHITECTURE.md";

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    // A missing map is reported with the other documents.
    let Some(map) = tree.get(MAP) else { return Vec::new() };
    let named = words_in_code(&map.text);
    let modules: BTreeSet<(&str, &str)> =
        tree.rust().filter_map(|(file, _)| module(&file.path)).collect();
    modules
        .iter()
        .filter(|(_, name)| !named.contains(name))
        .map(|(place, name)| {
            map.violation(1, format!("the map forgets `{place}{name}`, say what it is for"))
        })
        .collect()
}

/// The crate's source folder and the name of the module at its top that a file belongs to.
fn module(path: &str) -> Option<(&str, &str)> {
    let inside = path.strip_prefix("crates/")?;
    let (_, inside) = inside.split_once("/src/")?;
    let place = &path[..path.len() - inside.len()];
    if place.matches('/').count() != 3 {
        return None;
    }
    let top = inside.split('/').next()?;
    let name = top.strip_suffix(".rs").unwrap_or(top);
    (!matches!(name, "lib" | "main" | "bin")).then_some((place, name))
}

/// The words between backticks and in fenced blocks.
fn words_in_code(text: &str) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        for (index, span) in line.split('`').enumerate() {
            if fenced || index % 2 == 1 {
                words.extend(span.split(|c: char| !c.is_alphanumeric() && c != '_'));
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(map: &str) -> Vec<String> {
        let files = [
            (MAP, map),
            ("crates/net/src/lib.rs", ""),
            ("crates/net/src/stream.rs", ""),
            ("crates/server/src/conn/h1.rs", ""),
            ("crates/server/tests/src/odd.rs", ""),
        ];
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_forgotten_module_fails() {
        let found = found("The stream, and `conn/`.");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`crates/net/src/stream`"));
    }

    #[test]
    fn spans_and_fences_name_modules() {
        assert!(found("`stream.rs`\n```\nserver/\n  conn/{h1,h2}\n```\n").is_empty());
    }
}
