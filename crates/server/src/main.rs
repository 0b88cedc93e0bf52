//! `serval`: puts a folder on the web.

use std::process::ExitCode;

fn main() -> ExitCode {
    serval_server::cli::main()
}
