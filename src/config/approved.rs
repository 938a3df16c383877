//! The file of approved digests, `<instance>.approved` beside the configuration: read as strictly as that, and written for people.
//!
//! It is read at the start of the daemon only. A file that is there and can't be used approves nothing; it is never taken for absent.

use super::names::nearest_of;
use super::problem::{Origin, Problem};
use super::side_file::SideFile;
use super::value::{describe, shown};
use super::{Disk, FileReader};
use crate::control::hex;
use crate::device::Kind;
use crate::gateway::{ApprovalFile, Approved, Said};
use crate::table::ApprovedDevice;
use crate::table::input::DeviceKind;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Devices that may be approved at once: a table has three, and every casino fewer spares than this.
const DEVICES_MAX: usize = 64;

/// Longest name of who approved, and longest time, in characters.
const NAME_MAX: usize = 64;

/// What a device says of itself has at most so many bytes, by its protocol.
const DEVICE_TEXT_MAX: usize = 32;

/// What each key has to be; the keys of the file, and those of a device.
const KEYS: &[(&str, &str)] = &[
    ("approved_by", "the name of who approved it, 1 to 64 characters"),
    ("approved_at", "the time of it, 1 to 64 characters"),
    ("program_sha256", RIGHT_DIGEST),
    ("config_sha256", RIGHT_DIGEST),
    ("rules_version", "the version of the rules, such as \"1\""),
    ("device", "[[device]], a section for each device"),
];
const DEVICE_KEYS: &[(&str, &str)] = &[
    ("kind", "one of \"tumbler\", \"terminal\", \"lamps\", \"lights\""),
    (
        "serial_number",
        "the device's serial number, 1 to 32 printable characters",
    ),
    (
        "firmware",
        "the version of its firmware, at most 32 printable characters",
    ),
    (
        "firmware_sha256",
        "a SHA-256 in 64 hexadecimal digits, or \"\" for a device that says none",
    ),
];

const RIGHT_DIGEST: &str = "a SHA-256 in 64 hexadecimal digits, in quotes";

/// What to do about any of it.
const APPROVE_ANEW: &str = "a file as `tablegate approve` writes it";

/// Where the approved digests of the table with this configuration stand.
#[must_use]
pub fn beside(config: &Path) -> PathBuf {
    config.with_extension("approved")
}

/// What stands beside the configuration at `config`.
#[must_use]
pub fn find(config: &Path) -> (ApprovalFile, Vec<Problem>) {
    read(config, &Disk)
}

/// As [`find`], with other files.
pub(super) fn read(config: &Path, files: &dyn FileReader) -> (ApprovalFile, Vec<Problem>) {
    let path = beside(config);
    let said = match files.read(&path) {
        Ok(text) => parse(&text, &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return (
                ApprovalFile {
                    path,
                    said: Said::Nothing,
                },
                Vec::new(),
            );
        }
        Err(error) => {
            let origin = Origin::File {
                path: path.clone(),
                line: None,
            };
            Err(vec![Problem {
                key: None,
                ..Problem::error(origin, "", format!("can't be read: {error}"), APPROVE_ANEW)
            }])
        }
    };
    match said {
        Ok(approved) => (
            ApprovalFile {
                path,
                said: Said::Approved(approved),
            },
            Vec::new(),
        ),
        Err(problems) => {
            let said = Said::Unusable {
                problems: problems.iter().map(ToString::to_string).collect(),
            };
            (ApprovalFile { path, said }, problems)
        }
    }
}

/// Reads the text of a file at `path`.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(text: &str, path: &Path) -> Result<Approved, Vec<Problem>> {
    let mut reading = Reading {
        file: SideFile { text, path },
        problems: Vec::new(),
    };
    let table = reading.file.table(APPROVE_ANEW, &mut reading.problems);
    reading.problems.truncate(PROBLEMS_MAX);
    let approved = table.and_then(|table| reading.all(table.get_ref()));
    match approved {
        Some(approved) if reading.problems.is_empty() => Ok(approved),
        Some(_) | None => Err(reading.problems),
    }
}

/// Most problems that are told of one file.
const PROBLEMS_MAX: usize = 50;

