//! What a bundle is made of. Everything is collected before anything is cleaned: a name that the journal knows may stand in the log.

use super::archive::Contents;
use super::redact::{BLOTTED, Redactor};
use crate::cli::capture;
use crate::cli::daemon::{Reach, look};
use crate::cli::describe::line;
use crate::cli::{devices, event_json, journal, ports, status};
use crate::config::{self, Config, Effective, Examined};
use crate::counted::often;
use crate::device::{self, Places};
use crate::gateway::{Captured, View};
use crate::journal::{Reader, decode, file_in};
use crate::rules::RULES_VERSION;
use crate::table::event::{Body, Event};
use crate::table::view::AlertLine;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Events of the journal's end that go with the bundle: some hundred rounds.
const EVENTS: u64 = 2_000;

/// Events before them in which people's names are looked for.
const EVENTS_LEARNED: u64 = 50_000;

/// Lines of the unit's log.
const LOG_LINES: &str = "5000";

/// The system's log is waited for this long.
const LOG_WITHIN: Duration = Duration::from_secs(20);

/// Of a secret's file so much is looked at: passwords and keys are small.
const SECRET_FILE: u64 = 64 * 1024;

/// Accounts of people have numbers from here to there on Debian.
const PEOPLE: std::ops::RangeInclusive<u32> = 1000..=59_999;

/// Collects everything; the instance's name and the parts, cleaned.
pub(super) async fn collect(reach: &Reach) -> (String, Contents) {
    let mut contents = Contents::default();
    let mut redactor = Redactor::default();
    let found = configuration(reach);
    let instance = match &found {
        Ok((file, _)) => config::instance(file),
        Err(_) => reach.instance.clone().unwrap_or_else(|| "table".to_owned()),
    };
    let examined = found.as_ref().ok().map(|(_, examined)| examined);
    let accepted = examined.and_then(|examined| examined.config.as_ref());
    learn_accounts(&mut redactor);
    if let Some(config) = accepted {
        learn_secrets(&mut redactor, config);
    }
    if let Ok((file, examined)) = &found {
        let environment: Vec<_> = std::env::vars_os().collect();
        for value in config::possible_secrets(file, &environment) {
            learn_possible(&mut redactor, &value, Acceptance::of(examined));
        }
    }
    // `look` has a runtime of its own.
    let asked = reach.clone();
    let view = tokio::task::spawn_blocking(move || look(&asked)).await;
    let view = view.unwrap_or_else(|error| Err(crate::cli::ending::Failure::failed(error.to_string())));
    let captured = match &view {
        Ok(view) => capture::kept(reach, view).await,
        Err(failure) => Err(failure.clone()),
    };
    let events = events(accepted, view.as_ref().ok());
    if let Ok((learned, _)) = &events {
        learned.iter().for_each(|event| redactor.learn(event));
    }
    if let Ok(view) = &view {
        learn_view(&mut redactor, view);
    }
    let log = log(&instance).await;

    versions(&mut contents, accepted, view.as_ref().ok(), &redactor);
    match &found {
        Ok((file, examined)) => put_configuration(&mut contents, file, examined, &redactor),
        Err(why) => contents.lacks("configuration", redactor.text(why)),
    }
    match &view {
        Ok(view) => {
            let learned = events.as_ref().map_or(&[][..], |(learned, _)| learned);
            put_view(&mut contents, view, learned, &redactor);
        }
        Err(failure) => contents.lacks("status, devices, alerts", redactor.text(&failure.text)),
    }
    put_ports(&mut contents, &redactor);
    match (view, captured) {
        (Ok(view), Ok(captured)) => put_capture(&mut contents, &view, captured, &redactor),
        (_, Err(failure)) | (Err(failure), _) => {
            contents.lacks("the lines' last minutes", redactor.text(&failure.text));
        }
    }
    match events {
        Ok((learned, infos)) => put_events(&mut contents, &learned, &infos, &redactor),
        Err(why) => contents.lacks("journal", redactor.text(&why)),
    }
    match log {
        Ok(text) => contents.add("log.txt", "the daemon's log, people numbered", redactor.text(&text)),
        Err(why) => contents.lacks("log", redactor.text(&why)),
    }
    let people = redactor.people();
    let about = format!(
        "What this bundle holds. {people} people were numbered (person-1 ...), what they wrote was left out, secrets were blotted out.\n\
         Hashes of events are those of the events as they are in the journal.\n\n{}",
        contents.list()
    );
    contents.add("contents.txt", "this list", about);
    (instance, contents)
}

