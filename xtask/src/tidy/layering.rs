//! Who may name whom: requests flow down through the server's layers, so names only point down,
//! and sockets stay in `crates/net`.

use crate::tree::{Tree, Violation};

/// The modules of a layer in `crates/server/src`, and those it must not name.
const LAYERS: &[(&[&str], &[&str])] = &[
    (&["handler", "filter", "files", "route", "pipeline"], &["conn"]),
    (&["files"], &["handler", "filter", "pipeline", "route"]),
];

pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (file, source) in tree.rust() {
        for (module, forbidden) in forbidden_modules(&file.path) {
            for parent in ["crate", "super"] {
                for line in source.lines_naming(&format!("{parent}::{forbidden}")) {
                    violations.push(file.violation(
                        line,
                        format!("`{module}` names `{forbidden}` above it, pass in what it needs"),
                    ));
                }
            }
        }
        if file.path.starts_with("crates/") && !file.path.starts_with("crates/net/") {
            violations.extend(source.lines_naming("tokio::net").into_iter().map(|line| {
                file.violation(line, "`tokio::net` outside crates/net, use what net offers")
            }));
        }
    }
    violations
}

/// For a file of the server, the module it belongs to with each module it must not name.
fn forbidden_modules(path: &str) -> impl Iterator<Item = (&str, &'static str)> {
    let inside = path.strip_prefix("crates/server/src/").unwrap_or("");
    let top = inside.split('/').next().unwrap_or("");
    let module = top.strip_suffix(".rs").unwrap_or(top);
    LAYERS
        .iter()
        .filter(move |(modules, _)| modules.contains(&module))
        .flat_map(|(_, forbidden)| forbidden.iter())
        .map(move |forbidden| (module, *forbidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn names_that_point_up_fail() {
        assert_eq!(found("crates/server/src/handler/files.rs", "use crate::conn::h1;"), 1);
        assert_eq!(found("crates/server/src/handler/a.rs", "use super::super::conn;"), 1);
        assert_eq!(
            found("crates/server/src/pipeline.rs", "use crate::{\n    conn,\n    route};"),
            1
        );
        assert_eq!(found("crates/server/src/files/cache.rs", "use crate::handler::X;"), 1);
        assert_eq!(found("crates/server/src/files.rs", "fn f(x: crate::route::Table) {}"), 1);
    }

    #[test]
    fn names_that_point_down_pass() {
        assert_eq!(found("crates/server/src/conn/h1.rs", "use crate::pipeline;"), 0);
        assert_eq!(found("crates/server/src/handler/files.rs", "use crate::files::cache;"), 0);
        assert_eq!(found("crates/server/src/route.rs", "use crate::handler; // crate::conn"), 0);
        assert_eq!(found("crates/server/src/handler/a.rs", "use crate::connection;"), 0);
    }

    #[test]
    fn sockets_stay_in_net() {
        assert_eq!(found("crates/server/src/worker.rs", "use tokio::net::TcpStream;"), 1);
        assert_eq!(found("crates/net/src/stream.rs", "use tokio::net::TcpStream;"), 0);
    }
}
