//! The documents tell the truth about where things are: paths between backticks and relative
//! links lead to files that exist, and the two documents a newcomer opens first are there.

use crate::source::numbered;
use crate::tree::{Tree, Violation};

const REQUIRED: &[&str] = &["ARCHITECTURE.md", "README.md"];

/// What opens a path of the repository.
const FOLDERS: &[&str] =
    &["crates/", "xtask/", "fuzz/", "docs/", "examples/", "packaging/", ".ci/"];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations: Vec<Violation> = REQUIRED
        .iter()
        .filter(|path| tree.get(path).is_none())
        .map(|path| Violation::new(path, 1, "missing, write it"))
        .collect();
    for file in tree.files.iter().filter(|file| is_document(&file.path)) {
        let mut fenced = false;
        for (line, text) in numbered(&file.text) {
            if text.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if fenced {
                continue;
            }
            let spans = text.split('`').skip(1).step_by(2);
            for path in spans.filter(|span| is_path(span)).filter(|p| !tree.has(&fixed_part(p))) {
                violations.push(
                    file.violation(line, format!("`{path}` does not exist, correct the path")),
                );
            }
            for target in links(text).filter(|to| !tree.has(&resolved(&file.path, to))) {
                violations.push(
                    file.violation(line, format!("a link to `{target}`, which is not there")),
                );
            }
        }
    }
    violations
}

/// The root's own documents and those in `docs/`.
fn is_document(path: &str) -> bool {
    path.ends_with(".md") && (!path.contains('/') || path.starts_with("docs/"))
}

fn is_path(span: &str) -> bool {
    FOLDERS.iter().any(|folder| span.starts_with(folder)) && !span.contains(char::is_whitespace)
}

/// A path up to its first placeholder, without a line number or an anchor.
fn fixed_part(path: &str) -> String {
    let path = path.split([':', '#']).next().unwrap_or(path);
    match path.find(['*', '{', '<', '$', '…']) {
        None => path.to_owned(),
        Some(at) => path[..path[..at].rfind('/').unwrap_or(at)].to_owned(),
    }
}

/// The targets of a line's links that lead to files, outside code.
fn links(text: &str) -> impl Iterator<Item = String> {
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join("_");
    let targets: Vec<String> = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
        .map(|target| target.split('#').next().unwrap_or(target).to_owned())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .filter(|target| !target.starts_with("mailto:"))
        .collect();
    targets.into_iter()
}

/// Where a link in the document at `from` leads, relative to the root.
fn resolved(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return "..".to_owned(),
            ".." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let mut files =
            vec![("ARCHITECTURE.md", ""), ("README.md", ""), ("crates/net/src/lib.rs", "")];
        files.retain(|(other, _)| *other != path);
        files.push((path, text));
        check(&Tree::of(&files)).len()
    }

    #[test]
    fn the_two_first_documents_exist() {
        assert_eq!(check(&Tree::of(&[])).len(), 2);
    }

    #[test]
    fn paths_between_backticks_exist() {
        assert_eq!(found("README.md", "see `crates/net/src/lib.rs:12` and `crates/*/src`"), 0);
        assert_eq!(found("README.md", "see `crates/<name>/` or `cargo run docs/`"), 0);
        assert_eq!(found("README.md", "see `crates/gone` and `docs/gone.md`"), 2);
        assert_eq!(found("docs/deep/a.md", "`xtask/gone`"), 1);
        assert_eq!(found("README.md", "```\n`crates/gone`\n```\n"), 0);
    }

    #[test]
    fn relative_links_lead_somewhere() {
        assert_eq!(found("docs/a.md", "[up](../README.md#top), [net](../crates/net/)"), 0);
        assert_eq!(found("docs/a.md", "[web](https://example.org), [here](#x), `[x](y)`"), 0);
        assert_eq!(found("docs/a.md", "[up](README.md), [out](../../x)"), 2);
    }
}