/// The configuration's file, by what was said of the daemon.
fn configuration(reach: &Reach) -> Result<(PathBuf, Examined), String> {
    let directory = Path::new("/etc/tablegate");
    let file = match (&reach.config, &reach.instance, &reach.socket) {
        (Some(file), _, _) => file.clone(),
        (None, Some(instance), _) => directory.join(format!("{instance}.toml")),
        (None, None, Some(_)) => {
            return Err(
                "a daemon's socket doesn't say which configuration it runs with: name it with --config".to_owned(),
            );
        }
        (None, None, None) => the_only_one(directory)?,
    };
    match std::fs::File::open(&file) {
        Ok(_) => {
            let environment: Vec<_> = std::env::vars_os().collect();
            let examined = config::examine(&file, &environment);
            Ok((file, examined))
        }
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn the_only_one(directory: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter(|path| {
            !path.to_string_lossy().ends_with(".lamps.toml") && !path.to_string_lossy().ends_with(".paytable.toml")
        })
        .collect();
    match (files.pop(), files.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(format!("there is none in {}", directory.display())),
        (Some(_), false) => Err(format!(
            "there are several in {}: say which with --instance or --config",
            directory.display()
        )),
    }
}

fn learn_accounts(redactor: &mut Redactor) {
    for account in std::fs::read_to_string("/etc/passwd").unwrap_or_default().lines() {
        let mut fields = account.split(':');
        let (name, number) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
        if number.parse().is_ok_and(|number| PEOPLE.contains(&number)) {
            redactor.person(name);
        }
    }
}

/// What nobody outside may know: it is not put into the bundle, and looked for in what is.
fn learn_secrets(redactor: &mut Redactor, config: &Config) {
    let mut files: Vec<&Path> = Vec::new();
    if let Some(login) = &config.uplink.login {
        redactor.secret(&login.username);
        files.extend(login.password_file.as_deref());
    }
    let identity = config.uplink.tls.as_ref().and_then(|tls| tls.identity.as_ref());
    files.extend(identity.map(|identity| identity.key.as_path()));
    files.extend(config.signing_key.as_ref().map(|named| named.path.as_path()));
    files.iter().for_each(|file| learn_file(redactor, file));
}

/// What stands in a secret's file.
fn learn_file(redactor: &mut Redactor, file: &Path) {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|file| file.take(SECRET_FILE).read_to_end(&mut bytes));
    // A secret that this user can't read can't be in what this user reads.
    if read.is_ok() {
        redactor.secret(&String::from_utf8_lossy(&bytes));
    }
}

/// What may be a secret or the name of its file: in a configuration that is refused the secret itself may stand where the name should.
fn learn_possible(redactor: &mut Redactor, value: &str, acceptance: Acceptance) {
    let path = Path::new(value);
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => learn_file(redactor, path),
        Ok(_) | Err(_) => {
            let is_name = path.is_absolute() && acceptance == Acceptance::Accepted;
            if !is_name {
                redactor.secret(value);
            }
        }
    }
}

/// People and what they wrote, as far as the table shows it now.
fn learn_view(redactor: &mut Redactor, view: &View) {
    let table = &view.table;
    redactor.person(&table.software.approved_by);
    for check in table.checks.iter().filter(|check| check.vouched) {
        redactor.written(&check.text);
    }
    for lock in table.situation.locks.iter().filter(|lock| lock.reason == "supervisor") {
        redactor.written(&lock.text);
    }
}

fn versions(contents: &mut Contents, config: Option<&Config>, view: Option<&View>, redactor: &Redactor) {
    let mut text = format!(
        "command: tablegate {}, rules {RULES_VERSION}\n",
        env!("CARGO_PKG_VERSION")
    );
    push(&mut text, "program", &own_digest());
    if let Some(config) = config {
        push(
            &mut text,
            "configuration",
            &event_json::hex(&config.gateway.config_sha256),
        );
    }
    match view {
        Some(view) => {
            let table = &view.table;
            push(
                &mut text,
                "daemon",
                &format!("tablegate {}, run {}", table.version, table.run_id),
            );
            push(&mut text, "daemon's program", &table.software.program_sha256);
            push(&mut text, "daemon's configuration", &table.software.config_sha256);
            push(&mut text, "daemon's rules", &table.software.rules_version);
        }
        None => push(&mut text, "daemon", "none was asked"),
    }
    let os = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let os = os
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .unwrap_or("unknown");
    push(&mut text, "system", os.trim_matches('"'));
    for (name, file) in [
        ("kernel", "/proc/sys/kernel/osrelease"),
        ("machine", "/etc/machine-id"),
        ("up for, seconds", "/proc/uptime"),
    ] {
        let said = std::fs::read_to_string(file).unwrap_or_default();
        push(&mut text, name, said.split_whitespace().next().unwrap_or("unknown"));
    }
    push(&mut text, "architecture", std::env::consts::ARCH);
    contents.add("versions.txt", "program, rules, system, digests", redactor.text(&text));
}

