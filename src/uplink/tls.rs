//! TLS 1.3 towards a broker, from PEM texts.

use super::exchange::{ConnectError, TlsTexts};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// TLS 1.3 and nothing older, with ring.
pub(super) fn client_config(texts: &TlsTexts) -> Result<ClientConfig, ConnectError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&texts.ca, "ca")? {
        roots.add(certificate).map_err(ConnectError::Tls)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(ConnectError::Tls)?
        .with_root_certificates(roots);
    let Some((chain, key)) = &texts.identity else {
        return Ok(builder.with_no_client_auth());
    };
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| ConnectError::Pem {
        what: "key",
        reason: error.to_string(),
    })?;
    let chain = certificates(chain, "certificate")?;
    builder.with_client_auth_cert(chain, key).map_err(ConnectError::Tls)
}

fn certificates(pem: &[u8], what: &'static str) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| ConnectError::Pem {
        what,
        reason: error.to_string(),
    })?;
    if found.is_empty() {
        let reason = "no certificate in it".to_owned();
        return Err(ConnectError::Pem { what, reason });
    }
    Ok(found)
}
