//! `tablegate approve`: writes down what a table runs now, program, configuration, rules and devices, as what is approved; or says how
//! that differs from what was approved. What the daemon can't tell isn't guessed: then nothing is written.

use super::daemon::{block_on, configuration, unexpected, unreachable};
use super::ending::{self, Failure, print, print_json};
use super::new_file::{Existing, NewFile, Readers};
use crate::config::{Config, approved};
use crate::control::client::Client;
use crate::control::{Request, name_of};
use crate::device::{Identity, Kind, LinkState};
use crate::gateway::{Approved, Said, View};
use crate::table::ApprovedDevice;
use crate::time::Timestamp;
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Arguments of `approve`.
#[derive(Args, Debug)]
pub struct Approve {
    /// The configuration that the table's daemon runs with; what is approved is written beside it.
    #[arg(long, value_name = "FILE")]
    config: std::path::PathBuf,
    /// Write nothing: say how what runs differs from what is approved. Exit status 1 when it does, or when nothing is approved.
    #[arg(long, conflicts_with_all = ["yes", "by", "only_online"])]
    check: bool,
    /// Forget approved devices that aren't online now, such as spares; without this they stay approved.
    #[arg(long)]
    only_online: bool,
    /// Ask nothing.
    #[arg(long)]
    yes: bool,
    /// In whose name root approves; everybody else approves in their own.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What scripts are told.
#[derive(Serialize)]
struct Told<'a> {
    path: &'a Path,
    written: bool,
    program_sha256: String,
    config_sha256: String,
    rules_version: &'a str,
    devices: Vec<ToldDevice<'a>>,
    /// How it differs from what is approved, a line each.
    differences: &'a [String],
}

#[derive(Serialize)]
struct ToldDevice<'a> {
    kind: &'static str,
    serial_number: &'a str,
    firmware: &'a str,
    firmware_sha256: Option<String>,
}

/// Runs it.
///
/// # Errors
/// Exit status 1 when something can't be known or written, or when `--check` finds a difference; 2 for somebody who may not approve; 3
/// when the configuration is refused.
pub fn run(approve: &Approve) -> Result<(), Failure> {
    let config = configuration(&approve.config)?;
    let (file, problems) = approved::find(&approve.config);
    let view = daemons_view(&config)?;
    if approve.check {
        return check(approve, &file.path, &file.said, &view);
    }
    let name = may_approve(approve)?;
    let before = match &file.said {
        Said::Approved(before) => Some(before),
        Said::Nothing | Said::Unusable { .. } => None,
    };
    let mut now = running(&view, &name)?;
    if let Some(before) = before.filter(|_| !approve.only_online) {
        keep_spares(&mut now, before);
    }
    let differences = differences(before, &now);
    let mut text = format!("What {} runs now:\n{}", config.gateway.table, listed(&now));
    for problem in &problems {
        let _ = writeln!(text, "What is there can't be used, and is replaced: {problem}");
    }
    text.push_str(&told_differences(&file.path, before, &differences));
    if view.table.software.config_sha256 != hex(&config.gateway.config_sha256) {
        text.push_str(
            "Note: the configuration, as this command reads it with its own environment, is not the one that the daemon started with. \
             What the daemon runs is approved; if the file was changed since, restart the daemon first.\n",
        );
    }
    if !approve.json {
        print(&text)?;
    }
    if !approve.yes && !confirmed(&file.path)? {
        return Err(Failure::failed("nothing was written"));
    }
    // Everybody may read it: the daemon must be able to.
    let approval = approved::text(&config.instance, &now);
    NewFile::written(&file.path, Existing::Replaced, Readers::Everybody, approval.as_bytes())?;
    if approve.json {
        return tell(&file.path, true, &now, &differences);
    }
    print(&format!(
        "Approved by {name}: {} is written. The daemon reads it when it starts.\n",
        file.path.display()
    ))
}

