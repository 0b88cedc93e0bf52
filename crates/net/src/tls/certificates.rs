//! Certificates: read from files, chosen by the name that a client asks for (SNI, RFC 6066 §3),
//! and read again when the files change. One that cannot be used never replaces one that can.

use crate::tls::settings;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The files of one certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate and what leads from it to a known authority, PEM.
    pub chain: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
}

/// What is wrong with a certificate, in one sentence.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem(String);

impl Problem {
    pub(crate) fn of(path: &Path, what: &dyn fmt::Display) -> Problem {
        Problem(format!("{}: {what}", path.display()))
    }

    pub(crate) fn internal(what: &dyn fmt::Display) -> Problem {
        Problem(format!("TLS cannot be set up: {what}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One certificate in memory, with the names it is for.
#[derive(Debug)]
pub struct Certificate {
    key: Arc<CertifiedKey>,
    names: Vec<String>,
    expires_at: i64,
}

/// The certificates of one or more listeners.
#[derive(Debug)]
pub struct Certificates {
    files: Vec<Files>,
    /// Whether a name that no certificate is for gets the first one.
    any_name: bool,
    table: RwLock<Arc<Table>>,
}

/// What a client's name leads to. Replaced as a whole.
#[derive(Debug)]
struct Table {
    by_name: HashMap<String, Arc<CertifiedKey>>,
    first: Option<Arc<CertifiedKey>>,
    /// What the files looked like when they were read.
    seen: Vec<Option<Seen>>,
}

/// A file's length and time of change, in nanoseconds.
type Seen = (u64, u128);

impl Certificates {
    /// Reads certificates from files. With `any_name`, clients that ask for a name which none of
    /// them is for get the first one; otherwise they are refused.
    pub fn read(files: Vec<Files>, any_name: bool) -> Result<Certificates, Problem> {
        let table = Table::read(&files)?;
        Ok(Certificates { files, any_name, table: RwLock::new(Arc::new(table)) })
    }

    /// One that was made in memory, for any name.
    pub fn made(certificate: Certificate) -> Certificates {
        let table = Table::of(vec![certificate], Vec::new());
        Certificates { files: Vec::new(), any_name: true, table: RwLock::new(Arc::new(table)) }
    }

    /// Reads the files again if any of them has changed since: whether they had. On an error what
    /// was there stays in use.
    pub fn refresh(&self) -> Result<bool, Problem> {
        if seen(&self.files) == self.table().seen {
            return Ok(false);
        }
        self.reload().map(|()| true)
    }

    /// Reads the files again. On an error what was there stays in use.
    pub fn reload(&self) -> Result<(), Problem> {
        if self.files.is_empty() {
            return Ok(());
        }
        let table = Table::read(&self.files);
        let mut held = self.table.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        match table {
            Ok(table) => {
                *held = Arc::new(table);
                Ok(())
            }
            Err(problem) => {
                // The same broken files are not complained of again.
                *held = Arc::new(Table { seen: seen(&self.files), ..held.as_ref().clone() });
                Err(problem)
            }
        }
    }

    fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.read().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn choose(&self, name: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let table = self.table();
        let Some(name) = name else { return table.first.clone() };
        let name = name.to_ascii_lowercase();
        let wildcard = || {
            let (_, parent) = name.split_once('.')?;
            table.by_name.get(&format!("*.{parent}"))
        };
        let found = table.by_name.get(&name).or_else(wildcard);
        found.or(table.first.as_ref().filter(|_| self.any_name)).cloned()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.choose(hello.server_name())
    }
}

impl Clone for Table {
    fn clone(&self) -> Table {
        Table { by_name: self.by_name.clone(), first: self.first.clone(), seen: self.seen.clone() }
    }
}

impl Table {
    fn read(files: &[Files]) -> Result<Table, Problem> {
        // Looked at before they are read: a change in between is seen at the next look.
        let seen = seen(files);
        let certificates = files.iter().map(Certificate::read).collect::<Result<_, _>>()?;
        Ok(Table::of(certificates, seen))
    }

    fn of(certificates: Vec<Certificate>, seen: Vec<Option<Seen>>) -> Table {
        let first = certificates.first().map(|certificate| Arc::clone(&certificate.key));
        let mut by_name = HashMap::new();
        for certificate in certificates {
            for name in certificate.names {
                by_name.entry(name).or_insert_with(|| Arc::clone(&certificate.key));
            }
        }
        Table { by_name, first, seen }
    }
}

fn seen(files: &[Files]) -> Vec<Option<Seen>> {
    let look = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((metadata.len(), changed.as_nanos()))
    };
    files.iter().flat_map(|files| [look(&files.chain), look(&files.key)]).collect()
}

impl Certificate {
    /// Reads one from its files and checks that they belong together.
    pub fn read(files: &Files) -> Result<Certificate, Problem> {
        let of_chain = |what: &dyn fmt::Display| Problem::of(&files.chain, what);
        let of_key = |what: &dyn fmt::Display| Problem::of(&files.key, what);
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.chain)
            .and_then(Iterator::collect)
            .map_err(|error| of_chain(&error))?;
        if chain.is_empty() {
            return Err(of_chain(&"there is no certificate in it"));
        }
        let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| of_key(&error))?;
        let certificate = Certificate::of(chain, key).map_err(|error| match error {
            Unusable::Chain(what) => of_chain(&what),
            Unusable::Key(what) => of_key(&what),
        })?;
        if certificate.has_expired() {
            return Err(of_chain(&"the certificate has expired"));
        }
        Ok(certificate)
    }

    /// One in memory.
    pub(crate) fn of(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Certificate, Unusable> {
        let (names, expires_at) = describe(chain.first()).map_err(Unusable::Chain)?;
        let key = settings::provider()
            .key_provider
            .load_private_key(key)
            .map_err(|error| Unusable::Key(error.to_string()))?;
        let certified = CertifiedKey::new(chain, key);
        match certified.keys_match() {
            // A key that cannot tell its public part is taken on trust.
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {}
            Err(_) => {
                return Err(Unusable::Key("the key does not belong to the certificate".into()));
            }
        }
        Ok(Certificate { key: Arc::new(certified), names, expires_at })
    }

    fn has_expired(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.expires_at < i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Which of the two a certificate cannot be used for, and why.
#[derive(Debug)]
pub(crate) enum Unusable {
    Chain(String),
    Key(String),
}

/// The names that a certificate is for, in lower case, and when it expires, in Unix seconds.
fn describe(certificate: Option<&CertificateDer<'_>>) -> Result<(Vec<String>, i64), String> {
    let der = certificate.ok_or("there is no certificate")?;
    let (_, parsed) = X509Certificate::from_der(der)
        .map_err(|error| format!("the certificate cannot be read: {error}"))?;
    let mut names = Vec::new();
    if let Ok(Some(alternatives)) = parsed.subject_alternative_name() {
        for name in &alternatives.value.general_names {
            if let GeneralName::DNSName(name) = name {
                names.push(name.to_ascii_lowercase());
            }
        }
    }
    Ok((names, parsed.validity().not_after.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("serval-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn write(&self, stem: &str, names: &[&str]) -> Files {
            let key = KeyPair::generate().unwrap();
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
            let files = Files {
                chain: self.0.join(format!("{stem}.pem")),
                key: self.0.join(format!("{stem}.key")),
            };
            std::fs::write(&files.chain, certificate.pem()).unwrap();
            std::fs::write(&files.key, key.serialize_pem()).unwrap();
            files
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_name_leads_to_its_certificate_or_nowhere() {
        let folder = Folder::new("sni");
        let one = folder.write("one", &["one.example", "*.one.example"]);
        let two = folder.write("two", &["Two.example"]);
        let certificates = Certificates::read(vec![one.clone(), two.clone()], false).unwrap();
        let chosen = |certificates: &Certificates, name| {
            certificates.choose(name).map(|key| key.cert[0].clone())
        };
        let first = chosen(&certificates, Some("one.example"));
        assert!(first.is_some());
        assert_eq!(chosen(&certificates, Some("www.ONE.example")), first);
        assert_eq!(chosen(&certificates, None), first);
        let second = chosen(&certificates, Some("two.example"));
        assert!(second.is_some() && second != first);
        for unknown in ["a.b.one.example", "three.example", "example", ""] {
            assert_eq!(chosen(&certificates, Some(unknown)), None, "{unknown}");
        }
        let certificates = Certificates::read(vec![one, two], true).unwrap();
        assert_eq!(chosen(&certificates, Some("three.example")), first);
    }

    #[test]
    fn changed_files_are_read_again_and_broken_ones_change_nothing() {
        let folder = Folder::new("reload");
        let files = folder.write("site", &["a.example"]);
        let certificates = Certificates::read(vec![files.clone()], false).unwrap();
        assert_eq!(certificates.refresh(), Ok(false));
        folder.write("site", &["b.example.with.a.longer.name"]);
        assert_eq!(certificates.refresh(), Ok(true));
        assert!(certificates.choose(Some("b.example.with.a.longer.name")).is_some());
        std::fs::write(&files.key, "no key").unwrap();
        let problem = certificates.refresh().unwrap_err().to_string();
        assert!(problem.contains("site.key"), "{problem}");
        assert!(certificates.choose(Some("b.example.with.a.longer.name")).is_some());
        assert_eq!(certificates.refresh(), Ok(false), "said once");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_name_of_the_file() {
        let folder = Folder::new("wrong");
        let files = folder.write("a", &["a.example"]);
        let other = folder.write("b", &["b.example"]);
        let problem = |chain: &Path, key: &Path| {
            let files = Files { chain: chain.into(), key: key.into() };
            Certificates::read(vec![files], false).unwrap_err().to_string()
        };
        let text = problem(&files.chain, &other.key);
        assert!(text.contains("b.key: the key does not belong"), "{text}");
        let text = problem(&folder.0.join("none.pem"), &files.key);
        assert!(text.contains("none.pem"), "{text}");
        let text = problem(&files.key, &files.key);
        assert!(text.contains("a.key: there is no certificate in it"), "{text}");
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["old.example".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
        let old = params.self_signed(&key).unwrap();
        std::fs::write(folder.0.join("old.pem"), old.pem()).unwrap();
        std::fs::write(folder.0.join("old.key"), key.serialize_pem()).unwrap();
        let text = problem(&folder.0.join("old.pem"), &folder.0.join("old.key"));
        assert!(text.ends_with("old.pem: the certificate has expired"), "{text}");
    }
}
