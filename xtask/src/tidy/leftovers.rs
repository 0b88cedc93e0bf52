//! No leftovers: what was meant to be finished, removed or resolved before the commit.

use crate::source::{Source, mentions, numbered};
use crate::tree::{File, Tree, Violation};

/// Macros that only belong in work under way.
const MACROS: &[&str] = &["dbg!(", "todo!(", "unimplemented!("];

/// Marks of work put off.
const MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// What git writes around a conflict; the line between the two is also a Markdown heading.
const CONFLICTS: &[&str] = &["<<<<<<< ", ">>>>>>> "];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.files.iter().filter(|file| !file.is_data()) {
        for (line, _) in numbered(&file.text)
            .filter(|(_, text)| CONFLICTS.iter().any(|mark| text.starts_with(mark)))
        {
            violations.push(file.violation(line, "a merge conflict, resolve it"));
        }
        match &file.source {
            Some(source) => violations.extend(rust(file, source)),
            None if is_prose(&file.path) => violations.extend(marks(file, &file.text)),
            None => {}
        }
    }
    violations
}

fn is_prose(path: &str) -> bool {
    path == ".ci/run" || [".md", ".sh", ".toml"].iter().any(|end| path.ends_with(end))
}

fn rust(file: &File, source: &Source) -> Vec<Violation> {
    let mut violations = marks(file, &source.comments);
    for (line, text) in numbered(&source.code) {
        for call in MACROS.iter().filter(|call| mentions(text, call)) {
            violations
                .push(file.violation(line, format!("`{call}` is for work under way, finish it")));
        }
        if !source.test[line - 1] && mentions(text, "println!(") && !may_print(file) {
            violations
                .push(file.violation(line, "`println!` in a library, return the text or log it"));
        }
    }
    for (line, text) in numbered(&file.text) {
        if text.contains('\t') {
            violations.push(file.violation(line, "a tab, indent with spaces or write `\\t`"));
        }
        if text.ends_with([' ', '\t', '\r']) {
            violations.push(file.violation(line, "trailing blanks, remove them"));
        }
    }
    violations
}

/// Marks in text, but for those quoted between backticks.
fn marks(file: &File, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line, text) in numbered(text) {
        let unquoted: String = text.split('`').step_by(2).collect();
        for mark in MARKS.iter().filter(|mark| mentions(&unquoted, mark)) {
            violations.push(file.violation(line, format!("{mark}, do it now or open an issue")));
        }
    }
    violations
}

/// Whether standard output belongs to this file: the command line, chores, examples and tests.
fn may_print(file: &File) -> bool {
    let path = file.path.as_str();
    file.is_test()
        || !path.starts_with("crates/")
        || ["/main.rs", "/cli.rs", "/build.rs"].iter().any(|end| path.ends_with(end))
        || ["/cli/", "/examples/", "/benches/", "/bin/"].iter().any(|part| path.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str = "crates/net/src/a.rs";

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn work_under_way_fails() {
        assert_eq!(found(LIBRARY, "fn f() { dbg!(1); todo!() }"), 2);
        assert_eq!(found(LIBRARY, "// TODO: more"), 1);
        assert_eq!(found("docs/a.md", "FIXME later"), 1);
        assert_eq!(found("Cargo.toml", "a\n<<<<<<< HEAD\n=======\n>>>>>>> other\n"), 2);
    }

    #[test]
    fn quoted_marks_and_literals_pass() {
        assert_eq!(found(LIBRARY, "// a `TODO` mark\nconst X: &str = \"TODO dbg!(\";"), 0);
        assert_eq!(found("STYLE.md", "No `TODO`.\n=======\n"), 0);
        assert_eq!(found("crates/net/tests/fixtures/a.toml", "# TODO"), 0);
    }

    #[test]
    fn only_the_command_line_prints() {
        let text = "fn f() { println!(\"x\") }";
        assert_eq!(found(LIBRARY, text), 1);
        assert_eq!(found(LIBRARY, "fn f() { eprintln!(\"x\") }"), 0);
        for path in
            ["crates/server/src/cli/check.rs", "crates/server/src/main.rs", "xtask/src/a.rs"]
        {
            assert_eq!(found(path, text), 0);
        }
    }

    #[test]
    fn tabs_and_trailing_blanks_fail() {
        assert_eq!(found(LIBRARY, "\tlet x;\nlet y; \n"), 2);
        assert_eq!(found(LIBRARY, "let y = '\\t';\n"), 0);
    }
}
