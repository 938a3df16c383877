//! Where a broker is. PURE.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Port of MQTT without TLS, as registered.
const PLAIN_PORT: u16 = 1883;
/// Port of MQTT over TLS, as registered.
const TLS_PORT: u16 = 8883;

/// How the bytes travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Transport {
    /// `mqtt://`: in the clear. For the loopback, and where the configuration allows it in so many words.
    Plain,
    /// `mqtts://`: TLS 1.3.
    Tls,
}

/// `mqtt://host[:port]` or `mqtts://host[:port]`; nothing else: no user, no path, no query.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct BrokerAddress {
    /// In the clear, or TLS.
    pub transport: Transport,
    /// Name or IP address; an IPv6 address without its brackets.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
}

impl BrokerAddress {
    /// The host is this machine: bytes in the clear don't leave it.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// Why a text is no broker's address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressError {
    /// Another scheme, or none.
    #[error("a broker's address begins with mqtt:// or mqtts://")]
    Scheme,
    /// Secrets don't stand in addresses, which are logged and shown.
    #[error("no user or password in a broker's address: use username and password_file")]
    Credentials,
    /// No host, or characters that no host has.
    #[error("a broker's address names a host: mqtts://floor.example:8883")]
    Host,
    /// Not a number from 1 to 65535.
    #[error("the port of a broker is a number from 1 to 65535")]
    Port,
}

impl FromStr for BrokerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (transport, rest) = if let Some(rest) = text.strip_prefix("mqtts://") {
            (Transport::Tls, rest)
        } else if let Some(rest) = text.strip_prefix("mqtt://") {
            (Transport::Plain, rest)
        } else {
            return Err(AddressError::Scheme);
        };
        if rest.contains('@') {
            return Err(AddressError::Credentials);
        }
        let (host, port) = split_port(rest.strip_suffix('/').unwrap_or(rest))?;
        let port = match (port, transport) {
            (Some(port), _) => port.parse().ok().filter(|port| *port > 0).ok_or(AddressError::Port)?,
            (None, Transport::Plain) => PLAIN_PORT,
            (None, Transport::Tls) => TLS_PORT,
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if host.is_empty() || !(host.chars().all(is_name) || host.parse::<IpAddr>().is_ok()) {
            return Err(AddressError::Host);
        }
        Ok(BrokerAddress {
            transport,
            host: host.to_owned(),
            port,
        })
    }
}

fn split_port(rest: &str) -> Result<(&str, Option<&str>), AddressError> {
    if let Some(bracketed) = rest.strip_prefix('[') {
        let (host, after) = bracketed.split_once(']').ok_or(AddressError::Host)?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err(AddressError::Host),
        };
    }
    match rest.rsplit_once(':') {
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((rest, None)),
    }
}

impl fmt::Display for BrokerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.transport {
            Transport::Plain => "mqtt",
            Transport::Tls => "mqtts",
        };
        if self.host.contains(':') {
            write!(f, "{scheme}://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, shown) in [
            ("mqtt://localhost", "mqtt://localhost:1883"),
            ("mqtts://floor-a.example", "mqtts://floor-a.example:8883"),
            ("mqtts://floor-a.example:1234/", "mqtts://floor-a.example:1234"),
            ("mqtt://[::1]:7", "mqtt://[::1]:7"),
            ("mqtt://[::1]", "mqtt://[::1]:1883"),
            ("mqtt://127.0.0.1:1884", "mqtt://127.0.0.1:1884"),
        ] {
            assert_eq!(text.parse::<BrokerAddress>().unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_its_reason() {
        for (text, error) in [
            ("floor-a.example:8883", AddressError::Scheme),
            ("tcp://floor-a.example", AddressError::Scheme),
            ("mqtt://me:secret@floor-a.example", AddressError::Credentials),
            ("mqtt://", AddressError::Host),
            ("mqtt://:1883", AddressError::Host),
            ("mqtt://a b", AddressError::Host),
            ("mqtt://host/path", AddressError::Host),
            ("mqtt://[::1", AddressError::Host),
            ("mqtt://host:0", AddressError::Port),
            ("mqtt://host:70000", AddressError::Port),
            ("mqtt://host:x", AddressError::Port),
        ] {
            assert_eq!(text.parse::<BrokerAddress>(), Err(error), "{text}");
        }
    }

    #[test]
    fn loopback_is_this_machine() {
        for (text, loopback) in [
            ("mqtt://localhost", true),
            ("mqtt://127.0.0.9", true),
            ("mqtt://[::1]", true),
            ("mqtt://10.0.0.1", false),
            ("mqtt://localhost.example", false),
        ] {
            assert_eq!(text.parse::<BrokerAddress>().unwrap().is_loopback(), loopback, "{text}");
        }
    }
}
