//! `cargo xtask tidy`: the list of house rules, and the loop that applies them.
//!
//! A rule is one file in `tidy/` with a `check` from the tree of files to the violations in it,
//! and one line in [`RULES`]. `STYLE.md` says why each rule exists.

mod dependencies;
mod doc_paths;
mod layering;
mod leftovers;
mod line_length;
mod machine_paths;
mod module_map;
mod names;
mod opening;
mod pure_proto;
mod ratchet;
mod unsafe_code;

use crate::tree::{Tree, Violation, workspace_root};

type Rule = fn(&Tree) -> Vec<Violation>;

/// Every rule there is.
const RULES: &[Rule] = &[
    dependencies::check,
    doc_paths::check,
    layering::check,
    leftovers::check,
    line_length::check,
    machine_paths::check,
    module_map::check,
    names::check,
    opening::check,
    pure_proto::check,
    ratchet::check,
    unsafe_code::check,
];

/// Applies every rule and prints what it finds; `Ok(true)` when there is nothing.
pub(crate) fn run() -> Result<bool, String> {
    let tree = Tree::read(&workspace_root()?)?;
    let mut violations: Vec<Violation> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    violations.sort();
    for violation in &violations {
        println!("{violation}");
    }
    let (rules, files) = (RULES.len(), tree.files.len());
    match violations.len() {
        0 => println!("tidy: clean ({rules} rules, {files} files)"),
        found => println!("tidy: {found} to mend ({rules} rules, {files} files)"),
    }
    Ok(violations.is_empty())
}

/// Lowers the numbers in the ratchet file and drops the lines no longer needed; never adds one.
pub(crate) fn update_ratchet() -> Result<bool, String> {
    let root = workspace_root()?;
    let tree = Tree::read(&root)?;
    let path = root.join(ratchet::PATH);
    std::fs::write(&path, ratchet::lowered(&tree))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    println!("tidy: {} is as low as it can be", ratchet::PATH);
    Ok(true)
}
