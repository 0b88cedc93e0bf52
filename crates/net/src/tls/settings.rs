//! What both sides may agree on, after Mozilla's recommendations, and the state that all workers
//! share: certificates, and the keys of session tickets.

use crate::tls::certificates::{Certificates, Problem};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::path::PathBuf;
use std::sync::Arc;

/// Which versions are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// TLS 1.3, and 1.2 with forward secrecy and authenticated encryption (Mozilla's
    /// "intermediate").
    #[default]
    Intermediate,
    /// TLS 1.3 alone (Mozilla's "modern").
    Modern,
}

/// Whether clients have to say who they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// They are not asked.
    #[default]
    Off,
    /// They are asked; one with a certificate that these authorities did not issue is refused.
    Optional(PathBuf),
    /// Only those with a certificate of these authorities are let in.
    Required(PathBuf),
}

/// What encrypted listeners are made of.
#[derive(Debug)]
pub struct Settings {
    /// The certificates to choose from.
    pub certificates: Arc<Certificates>,
    /// Which versions are spoken.
    pub profile: Profile,
    /// Whether clients have to say who they are.
    pub client_auth: ClientAuth,
    /// Protocols for ALPN (RFC 7301), the best first.
    pub protocols: Vec<Vec<u8>>,
}

/// What begins the server's end of encrypted connections. Cheap to clone: clones share
/// certificates and ticket keys.
#[derive(Clone, Debug)]
pub struct Acceptor {
    config: Arc<ServerConfig>,
    certificates: Arc<Certificates>,
}

impl Acceptor {
    /// Checks the settings and makes them ready.
    pub fn new(settings: Settings) -> Result<Acceptor, Problem> {
        let provider = provider();
        let versions: &[&SupportedProtocolVersion] = match settings.profile {
            Profile::Intermediate => &[&TLS13, &TLS12],
            Profile::Modern => &[&TLS13],
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| Problem::internal(&error))?;
        let builder = match &settings.client_auth {
            ClientAuth::Off => builder.with_no_client_auth(),
            ClientAuth::Optional(path) | ClientAuth::Required(path) => {
                let roots = Arc::new(authorities(path)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                let verifier = match settings.client_auth {
                    ClientAuth::Optional(_) => verifier.allow_unauthenticated(),
                    _ => verifier,
                };
                let verifier = verifier.build().map_err(|error| Problem::internal(&error))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let certificates = settings.certificates;
        let mut config = builder.with_cert_resolver(Arc::clone(&certificates) as Arc<_>);
        config.alpn_protocols = settings.protocols;
        // Tickets alone: they cost no memory here, and any worker can resume them. Their keys are
        // replaced every few hours, and each is bound to the name it was given out for.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer = aws_lc_rs::Ticketer::new().map_err(|error| Problem::internal(&error))?;
        Ok(Acceptor { config: Arc::new(config), certificates })
    }

    pub(crate) fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// The certificates, to have them read again.
    pub fn certificates(&self) -> &Arc<Certificates> {
        &self.certificates
    }
}

/// The cryptography, with X25519MLKEM768 the first choice of key exchange.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// Reads the certificates of authorities from a PEM file.
fn authorities(path: &PathBuf) -> Result<RootCertStore, Problem> {
    let mut roots = RootCertStore::empty();
    let unreadable = |error: &dyn std::fmt::Display| Problem::of(path, error);
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| unreadable(&e))? {
        let certificate = certificate.map_err(|e| unreadable(&e))?;
        roots.add(certificate).map_err(|e| unreadable(&e))?;
    }
    if roots.is_empty() {
        return Err(unreadable(&"there is no certificate in it"));
    }
    Ok(roots)
}
