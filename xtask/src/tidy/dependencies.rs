//! Which crate may depend on which, and that every dependency from outside is on the list in
//! `STYLE.md` with its reason.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::source::numbered;
use crate::tree::{File, Tree, Violation};

const STYLE: &str = "STYLE.md";

/// A dependency as a manifest declares it.
struct Dependency {
    name: String,
    is_dev: bool,
}

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut used = BTreeSet::new();
    let listed = listed(tree);
    for file in tree.files.iter().filter(|file| is_manifest(file)) {
        let manifest = match file.text.parse::<Table>() {
            Ok(manifest) => manifest,
            Err(error) => {
                violations.push(file.violation(1, format!("not TOML, {}", error.message())));
                continue;
            }
        };
        for dependency in dependencies(&manifest) {
            let name = dependency.name.as_str();
            let line = line_of(file, name);
            if is_forbidden(crate_name(&file.path), &dependency) {
                violations.push(
                    file.violation(line, format!("`{name}` must not be known here, remove it")),
                );
            }
            let is_ours = name.starts_with("serval-");
            // The fuzz targets are a workspace of their own.
            if !is_ours && !file.path.starts_with("fuzz/") && !listed.iter().any(|l| l.0 == name) {
                violations.push(file.violation(
                    line,
                    format!("`{name}` is not in the table in {STYLE}, give its reason there"),
                ));
            }
            used.insert(dependency.name);
        }
    }
    for (name, line, has_reason) in &listed {
        if !used.contains(name) {
            let what = format!("`{name}` is used by no crate, remove it from the table");
            violations.push(Violation::new(STYLE, *line, what));
        }
        if !has_reason {
            violations.push(Violation::new(
                STYLE,
                *line,
                format!("`{name}` has no reason, give it"),
            ));
        }
    }
    if listed.is_empty() {
        violations.push(Violation::new(STYLE, 1, "no table under `Dependencies`, write it"));
    }
    violations
}

/// The manifests of packages; the root's holds none.
fn is_manifest(file: &File) -> bool {
    file.path.ends_with("/Cargo.toml") && !file.is_data()
}

/// The part of a manifest's path that names the crate: `net` in `crates/net/Cargo.toml`.
fn crate_name(path: &str) -> &str {
    path.rsplit('/').nth(1).unwrap_or("")
}

/// The walls between the crates.
fn is_forbidden(of: &str, dependency: &Dependency) -> bool {
    let name = dependency.name.as_str();
    match of {
        "proto" => name != if dependency.is_dev { "proptest" } else { "memchr" },
        "net" => matches!(name, "serval-proto" | "serval-server" | "serval-lab"),
        "server" => name == "serval-lab",
        "lab" => name == "serval-server",
        _ => false,
    }
}

/// Every dependency of a manifest: for use, for tests, for builds, and those of one platform.
fn dependencies(manifest: &Table) -> Vec<Dependency> {
    let mut found = Vec::new();
    let targets = manifest.get("target").and_then(Value::as_table);
    let platforms = targets.into_iter().flat_map(|targets| targets.values());
    for table in platforms.filter_map(Value::as_table).chain([manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(entries) = table.get(kind).and_then(Value::as_table) else { continue };
            for (name, value) in entries {
                // A renamed dependency is known by its real name.
                let name = value.get("package").and_then(Value::as_str).unwrap_or(name);
                found.push(Dependency { name: name.to_owned(), is_dev: kind.starts_with("dev") });
            }
        }
    }
    found
}

/// The rows of the table in `STYLE.md`: name, line, and whether a reason is given.
fn listed(tree: &Tree) -> Vec<(String, usize, bool)> {
    let text = tree.get(STYLE).map_or("", |file| file.text.as_str());
    numbered(text)
        .skip_while(|(_, text)| !(text.starts_with('#') && text.ends_with("Dependencies")))
        .skip(1)
        .take_while(|(_, text)| !text.starts_with('#'))
        .filter(|(_, text)| text.starts_with('|'))
        .skip(2)
        .map(|(line, text)| {
            let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
            let has_reason = cells.get(2).is_some_and(|reason| !reason.is_empty());
            (cells[0].trim_matches('`').to_owned(), line, has_reason)
        })
        .collect()
}

/// The line of a manifest that declares `name`, or the first.
fn line_of(file: &File, name: &str) -> usize {
    let declares = |text: &str| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
    };
    numbered(&file.text).find(|(_, text)| declares(text)).map_or(1, |(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "## Dependencies\n\n| name | used by | why |\n|---|---|---|\n";

    /// What is said about one manifest when `STYLE.md` lists `names`.
    fn found(path: &str, manifest: &str, names: &[&str]) -> Vec<String> {
        let rows: String = names.iter().map(|name| format!("| `{name}` | x | why |\n")).collect();
        let style = format!("{TABLE}{rows}\n## Next\n| a | b |\n");
        let tree = Tree::of(&[(path, manifest), (STYLE, &style)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn proto_knows_one_crate() {
        let path = "crates/proto/Cargo.toml";
        let good = "[dependencies]\nmemchr.workspace = true\n[dev-dependencies]\nproptest = \"1\"";
        assert!(found(path, good, &["memchr", "proptest"]).is_empty());
        let bad = "[dependencies]\ntokio.workspace = true";
        assert_eq!(
            found(path, bad, &["tokio"]),
            ["crates/proto/Cargo.toml:2: `tokio` must not be known here, remove it"]
        );
        assert_eq!(found(path, "[dependencies]\nproptest = \"1\"", &["proptest"]).len(), 1);
    }

    #[test]
    fn walls_stand_between_the_crates() {
        let depends_on = |name| format!("[dependencies]\nx = \"1\"\n{name} = {{ path = \"y\" }}");
        for (of, on, count) in [
            ("net", "serval-proto", 1),
            ("net", "serval-lab", 1),
            ("server", "serval-lab", 1),
            ("lab", "serval-server", 1),
            ("server", "serval-net", 0),
            ("lab", "serval-proto", 0),
        ] {
            let path = format!("crates/{of}/Cargo.toml");
            assert_eq!(found(&path, &depends_on(on), &["x"]).len(), count, "{of} on {on}");
        }
    }

    #[test]
    fn the_table_and_the_manifests_agree() {
        let manifest =
            "[target.'cfg(unix)'.dependencies]\ny = { package = \"x\", version = \"1\" }";
        let path = "crates/server/Cargo.toml";
        assert!(found(path, manifest, &["x"]).is_empty());
        assert!(found(path, manifest, &["x", "z"])[0].contains("used by no crate"));
        assert!(found(path, manifest, &[]).iter().any(|v| v.contains("not in the table")));
        assert!(
            found("fuzz/Cargo.toml", "[dependencies]\nq = \"1\"\nx = \"1\"", &["x"]).is_empty()
        );
    }

    #[test]
    fn a_reason_is_given() {
        let style = format!("{TABLE}| x | server | |\n");
        let manifest = ("crates/server/Cargo.toml", "[dependencies]\nx = \"1\"");
        let violations = check(&Tree::of(&[manifest, (STYLE, &style)]));
        assert_eq!(violations.len(), 1);
        assert!(violations[0].to_string().contains("has no reason"));
    }
}
