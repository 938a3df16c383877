//! What is wrong with the certificate files that a configuration names, or will be soon, said before a connection is made with them.
//! For `config check`: nothing here keeps a table from playing, for its journal waits for a broker as long as it has to.

use super::certificate::{Certificate, Validity};
use super::exchange::{ConnectError, PemFile, TlsTexts};
use super::{ClientIdentity, TlsFiles, renewal, tls};
use crate::time::Timestamp;
use std::io::ErrorKind;
use std::path::Path;

/// Which of the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CertificateFile {
    /// `[mqtt] ca`.
    Ca,
    /// `[mqtt] certificate`.
    Certificate,
    /// `[mqtt] key`.
    Key,
}

/// Something that is wrong with one of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateDoubt {
    /// Which file.
    pub file: CertificateFile,
    /// What is wrong: goes on after the key's name.
    pub wrong: String,
    /// What would be right.
    pub right: &'static str,
}

/// Looks into the files that are there; those that aren't are another check's. Blocking.
#[must_use]
pub fn doubts(files: &TlsFiles, now: Timestamp) -> Vec<CertificateDoubt> {
    let mut doubts = Vec::new();
    let ca = text_of(CertificateFile::Ca, &files.ca, &mut doubts);
    let identity = files.identity.as_ref();
    let chain = identity
        .and_then(|ClientIdentity { certificate, .. }| text_of(CertificateFile::Certificate, certificate, &mut doubts));
    let key = identity.and_then(|ClientIdentity { key, .. }| text_of(CertificateFile::Key, key, &mut doubts));
    let ca = ca.filter(|ca| are_valid(CertificateFile::Ca, ca, now, &mut doubts));
    let chain = chain.filter(|chain| are_valid(CertificateFile::Certificate, chain, now, &mut doubts));
    // A pair is judged beside its authority, as a connection would.
    let (Some(ca), Some(chain), Some(key)) = (ca, chain, key) else {
        return doubts;
    };
    let texts = TlsTexts {
        ca,
        identity: Some((chain, key)),
    };
    if let Err(error) = tls::secure(&texts) {
        let right = match error {
            ConnectError::NoPair { .. } => "the private key that this certificate was made with",
            ConnectError::NoCa { .. }
            | ConnectError::Pem { .. }
            | ConnectError::Certificate { .. }
            | ConnectError::File { .. }
            | ConnectError::Tls(_) => "files that a connection can be made with",
        };
        doubts.push(CertificateDoubt {
            file: CertificateFile::Key,
            wrong: format!("is of no use: {}", error.in_words()),
            right,
        });
    }
    doubts
}

fn text_of(file: CertificateFile, path: &Path, doubts: &mut Vec<CertificateDoubt>) -> Option<PemFile> {
    match renewal::read_pem(path) {
        Ok(text) => Some(text),
        Err(ConnectError::Certificate { source, .. }) if source.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            doubts.push(CertificateDoubt {
                file,
                wrong: format!("is of no use to this user: {}", error.in_words()),
                right: "a file that the daemon's user can read; as that user this check would say whether it is right",
            });
            None
        }
    }
}

/// The file holds certificates; what is to be said of each is said.
fn are_valid(file: CertificateFile, text: &PemFile, now: Timestamp, doubts: &mut Vec<CertificateDoubt>) -> bool {
    let found = match tls::certificates(text) {
        Ok(found) => found,
        Err(error) => {
            doubts.push(CertificateDoubt {
                file,
                wrong: format!("is of no use: {}", error.in_words()),
                right: "certificates, PEM",
            });
            return false;
        }
    };
    for certificate in found.iter().filter_map(|der| Certificate::from_der(der)) {
        let validity = certificate.validity(now);
        let when = match validity {
            Validity::Valid => continue,
            Validity::NotYet => format!("is not valid before {}", certificate.valid_from()),
            Validity::EndsSoon => format!("expires soon, on {}", certificate.valid_to()),
            Validity::Expired => format!("expired on {}", certificate.valid_to()),
        };
        let right = match (file, validity) {
            (_, Validity::NotYet) => "one that is valid by this PC's clock, or a clock that is right",
            (CertificateFile::Ca, Validity::Valid | Validity::EndsSoon | Validity::Expired) => {
                "its successor beside it, or a file without it when no broker needs it"
            }
            (
                CertificateFile::Certificate | CertificateFile::Key,
                Validity::Valid | Validity::EndsSoon | Validity::Expired,
            ) => "a renewed one, and its key",
        };
        doubts.push(CertificateDoubt {
            file,
            wrong: format!(
                "has a certificate that {when} ({}, {})",
                certificate.subject(),
                text.path.display()
            ),
            right,
        });
    }
    true
}
