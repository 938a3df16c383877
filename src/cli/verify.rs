//! `tablegate verify-software`: what a table runs, digested with a seed by its daemon and its devices; and how that compares with what
//! somebody has at hand. `floor verify` asks and compares the same from the floor's side.

use super::daemon::{Reach, block_on, unexpected, unreachable};
use super::ending::{Failure, print, print_json};
use super::{describe, event_json};
use crate::control::client::Client;
use crate::control::{Answer, Request, hex};
use crate::table::event::{DeviceVerified, DeviceVerifiedOutcome, SoftwareVerified};
use clap::Args;
use prost::Message;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Devices have a minute; some seconds for everything else.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(75);

/// Bytes of a seed that nobody chose: enough that an answer made beforehand is of no use.
const SEED: usize = 16;

/// Arguments of `verify-software`.
#[derive(Args, Debug)]
pub struct VerifySoftware {
    #[command(flatten)]
    asked: Asked,
    /// Which daemon.
    #[command(flatten)]
    reach: Reach,
    /// In whose name root asks; everybody else asks in their own.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The seed, and what is expected.
#[derive(Args, Debug)]
pub(super) struct Asked {
    /// The seed, 2 to 128 hexadecimal digits; without it, a new one.
    #[arg(long, value_name = "HEX")]
    seed: Option<String>,
    /// The program that the table should run: its file.
    #[arg(long, value_name = "FILE")]
    expect_program: Option<PathBuf>,
    /// The configuration that the table should run with: its file, with this command's environment over it. It also says which rules.
    #[arg(long, value_name = "FILE")]
    expect_config: Option<PathBuf>,
    /// The firmware image that a device should have, by its kind: tumbler, terminal, lamps, lights. May be given several times.
    #[arg(long, value_name = "KIND=FILE", value_parser = image)]
    expect_firmware: Vec<Image>,
}

/// A firmware image of a kind of device.
#[derive(Clone, Debug)]
struct Image {
    kind: crate::table::event::DeviceKind,
    file: PathBuf,
}

fn image(written: &str) -> Result<Image, String> {
    use crate::table::event::DeviceKind;
    let (kind, file) = written
        .split_once('=')
        .ok_or("that is no KIND=FILE, as in tumbler=dt3.bin")?;
    let kind = match kind {
        "tumbler" => DeviceKind::Tumbler,
        "terminal" => DeviceKind::Terminal,
        "lamps" => DeviceKind::LayoutLamps,
        "lights" => DeviceKind::ResultLights,
        other => return Err(format!("{other} is none of tumbler, terminal, lamps, lights")),
    };
    Ok(Image {
        kind,
        file: file.into(),
    })
}

/// Runs it.
///
/// # Errors
/// Exit status 1 when there are no digests, a device hasn't answered, or something isn't what was expected.
pub fn run(verify: &VerifySoftware) -> Result<(), Failure> {
    let seed = verify.asked.seed()?;
    let socket = verify.reach.look_socket()?;
    let request = Request::VerifySoftware {
        seed: hex::write(&seed),
        by: verify.by.clone(),
    };
    let answer = block_on(async {
        let mut client = Client::connect(&socket).await.map_err(unreachable)?;
        client.ask_for_long(&request, ANSWER_WITHIN).await.map_err(unreachable)
    })?;
    let Answer::Verified { message } = &answer else {
        return Err(unexpected(&answer));
    };
    let verified = hex::read(message).and_then(|bytes| SoftwareVerified::decode(bytes.as_slice()).ok());
    let verified = verified.ok_or_else(|| unexpected(&answer))?;
    verify.asked.tell(&seed, &verified, verify.json)
}

impl Asked {
    /// The seed that was given, or a new one.
    pub(super) fn seed(&self) -> Result<Vec<u8>, Failure> {
        let Some(digits) = &self.seed else {
            return Ok(rand::random::<[u8; SEED]>().to_vec());
        };
        hex::read(digits)
            .filter(|seed| !seed.is_empty())
            .ok_or_else(|| Failure::usage("--seed is an even number of hexadecimal digits"))
    }

    /// Prints the digests, and whether they are what was expected.
    pub(super) fn tell(&self, seed: &[u8], verified: &SoftwareVerified, json: bool) -> Result<(), Failure> {
        if verified.seed != seed {
            return Err(Failure::failed("the answer is to another seed: it proves nothing"));
        }
        let findings = self.compare(verified)?;
        if json {
            let mut told = event_json::message("SoftwareVerified", &verified.encode_to_vec())
                .map_err(|error| Failure::failed(error.to_string()))?;
            if let Some(fields) = told.as_object_mut() {
                let expected = findings
                    .iter()
                    .map(|(what, finding)| (what.clone(), finding.word().into()));
                fields.insert("expected".to_owned(), serde_json::Value::Object(expected.collect()));
            }
            print_json(&told)?;
        } else {
            print(&listed(verified, &findings))?;
        }
        let wrong: Vec<_> = findings
            .iter()
            .filter(|(_, finding)| *finding != Finding::AsExpected)
            .collect();
        let unanswered = verified
            .devices
            .iter()
            .filter(|device| device.outcome() != DeviceVerifiedOutcome::Answered);
        let mut failed: Vec<String> = wrong
            .iter()
            .map(|(what, _)| format!("{what} is not what was expected"))
            .collect();
        failed.extend(unanswered.map(|device| format!("no digest of {}", named(device))));
        if verified.program_sha256.is_empty() {
            failed.push("the table could not read its own program".to_owned());
        }
        match failed.as_slice() {
            [] => Ok(()),
            failed => Err(Failure::failed(failed.join("; "))),
        }
    }

