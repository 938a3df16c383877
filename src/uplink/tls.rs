//! TLS 1.3 towards a broker, from PEM files; and what went wrong with whose certificate, in words for a technician.

use super::certificate::{Certificate, Kept, Validity, Whose, in_file};
use super::exchange::{ConnectError, PemFile, TlsTexts};
use crate::time::Timestamp;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// How a connection is secured, and who saw what while it was made.
pub(super) struct Secured {
    pub(super) config: Arc<ClientConfig>,
    pub(super) witness: Arc<Witness>,
}

/// Saw the broker's certificate, and knows the table's own: what the library says of an error names neither.
#[derive(Debug)]
pub(super) struct Witness {
    ca: PathBuf,
    own: Option<(PathBuf, Option<Certificate>)>,
    seen: Mutex<Option<Seen>>,
    verifier: Arc<WebPkiServerVerifier>,
}

/// The broker's certificate, when it came.
#[derive(Debug)]
struct Seen {
    certificate: Option<Certificate>,
    /// By this PC's clock.
    at: Timestamp,
    refused: Option<Error>,
}

/// TLS 1.3 and nothing older, with ring.
pub(super) fn secure(texts: &TlsTexts) -> Result<Secured, ConnectError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&texts.ca)? {
        roots.add(certificate).map_err(|error| pem(&texts.ca, &error))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let verifier = verifier.map_err(|error| pem(&texts.ca, &error))?;
    let own_chain = match &texts.identity {
        Some((chain, _)) => certificates(chain)?,
        None => Vec::new(),
    };
    let own = texts.identity.as_ref().map(|(chain, _)| {
        let leaf = own_chain.first().and_then(|der| Certificate::from_der(der));
        (chain.path.clone(), leaf)
    });
    let witness = Arc::new(Witness {
        ca: texts.ca.path.clone(),
        own,
        seen: Mutex::new(None),
        verifier,
    });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(ConnectError::Tls)?
        .dangerous()
        // No danger: it asks the usual verifier, and only remembers what it was shown.
        .with_custom_certificate_verifier(witness.clone());
    let config = match &texts.identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let private = PrivateKeyDer::from_pem_slice(&key.text).map_err(|error| pem(key, &error))?;
            let config = builder.with_client_auth_cert(own_chain, private);
            config.map_err(|error| no_pair(&witness, chain, key, &error))?
        }
    };
    Ok(Secured {
        config: Arc::new(config),
        witness,
    })
}

/// Every certificate of the files that can be told of.
pub(super) fn kept(texts: &TlsTexts) -> Vec<Kept> {
    let own = texts.identity.as_ref().map(|(chain, _)| (Whose::Own, chain));
    let files = own.into_iter().chain([(Whose::Authority, &texts.ca)]);
    let all = files.flat_map(|(whose, file)| {
        let found = certificates(file).unwrap_or_default();
        found.into_iter().filter_map(move |der| {
            Some(Kept {
                whose,
                path: file.path.clone(),
                certificate: Certificate::from_der(&der)?,
            })
        })
    });
    all.collect()
}

pub(super) fn certificates(file: &PemFile) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&file.text).collect();
    let found = found.map_err(|error| pem(file, &error))?;
    if found.is_empty() {
        return Err(pem(file, &"no certificate in it"));
    }
    Ok(found)
}

fn pem(file: &PemFile, reason: &impl ToString) -> ConnectError {
    ConnectError::Pem {
        path: file.path.clone(),
        reason: reason.to_string(),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's words may grow; what isn't known here is told as it is"
)]
fn no_pair(witness: &Witness, chain: &PemFile, key: &PemFile, error: &Error) -> ConnectError {
    let certificate = witness.own.as_ref().and_then(|(_, leaf)| leaf.as_ref());
    match error {
        Error::InconsistentKeys(_) => ConnectError::NoPair {
            certificate: in_file(certificate, &chain.path),
            key: key.path.clone(),
        },
        other => pem(key, other),
    }
}

