//! The repository's files as the rules see them: a list of paths and texts, and what is said
//! about them. Only this module touches the file system and runs git.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::source::Source;

/// Every file that git tracks or would track, with its text.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

/// One file of the repository.
pub(crate) struct File {
    /// Relative to the root, with `/` between its parts.
    pub(crate) path: String,
    /// Empty when the file is not UTF-8.
    pub(crate) text: String,
    /// The text taken apart, when it is Rust.
    pub(crate) source: Option<Source>,
}

/// A rule broken at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    what: String,
}

impl Tree {
    /// Reads the files below `root` that git knows or does not ignore.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let listed = output(
            Command::new("git")
                .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
                .current_dir(root),
        )?;
        let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let on_disk = root.join(path);
            // Deleted but not yet committed, a link to elsewhere, or a nested repository.
            if !on_disk.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let bytes =
                std::fs::read(&on_disk).map_err(|error| format!("cannot read {path}: {error}"))?;
            files.push(File::new(path, String::from_utf8(bytes).unwrap_or_default()));
        }
        Ok(Self { files })
    }

    /// A tree in memory, for the rules' own tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| File::new(path, text.to_string())).collect() }
    }

    /// The file at `path`.
    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether `path` is a file or a folder of the repository.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files.iter().any(|file| {
                let rest = file.path.strip_prefix(path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }

    /// The Rust files, taken apart.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files.iter().filter_map(|file| Some((file, file.source.as_ref()?)))
    }
}

impl File {
    fn new(path: &str, text: String) -> Self {
        let source = path.ends_with(".rs").then(|| Source::new(&text));
        Self { path: path.to_owned(), text, source }
    }

    /// A violation at a line of this file, counted from 1.
    pub(crate) fn violation(&self, line: usize, what: impl Into<String>) -> Violation {
        Violation::new(&self.path, line, what)
    }

    /// Whether the whole file is test code, by where it is.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Whether the file is data that a test or a fuzzer reads, whatever its name ends in.
    pub(crate) fn is_data(&self) -> bool {
        ["seeds", "corpora", "corpus", "fixtures"]
            .iter()
            .any(|folder| self.path.split('/').any(|part| part == *folder))
    }
}

impl Violation {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// The workspace's folder, found when the program runs, so that a moved checkout still works.
pub(crate) fn workspace_root() -> Result<PathBuf, String> {
    if let Some(manifest) = std::env::var_os("CARGO_MANIFEST_DIR")
        && let Some(parent) = Path::new(&manifest).parent()
    {
        return Ok(parent.to_owned());
    }
    let manifest = output(Command::new("cargo").args([
        "locate-project",
        "--workspace",
        "--message-format=plain",
    ]))?;
    let parent = Path::new(manifest.trim()).parent();
    parent.map(Path::to_owned).ok_or_else(|| "no workspace here".to_owned())
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{name} wrote a path that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_finds_files_and_folders_but_no_prefixes() {
        let tree = Tree::of(&[("crates/net/src/lib.rs", "")]);
        assert!(tree.has("crates/net/src/lib.rs"));
        assert!(tree.has("crates/net"));
        assert!(tree.has("crates/net/"));
        assert!(!tree.has("crates/ne"));
        assert!(!tree.has("crates/net/src/lib"));
    }

    #[test]
    fn a_violation_reads_as_a_compiler_message() {
        let violation = Violation::new("a/b.rs", 7, "wrong, mend it");
        assert_eq!(violation.to_string(), "a/b.rs:7: wrong, mend it");
    }
}