    /// What was expected, part by part, beside what came.
    fn compare(&self, verified: &SoftwareVerified) -> Result<Vec<(String, Finding)>, Failure> {
        let seed = &verified.seed;
        let mut findings = Vec::new();
        let mut expect = |what: String, came: &[u8], expected: &[u8]| {
            let is_it = came == expected;
            findings.push((what, if is_it { Finding::AsExpected } else { Finding::Differs }));
        };
        if let Some(program) = &self.expect_program {
            expect(
                "program".to_owned(),
                &verified.program_sha256,
                &over_file(seed, program)?,
            );
        }
        if let Some(file) = &self.expect_config {
            let (canonical, rules) = texts_of(file)?;
            expect(
                "configuration".to_owned(),
                &verified.config_sha256,
                &over(seed, canonical.as_bytes()),
            );
            expect(
                "rules".to_owned(),
                &verified.rules_sha256,
                &over(seed, rules.as_bytes()),
            );
        }
        for image in &self.expect_firmware {
            let of_kind =
                |device: &&DeviceVerified| device.device.as_ref().is_some_and(|named| named.kind() == image.kind);
            let word = describe::word(image.kind.as_str_name(), "DEVICE_KIND_");
            let Some(device) = verified.devices.iter().find(of_kind) else {
                return Err(Failure::usage(format!("the table has no {word}")));
            };
            expect(named(device), &device.sha256, &over_file(seed, &image.file)?);
        }
        Ok(findings)
    }
}

/// Whether a digest is what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Finding {
    AsExpected,
    Differs,
}

impl Finding {
    fn word(self) -> &'static str {
        match self {
            Finding::AsExpected => "as_expected",
            Finding::Differs => "differs",
        }
    }
}

/// The canonical texts of a configuration, and of the rules that its game has.
fn texts_of(file: &Path) -> Result<(String, String), Failure> {
    let config = super::daemon::configuration(file)?;
    Ok((config.gateway.config_text, config.gateway.game.game.rules_text()))
}

fn over(seed: &[u8], bytes: &[u8]) -> Vec<u8> {
    Sha256::new().chain_update(seed).chain_update(bytes).finalize().to_vec()
}

fn over_file(seed: &[u8], path: &Path) -> Result<Vec<u8>, Failure> {
    let digested = File::open(path).and_then(|file| {
        let mut reader = io::BufReader::with_capacity(64 * 1024, file);
        let mut sha256 = Sha256::new_with_prefix(seed);
        loop {
            let part = io::BufRead::fill_buf(&mut reader)?;
            if part.is_empty() {
                return Ok(sha256.finalize().to_vec());
            }
            sha256.update(part);
            let read = part.len();
            io::BufRead::consume(&mut reader, read);
        }
    });
    digested.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

fn named(device: &DeviceVerified) -> String {
    let named = device.device.clone().unwrap_or_default();
    let kind = describe::word(named.kind().as_str_name(), "DEVICE_KIND_");
    match named.serial_number.as_str() {
        "" => kind,
        serial => format!("{kind} {serial}"),
    }
}

fn listed(verified: &SoftwareVerified, findings: &[(String, Finding)]) -> String {
    let beside = |what: &str| match findings.iter().find(|(name, _)| name == what) {
        None => "",
        Some((_, Finding::AsExpected)) => "  as expected",
        Some((_, Finding::Differs)) => "  NOT as expected",
    };
    let mut text = format!(
        "SHA-256 over the seed {} and what is named:\n",
        hex::write(&verified.seed)
    );
    let mut row = |what: &str, digest: &str| {
        // Writing to a String can't fail.
        let _ = writeln!(text, "  {what:<24} {digest}{}", beside(what));
    };
    row("program", &hex::write(&verified.program_sha256));
    row("configuration", &hex::write(&verified.config_sha256));
    row(
        "rules",
        &format!(
            "{} (version {})",
            hex::write(&verified.rules_sha256),
            verified.rules_version
        ),
    );
    for device in &verified.devices {
        let said = match device.outcome() {
            DeviceVerifiedOutcome::Answered => format!("{} (firmware {})", hex::write(&device.sha256), device.firmware),
            DeviceVerifiedOutcome::Offline => "not online: it was not asked".to_owned(),
            DeviceVerifiedOutcome::LinkLost => "its link broke before it answered".to_owned(),
            DeviceVerifiedOutcome::NotAnswered => "has not answered within a minute".to_owned(),
            DeviceVerifiedOutcome::Malformed => "answered what is no SHA-256".to_owned(),
            DeviceVerifiedOutcome::Unspecified => "nothing is known".to_owned(),
        };
        row(&named(device), &said);
    }
    text
}
