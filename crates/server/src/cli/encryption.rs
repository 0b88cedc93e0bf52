//! From what was typed about encryption to what listeners need.

use super::args::{ClientAuthArg, ProfileArg, TlsArgs};
use serval_net::tls::authority::Authority;
use serval_net::tls::certificates::{Certificates, Files};
use serval_net::tls::settings::{Acceptor, ClientAuth, Profile, Settings};
use std::path::PathBuf;
use std::sync::Arc;

/// How encrypted connections begin, and what to tell the operator about their certificate.
#[derive(Debug)]
pub struct Encryption {
    /// For the workers.
    pub acceptor: Acceptor,
    /// The certificate of this user's own authority, if that vouches for the site.
    pub authority: Option<PathBuf>,
}

impl TlsArgs {
    /// Whether addresses without a scheme are encrypted.
    pub fn is_wanted(&self) -> bool {
        self.tls.is_some()
            || !self.cert.is_empty()
            || !self.key.is_empty()
            || self.client_ca.is_some()
    }
}

/// Resolves the arguments.
pub fn resolve(args: &TlsArgs) -> Result<Encryption, String> {
    let (certificates, authority) =
        if args.cert.is_empty() { own(args)? } else { (given(args)?, None) };
    let profile = match args.tls {
        Some(ProfileArg::Modern) => Profile::Modern,
        Some(ProfileArg::Intermediate) | None => Profile::Intermediate,
    };
    let client_auth = match (&args.client_ca, args.client_auth) {
        (None, _) | (_, Some(ClientAuthArg::Off)) => ClientAuth::Off,
        (Some(path), Some(ClientAuthArg::Optional)) => ClientAuth::Optional(path.clone()),
        (Some(path), Some(ClientAuthArg::Required) | None) => ClientAuth::Required(path.clone()),
    };
    let settings = Settings {
        certificates: Arc::new(certificates),
        profile,
        client_auth,
        protocols: vec![b"http/1.1".to_vec()],
    };
    let acceptor = Acceptor::new(settings).map_err(|problem| problem.to_string())?;
    Ok(Encryption { acceptor, authority })
}

/// The certificates that were named.
fn given(args: &TlsArgs) -> Result<Certificates, String> {
    if args.cert.len() != args.key.len() {
        return Err(format!(
            "there are {} --cert and {} --key: each certificate needs its key, in the same order",
            args.cert.len(),
            args.key.len()
        ));
    }
    let pairs = args.cert.iter().zip(&args.key);
    let files = pairs.map(|(chain, key)| Files { chain: chain.clone(), key: key.clone() });
    Certificates::read(files.collect(), args.any_name).map_err(|problem| problem.to_string())
}

/// One that this user's own authority issues for this machine.
fn own(args: &TlsArgs) -> Result<(Certificates, Option<PathBuf>), String> {
    if !args.key.is_empty() {
        return Err("--key needs the certificate it belongs to, --cert".into());
    }
    let authority = Authority::open(&data_folder()?).map_err(|problem| problem.to_string())?;
    let certificate = authority.issue(&names()).map_err(|problem| problem.to_string())?;
    Ok((Certificates::made(certificate), Some(authority.certificate().to_owned())))
}

/// Where this user's programs keep data of their own (XDG Base Directory Specification).
fn data_folder() -> Result<PathBuf, String> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    data.map(|data| data.join("serval")).ok_or_else(|| {
        "there is nowhere to keep a certificate authority: set HOME or XDG_DATA_HOME, or give a \
         certificate with --cert and --key"
            .into()
    })
}

/// The names and addresses by which this machine is asked.
fn names() -> Vec<String> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".into(), "::1".into()];
    let system = rustix::system::uname();
    if let Ok(host) = system.nodename().to_str()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
        && !host.is_empty()
    {
        names.push(host.to_ascii_lowercase());
        if !host.contains('.') {
            names.push(format!("{}.local", host.to_ascii_lowercase()));
        }
    }
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    names.extend(interfaces.iter().map(|interface| interface.ip().to_string()));
    names.sort();
    names.dedup();
    names
}
