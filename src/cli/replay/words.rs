//! What a frame says, for a person.

use crate::cli::describe::{keys, output, word};
use crate::counted::{counted, often};
use crate::device::Said;
use crate::wire::message::{
    ContactState, Cover, DeviceHello, HostHello, Level, Reading, Report, TumblerStatus, from_device, to_device,
};
use std::fmt::Write;

/// Lamps that are named one by one; of more only the count is told.
const LAMPS_NAMED: usize = 24;

/// In words.
#[must_use]
pub fn said(said: &Said) -> String {
    match said {
        Said::Hello(Some(HostHello {
            session,
            hold_ms,
            table,
        })) => {
            format!("greets: session {session:08x} of table {table}, goes dark after {hold_ms} ms without us")
        }
        Said::Hello(None) | Said::Welcome(None) => "a greeting that can't be read".to_owned(),
        Said::Welcome(Some(hello)) => welcome(hello),
        Said::Report(Some(report)) => self::report(report),
        Said::Report(None) | Said::Command(None) => "a message that this version doesn't know".to_owned(),
        Said::Command(Some(body)) => command(body),
        Said::Again => "the same again: the acknowledgement was lost, or is late".to_owned(),
        Said::OutOfTurn => "out of turn: nobody takes it".to_owned(),
        Said::Sign => "sign of life".to_owned(),
        Said::Reset => "I have no session: greet me".to_owned(),
    }
}

fn welcome(hello: &DeviceHello) -> String {
    let mut text = format!(
        "answers: {}, serial {}, firmware {}, boot {:08x}",
        word(hello.kind().as_str_name(), "DEVICE_KIND_"),
        hello.serial_number,
        hello.firmware,
        hello.boot_id
    );
    if hello.lamp_count > 0 {
        push(&mut text, format_args!(", {}", counted(hello.lamp_count, "lamp")));
    }
    text
}

fn report(report: &Report) -> String {
    let mut text = match &report.body {
        from_device::Body::Tumbler(status) => tumbler(status),
        from_device::Body::Key(pressed) => format!("key {} ({})", key(pressed.key), entry(pressed.entry)),
        from_device::Body::Entry(pressed) => {
            format!("ENTER on {} ({})", shown(&pressed.shown), entry(pressed.entry))
        }
        from_device::Body::Contact(state) => contact(state),
        from_device::Body::Lamps(status) => {
            let mut text = format!(
                "lamps {}, {}",
                word(status.sensing().as_str_name(), "SENSING_"),
                lamps(&status.lit)
            );
            if status.failed.iter().any(|byte| *byte != 0) {
                push(&mut text, format_args!("; failed: {}", lamps(&status.failed)));
            }
            text
        }
        from_device::Body::Fault(fault) => format!(
            "fault {} {}: {}",
            fault.code,
            word(fault.state().as_str_name(), "FAULT_STATE_"),
            fault.text
        ),
        from_device::Body::Terminal(status) => {
            let contacts: Vec<_> = status.contacts.iter().map(contact).collect();
            format!(
                "status: shows {} ({}); {}",
                shown(&status.shown),
                entry(status.entry),
                contacts.join(", ")
            )
        }
        from_device::Body::Digest(_) => "the digest of its firmware".to_owned(),
    };
    if report.reading == Reading::Dropped {
        text.push_str("; a dice reading that nobody may know was dropped");
    }
    text
}

fn tumbler(status: &TumblerStatus) -> String {
    let mut text = format!(
        "tumbler {}, cover {}, {}, {}",
        word(status.motion().as_str_name(), "MOTION_"),
        word(status.cover().as_str_name(), "COVER_"),
        counted(status.activations, "activation"),
        counted(status.spins, "spin")
    );
    push(
        &mut text,
        format_args!(", seal {}", word(status.seal().as_str_name(), "SEAL_")),
    );
    if let Some(dice) = &status.dice
        && status.cover() != Cover::On
    {
        let faces: Vec<_> = dice.faces.iter().map(u32::to_string).collect();
        let flatness = word(dice.flatness().as_str_name(), "FLATNESS_");
        push(&mut text, format_args!(", dice {} ({flatness})", faces.join(" ")));
    }
    if status.fault_code != 0 {
        push(&mut text, format_args!(", fault {}", status.fault_code));
    }
    text
}

fn command(body: &to_device::Body) -> String {
    match body {
        to_device::Body::Status(_) => "asks for the whole status".to_owned(),
        to_device::Body::Readout(readout) => {
            let text = if readout.text.is_empty() {
                "the keys"
            } else {
                readout.text.as_str()
            };
            format!("readout shows {text}; {} may be typed", entry(readout.entry))
        }
        to_device::Body::Lamps(picture) => format!("light {}", lamps(&picture.lit)),
        to_device::Body::Inhibit(inhibit) => {
            let spin = if inhibit.on { "may not spin" } else { "may spin" };
            let dice = if inhibit.dice_allowed { "; bets are closed" } else { "" };
            format!("{spin}{dice}")
        }
        to_device::Body::Spin(spin) => format!("spin {}", often(spin.times.into())),
        to_device::Body::Digest(_) => "asks for the digest of its firmware".to_owned(),
    }
}

fn entry(number: u32) -> String {
    format!("entry number {number}")
}

fn key(number: i32) -> String {
    shown(&[number])
}

fn shown(numbers: &[i32]) -> String {
    let numbers: Vec<u32> = numbers.iter().map(|key| u32::try_from(*key).unwrap_or(0)).collect();
    if numbers.is_empty() {
        "nothing".to_owned()
    } else {
        keys(&numbers)
    }
}

fn contact(state: &ContactState) -> String {
    let level = match state.level() {
        Level::Unspecified => "not fitted",
        Level::Open => "open",
        Level::Closed => "closed",
    };
    let name = word(state.contact().as_str_name(), "CONTACT_");
    if state.closings > 0 {
        format!("{name} {level} (closed {})", often(state.closings.into()))
    } else {
        format!("{name} {level}")
    }
}

/// Lamps by their bits, and the outputs of the driver that these are.
fn lamps(bits: &[u8]) -> String {
    let lit: Vec<usize> = bits
        .iter()
        .enumerate()
        .flat_map(|(byte, bits)| {
            (0..8)
                .filter(move |bit| bits & 1 << bit != 0)
                .map(move |bit| byte * 8 + bit)
        })
        .collect();
    let listed = |add: usize| {
        lit.iter()
            .map(|bit| (bit + add).to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    match lit.as_slice() {
        [] => "none".to_owned(),
        [one] => output(*one),
        some if some.len() > LAMPS_NAMED => counted(some.len(), "lamp"),
        _ => format!("bits {} (outputs {})", listed(0), listed(1)),
    }
}

fn push(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a String can't fail.
    let _ = text.write_fmt(words);
}
