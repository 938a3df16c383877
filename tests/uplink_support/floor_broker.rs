//! A mosquitto with the files of deploy/mosquitto, and certificates made by the script beside them.

use super::mosquitto::Mosquitto;
use std::path::{Path, PathBuf};
use std::process::Command;
use tablegate::uplink::exchange::{PemFile, TlsTexts};
use tablegate::uplink::{ClientIdentity, TlsFiles};

const CONF: &str = include_str!("../../deploy/mosquitto/mosquitto.conf");
const ACL: &str = include_str!("../../deploy/mosquitto/acl");

/// Runs deploy/mosquitto/certificates.sh in this directory, with these variables.
pub fn certificates(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/mosquitto/certificates.sh");
    let ended = Command::new("bash")
        .arg(script)
        .arg(directory)
        .args(arguments)
        .envs(environment.iter().copied())
        .output();
    let ended = ended.unwrap_or_else(|error| panic!("needs bash and openssl ({error}): run tests/all"));
    assert!(
        ended.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
}

/// An authority and the certificates of a broker at localhost and of these clients.
pub fn floor_of(clients: &[&str]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    certificates(home.path(), &["authority"], &[]);
    certificates(home.path(), &["broker", "localhost", "127.0.0.1"], &[]);
    for client in clients {
        certificates(home.path(), &["client", client], &[]);
    }
    home
}

/// The shipped configuration, at a free port and with its files in `home`; `broker` names the broker's certificate. Lines that
/// begin with the first word of `other` are replaced by it.
pub fn start(home: &Path, broker: &str, other: &[&str]) -> Mosquitto {
    std::fs::write(home.join("acl"), ACL).unwrap();
    let at = home.display().to_string();
    let word = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
    let mut seen = 0;
    let mut replaced = |line: &str| {
        if let Some(other) = other.iter().find(|other| word(other) == word(line)) {
            return (*other).to_owned();
        }
        match word(line).as_str() {
            "listener" => {
                seen += 1;
                "listener {port} 127.0.0.1".to_owned()
            }
            "certfile" => format!("certfile {at}/{broker}.pem"),
            "keyfile" => format!("keyfile {at}/{broker}.key"),
            _ => line.replace("/etc/mosquitto/tablegate", &at),
        }
    };
    let lines: Vec<String> = CONF.lines().map(&mut replaced).collect();
    assert_eq!(seen, 1, "the configuration has one listener");
    // What Debian's own file, which includes this one, has before it; a setting that may stand once must not stand twice.
    let debians = format!("persistence true\npersistence_location {at}/\n");
    Mosquitto::start_as_it_is(&(debians + &lines.join("\n")))
}

/// What a client of this name shows.
pub fn files(home: &Path, name: &str) -> TlsFiles {
    let file = |name: String| -> PathBuf { home.join(name) };
    TlsFiles {
        ca: file("ca.pem".to_owned()),
        identity: Some(ClientIdentity {
            certificate: file(format!("{name}.pem")),
            key: file(format!("{name}.key")),
        }),
    }
}

/// The same, read.
pub fn texts(home: &Path, name: &str) -> TlsTexts {
    let pem = |file: String| {
        let path = home.join(file);
        let text = std::fs::read(&path).unwrap();
        PemFile { path, text }
    };
    TlsTexts {
        ca: pem("ca.pem".to_owned()),
        identity: Some((pem(format!("{name}.pem")), pem(format!("{name}.key")))),
    }
}
