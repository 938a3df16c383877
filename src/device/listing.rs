//! Which serial ports this PC has, as the kernel and udev tell it: names that stay, who made them, whose they are, who holds them.
//! Opens none of them: opening can reset a board, and a UPS may hang on one.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use serde::Serialize;

use super::holder::{self, Access};

/// Where the kernel and udev tell of ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Places {
            sys: PathBuf::from("/sys"),
            dev: PathBuf::from("/dev"),
        }
    }
}

/// A serial port.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ListedPort {
    /// The kernel's name for it, which another device may have tomorrow: `/dev/ttyUSB0`.
    pub path: PathBuf,
    /// Names made of the adapter's identity, which stay: `/dev/serial/by-id/...`.
    pub by_id: Vec<PathBuf>,
    /// Names made of the socket that it is plugged in to: `/dev/serial/by-path/...`.
    pub by_path: Vec<PathBuf>,
    /// What the USB adapter says of itself; `None`: not on USB.
    pub usb: Option<UsbIdentity>,
    /// The kernel's driver.
    pub driver: Option<String>,
    /// Milliseconds that an FTDI adapter keeps bytes back; `None`: it has no such timer.
    pub latency_ms: Option<u32>,
    /// Whose it is, and who asks.
    pub rights: String,
    /// Whether this user may open it.
    pub may_open: bool,
    /// Who has it open, as far as this user may see; `None`: nobody that is known of.
    pub held_by: Option<String>,
}

/// What a USB adapter says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UsbIdentity {
    /// Four hexadecimal digits.
    pub vendor_id: String,
    /// Four hexadecimal digits.
    pub product_id: String,
    /// In its maker's words.
    pub manufacturer: Option<String>,
    /// In its maker's words.
    pub product: Option<String>,
    /// Without one, two adapters of a kind can't be told apart by name.
    pub serial_number: Option<String>,
}

impl ListedPort {
    /// The name to write into the configuration: it stays with the adapter, or else with the socket.
    #[must_use]
    pub fn stable(&self) -> Option<&Path> {
        self.by_id
            .first()
            .or_else(|| self.by_path.first())
            .map(PathBuf::as_path)
    }
}

/// Every serial port of hardware, in the order of the kernel's names.
///
/// # Errors
/// The kernel doesn't tell.
pub fn list(places: &Places) -> io::Result<Vec<ListedPort>> {
    let class = places.sys.join("class/tty");
    let mut names: Vec<String> = fs::read_dir(&class)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_hardware(&class.join(name)))
        .collect();
    names.sort_by_key(|name| natural(name));
    Ok(names.iter().map(|name| look(places, &places.dev.join(name))).collect())
}

/// One port, by any of its names; it may be a pty.
#[must_use]
pub fn look(places: &Places, path: &Path) -> ListedPort {
    let device = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = device.file_name().unwrap_or_default();
    let about = places.sys.join("class/tty").join(name);
    let driver = fs::read_link(about.join("device/driver"))
        .ok()
        .and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()));
    let held = holder::of(&device).without_makers();
    ListedPort {
        by_id: names_of(&places.dev.join("serial/by-id"), &device),
        by_path: names_of(&places.dev.join("serial/by-path"), &device),
        usb: usb(&about),
        driver,
        latency_ms: word(&about.join("device/latency_timer")).and_then(|text| text.parse().ok()),
        rights: Access::to(&device).whose(),
        may_open: faccessat(
            AT_FDCWD,
            &device,
            AccessFlags::R_OK | AccessFlags::W_OK,
            AtFlags::AT_EACCESS,
        )
        .is_ok(),
        held_by: held.any().then(|| held.to_string()),
        path: device,
    }
}

/// A port of hardware has a device behind it; of the `ttyS` that the kernel always makes only those with a chip have a kind.
fn is_hardware(about: &Path) -> bool {
    let has_device = about.join("device").exists();
    let kind = word(&about.join("type"));
    has_device && kind.is_none_or(|kind| kind != "0")
}

/// `ttyUSB10` comes after `ttyUSB9`.
fn natural(name: &str) -> (String, u64) {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let letters = name.strip_suffix(digits).unwrap_or(name);
    (letters.to_owned(), digits.parse().unwrap_or(0))
}

/// The links in `folder` that lead to `device`.
fn names_of(folder: &Path, device: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|link| fs::canonicalize(link).is_ok_and(|leads| leads == device))
        .collect();
    names.sort();
    names
}