fn push(text: &mut String, name: &str, value: &str) {
    // Writing to a String can't fail.
    let _ = writeln!(text, "{name}: {value}");
}

fn own_digest() -> String {
    let digest = || -> std::io::Result<String> {
        let program = std::fs::read("/proc/self/exe")?;
        Ok(event_json::hex(&Sha256::digest(program)))
    };
    digest().unwrap_or_else(|error| format!("can't be read: {error}"))
}

fn put_configuration(contents: &mut Contents, file: &Path, examined: &Examined, redactor: &Redactor) {
    let mut text = format!("# {}\n", file.display());
    for problem in &examined.problems {
        let _ = writeln!(text, "# problem: {problem}");
    }
    text.push_str(&effective(&examined.effective, Acceptance::of(examined)));
    contents.add(
        "configuration.txt",
        "every value that holds, secrets left out",
        redactor.text(&text),
    );
}

/// Whether a configuration can be relied on: in one that is refused a secret may stand where its file's name should.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Acceptance {
    Accepted,
    Refused,
}

impl Acceptance {
    fn of(examined: &Examined) -> Acceptance {
        match examined.config {
            Some(_) => Acceptance::Accepted,
            None => Acceptance::Refused,
        }
    }
}

/// Keys whose value is a secret, and keys that name a secret's file.
const SECRETS: [&str; 1] = ["mqtt.username"];
const SECRETS_FILES: [&str; 3] = ["mqtt.key", "mqtt.password_file", "journal.signing_key"];

fn effective(effective: &Effective, acceptance: Acceptance) -> String {
    let mut text = String::new();
    for entry in &effective.entries {
        let key = entry.key.as_str();
        let is_secret = SECRETS.contains(&key) || SECRETS_FILES.contains(&key) && acceptance == Acceptance::Refused;
        let value = if is_secret { BLOTTED } else { entry.value.as_str() };
        let _ = writeln!(text, "{key} = {value}  # {}", entry.from);
    }
    text
}

fn put_view(contents: &mut Contents, view: &View, learned: &[Event], redactor: &Redactor) {
    let alerts = alerts(&view.table.situation.alerts, learned);
    let cleaned = serde_json::to_value(view).map(|json| redactor.value(json));
    let view: View = match cleaned.and_then(serde_json::from_value) {
        Ok(view) => view,
        Err(error) => return contents.lacks("status", error.to_string()),
    };
    contents.add(
        "status.txt",
        "the table as `status` shows it",
        redactor.text(&status::told(&view)),
    );
    contents.add(
        "devices.txt",
        "each line's identity and statistics",
        redactor.text(&devices::render(&view.links)),
    );
    contents.add(
        "alerts.txt",
        "alerts that stand or nobody has acknowledged",
        redactor.text(&alerts),
    );
    match serde_json::to_vec_pretty(&view) {
        Ok(json) => contents.add("status.json", "the same for programs", json),
        Err(error) => contents.lacks("status.json", error.to_string()),
    }
}

/// Alerts with whole texts: the table keeps the beginning of a long one, and the journal all of it.
fn alerts(alerts: &[AlertLine], learned: &[Event]) -> String {
    let mut text = String::new();
    for alert in alerts {
        let raised = learned.iter().rev().find_map(|event| match &event.body {
            Some(Body::AlertRaised(raised)) if alert.is_told_by(raised) => Some(raised.text.as_str()),
            Some(_) | None => None,
        });
        let standing = if alert.over { "over" } else { "stands" };
        let _ = writeln!(
            text,
            "{} ({standing}, raised {}): {}",
            alert.alert,
            often(alert.times.into()),
            raised.unwrap_or(&alert.text)
        );
    }
    text
}

fn put_ports(contents: &mut Contents, redactor: &Redactor) {
    match device::list(&Places::default()) {
        Ok(found) => contents.add(
            "ports.txt",
            "the PC's serial ports",
            redactor.text(&ports::render(&found)),
        ),
        Err(error) => contents.lacks("ports", error.to_string()),
    }
}

fn put_capture(contents: &mut Contents, view: &View, mut captured: Captured, redactor: &Redactor) {
    for entry in &mut captured.entries {
        if entry.found.what == device::What::Note {
            let text = redactor.text(&String::from_utf8_lossy(&entry.found.bytes));
            entry.found.bytes = text.into_bytes();
        }
    }
    match capture::written(view, &captured) {
        Ok(bytes) => contents.add(
            "lines.pcapng",
            "what went over the devices' lines last, dice under the cover withheld",
            bytes,
        ),
        Err(error) => contents.lacks("the lines' last minutes", error.to_string()),
    }
}

