//! A certificate authority of this user's own, for sites that nobody else can vouch for: made once,
//! kept where only this user can read it, and used to issue a certificate for this machine at each
//! start.

use crate::tls::certificates::{Certificate, Problem, Unusable};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long the authority is valid.
const AUTHORITY_DAYS: u64 = 3650;

/// How long a certificate is: browsers refuse any above 825 days.
const CERTIFICATE_DAYS: u64 = 397;

/// A certificate authority of this user's own.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The file with its certificate, for those who want to trust it.
    certificate: PathBuf,
    is_new: bool,
}

impl Authority {
    /// Opens the authority kept in `folder`, and makes it if there is none.
    pub fn open(folder: &Path) -> Result<Authority, Problem> {
        let certificate = folder.join("authority.pem");
        let key = folder.join("authority.key");
        let is_new = !key.exists();
        if is_new {
            make(folder, &certificate, &key)?;
        }
        let read =
            |path: &Path| fs::read_to_string(path).map_err(|error| Problem::of(path, &error));
        let key = KeyPair::from_pem(&read(&key)?).map_err(|error| Problem::of(&key, &error))?;
        let issuer = Issuer::from_ca_cert_pem(&read(&certificate)?, key)
            .map_err(|error| Problem::of(&certificate, &error))?;
        Ok(Authority { issuer, certificate, is_new })
    }

    /// Issues a certificate for these names and addresses, with a key that is never written down.
    pub fn issue(&self, names: &[String]) -> Result<Certificate, Problem> {
        let internal = |error: rcgen::Error| Problem::internal(&error);
        let key = KeyPair::generate().map_err(internal)?;
        let mut params = CertificateParams::new(names.to_vec()).map_err(internal)?;
        params.distinguished_name = name("Serval, for this machine");
        (params.not_before, params.not_after) = validity(CERTIFICATE_DAYS);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer).map_err(internal)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Certificate::of(vec![certificate.der().clone()], key).map_err(|error| match error {
            Unusable::Chain(what) | Unusable::Key(what) => Problem::internal(&what),
        })
    }

    /// The file with the authority's certificate.
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// Whether it was made just now.
    pub fn is_new(&self) -> bool {
        self.is_new
    }
}

fn make(folder: &Path, certificate: &Path, key: &Path) -> Result<(), Problem> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| Problem::of(folder, &error))?;
    let internal = |error: rcgen::Error| Problem::internal(&error);
    let pair = KeyPair::generate().map_err(internal)?;
    let mut params = CertificateParams::new(Vec::new()).map_err(internal)?;
    params.distinguished_name = name("Serval local authority");
    (params.not_before, params.not_after) = validity(AUTHORITY_DAYS);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let made = params.self_signed(&pair).map_err(internal)?;
    // The key last: it is what says that there is an authority.
    write(certificate, &made.pem()).map_err(|error| Problem::of(certificate, &error))?;
    write(key, &pair.serialize_pem()).map_err(|error| Problem::of(key, &error))
}

/// Writes a file that only this user can read, whole or not at all.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)
}

fn name(text: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, text);
    name
}

/// From a day ago, for clocks that are behind.
fn validity(days: u64) -> (time::OffsetDateTime, time::OffsetDateTime) {
    let day = Duration::from_secs(86_400);
    let now = SystemTime::now();
    ((now - day).into(), (now + day * u32::try_from(days).unwrap_or(u32::MAX)).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_authority_is_made_once_and_kept_private() {
        let folder = std::env::temp_dir().join(format!("serval-authority-{}", std::process::id()));
        let first = Authority::open(&folder).unwrap();
        assert!(first.is_new());
        let certificate = fs::read(first.certificate()).unwrap();
        let second = Authority::open(&folder).unwrap();
        assert!(!second.is_new());
        assert_eq!(fs::read(second.certificate()).unwrap(), certificate);
        for file in ["authority.key", "authority.pem"] {
            let mode = fs::metadata(folder.join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        second.issue(&["localhost".into(), "127.0.0.1".into()]).unwrap();
        fs::write(folder.join("authority.key"), "broken").unwrap();
        let problem = Authority::open(&folder).unwrap_err().to_string();
        assert!(problem.contains("authority.key"), "{problem}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
