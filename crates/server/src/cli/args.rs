//! What can be typed: each option once, with its help.

use clap::Parser;
use std::path::PathBuf;

/// Puts a folder on the web.
///
/// Serves the files of DIR: index.html for a folder, 404.html (if the site has one) for what is
/// not there. Nothing outside DIR is served, nor names that begin with a dot (but for
/// .well-known). Changes to the files are seen at once.
#[derive(Clone, Debug, Parser)]
#[command(name = "serval", version, about, long_about, max_term_width = 100)]
#[command(after_help = "\
Examples:
  serval ./site                        at http://127.0.0.1:8080/
  serval ./site --listen :80           for everybody who can reach this machine
  serval ./site --tls                  encrypted, at https://127.0.0.1:8443/
  serval ./site --listen 8080 --listen unix:/run/site.sock --log access.log")]
pub struct Args {
    /// The folder to serve
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,

    /// Where to listen; can be given several times
    ///
    /// 127.0.0.1:8080, [::1]:8080, localhost:8080: that address. :8080: every address of this
    /// machine. 8080: this machine alone. unix:/path: a socket in the file system. http:// may
    /// stand before any of them, and https:// for an encrypted listener. Port 0 lets the system
    /// choose one, which is printed. [default: 127.0.0.1:8080, with --tls 127.0.0.1:8443]
    #[arg(short, long, value_name = "ADDRESS")]
    pub listen: Vec<String>,

    /// How many threads serve [default: one per processor]
    #[arg(short, long, value_name = "N")]
    pub workers: Option<usize>,

    /// Keep each of these threads to a processor of its own
    #[arg(long)]
    pub pin: bool,

    /// The file that stands for a folder; can be given several times, first choice first
    #[arg(short, long, value_name = "NAME", default_value = "index.html")]
    pub index: Vec<String>,

    /// Add the access log to FILE, in the combined format; "none" for no log
    ///
    /// Without this it goes to standard output: a short line per request on a terminal, the
    /// combined format otherwise.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Say nothing but errors, and keep no access log on standard output
    #[arg(short, long)]
    pub quiet: bool,

    /// Encryption.
    #[command(flatten)]
    pub tls: TlsArgs,

    /// Limits.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// How connections are encrypted.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Encryption")]
pub struct TlsArgs {
    /// Encrypt all listeners but those that begin with http://
    ///
    /// Without --cert the certificate comes from an authority of your own, which is made once and
    /// kept with your user's data; what is printed says how to trust it. "modern" speaks TLS 1.3
    /// alone, "intermediate" 1.2 as well.
    #[arg(long, value_name = "PROFILE", num_args = 0..=1, default_missing_value = "intermediate")]
    pub tls: Option<ProfileArg>,

    /// A certificate with what leads to a known authority, PEM; can be given several times, and
    /// clients get the one for the name they ask for
    ///
    /// It is read again when it changes, and at SIGHUP.
    #[arg(long, value_name = "FILE")]
    pub cert: Vec<PathBuf>,

    /// The private key of the --cert in the same place, PEM
    #[arg(long, value_name = "FILE")]
    pub key: Vec<PathBuf>,

    /// Give the first certificate to clients that ask for another name, instead of refusing them
    #[arg(long)]
    pub any_name: bool,

    /// Let in only clients with a certificate of these authorities, PEM
    #[arg(long, value_name = "FILE")]
    pub client_ca: Option<PathBuf>,

    /// Whether clients have to have such a certificate [default: required, with --client-ca]
    #[arg(long, value_name = "WHETHER", requires = "client_ca")]
    pub client_auth: Option<ClientAuthArg>,
}

/// Which versions of TLS are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProfileArg {
    /// 1.3 and 1.2
    Intermediate,
    /// 1.3
    Modern,
}

/// Whether clients have to have a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ClientAuthArg {
    /// They are not asked
    Off,
    /// They may have one
    Optional,
    /// They have to
    Required,
}

/// How much of everything there may be.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Connections at a time [default: what the limit on open files allows]
    #[arg(long, value_name = "N")]
    pub connections_max: Option<usize>,

    /// The longest request line; longer ones get 414
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 10)]
    pub line_bytes_max: usize,

    /// The most bytes of header fields in a request; more get 431
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 10)]
    pub fields_bytes_max: usize,

    /// The most header fields in a request; more get 431
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub fields_max: usize,

    /// A request's head has to come within this time, and so has a TLS handshake
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub head_timeout: u64,

    /// A connection may rest between requests for this time
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub idle_timeout: u64,

    /// Transfers slower than this over ten seconds are ended
    #[arg(long, value_name = "BYTES_PER_SECOND", default_value_t = 500)]
    pub rate_min: u64,

    /// Answers under way get this time when the server stops
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub drain_timeout: u64,

    /// Memory for cached files
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    pub cache_mib: usize,

    /// How many files are cached
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub cache_entries_max: usize,
}