/// Says how what runs differs from what is approved.
fn check(approve: &Approve, path: &Path, said: &Said, view: &View) -> Result<(), Failure> {
    let approved = match said {
        Said::Approved(approved) => approved,
        Said::Nothing => {
            let text = format!(
                "nothing is approved, and nothing enforced: there is no {}",
                path.display()
            );
            return Err(Failure::failed(text));
        }
        Said::Unusable { problems } => {
            let text = format!(
                "{} can't be used, and approves nothing:\n  {}",
                path.display(),
                problems.join("\n  ")
            );
            return Err(Failure::failed(text));
        }
    };
    let mut now = running(view, &approved.by)?;
    now.at.clone_from(&approved.at);
    keep_spares(&mut now, approved);
    let differences = differences(Some(approved), &now);
    if approve.json {
        tell(path, false, &now, &differences)?;
    }
    if differences.is_empty() {
        if approve.json {
            return Ok(());
        }
        let (by, at) = (&approved.by, &approved.at);
        return print(&format!(
            "What runs is what was approved by {by}, {at} ({}).\n",
            path.display()
        ));
    }
    let mut text = format!("what runs is not what {} approves:", path.display());
    for difference in &differences {
        let _ = write!(text, "\n  {difference}");
    }
    Err(Failure::failed(text))
}

/// Everything that the daemon with this configuration shows.
fn daemons_view(config: &Config) -> Result<View, Failure> {
    let socket = &config.control.socket;
    block_on(async {
        let mut client = Client::connect(socket).await.map_err(|error| {
            let told = unreachable(error);
            Failure {
                text: format!(
                    "{}\nWhat a table runs is asked of its daemon: start it with this configuration, its devices plugged in.",
                    told.text
                ),
                ..told
            }
        })?;
        let answer = client.ask(&Request::Look {}).await.map_err(unreachable)?;
        answer.view().map_err(|other| unexpected(&other))
    })
}

/// The name of who approves: root, or the owner of the configuration.
fn may_approve(approve: &Approve) -> Result<String, Failure> {
    let uid = nix::unistd::geteuid().as_raw();
    let owner = std::fs::metadata(&approve.config)
        .map_err(|error| Failure::failed(format!("{}: {error}", approve.config.display())))?
        .uid();
    if uid != 0 && uid != owner {
        return Err(Failure::usage(format!(
            "only root and the owner of {} approve what runs with it",
            approve.config.display()
        )));
    }
    name_of(uid, approve.by.as_deref()).map_err(|error| Failure::usage(error.to_string()))
}

/// What runs, as its daemon knows it.
fn running(view: &View, by: &str) -> Result<Approved, Failure> {
    let unknown = |what: &str| {
        Failure::failed(format!(
            "{what}: what isn't known can't be approved, and nothing was written"
        ))
    };
    if let Some(fault) = &view.table.fault {
        return Err(unknown(fault));
    }
    let software = &view.table.software;
    let known = |text: &str| approved::digest(text).filter(|digest| *digest != [0; 32]);
    let Some(program_sha256) = known(&software.program_sha256) else {
        return Err(unknown("the daemon could not read its own program"));
    };
    let Some(config_sha256) = known(&software.config_sha256) else {
        return Err(unknown(
            "the daemon doesn't say which configuration it runs: it is of another version",
        ));
    };
    let mut devices = Vec::new();
    let mut away = Vec::new();
    for link in &view.links {
        match (&link.identity, link.state) {
            (Some(identity), LinkState::Up) => devices.push(device(link.kind, identity)?),
            (Some(_) | None, LinkState::Up | LinkState::Down | LinkState::Greeting | LinkState::Silent) => {
                away.push(link.kind.word());
            }
        }
    }
    if !away.is_empty() || devices.is_empty() {
        let away = if away.is_empty() {
            "every device".to_owned()
        } else {
            away.join(", ")
        };
        return Err(unknown(&format!("not online: {away}")));
    }
    Ok(Approved {
        program_sha256,
        config_sha256,
        rules_version: software.rules_version.clone(),
        devices,
        by: by.to_owned(),
        at: now(),
        file_sha256: [0; 32],
    })
}

fn device(kind: Kind, identity: &Identity) -> Result<ApprovedDevice, Failure> {
    let image = match identity.firmware_sha256.as_str() {
        "" => None,
        text => Some(approved::digest(text).ok_or_else(|| {
            Failure::failed(format!(
                "the {} says {text} of its firmware, which is no SHA-256: nothing was written",
                kind.word()
            ))
        })?),
    };
    Ok(ApprovedDevice {
        kind: kind.into(),
        serial_number: identity.serial_number.clone(),
        firmware: identity.firmware.clone(),
        firmware_sha256: image.map(Into::into),
    })
}

