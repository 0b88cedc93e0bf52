//! From what was typed to what will be done. Whatever is wrong with it is said here, in one
//! sentence, before anything has begun.

use super::address;
use super::args::{Args, LimitArgs};
use super::encryption::{self, Encryption};
use crate::config::plan::{Listener, Plan, Site};
use crate::files::store::Store;
use crate::limits::Limits;
use crate::log::Destination;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serval_proto::field::FieldTable;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Descriptors that are neither connections nor cached files: listeners, event queues, the log.
const DESCRIPTORS_RESERVED: usize = 64;

/// What was typed, resolved.
#[derive(Debug)]
pub struct Resolved {
    /// What will be done.
    pub plan: Plan,
    /// The certificate of this user's own authority, if that vouches for the site.
    pub authority: Option<PathBuf>,
}

/// Resolves the arguments.
pub fn resolve(args: &Args) -> Result<Resolved, String> {
    let listen = listeners(args)?;
    let mut encryption = None;
    if listen.iter().any(|listener| listener.encrypted) {
        encryption = Some(encryption::resolve(&args.tls)?);
    } else if args.tls.is_wanted() {
        return Err("--tls and --cert need a listener that does not begin with http://".into());
    }
    let workers = match args.workers {
        Some(0) => return Err("--workers has to be at least 1".into()),
        Some(count @ 1025..) => return Err(format!("--workers {count} is more than 1024")),
        Some(count) => count,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    if let Some(name) = args.index.iter().find(|name| name.is_empty() || name.contains('/')) {
        return Err(format!("--index {name:?} has to be the name of a file, without a slash"));
    }
    let limits = limits(&args.limits)?;
    let store = Store::open(&args.dir, &args.index, limits.store)
        .map_err(|error| cannot_open(&args.dir, &error))?;
    let site = Site { folder: args.dir.clone(), store: Arc::new(store) };
    let (tls, authority) = match encryption {
        Some(Encryption { acceptor, authority }) => (Some(acceptor), authority),
        None => (None, None),
    };
    let (pin, log) = (args.pin, destination(args));
    Ok(Resolved { plan: Plan { listen, tls, workers, pin, site, limits, log }, authority })
}

fn listeners(args: &Args) -> Result<Vec<Listener>, String> {
    let encrypted = args.tls.is_wanted();
    if args.listen.is_empty() {
        let usual = if encrypted { "127.0.0.1:8443" } else { "127.0.0.1:8080" };
        return address::parse(usual, encrypted);
    }
    let mut listeners = Vec::new();
    for text in &args.listen {
        listeners.extend(address::parse(text, encrypted)?);
    }
    Ok(listeners)
}

fn cannot_open(folder: &Path, error: &io::Error) -> String {
    let folder = folder.display();
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no folder {folder}"),
        io::ErrorKind::NotADirectory => format!("{folder} is not a folder"),
        io::ErrorKind::PermissionDenied => format!("this user may not read the folder {folder}"),
        _ => format!("cannot open the folder {folder}: {error}"),
    }
}

fn destination(args: &Args) -> Destination {
    match &args.log {
        Some(path) if path.as_os_str() == "none" => Destination::Off,
        Some(path) => Destination::File(path.clone()),
        None if args.quiet => Destination::Off,
        None if io::stdout().is_terminal() => {
            Destination::Terminal { color: std::env::var_os("NO_COLOR").is_none() }
        }
        None => Destination::Output,
    }
}

fn limits(args: &LimitArgs) -> Result<Limits, String> {
    let mut limits = Limits::default();
    limits.head.line_bytes_max = args.line_bytes_max;
    limits.head.fields_bytes_max = args.fields_bytes_max;
    limits.head.fields_max = args.fields_max;
    if limits.head.head_bytes_max() > Limits::HEAD_BYTES_MAX {
        return Err(format!(
            "--line-bytes-max and --fields-bytes-max may be {} bytes together",
            Limits::HEAD_BYTES_MAX
        ));
    }
    if !(1..=FieldTable::LINES_MAX).contains(&args.fields_max) {
        return Err(format!("--fields-max has to be from 1 to {}", FieldTable::LINES_MAX));
    }
    limits.head_timeout_ms = milliseconds("--head-timeout", args.head_timeout)?;
    limits.handshake_timeout_ms = limits.head_timeout_ms;
    limits.idle_timeout_ms = milliseconds("--idle-timeout", args.idle_timeout)?;
    limits.drain_timeout_ms = args.drain_timeout.saturating_mul(1000);
    limits.progress_bytes_per_s_min = args.rate_min;
    limits.store.cache.bytes_max = args.cache_mib << 20;
    limits.store.cache.entries_max = args.cache_entries_max;

    let descriptors = raise_descriptor_limit();
    limits.store.cache.descriptors_max = (descriptors / 8).clamp(16, 8192);
    let left = descriptors
        .saturating_sub(limits.store.cache.descriptors_max)
        .saturating_sub(DESCRIPTORS_RESERVED);
    limits.connections_max = match args.connections_max {
        Some(0) => return Err("--connections-max has to be at least 1".into()),
        Some(wanted) if wanted > left => {
            return Err(format!(
                "--connections-max {wanted} is more than the limit on open files allows, {left}: \
                 raise that one (ulimit -n) or choose less"
            ));
        }
        Some(wanted) => wanted,
        None => left.max(1),
    };
    Ok(limits)
}

fn milliseconds(option: &str, seconds: u64) -> Result<u64, String> {
    match seconds {
        1..=86_400 => Ok(seconds * 1000),
        _ => Err(format!("{option} has to be from 1 to 86400 seconds")),
    }
}

/// Raises the limit on open files as far as this user may: how many there can be.
fn raise_descriptor_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if maximum.is_none() || current < maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    usize::try_from(limit).unwrap_or(usize::MAX).min(1 << 20)
}