/// The journal's last events, and its particulars.
type Journal = (Vec<Event>, String);

fn events(config: Option<&Config>, view: Option<&View>) -> Result<Journal, String> {
    let path = match (config, view) {
        (Some(config), _) => file_in(&config.journal.directory),
        (None, Some(view)) => view.table.journal.path.clone(),
        (None, None) => return Err("neither a configuration nor a daemon says where it is".to_owned()),
    };
    let failed = |failure: crate::cli::ending::Failure| failure.text;
    let mut reader: Reader = journal::open(&path).map_err(failed)?;
    let infos = journal::told(&path, &mut reader).map_err(failed)?;
    let newest = reader.head().map_err(|error| failed(journal::unreadable(error)))?.seqno;
    let mut next = newest.saturating_sub(EVENTS_LEARNED).max(1);
    let mut events = Vec::new();
    loop {
        let page = reader.page(next, newest, 512);
        let page = page.map_err(|error| failed(journal::unreadable(error)))?;
        let Some(last) = page.last() else {
            return Ok((events, infos));
        };
        next = last.seqno + 1;
        events.extend(page.iter().filter_map(|record| decode(record).ok()));
    }
}

fn put_events(contents: &mut Contents, learned: &[Event], infos: &str, redactor: &Redactor) {
    let from = learned
        .len()
        .saturating_sub(usize::try_from(EVENTS).unwrap_or(usize::MAX));
    let newest = learned.get(from..).unwrap_or_default();
    let mut json = String::new();
    let mut text = String::new();
    for event in newest {
        let bytes = prost::Message::encode_to_vec(event);
        match event_json::event(&bytes) {
            Ok(said) => {
                let _ = writeln!(json, "{}", redactor.event(event, said));
            }
            Err(error) => {
                let _ = writeln!(
                    json,
                    "{}",
                    serde_json::json!({ "seqno": event.seqno, "unreadable": error.to_string() })
                );
            }
        }
        let _ = writeln!(text, "{}", redactor.text(&line(&Redactor::cleaned(event))));
    }
    contents.add(
        "journal.txt",
        "whose journal it is, its events, size and cursor",
        redactor.text(infos),
    );
    contents.add(
        "events.jsonl",
        "the journal's last events, people numbered, what they wrote left out",
        json,
    );
    contents.add("events.txt", "the same in words", text);
}

/// The unit's log, as far as this user may read it.
async fn log(instance: &str) -> Result<String, String> {
    let unit = format!("tablegate@{instance}.service");
    let asked = tokio::process::Command::new("journalctl")
        .args([
            "--unit",
            &unit,
            "--lines",
            LOG_LINES,
            "--no-pager",
            "--output",
            "short-iso-precise",
        ])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(LOG_WITHIN, asked).await {
        Err(_) => Err(format!("journalctl did not end within {} s", LOG_WITHIN.as_secs())),
        Ok(Err(error)) => Err(format!("journalctl can't be run: {error}")),
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if !output.status.success() {
                Err(format!("journalctl for {unit}: {complaint}"))
            } else if said.trim().is_empty() || said.starts_with("-- No entries --") {
                Err(format!("journalctl has nothing of {unit} that this user may read"))
            } else {
                Ok(said)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::AlertRaised;

    #[test]
    fn an_alert_is_told_whole_where_the_journal_has_all_of_it() {
        let whole =
            "broker a: expires in 12 days; broker b: the certificate's name is another, so the connection is refused";
        let line = |text: &str| AlertLine {
            alert: "link_odd".to_owned(),
            text: text.to_owned(),
            acknowledged: false,
            over: false,
            since_unix_ms: 0,
            times: 2,
        };
        let raised = |alert: &str, text: &str| Event {
            body: Some(Body::AlertRaised(AlertRaised {
                alert: alert.to_owned(),
                text: text.to_owned(),
            })),
            ..Event::default()
        };
        let journal = [
            raised("link_odd", "broker a: expires in 13 days"),
            raised("link_odd", whole),
            raised("lamp_failed", whole),
        ];
        let cut = "broker a: expires in 12 days; broker b: ...";
        for (kept, journal, told) in [
            (cut, &journal[..], whole),
            ("broker c: ...", &journal, "broker c: ..."),
            (cut, &[], cut),
            (whole, &journal, whole),
        ] {
            let text = alerts(&[line(kept)], journal);
            assert_eq!(text, format!("link_odd (stands, raised twice): {told}\n"), "{kept}");
        }
    }
}
