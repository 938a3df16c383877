//! `tablegate ports`: which serial ports this PC has and how to name them; `ports identify` greets what is on them.

use super::ending::{self, Failure};
use crate::counted::counted;
use crate::device::{self, Answered, Identity, Kind, ListedPort, Places, SerialPorts};
use crate::gateway::SystemClock;
use crate::time::Clock;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The serial ports of this PC: names that stay, adapters, who holds them, rights, latency. Opens none of them, and needs no daemon.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  tablegate ports\n  tablegate ports identify /dev/ttyUSB0"
)]
pub struct Ports {
    #[command(subcommand)]
    command: Option<PortsCommand>,
    /// Only these; without any, every port of hardware.
    port: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum PortsCommand {
    /// Greet the ports named and say what answered. Whatever is there receives bytes, and may be no table device: a UPS can switch
    /// off. A port that a daemon or another program holds is left alone.
    #[command(
        after_help = "Examples:\n  tablegate ports identify /dev/serial/by-id/usb-FTDI_A50285BI-if00-port0\n  tablegate ports identify --yes --baud 9600 /dev/ttyS0"
    )]
    Identify(Identify),
}

#[derive(Args, Debug)]
struct Identify {
    /// The ports to greet.
    #[arg(required = true)]
    port: Vec<PathBuf>,
    /// Bits a second.
    #[arg(long, default_value_t = 115_200, value_parser = clap::value_parser!(u32).range(9_600..=4_000_000))]
    baud: u32,
    /// Don't ask whether bytes may be sent.
    #[arg(long)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// The PC doesn't tell of its ports; a port named isn't one; nothing answered on one.
pub fn run(args: &Ports) -> Result<(), Failure> {
    match &args.command {
        Some(PortsCommand::Identify(identify)) => greet(identify),
        None => list(args),
    }
}

fn list(args: &Ports) -> Result<(), Failure> {
    let places = Places::default();
    let found = if args.port.is_empty() {
        device::list(&places).map_err(|error| {
            Failure::failed(format!(
                "{}: {error}: the kernel doesn't tell which ports there are",
                places.sys.join("class/tty").display()
            ))
        })?
    } else {
        named(&places, &args.port)?
    };
    if args.json {
        return ending::print_json(&found);
    }
    ending::print(&render(&found))
}

/// The ports that a person named; a name that leads nowhere is a mistake.
fn named(places: &Places, paths: &[PathBuf]) -> Result<Vec<ListedPort>, Failure> {
    let wrong = paths.iter().find(|path| !device::is_port(path));
    match wrong {
        None => Ok(paths.iter().map(|path| device::look(places, path)).collect()),
        Some(path) => Err(Failure::failed(format!(
            "{} is no serial port of this PC: `tablegate ports` lists them",
            path.display()
        ))),
    }
}

pub(super) fn render(found: &[ListedPort]) -> String {
    if found.is_empty() {
        return "No serial port: no adapter is plugged in, or the kernel has no driver for it (`dmesg` says which).\n"
            .to_owned();
    }
    let mut text = String::new();
    for port in found {
        if !text.is_empty() {
            text.push('\n');
        }
        block(&mut text, port);
    }
    text.push_str("\n`tablegate ports identify PORT` greets what is on a port, and prints the lines of the configuration for it.\n");
    text
}

/// One port, its facts in a column.
fn block(text: &mut String, port: &ListedPort) {
    let rights = if port.may_open {
        format!("{}: you may open it", port.rights)
    } else {
        format!("{}: you may not open it", port.rights)
    };
    let stable = match (port.by_id.first(), port.by_path.first()) {
        (Some(name), _) => name.display().to_string(),
        (None, Some(name)) => format!("{} (of the socket: the adapter has no serial number)", name.display()),
        (None, None) => "none: the port is soldered in, or udev isn't running".to_owned(),
    };
    let holder = port.held_by.as_deref().unwrap_or("nobody that is seen from here");
    let mut facts = vec![
        ("stable name", stable),
        ("adapter", adapter(port)),
        ("rights", rights),
        ("held by", holder.to_owned()),
    ];
    facts.extend(latency(port).map(|latency| ("latency", latency)));
    // A String takes everything.
    let _ = writeln!(text, "{}", port.path.display());
    for (name, value) in facts {
        let _ = writeln!(text, "  {name:<13}{value}");
    }
}

fn adapter(port: &ListedPort) -> String {
    let driver = port.driver.as_deref().unwrap_or("no driver named");
    let Some(usb) = &port.usb else {
        return format!("not on USB ({driver})");
    };
    let words: Vec<&str> = [&usb.manufacturer, &usb.product]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let name = if words.is_empty() {
        "nameless".to_owned()
    } else {
        words.join(" ")
    };
    let serial = match &usb.serial_number {
        Some(serial) => format!("serial number {serial}"),
        None => "no serial number".to_owned(),
    };
    format!("{name}, {serial} ({}:{}, {driver})", usb.vendor_id, usb.product_id)
}

/// Milliseconds that a key may wait in the adapter without anybody noticing.
const GOOD_LATENCY_MS: u32 = 1;

fn latency(port: &ListedPort) -> Option<String> {
    let ms = port.latency_ms?;
    Some(if ms > GOOD_LATENCY_MS {
        format!(
            "{ms} ms: every key waits that long in the adapter; the udev rule 60-tablegate.rules sets {GOOD_LATENCY_MS} ms"
        )
    } else {
        format!("{ms} ms")
    })
}

/// What was greeted, for scripts.
#[derive(Serialize)]
struct Greeted {
    port: ListedPort,
    baud: u32,
    answered: Option<Answered>,
    error: Option<String>,
}

fn greet(args: &Identify) -> Result<(), Failure> {
    let places = Places::default();
    let ports = named(&places, &args.port)?;
    if !args.yes && !confirmed(&ports)? {
        return Err(Failure::failed("nothing was sent"));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let mut greeted = Vec::new();
    for (port, path) in ports.into_iter().zip(&args.port) {
        let asked = device::identify(&SerialPorts, path, args.baud, TABLE, &clock);
        let (answered, error) = match runtime.block_on(asked) {
            Ok(answered) => (Some(answered), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let one = Greeted {
            port,
            baud: args.baud,
            answered,
            error,
        };
        if !args.json {
            ending::print(&said(&one, path))?;
        }
        greeted.push(one);
    }
    // A port that a driver closes slowly doesn't keep the technician waiting.
    runtime.shutdown_background();
    if args.json {
        ending::print_json(&greeted)?;
    }
    answered_all(&greeted)
}

/// Every port has a device that answered; else what is wrong with the others, those by name that could not be asked.
fn answered_all(greeted: &[Greeted]) -> Result<(), Failure> {
    let mut wrong: Vec<&str> = greeted.iter().filter_map(|one| one.error.as_deref()).collect();
    let asked = greeted.len() - wrong.len();
    let is_silent = |one: &&Greeted| one.error.is_none() && !matches!(one.answered, Some(Answered::By { .. }));
    let silent = greeted.iter().filter(is_silent).count();
    let told = format!("no device answered on {silent} of {}", counted(asked, "port"));
    if silent > 0 {
        wrong.push(&told);
    }
    match wrong.as_slice() {
        [] => Ok(()),
        wrong => Err(Failure::failed(wrong.join("; "))),
    }
}

/// Told to the device in the greeting: no table of the house.
const TABLE: &str = "identify";

fn confirmed(ports: &[ListedPort]) -> Result<bool, Failure> {
    let names: Vec<String> = ports.iter().map(|port| port.path.display().to_string()).collect();
    let question = format!(
        "Bytes will be sent to {}. What is there may be no table device: a UPS can switch off, a modem can dial.\nGo on? [y/N] ",
        names.join(", ")
    );
    ending::confirmed(
        &question,
        "nobody can be asked whether bytes may be sent: give --yes once you know what is on these ports",
    )
}

/// What a person reads of one greeting.
fn said(greeted: &Greeted, path: &Path) -> String {
    let port = path.display();
    let baud = greeted.baud;
    match (&greeted.answered, &greeted.error) {
        (Some(Answered::By { kind, identity }), _) => here(greeted, path, *kind, identity),
        (Some(Answered::OtherVersion), _) => {
            format!(
                "{port}: a device answers that speaks another version of the protocol; it needs other firmware, or this program a newer version\n"
            )
        }
        (Some(Answered::Echo), _) => {
            format!("{port}: only what was sent came back: transmit and receive are joined somewhere on the line\n")
        }
        (Some(Answered::Noise { bytes }), _) => format!(
            "{port}: {} at {baud} baud, no frame among them: another speed (--baud), another kind of device, or noise\n",
            counted(bytes, "byte")
        ),
        (Some(Answered::Nothing), _) => format!(
            "{port}: nothing answered in {} s at {baud} baud: no power, a loose cable, transmit and receive exchanged, or another speed (--baud)\n",
            device::ANSWERS_WITHIN.as_secs()
        ),
        (None, error) => format!("{}\n", error.as_deref().unwrap_or("not asked")),
    }
}

/// The device that answered, and what to write down to use it.
fn here(greeted: &Greeted, path: &Path, kind: Option<Kind>, identity: &Identity) -> String {
    let Some(kind) = kind else {
        return format!(
            "{}: a device answers (serial number {}) of a kind that this program doesn't know\n",
            path.display(),
            identity.serial_number
        );
    };
    let word = kind.word();
    let lamps = match kind {
        Kind::Lamps | Kind::Lights => format!(", {}", counted(identity.lamp_count, "lamp")),
        Kind::Tumbler | Kind::Terminal => String::new(),
    };
    // From the root: a configuration takes nothing else.
    let from_the_root = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = greeted.port.stable().unwrap_or(&from_the_root).display().to_string();
    // Quoted: a line of TOML.
    let mut text = format!(
        "{}: {word}, serial number {}, firmware {}{lamps}\n\n  [devices.{word}]\n  port = {name:?}\n",
        path.display(),
        identity.serial_number,
        identity.firmware
    );
    if greeted.baud != DEFAULT_BAUD {
        let _ = writeln!(text, "  baud = {}", greeted.baud);
    }
    if greeted.port.stable().is_none() {
        let _ = writeln!(
            text,
            "\nThis name may belong to another device after the next start of the PC, and udev knows no other."
        );
    }
    text
}

/// Of the configuration: it needs no line.
const DEFAULT_BAUD: u32 = 115_200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::UsbIdentity;

    fn port() -> ListedPort {
        ListedPort {
            path: "/dev/ttyUSB0".into(),
            by_id: vec!["/dev/serial/by-id/usb-FTDI_A50285BI-if00-port0".into()],
            by_path: Vec::new(),
            usb: Some(UsbIdentity {
                vendor_id: "0403".into(),
                product_id: "6001".into(),
                manufacturer: Some("FTDI".into()),
                product: Some("FT232R USB UART".into()),
                serial_number: Some("A50285BI".into()),
            }),
            driver: Some("ftdi_sio".into()),
            latency_ms: Some(16),
            rights: "root:dialout with mode 0660".into(),
            may_open: false,
            held_by: Some("ModemManager (pid 612)".into()),
        }
    }

    #[test]
    fn a_list_says_everything_that_a_technician_asks() {
        let bare = ListedPort {
            path: "/dev/ttyS0".into(),
            by_id: Vec::new(),
            usb: None,
            driver: Some("serial8250".into()),
            latency_ms: None,
            held_by: None,
            may_open: true,
            ..port()
        };
        insta::assert_snapshot!(render(&[port(), bare]));
    }

    #[test]
    fn what_answered_comes_with_the_lines_to_write_down() {
        let identity = Identity {
            serial_number: "LB-0311".into(),
            firmware: "2.0".into(),
            boot_id: 7,
            lamp_count: 50,
            firmware_sha256: String::new(),
        };
        let greeted = |answered: Option<Answered>, error: Option<String>| Greeted {
            port: port(),
            baud: 9_600,
            answered,
            error,
        };
        let cases = [
            greeted(
                Some(Answered::By {
                    kind: Some(Kind::Lamps),
                    identity: identity.clone(),
                }),
                None,
            ),
            greeted(Some(Answered::By { kind: None, identity }), None),
            greeted(Some(Answered::OtherVersion), None),
            greeted(Some(Answered::Echo), None),
            greeted(Some(Answered::Noise { bytes: 71 }), None),
            greeted(Some(Answered::Nothing), None),
            greeted(None, Some("/dev/ttyUSB0 is held by screen (pid 77)".into())),
        ];
        let text: Vec<String> = cases.iter().map(|one| said(one, Path::new("/dev/ttyUSB0"))).collect();
        insta::assert_snapshot!(text.join("---\n"));
    }
}