/// Devices that are approved and aren't online now stay approved; one that is online counts as it is.
fn keep_spares(now: &mut Approved, before: &Approved) {
    let is_online = |device: &ApprovedDevice| {
        let same = |other: &ApprovedDevice| (other.kind, &other.serial_number) == (device.kind, &device.serial_number);
        now.devices.iter().any(same)
    };
    let spares: Vec<_> = before
        .devices
        .iter()
        .filter(|device| !is_online(device))
        .cloned()
        .collect();
    now.devices.extend(spares);
}

/// What is approved now and wasn't, and the other way round, a line each.
fn differences(before: Option<&Approved>, now: &Approved) -> Vec<String> {
    let Some(before) = before else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let mut differ = |what: &str, was: String, is: String| {
        if was != is {
            lines.push(format!("{what}: approved {was}, runs {is}"));
        }
    };
    differ("program", hex(&before.program_sha256), hex(&now.program_sha256));
    differ("configuration", hex(&before.config_sha256), hex(&now.config_sha256));
    differ("rules", before.rules_version.clone(), now.rules_version.clone());
    let missing = |of: &[ApprovedDevice], device: &&ApprovedDevice| !of.contains(device);
    let added = now.devices.iter().filter(|device| missing(&before.devices, device));
    lines.extend(added.map(|device| format!("not approved: {}", in_words(device))));
    let gone = before.devices.iter().filter(|device| missing(&now.devices, device));
    lines.extend(gone.map(|device| format!("approved and not here: {}", in_words(device))));
    lines
}

fn in_words(device: &ApprovedDevice) -> String {
    let kind = Kind::from(device.kind).word();
    let firmware = match device.firmware.as_str() {
        "" => "firmware without a version".to_owned(),
        version => format!("firmware {version}"),
    };
    let image = match &device.firmware_sha256 {
        Some(image) => format!(" (sha256 {})", hex(image)),
        None => " (its image is not known)".to_owned(),
    };
    format!("{kind} {}, {firmware}{image}", device.serial_number)
}

fn listed(approved: &Approved) -> String {
    let mut text = format!(
        "  program        {}\n  configuration  {}\n  rules          version {}\n",
        hex(&approved.program_sha256),
        hex(&approved.config_sha256),
        approved.rules_version
    );
    for device in &approved.devices {
        // Writing to a String can't fail.
        let _ = writeln!(text, "  {}", in_words(device));
    }
    text
}

fn told_differences(path: &Path, before: Option<&Approved>, differences: &[String]) -> String {
    let path = path.display();
    match (before, differences) {
        (None, _) => format!("Nothing is approved yet: {path} is written anew.\n"),
        (Some(_), []) => format!("That is what {path} approves already.\n"),
        (Some(_), lines) => format!("It differs from what {path} approves:\n  {}\n", lines.join("\n  ")),
    }
}

fn tell(path: &Path, written: bool, now: &Approved, differences: &[String]) -> Result<(), Failure> {
    print_json(&Told {
        path,
        written,
        program_sha256: hex(&now.program_sha256),
        config_sha256: hex(&now.config_sha256),
        rules_version: &now.rules_version,
        devices: now
            .devices
            .iter()
            .map(|device| ToldDevice {
                kind: Kind::from(device.kind).word(),
                serial_number: &device.serial_number,
                firmware: &device.firmware,
                firmware_sha256: device.firmware_sha256.as_deref().map(hex),
            })
            .collect(),
        differences,
    })
}

/// The person at the terminal means it.
fn confirmed(path: &Path) -> Result<bool, Failure> {
    ending::confirmed(
        &format!("Approve this, and write {}? [y/N] ", path.display()),
        "approve asks whether this is right, and there is no terminal to ask on: say --yes",
    )
}

/// The time by the wall clock, to the second.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(0);
    Timestamp::from_unix_micros(seconds.saturating_mul(1_000_000))
        .to_string()
        .replace(".000000Z", "Z")
}

fn hex(bytes: &[u8]) -> String {
    super::event_json::hex(bytes)
}