/// The first of the devices above the port that says who it is.
fn usb(about: &Path) -> Option<UsbIdentity> {
    let device = fs::canonicalize(about.join("device")).ok()?;
    let adapter = device.ancestors().find(|folder| folder.join("idVendor").exists())?;
    let said = |what: &str| word(&adapter.join(what));
    Some(UsbIdentity {
        vendor_id: said("idVendor").unwrap_or_default(),
        product_id: said("idProduct").unwrap_or_default(),
        manufacturer: said("manufacturer"),
        product: said("product"),
        serial_number: said("serial"),
    })
}

/// An adapter may call itself anything; it must not command a technician's terminal.
fn word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = holder::printable(text.trim());
    (!text.is_empty()).then_some(text)
}

/// Whether there is a terminal device of this name.
#[must_use]
pub fn is_port(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A PC with an FTDI adapter, a nameless one, a chip on the board, one without a chip, and a console.
    fn machine() -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().unwrap();
        let places = Places {
            sys: folder.path().join("sys"),
            dev: folder.path().join("dev"),
        };
        let file = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let class = places.sys.join("class/tty");
        let devices = places.sys.join("devices");
        for (name, adapter, said) in [
            (
                "ttyUSB10",
                "1-2",
                &[
                    ("idVendor", "0403\n"),
                    ("idProduct", "6001\n"),
                    ("manufacturer", "FTDI\n"),
                    ("product", "FT232R \x1b[31mUART\n"),
                    ("serial", "A50285BI\n"),
                ][..],
            ),
            ("ttyUSB9", "1-3", &[("idVendor", "1a86\n"), ("idProduct", "7523\n")]),
        ] {
            for (what, text) in said {
                file(devices.join(adapter).join(what), text);
            }
            let port = devices.join(adapter).join("port").join(name);
            fs::create_dir_all(port.join("driver-of")).unwrap();
            fs::create_dir_all(class.join(name)).unwrap();
            symlink(&port, class.join(name).join("device")).unwrap();
            file(places.dev.join(name), "");
        }
        file(devices.join("1-2/port/ttyUSB10/latency_timer"), "16\n");
        symlink("../../bus/ftdi_sio", devices.join("1-2/port/ttyUSB10/driver")).unwrap();
        for (name, kind) in [("ttyS0", "4\n"), ("ttyS1", "0\n")] {
            fs::create_dir_all(devices.join(name)).unwrap();
            fs::create_dir_all(class.join(name)).unwrap();
            symlink(devices.join(name), class.join(name).join("device")).unwrap();
            file(class.join(name).join("type"), kind);
            file(places.dev.join(name), "");
        }
        fs::create_dir_all(class.join("console")).unwrap();
        for (names, name, leads) in [
            ("by-id", "usb-FTDI_A50285BI-if00-port0", "../../ttyUSB10"),
            ("by-path", "pci-0000:00:14.0-usb-0:2:1.0-port0", "../../ttyUSB10"),
            ("by-path", "pci-0000:00:14.0-usb-0:3:1.0-port0", "../../ttyUSB9"),
        ] {
            let folder = places.dev.join("serial").join(names);
            fs::create_dir_all(&folder).unwrap();
            symlink(leads, folder.join(name)).unwrap();
        }
        (folder, places)
    }

    #[test]
    fn hardware_is_listed_with_the_names_that_stay() {
        let (_folder, places) = machine();
        let found = list(&places).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|port| port.path.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["ttyS0", "ttyUSB9", "ttyUSB10"]);
        let [board, nameless, ftdi] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((board.stable(), &board.usb), (None, &None));
        assert!(
            nameless
                .stable()
                .unwrap()
                .ends_with("pci-0000:00:14.0-usb-0:3:1.0-port0")
        );
        assert_eq!(nameless.usb.as_ref().unwrap().serial_number, None);
        assert!(ftdi.stable().unwrap().ends_with("by-id/usb-FTDI_A50285BI-if00-port0"));
        assert_eq!(ftdi.by_path.len(), 1);
        assert_eq!((ftdi.latency_ms, ftdi.driver.as_deref()), (Some(16), Some("ftdi_sio")));
        let usb = ftdi.usb.as_ref().unwrap();
        assert_eq!((usb.vendor_id.as_str(), usb.product_id.as_str()), ("0403", "6001"));
        assert_eq!(
            usb.product.as_deref(),
            Some("FT232R ?[31mUART"),
            "nothing commands the terminal"
        );
        assert_eq!(usb.serial_number.as_deref(), Some("A50285BI"));
        assert!(ftdi.rights.contains("mode 0"), "{}", ftdi.rights);
    }

    #[test]
    fn a_pc_that_does_not_tell_is_an_error_and_not_an_empty_list() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places {
            sys: folder.path().to_owned(),
            dev: folder.path().to_owned(),
        };
        assert!(list(&places).is_err());
    }
}
