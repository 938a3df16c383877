//! What a connection proves itself with: certificates and passwords, read at each connect, and what is told of them meanwhile.

use super::exchange::{ConnectError, ConnectOptions, TlsTexts};
use super::keeper::{Keeper, Presence, of_each};
use super::{BrokerAddress, Transport, UplinkConfig, renewal};
use crate::table::input::Condition;
use std::path::Path;

/// Whether the certificate files are those that the connection was made with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Certificates {
    InUse,
    Renewed,
}

impl Keeper {
    pub(super) async fn options(
        &self,
        address: BrokerAddress,
        connection: u64,
    ) -> Result<ConnectOptions, ConnectError> {
        let will = self.status(connection, Presence::Offline);
        let (tls, login) = if needs_files(&self.config, address.transport) {
            let (files, transport) = (self.config.clone(), address.transport);
            match tokio::task::spawn_blocking(move || read_files(&files, transport)).await {
                Ok(read) => read?,
                Err(error) => {
                    return Err(ConnectError::File {
                        path: std::path::PathBuf::new(),
                        source: std::io::Error::other(error),
                    });
                }
            }
        } else {
            read_files(&self.config, address.transport)?
        };
        Ok(ConnectOptions {
            address,
            client_id: self.config.client_id.clone(),
            login,
            tls,
            will: Some((self.topics.status.clone(), will)),
        })
    }

    /// A certificate of this broker, or the table's own for it, is not taken. One alert tells of every broker, so that two that are
    /// tried in turn don't raise it in turn.
    pub(super) fn certificate_not_taken(&mut self, text: &str) {
        self.not_taken.insert(self.report.broker.clone(), text.to_owned());
        self.alarms
            .renew(Condition::CertificateRefused, of_each(&self.not_taken));
    }

    /// A broker has taken the connection, and so its certificates.
    pub(super) fn certificates_taken(&mut self) {
        self.not_taken.clear();
        self.alarms.clear(Condition::CertificateRefused);
    }

    /// Tells what the certificate files hold now. Says whether the connection was made with others.
    pub(super) fn heed_certificates(&mut self) -> Certificates {
        let Some(looked) = self.certificates.borrow_and_update().clone() else {
            return Certificates::InUse;
        };
        match looked.expiring {
            Some(expiring) => self.alarms.renew(Condition::CertificateExpires, expiring.text),
            None => self.alarms.clear(Condition::CertificateExpires),
        }
        let is_online = self.online_since.is_some();
        match (looked.unusable, looked.digest, self.certificates_used) {
            (Some(text), ..) if is_online => {
                let text = format!("{text}; the connection goes on with those that it was made with");
                self.alarms.renew(Condition::CertificateRefused, text);
                Certificates::InUse
            }
            (None, Some(now), Some(used)) if is_online && now != used => Certificates::Renewed,
            (None, Some(_), _) if is_online => {
                self.certificates_taken();
                Certificates::InUse
            }
            // While there is no connection, each attempt says what is wrong.
            (..) => Certificates::InUse,
        }
    }
}

type Read = (Option<TlsTexts>, Option<(String, String)>);

/// Whether a connection needs anything of the disk, which may hang.
fn needs_files(config: &UplinkConfig, transport: Transport) -> bool {
    let password = config.login.as_ref().is_some_and(|login| login.password_file.is_some());
    password || (config.tls.is_some() && transport == Transport::Tls)
}

/// Certificates and passwords may be renewed while the daemon runs: they are read at each connect. Blocking.
fn read_files(config: &UplinkConfig, transport: Transport) -> Result<Read, ConnectError> {
    let tls = match (&config.tls, transport) {
        (Some(files), Transport::Tls) => Some(renewal::read(files)?),
        (None, _) | (_, Transport::Plain) => None,
    };
    let login = match &config.login {
        Some(login) => {
            let password = match &login.password_file {
                Some(path) => String::from_utf8_lossy(&read_file(path)?)
                    .trim_end_matches(['\r', '\n'])
                    .to_owned(),
                None => String::new(),
            };
            Some((login.username.clone(), password))
        }
        None => None,
    };
    Ok((tls, login))
}

fn read_file(path: &Path) -> Result<Vec<u8>, ConnectError> {
    std::fs::read(path).map_err(|source| ConnectError::File {
        path: path.to_owned(),
        source,
    })
}