struct Reading<'a> {
    file: SideFile<'a>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn wrong(&mut self, offset: Option<usize>, key: &str, wrong: impl Into<String>, right: &str) {
        if self.problems.len() < PROBLEMS_MAX {
            let origin = self.file.origin(offset);
            self.problems.push(Problem::error(origin, key, wrong, right));
        }
    }

    fn all(&mut self, table: &DeTable<'_>) -> Option<Approved> {
        self.only(table, "", KEYS);
        let by = self.text_of(table, "", "approved_by", NAME_MAX);
        let at = self.text_of(table, "", "approved_at", NAME_MAX);
        let program = self.digest_of(table, "", "program_sha256");
        let config = self.digest_of(table, "", "config_sha256");
        let rules = self.text_of(table, "", "rules_version", NAME_MAX);
        let devices = self.devices(table);
        Some(Approved {
            by: by?,
            at: at?,
            program_sha256: program?,
            config_sha256: config?,
            rules_version: rules?,
            devices,
            file_sha256: Sha256::digest(self.file.text).into(),
        })
    }

    fn devices(&mut self, table: &DeTable<'_>) -> Vec<ApprovedDevice> {
        let Some(value) = table.get("device") else {
            self.wrong(
                None,
                "device",
                "is missing: no device is approved",
                right_of(KEYS, "device"),
            );
            return Vec::new();
        };
        let offset = Some(value.span().start);
        let DeValue::Array(items) = value.get_ref() else {
            let found = describe(value.get_ref());
            self.wrong(offset, "device", format!("is {found}"), right_of(KEYS, "device"));
            return Vec::new();
        };
        if items.len() > DEVICES_MAX {
            let wrong = format!("are {}, more than {DEVICES_MAX}", items.len());
            self.wrong(offset, "device", wrong, "the devices of this table and its spares");
        }
        let mut devices: Vec<ApprovedDevice> = Vec::new();
        for item in items.iter().take(DEVICES_MAX) {
            let Some(device) = self.device(item) else { continue };
            if devices.contains(&device) {
                let wrong = format!("{} is there twice", shown(&device.serial_number));
                self.wrong(Some(item.span().start), "device", wrong, "each device once");
            }
            devices.push(device);
        }
        devices
    }

    fn device(&mut self, item: &Spanned<DeValue<'_>>) -> Option<ApprovedDevice> {
        let DeValue::Table(table) = item.get_ref() else {
            let found = describe(item.get_ref());
            let offset = Some(item.span().start);
            self.wrong(
                offset,
                "device",
                format!("has an item that is {found}"),
                right_of(KEYS, "device"),
            );
            return None;
        };
        self.only(table, "device.", DEVICE_KEYS);
        let kind = self.kind_of(table, item.span().start);
        let serial_number = self.device_text(table, item.span().start, "serial_number");
        let firmware = self.device_text(table, item.span().start, "firmware");
        let image = self.image(table, item.span().start);
        Some(ApprovedDevice {
            kind: kind?,
            serial_number: serial_number?,
            firmware: firmware?,
            firmware_sha256: image?,
        })
    }

    /// The key has to be there, or a file cut short would approve more than was written.
    fn image(&mut self, table: &DeTable<'_>, at: usize) -> Option<Option<Vec<u8>>> {
        let (text, offset) = self.string(table, "device.", "firmware_sha256", Some(at))?;
        if text.is_empty() {
            return Some(None);
        }
        let Some(image) = digest(text) else {
            let right = right_of(DEVICE_KEYS, "firmware_sha256");
            self.wrong(
                Some(offset),
                "device.firmware_sha256",
                format!("is {}", shown(text)),
                right,
            );
            return None;
        };
        Some(Some(image.to_vec()))
    }

    fn kind_of(&mut self, table: &DeTable<'_>, at: usize) -> Option<DeviceKind> {
        let (word, offset) = self.string(table, "device.", "kind", Some(at))?;
        let kind = KINDS.iter().find(|kind| Kind::from(**kind).word() == word);
        if kind.is_none() {
            let wrong = format!("is {}", shown(word));
            self.wrong(Some(offset), "device.kind", wrong, right_of(DEVICE_KEYS, "kind"));
        }
        kind.copied()
    }

    /// What a device says of itself: printable, and as short as its protocol has it. Its firmware may have no version.
    fn device_text(&mut self, table: &DeTable<'_>, at: usize, key: &str) -> Option<String> {
        let (text, offset) = self.string(table, "device.", key, Some(at))?;
        let is_printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let is_missing = text.is_empty() && key == "serial_number";
        if !is_printable || text.len() > DEVICE_TEXT_MAX || is_missing {
            let wrong = format!("is {}", shown(text));
            self.wrong(
                Some(offset),
                &format!("device.{key}"),
                wrong,
                right_of(DEVICE_KEYS, key),
            );
            return None;
        }
        Some(text.to_owned())
    }

    /// Names that aren't known.
    fn only(&mut self, table: &DeTable<'_>, under: &str, keys: &[(&str, &str)]) {
        for name in table.keys() {
            let written = name.get_ref();
            if keys.iter().any(|(key, _)| key == written) {
                continue;
            }
            let right = match nearest_of(written, keys.iter().map(|(key, _)| *key)) {
                Some(near) => format!("{near}?"),
                None => format!(
                    "one of {}",
                    keys.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ")
                ),
            };
            let key = format!("{under}{written}");
            self.wrong(Some(name.span().start), &key, "is no key that is known", &right);
        }
    }

    /// The text of a key, and where it stands.
    fn string<'t>(
        &mut self,
        table: &'t DeTable<'_>,
        under: &str,
        key: &str,
        at: Option<usize>,
    ) -> Option<(&'t str, usize)> {
        let right = right_of(if under.is_empty() { KEYS } else { DEVICE_KEYS }, key);
        let path = format!("{under}{key}");
        let Some(value) = table.get(key) else {
            self.wrong(at, &path, "is missing", right);
            return None;
        };
        let offset = value.span().start;
        let Some(text) = value.get_ref().as_str() else {
            let wrong = format!("is {}", describe(value.get_ref()));
            self.wrong(Some(offset), &path, wrong, right);
            return None;
        };
        Some((text, offset))
    }

    fn text_of(&mut self, table: &DeTable<'_>, under: &str, key: &str, most: usize) -> Option<String> {
        let (text, offset) = self.string(table, under, key, None)?;
        let length = text.chars().count();
        if text.trim().is_empty() || length > most || text.chars().any(char::is_control) {
            let wrong = format!("is {}", shown(text));
            self.wrong(Some(offset), &format!("{under}{key}"), wrong, right_of(KEYS, key));
            return None;
        }
        Some(text.to_owned())
    }

    fn digest_of(&mut self, table: &DeTable<'_>, under: &str, key: &str) -> Option<[u8; 32]> {
        let (text, offset) = self.string(table, under, key, None)?;
        let digest = digest(text);
        if digest.is_none() {
            let wrong = format!("is {}", shown(text));
            self.wrong(Some(offset), &format!("{under}{key}"), wrong, RIGHT_DIGEST);
        }
        digest
    }
}

