//! The devices' ports: is each what it seems, and is no two the same?

use super::problem::{Origin, Problem};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The name of a port that stays the same however the device is plugged.
const BY_ID: &str = "/dev/serial/by-id/";

/// Words in which makers' names of adapters end. A name that ends in one has no serial number behind it.
const MODEL_WORDS: &[&str] = &[
    "serial",
    "uart",
    "controller",
    "bridge",
    "adapter",
    "converter",
    "cable",
    "device",
    "ser",
];

/// What may go wrong with a port of this name, and what would be right; `None` for a good one.
#[must_use]
pub fn doubt(port: &str) -> Option<(&'static str, &'static str)> {
    if let Some(name) = port.strip_prefix(BY_ID) {
        let serial = "has no serial number in its name: another adapter of this make takes its place";
        return (!has_serial_number(name)).then_some((
            serial,
            "an adapter with a serial number, or a name under /dev/serial/by-path/ and the socket labelled",
        ));
    }
    let bare = ["/dev/ttyUSB", "/dev/ttyACM"]
        .iter()
        .filter_map(|prefix| port.strip_prefix(prefix))
        .any(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    bare.then_some((
        "is numbered in the order of plugging: it names another device after the next start",
        "the port's name under /dev/serial/by-id/, as `ls -l /dev/serial/by-id/` lists it",
    ))
}

/// udev names a port `usb-MAKER_MODEL[_SERIAL]-ifNN[-portN]`; makers and models may have underscores too.
fn has_serial_number(name: &str) -> bool {
    let name = name.strip_prefix("usb-").unwrap_or(name);
    let name = name.rsplit_once("-if").map_or(name, |(name, _)| name);
    let parts: Vec<_> = name.split('_').collect();
    let Some((last, before)) = parts.split_last() else {
        return false;
    };
    let model_word = {
        let last = last.to_lowercase();
        MODEL_WORDS.iter().any(|word| last.ends_with(word))
    };
    before.len() >= 2 && !model_word && last.bytes().any(|byte| byte.is_ascii_digit())
}

/// Reports each pair of ports that is one device: the same name, or two names of the same.
pub fn report_shared(ports: &[(&str, &str, Origin)], problems: &mut Vec<Problem>) {
    for (n, (key, port, origin)) in ports.iter().enumerate() {
        let same = |(_, other, _): &&(&str, &str, Origin)| resolved(other) == resolved(port);
        if let Some((first, other, _)) = ports.iter().take(n).find(same) {
            let wrong = if other == port {
                format!("is {port:?}, which is the port of {first}")
            } else {
                format!("is {port:?}, the same device as {other:?} of {first}")
            };
            problems.push(Problem::error(
                origin.clone(),
                key,
                wrong,
                "a device of its own on each port",
            ));
        }
    }
}

/// The device itself behind the links. A port that is missing now is only its name, however it is spelled: in the folder itself
/// when that is there, else by its words.
fn resolved(port: &str) -> PathBuf {
    let port = Path::new(port);
    if let Ok(device) = std::fs::canonicalize(port) {
        return device;
    }
    if let (Some(folder), Some(name)) = (port.parent(), port.file_name())
        && let Ok(folder) = std::fs::canonicalize(folder)
    {
        return folder.join(name);
    }
    let mut words = PathBuf::new();
    for part in port.components() {
        match part {
            Component::ParentDir => {
                words.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::Normal(_) => words.push(part),
        }
    }
    words
}

/// The link protocol's T: 50 ms, and the line time of two frames of 209 bytes at 10 bits a byte, rounded up to 50 ms.
#[must_use]
pub fn link_t(baud: u32) -> Duration {
    const FRAME_BITS: u64 = 2 * 209 * 10;
    const STEP_MS: u64 = 50;
    let line_ms = (FRAME_BITS * 1_000).div_ceil(u64::from(baud.max(1)));
    Duration::from_millis((STEP_MS + line_ms).next_multiple_of(STEP_MS))
}

/// How long lamps on such a line may take to show what they acknowledged: 500 ms for the lamps to settle and answer, and 3 T.
#[must_use]
pub fn lamp_wait(baud: u32) -> Duration {
    Duration::from_millis(500) + 3 * link_t(baud)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_is_what_the_protocol_says() {
        assert_eq!(link_t(115_200), Duration::from_millis(100));
        assert_eq!(link_t(9_600), Duration::from_millis(500));
        assert_eq!(link_t(4_000_000), Duration::from_millis(100));
        assert_eq!(lamp_wait(115_200), Duration::from_millis(800));
    }

    #[test]
    fn two_spellings_of_one_port_are_found_plugged_and_unplugged() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        let shared = |one: &str, other: &str| {
            let mut problems = Vec::new();
            let ports = [
                ("devices.tumbler.port", one, Origin::Default),
                ("devices.terminal.port", other, Origin::Default),
            ];
            report_shared(&ports, &mut problems);
            !problems.is_empty()
        };
        for folder in ["by-id", "by-path"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(root.path().join("by-id"), root.path().join("names")).unwrap();
        let unplugged = [
            (at("by-id/a"), at("by-id//./a"), true),
            (at("by-id/a"), at("by-path/../by-id/a"), true),
            (at("by-id/a"), at("names/a"), true),
            (at("by-id/a"), at("by-path/a"), false),
            (at("by-id/a"), at("by-id/b"), false),
        ];
        for (one, other, same) in &unplugged {
            assert_eq!(shared(one, other), *same, "{one} {other}");
        }
        // Nothing of it is there.
        assert!(shared("/nowhere/by-id/a", "/nowhere/by-path/../by-id/./a"));
        assert!(!shared("/nowhere/by-id/a", "/nowhere/by-path/a"));
        // Plugged: the links lead to one device.
        std::fs::write(root.path().join("ttyUSB0"), "").unwrap();
        for name in ["by-id/a", "by-path/a"] {
            std::os::unix::fs::symlink("../ttyUSB0", root.path().join(name)).unwrap();
        }
        assert!(shared(&at("by-id/a"), &at("by-path/a")));
        assert!(shared(&at("by-id/a"), &at("ttyUSB0")));
    }

    #[test]
    fn names_that_may_move_are_doubted() {
        for (port, good) in [
            ("/dev/serial/by-id/usb-TumblerCo_DT-3_0042-if00", true),
            ("/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0", true),
            (
                "/dev/serial/by-id/usb-Silicon_Labs_CP2102_USB_to_UART_Bridge_Controller_0001-if00-port0",
                true,
            ),
            ("/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0", false),
            ("/dev/serial/by-id/usb-1a86_USB2.0-Serial-if00-port0", false),
            ("/dev/serial/by-id/usb-1a86_USB2.0-Ser_-if00-port0", false),
            (
                "/dev/serial/by-id/usb-Prolific_Technology_Inc._USB-Serial_Controller-if00-port0",
                false,
            ),
            (
                "/dev/serial/by-id/usb-Prolific_Technology_Inc._USB-Serial_Controller_D-if00-port0",
                false,
            ),
            ("/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0", true),
            ("/dev/ttyUSB0", false),
            ("/dev/ttyACM12", false),
            ("/dev/ttyUSB-tumbler", true),
            ("/dev/ttyS0", true),
            ("/dev/pts/7", true),
        ] {
            assert_eq!(doubt(port).is_none(), good, "{port}");
        }
    }
}
