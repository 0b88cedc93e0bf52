//! The binary `serval-lab`: nothing but its entry.

use std::process::ExitCode;

fn main() -> ExitCode {
    serval_lab::cli::main()
}
