//! The command line: what was typed, resolved into a plan, and what the program says.

pub mod address;
pub mod args;
pub mod banner;
pub mod encryption;
pub mod resolve;

use crate::renewal;
use crate::server::Server;
use args::Args;
use clap::Parser;
use clap::error::ErrorKind;
use serval_net::signal::{Hangup, Stop};
use std::process::ExitCode;

/// What was typed cannot be done.
const USAGE: u8 = 2;
/// What was typed could not be done now.
const FAILURE: u8 = 1;

/// Runs the program: what its `main` returns.
pub fn main() -> ExitCode {
    serval_net::worker::prepare_memory();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    let quiet = args.quiet;
    let resolve::Resolved { plan, authority } = match resolve::resolve(&args) {
        Ok(resolved) => resolved,
        Err(error) => return fail(USAGE, &error),
    };
    let folder = plan.site.folder.clone();
    let tls = plan.tls.clone();
    // The signals first: none may find the program between two states.
    let Ok(runtime) = serval_net::worker::runtime() else {
        return fail(FAILURE, &"cannot start: the system gave no event queue");
    };
    let outcome = runtime.block_on(async {
        let mut stop = Stop::listen().map_err(|error| error.to_string())?;
        let server = Server::start(plan).map_err(|error| error.to_string())?;
        if !quiet {
            banner::print(&folder, server.listeners(), authority.as_deref());
        }
        if let Some(tls) = tls {
            let hangup = Hangup::listen().map_err(|error| error.to_string())?;
            tokio::task::spawn_local(async move {
                if let Err(error) = renewal::keep(tls.certificates(), hangup).await {
                    eprintln!("serval: changes of certificates are not noticed: {error}");
                }
            });
        }
        stop.asked().await;
        if !quiet {
            eprintln!("serval: finishing what is under way (Ctrl-C again stops at once)");
        }
        server.stop();
        tokio::task::spawn_local(async move {
            stop.asked().await;
            std::process::exit(i32::from(FAILURE));
        });
        // Joining blocks; the signals need this thread.
        tokio::task::spawn_blocking(move || server.join())
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(FAILURE, &error),
    }
}

fn fail(code: u8, error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("serval: {error}");
    ExitCode::from(code)
}

/// Help and version as they are; a mistake in one sentence.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let sentence = text.lines().next().unwrap_or_default();
    let sentence = sentence.strip_prefix("error: ").unwrap_or(sentence);
    let tip = text.lines().map(str::trim).find_map(|line| line.strip_prefix("tip: "));
    match tip {
        Some(tip) => fail(USAGE, &format!("{sentence} ({tip}); see serval --help")),
        None => fail(USAGE, &format!("{sentence}; see serval --help")),
    }
}
