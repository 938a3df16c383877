//! What `config check` says of the certificate files: they are used at each connect, and a table plays on whatever they hold, so that
//! all of it is a warning.

use super::problem::{Origin, Problem};
use super::{Config, Effective};
use crate::time::Timestamp;
use crate::uplink::{CertificateFile, doubts};

/// What is wrong with them at `now`, with the key and the file.
#[must_use]
pub fn doubts_of(config: &Config, effective: &Effective, now: Timestamp) -> Vec<Problem> {
    let Some(files) = &config.uplink.tls else {
        return Vec::new();
    };
    let told = doubts(files, now).into_iter().map(|doubt| {
        let key = match doubt.file {
            CertificateFile::Ca => "mqtt.ca",
            CertificateFile::Certificate => "mqtt.certificate",
            CertificateFile::Key => "mqtt.key",
        };
        let entry = effective.entries.iter().find(|entry| entry.key == key);
        let origin = entry.map_or(Origin::Default, |entry| entry.from.clone());
        Problem::warning(origin, key, doubt.wrong, doubt.right)
    });
    told.collect()
}
