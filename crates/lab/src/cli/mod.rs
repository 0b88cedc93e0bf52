//! What was typed. Each subcommand is one file: its arguments, their help, and what it calls.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Measures web servers on this machine: a load generator, real servers side by side, one report.
#[derive(Debug, Parser)]
#[command(name = "serval-lab", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {}

#[allow(unreachable_code)] // until there is a first command
/// Runs the command line: 0 if all went well, 1 if a check failed, 2 if it could not be done.
pub fn main() -> ExitCode {
    match Arguments::parse().command {
        // One line for each command.
    }
}