const KINDS: [DeviceKind; 4] = [
    DeviceKind::Tumbler,
    DeviceKind::Terminal,
    DeviceKind::LayoutLamps,
    DeviceKind::ResultLights,
];

fn right_of(keys: &[(&'static str, &'static str)], key: &str) -> &'static str {
    let found = keys.iter().find(|(name, _)| *name == key);
    found.map_or(APPROVE_ANEW, |(_, right)| right)
}

/// A SHA-256 in 64 hexadecimal digits.
#[must_use]
pub fn digest(text: &str) -> Option<[u8; 32]> {
    <[u8; 32]>::try_from(hex::read(text)?).ok()
}

/// The text of a file that says this, for people who look into it as well. What `parse` reads of it is what is written.
#[must_use]
pub fn text(instance: &str, approved: &Approved) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut text = format!(
        "\
# What is approved for table {instance}: written by `tablegate approve`, read by the daemon when it starts.
# A program, configuration or version of rules that differs freezes the table until a supervisor's word; a device that isn't
# here, or has other firmware, holds the next round back until a supervisor accepts it. Without this file nothing is enforced.

approved_by = {}
approved_at = {}

# SHA-256 of the program's file.
program_sha256 = \"{}\"
# SHA-256 of the effective configuration, environment and defaults included (`tablegate config check` prints it).
config_sha256 = \"{}\"
rules_version = {}
",
        quoted(&approved.by),
        quoted(&approved.at),
        hex::write(&approved.program_sha256),
        hex::write(&approved.config_sha256),
        quoted(&approved.rules_version),
    );
    for device in &approved.devices {
        // Writing to a String can't fail.
        let _ = write!(
            text,
            "\n[[device]]\nkind = \"{}\"\nserial_number = {}\nfirmware = {}\n",
            Kind::from(device.kind).word(),
            quoted(&device.serial_number),
            quoted(&device.firmware),
        );
        let image = device.firmware_sha256.as_deref().unwrap_or_default();
        let _ = writeln!(text, "firmware_sha256 = \"{}\"", hex::write(image));
    }
    if approved.devices.is_empty() {
        text.push_str("\n# No device is approved.\ndevice = []\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/etc/tablegate/TS-07.approved";

    fn approved() -> Approved {
        let device = |kind, serial_number: &str, image: Option<Vec<u8>>| ApprovedDevice {
            kind,
            serial_number: serial_number.to_owned(),
            firmware: "1.4".to_owned(),
            firmware_sha256: image,
        };
        Approved {
            program_sha256: [0x1f; 32],
            config_sha256: [0xa2; 32],
            rules_version: "1".into(),
            devices: vec![
                device(DeviceKind::Tumbler, "DT-\"1\"", Some(vec![0xAB; 32])),
                device(DeviceKind::Terminal, "ET-1", None),
                device(DeviceKind::LayoutLamps, "LL-1", None),
                device(DeviceKind::ResultLights, "RL-1", None),
            ],
            by: "ana".into(),
            at: "2026-11-30T15:00:00Z".into(),
            file_sha256: [0; 32],
        }
    }

    fn problems(text: &str) -> String {
        let problems = parse(text, Path::new(FILE)).unwrap_err();
        problems.iter().map(|problem| format!("{problem}\n")).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut none = approved();
        none.devices.clear();
        for mut written in [approved(), none] {
            let text = text("TS-07", &written);
            written.file_sha256 = Sha256::digest(&text).into();
            assert_eq!(parse(&text, Path::new(FILE)), Ok(written), "{text}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let text = text("TS-07", &approved())
            .replace("approved_by", "aproved_by")
            .replace("rules_version = \"1\"", "rules_version = 1")
            .replace("program_sha256 = \"1f", "program_sha256 = \"1g")
            .replace("config_sha256 = \"a2", "config_sha256 = \"")
            .replace("\"tumbler\"", "\"tumbbler\"")
            .replace("serial_number = \"ET-1\"\n", "serial = \"ET-1\"\n")
            .replacen("firmware_sha256 = \"\"", "firmware_sha256 = \"abc\"", 1)
            .replacen("firmware = \"1.4\"", "firmware = 1.4", 1)
            .replace("\"RL-1\"", "\"\"");
        insta::assert_snapshot!(problems(&text));
    }

    #[test]
    fn what_is_there_and_can_not_be_read_is_not_absent() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("TS-07.toml");
        let found = || find(&config).0.said;
        assert_eq!(found(), Said::Nothing);
        let path = beside(&config);
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(found(), Said::Unusable { .. }), "a folder");
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink(folder.path().join("gone"), &path).unwrap();
        assert!(matches!(found(), Said::Unusable { .. }), "a link to nothing");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, [0xff; 40]).unwrap();
        assert!(matches!(found(), Said::Unusable { .. }), "bytes");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(found(), Said::Unusable { .. }), "nothing");
        std::fs::write(&path, text("TS-07", &approved())).unwrap();
        assert!(matches!(found(), Said::Approved(_)));
    }

    #[test]
    fn no_toml_is_told_with_its_line() {
        assert!(problems("approved_by = ana\n").contains("TS-07.approved:1: is no TOML here"));
    }

    #[test]
    fn an_empty_file_approves_nothing_and_is_not_absent() {
        assert!(problems("").contains("program_sha256 is missing"));
    }

    #[test]
    fn a_device_that_is_there_twice_is_told() {
        let mut twice = approved();
        twice.devices.push(twice.devices[0].clone());
        assert!(problems(&text("TS-07", &twice)).contains("is there twice"));
        // With another firmware it is another device.
        twice.devices[4].firmware = "1.5".into();
        assert!(parse(&text("TS-07", &twice), Path::new(FILE)).is_ok());
    }

    #[test]
    fn a_file_cut_anywhere_is_never_read_as_another_one() {
        let whole = text("TS-07", &approved());
        let read = parse(&whole, Path::new(FILE)).unwrap();
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            if let Ok(cut) = parse(&whole[..end], Path::new(FILE)) {
                // Whole devices may be missing at the end, and then they aren't approved; nothing is approved that was not.
                assert!(
                    cut.devices.iter().all(|device| read.devices.contains(device)),
                    "cut at {end}"
                );
                assert_eq!(
                    (cut.program_sha256, cut.config_sha256),
                    (read.program_sha256, read.config_sha256)
                );
            }
        }
    }
}
