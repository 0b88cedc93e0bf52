//! The project's own chores, run as `cargo xtask <chore>`.
//!
//! There is one chore today: `tidy`, which checks the house rules that a machine can check. It
//! reads the repository's text and nothing else; it knows none of the crates it judges.

mod source;
mod tidy;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy [--update-ratchet]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["tidy"] => tidy::run(),
        ["tidy", "--update-ratchet"] => tidy::update_ratchet(),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}
