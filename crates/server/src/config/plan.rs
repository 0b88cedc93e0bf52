//! The plan: everything decided before the first connection, and unchanged from then on.

use crate::files::store::Store;
use crate::limits::Limits;
use crate::log::Destination;
use serval_net::listen::Address;
use serval_net::tls::settings::Acceptor;
use std::path::PathBuf;
use std::sync::Arc;

/// What the server does.
#[derive(Debug)]
pub struct Plan {
    /// Where it listens.
    pub listen: Vec<Listener>,
    /// How connections of encrypted listeners begin; there if any listener is encrypted.
    pub tls: Option<Acceptor>,
    /// How many threads serve.
    pub workers: usize,
    /// Whether each of them keeps to a processor of its own.
    pub pin: bool,
    /// What it serves; every host name leads to it.
    pub site: Site,
    /// How much of everything there may be.
    pub limits: Limits,
    /// Where requests are recorded.
    pub log: Destination,
}

/// Where to listen, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The address.
    pub address: Address,
    /// Whether connections are encrypted.
    pub encrypted: bool,
}

/// One site.
#[derive(Clone, Debug)]
pub struct Site {
    /// The folder, as the operator called it.
    pub folder: PathBuf,
    /// Its files.
    pub store: Arc<Store>,
}
