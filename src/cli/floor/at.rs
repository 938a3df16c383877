//! Which table, through which broker: the options that every command of the floor's side has.

use super::follow::Floor;
use crate::cli::ending::Failure;
use crate::uplink::exchange::{PemFile, TlsTexts};
use crate::uplink::{BrokerAddress, Transport};
use clap::Args;
use std::path::{Path, PathBuf};

/// Which table, through which broker.
#[derive(Args, Debug)]
pub(super) struct Where {
    /// The broker: mqtt://host:port, or mqtts://host:port with --ca.
    #[arg(long, value_name = "ADDRESS")]
    broker: BrokerAddress,
    /// The table's site.
    #[arg(long, value_name = "SITE", required_unless_present = "prefix")]
    site: Option<String>,
    /// The table's id.
    #[arg(long, value_name = "TABLE", required_unless_present = "prefix")]
    table: Option<String>,
    /// What its topics begin with, when that isn't tablegate/v1/SITE/TABLE.
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["site", "table"])]
    prefix: Option<String>,
    /// Certificates that may have signed the broker's (PEM).
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Own certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    certificate: Option<PathBuf>,
    /// Key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate")]
    certificate_key: Option<PathBuf>,
    /// Name to log in with.
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// File with its password.
    #[arg(long, value_name = "FILE", requires = "username")]
    password_file: Option<PathBuf>,
    /// The name that the broker's access list has for this reader: the table answers under PREFIX/responses/NAME/.
    #[arg(long, value_name = "NAME", default_value = "floor")]
    reader: String,
}

/// Certificate and key, PEM.
type Identity = (PemFile, PemFile);

impl Where {
    pub(super) fn floor(&self) -> Result<Floor, Failure> {
        let prefix = match (&self.prefix, &self.site, &self.table) {
            (Some(prefix), ..) => one_table("--prefix", prefix.trim_end_matches('/'))?.to_owned(),
            (None, Some(site), Some(table)) => {
                for (option, name) in [("--site", site), ("--table", table)] {
                    if one_table(option, name)?.contains('/') {
                        return Err(Failure::usage(format!("{option} is a name, without \"/\"")));
                    }
                }
                format!("tablegate/v1/{site}/{table}")
            }
            (None, ..) => return Err(Failure::usage("--site and --table, or --prefix, say which table")),
        };
        let tls = match (self.broker.transport, &self.ca) {
            (Transport::Plain, _) => None,
            (Transport::Tls, Some(ca)) => Some(TlsTexts {
                ca: pem(ca)?,
                identity: self.identity()?,
            }),
            (Transport::Tls, None) => {
                return Err(Failure::usage(
                    "an mqtts:// broker needs --ca: the certificates that may have signed the broker's",
                ));
            }
        };
        let password = match &self.password_file {
            Some(file) => String::from_utf8_lossy(&read(file)?)
                .trim_end_matches(['\r', '\n'])
                .to_owned(),
            None => String::new(),
        };
        if one_table("--reader", &self.reader)?.contains('/') {
            return Err(Failure::usage("--reader is a name, without \"/\""));
        }
        let login = self.username.clone().map(|name| (name, password));
        Ok(Floor {
            broker: self.broker.clone(),
            prefix,
            tls,
            login,
            reader: self.reader.clone(),
        })
    }

    fn identity(&self) -> Result<Option<Identity>, Failure> {
        match (&self.certificate, &self.certificate_key) {
            (Some(certificate), Some(key)) => Ok(Some((pem(certificate)?, pem(key)?))),
            (None, _) | (_, None) => Ok(None),
        }
    }
}

/// What leads to one table: a pattern of MQTT would follow several, whose numbers and chains have nothing to do with each other.
fn one_table<'a>(option: &str, written: &'a str) -> Result<&'a str, Failure> {
    if written.is_empty() {
        Err(Failure::usage(format!("{option} is empty")))
    } else if written.contains(|character: char| matches!(character, '#' | '+') || character.is_control()) {
        Err(Failure::usage(format!(
            "{option} names one table: \"#\", \"+\" and control characters can't be in it"
        )))
    } else {
        Ok(written)
    }
}

fn pem(path: &Path) -> Result<PemFile, Failure> {
    Ok(PemFile {
        path: path.to_owned(),
        text: read(path)?,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}
