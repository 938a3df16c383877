//! `[mqtt]`: brokers, certificates, login, topics. Secrets are names of files, and stay so.

use super::convert::{Converter, Known, is_name};
use super::keys;
use super::value::shown;
use super::written::{Mqtt, Written};
use crate::uplink::{BrokerAddress, ClientIdentity, Login, TlsFiles, Transport, UplinkConfig};
use std::path::{Path, PathBuf};

/// Longest MQTT client id: a site, a hyphen and a table.
const CLIENT_ID_MAX: usize = 65;

/// Longest prefix of topics: a response's topic has at most 200 bytes, and 72 are for what follows the prefix.
const PREFIX_MAX: usize = 128;

/// Whether a broker asks for TLS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tls {
    Needed,
    NotUsed,
    /// The brokers are wrong or missing, which was told.
    Unknown,
}

impl Converter<'_> {
    pub(super) fn uplink(&mut self, written: &Written, known: &Known) -> Option<UplinkConfig> {
        let section = &written.mqtt;
        let brokers = self.brokers(section);
        let secure = |text: &String| text.starts_with("mqtts://");
        let tls = match &section.brokers {
            Some(written) if written.iter().any(secure) => Tls::Needed,
            Some(_) if brokers.is_some() => Tls::NotUsed,
            Some(_) | None => Tls::Unknown,
        };
        let tls = self.tls(section, tls);
        let login = self.login(section);
        let prefix = self.prefix("mqtt.prefix", &section.prefix, known);
        let response_prefixes: Vec<_> = section
            .response_prefixes
            .iter()
            .map(|prefix| self.prefix("mqtt.response_prefixes", prefix, known))
            .collect();
        let client_id = match &section.client_id {
            Some(id) if is_name(id, CLIENT_ID_MAX, "_-.") => Some(id.clone()),
            Some(id) => {
                self.error(
                    "mqtt.client_id",
                    format!("is {}", shown(id)),
                    "1 to 65 letters, digits, _, - and .",
                );
                None
            }
            None => known
                .site
                .as_ref()
                .zip(known.table.as_ref())
                .map(|(s, t)| client_id(s, t)),
        };
        Some(UplinkConfig {
            site: known.site.clone()?,
            table: known.table.clone()?,
            prefix: prefix?,
            response_prefixes: response_prefixes.into_iter().collect::<Option<_>>()?,
            brokers: brokers?,
            client_id: client_id?,
            tls: tls?,
            login: login?,
        })
    }

    fn brokers(&mut self, section: &Mqtt) -> Option<Vec<BrokerAddress>> {
        let key = "mqtt.brokers";
        let written = section.brokers.as_deref()?;
        if written.is_empty() {
            self.error(key, "is empty", keys::key(key)?.right());
        }
        let mut brokers: Vec<BrokerAddress> = Vec::new();
        for text in written {
            match text.parse::<BrokerAddress>() {
                // What may hold a password is not repeated.
                Err(error) if text.contains('@') => self.error(key, "has an address with an @", error.to_string()),
                Err(error) => self.error(key, format!("has {}", shown(text)), error.to_string()),
                Ok(broker)
                    if broker.transport == Transport::Plain && !broker.is_loopback() && !section.allow_plaintext =>
                {
                    self.error(
                        key,
                        format!("has {}, in the clear to another host", shown(text)),
                        "mqtts://, or allow_plaintext = true where the network is trusted",
                    );
                }
                Ok(broker) if brokers.contains(&broker) => {
                    self.error(key, format!("has {} twice", shown(text)), "each broker once");
                }
                Ok(broker) => brokers.push(broker),
            }
        }
        (brokers.len() == written.len() && !brokers.is_empty()).then_some(brokers)
    }

    /// `Some(None)`: no TLS is wanted.
    fn tls(&mut self, section: &Mqtt, use_of_tls: Tls) -> Option<Option<TlsFiles>> {
        let identity = match (&section.certificate, &section.key) {
            (Some(certificate), Some(key)) => Some(Some(ClientIdentity {
                certificate: PathBuf::from(certificate),
                key: PathBuf::from(key),
            })),
            (None, None) => Some(None),
            (Some(_), None) => {
                self.missing("mqtt.key", "beside certificate", "the file of its private key, PEM");
                None
            }
            (None, Some(_)) => {
                self.missing("mqtt.certificate", "beside key", "the file of the certificate, PEM");
                None
            }
        };
        for (key, path) in [
            ("mqtt.ca", &section.ca),
            ("mqtt.certificate", &section.certificate),
            ("mqtt.key", &section.key),
        ] {
            let Some(path) = path else { continue };
            if use_of_tls == Tls::NotUsed {
                self.warn(
                    key,
                    "is not used: no broker is mqtts://",
                    "an mqtts:// broker, or no such key",
                );
            } else if !self.files.exists(Path::new(path)) {
                self.warn(
                    key,
                    format!("is {}, which isn't there now", shown(path)),
                    "a readable file at each connect",
                );
            }
        }
        if use_of_tls != Tls::Needed {
            return identity.map(|_| None);
        }
        let Some(ca) = &section.ca else {
            self.missing("mqtt.ca", "beside an mqtts:// broker", keys::key("mqtt.ca")?.right());
            return None;
        };
        Some(Some(TlsFiles {
            ca: PathBuf::from(ca),
            identity: identity?,
        }))
    }

    fn login(&mut self, section: &Mqtt) -> Option<Option<Login>> {
        let password_file = section.password_file.as_ref();
        if let Some(path) = password_file.filter(|path| !self.files.exists(Path::new(path))) {
            self.warn(
                "mqtt.password_file",
                format!("is {}, which isn't there now", shown(path)),
                "a readable file at each connect",
            );
        }
        match (&section.username, password_file) {
            (Some(username), password_file) => Some(Some(Login {
                username: username.clone(),
                password_file: password_file.map(PathBuf::from),
            })),
            (None, None) => Some(None),
            (None, Some(_)) => {
                self.missing(
                    "mqtt.username",
                    "beside password_file",
                    "the name that the password is for",
                );
                None
            }
        }
    }

    /// A prefix of topics with its places filled in; without site or table it is only checked.
    fn prefix(&mut self, key: &str, written: &str, known: &Known) -> Option<String> {
        let right =
            "levels separated by /, with {site} and {table} where wanted, without + # $ and spaces, at most 128 bytes";
        let filled = written
            .replace("{site}", known.site.as_deref().unwrap_or("site"))
            .replace("{table}", known.table.as_deref().unwrap_or("table"));
        let level = |level: &str| {
            let fits = |c: char| c.is_ascii_graphic() && !"+#${}".contains(c);
            !level.is_empty() && level.chars().all(fits)
        };
        if filled.len() > PREFIX_MAX || !filled.split('/').all(level) {
            self.error(key, format!("is {}", shown(written)), right);
            return None;
        }
        Some(filled)
    }
}

/// The MQTT client id when none is written.
pub(super) fn client_id(site: &str, table: &str) -> String {
    format!("{site}-{table}")
}