impl Witness {
    /// What ended a connection before the broker took it, when a certificate or the version of TLS did.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library's words may grow; what isn't known here is told as it is"
    )]
    pub(super) fn explain(&self, error: &Error) -> Option<String> {
        match error {
            Error::AlertReceived(alert) => self.refused_by_broker(*alert),
            Error::InvalidCertificate(reason) => Some(self.broker_refused(reason)),
            Error::PeerIncompatible(_) => Some(OLD_TLS.to_owned()),
            _ => None,
        }
    }

    /// The table's own certificate in words.
    pub(super) fn own(&self) -> Option<String> {
        self.own
            .as_ref()
            .map(|(path, leaf)| format!("the table's certificate ({})", in_file(leaf.as_ref(), path)))
    }

    /// What the table finds wrong with the broker's certificate.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library's words may grow; what isn't known here is told as it is"
    )]
    fn broker_refused(&self, reason: &CertificateError) -> String {
        let seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let seen = seen.as_ref().and_then(|seen| seen.certificate.as_ref());
        let whose = match seen {
            Some(certificate) => format!("the broker's certificate ({})", certificate.shown()),
            None => "the broker's certificate".to_owned(),
        };
        match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("{whose} has expired: it must be renewed at the broker (or this PC's clock is wrong)")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => format!(
                "{whose} is not valid before {}: it was made too early, or this PC's clock is wrong",
                seen.map_or_else(|| "a later day".to_owned(), Certificate::valid_from)
            ),
            // Two authorities whose keys are of different kinds, too, may have the same name.
            CertificateError::UnknownIssuer
            | CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => format!(
                "{whose} was signed by {}, which is no authority in {}: it is another broker, or the wrong ca file",
                seen.map_or("somebody", Certificate::issuer),
                self.ca.display()
            ),
            CertificateError::NotValidForName => {
                format!("{whose} is for another host name than the address in mqtt.brokers")
            }
            CertificateError::NotValidForNameContext { expected, presented } => {
                // The library names them as `DnsName("floor-a.example")`.
                let bare = |name: &'_ String| name.split('"').nth(1).unwrap_or(name).to_owned();
                let names: Vec<String> = presented.iter().take(4).map(bare).collect();
                format!(
                    "{whose} is not for {}, the host in mqtt.brokers, but for {}",
                    expected.to_str(),
                    if names.is_empty() {
                        "no name".to_owned()
                    } else {
                        names.join(", ")
                    }
                )
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                format!("{whose} is not made for a server (extended key usage)")
            }
            CertificateError::Revoked => format!("{whose} has been revoked"),
            other => format!("{whose} is not accepted: {other}"),
        }
    }

    /// What the broker finds wrong with the table's certificate.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library's words may grow; what isn't known here is told as it is"
    )]
    fn refused_by_broker(&self, alert: AlertDescription) -> Option<String> {
        let reason = match alert {
            AlertDescription::ProtocolVersion => return Some(OLD_TLS.to_owned()),
            AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
                return Some(
                    "the broker asks for a certificate of the table: set mqtt.certificate and mqtt.key".into(),
                );
            }
            AlertDescription::CertificateExpired => "it has expired",
            AlertDescription::CertificateRevoked => "it has been revoked",
            AlertDescription::UnknownCA => "the broker does not know the authority that signed it",
            AlertDescription::BadCertificate => "it is damaged, not valid yet, or not what the broker accepts",
            AlertDescription::UnsupportedCertificate => "it is of a kind or purpose that the broker does not accept",
            AlertDescription::CertificateUnknown => "the broker does not accept it",
            AlertDescription::AccessDenied => "the broker gives it no access",
            AlertDescription::DecryptError => "its key does not fit",
            _ => return None,
        };
        Some(match self.own() {
            Some(own) => format!("the broker refuses {own}: {reason}{}", self.own_dates(Some(alert))),
            None => format!("the broker refuses the connection: {reason}"),
        })
    }

    /// The broker ended the connection without a word after its certificate was accepted.
    pub(super) fn hung_up(&self) -> Option<String> {
        let is_broker_accepted = {
            let seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            seen.as_ref().is_some_and(|seen| seen.refused.is_none())
        };
        is_broker_accepted.then(|| match self.own() {
            Some(own) => format!(
                "the broker hung up after the TLS handshake: most likely it refuses {own}; its log says why{}",
                self.own_dates(None)
            ),
            None => "the broker hung up after the TLS handshake: most likely it asks for a certificate of the table \
                     (mqtt.certificate and mqtt.key)"
                .to_owned(),
        })
    }

    /// What this PC's clock says of the table's own certificate, about which the broker said this.
    fn own_dates(&self, alert: Option<AlertDescription>) -> String {
        let seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let at = seen.as_ref().map(|seen| seen.at);
        let own = self.own.as_ref().and_then(|(_, leaf)| leaf.as_ref());
        match (own, at) {
            (Some(own), Some(at)) => match own.validity(at) {
                Validity::Expired => format!("; it expired on {}", own.valid_to()),
                Validity::NotYet => format!("; it is not valid before {}", own.valid_from()),
                // A broker says the same of its revocation list.
                Validity::Valid | Validity::EndsSoon if alert == Some(AlertDescription::CertificateExpired) => {
                    "; by this PC's clock it has not: the broker's revocation list is out of date, or one of the clocks is wrong"
                        .to_owned()
                }
                Validity::Valid | Validity::EndsSoon => String::new(),
            },
            (None, _) | (_, None) => String::new(),
        }
    }
}

const OLD_TLS: &str = "the broker speaks no TLS 1.3, and nothing older is used: set tls_version tlsv1.3 at the broker";

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .verifier
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let micros = now.as_secs().saturating_mul(1_000_000);
        let seen = Seen {
            certificate: Certificate::from_der(end_entity),
            at: Timestamp::from_unix_micros(i64::try_from(micros).unwrap_or(i64::MAX)),
            refused: verified.as_ref().err().cloned(),
        };
        *self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(seen);
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
