//! A device's messages in the table's words, and the table's wishes in the device's. Knows no port and no time of its own.
//!
//! What has no meaning for the table (a contact that isn't fitted, a fault that is neither raised nor cleared) has none here:
//! `None`. Dice that nobody may know never reach this file; the frame layer has dropped them.

use crate::table::indicators::{DeviceCommand, LampPicture, Readout, TumblerWish};
use crate::table::input::{
    Contact, ContactReport, Cover, DeviceIdentity, DeviceKind, DeviceStatus, DiceReading, Flatness, Input, Key,
    LampReport, Motion, Seal, TerminalReport, TumblerReport,
};
use crate::time::Uptime;
use crate::wire::message::{self as wire, from_device, to_device};
use crate::wire::session::{Age, Status, Wish as WireWish};

use super::Wish;

/// Relates a device's clock (milliseconds) to this run's time; `None` when that can't be done now.
pub(super) type Relate<'a> = &'a dyn Fn(u32) -> Option<Uptime>;

/// What must be remembered of a device to read its messages.
#[derive(Debug, Default)]
pub(super) struct Memory {
    boot_id: Option<u32>,
    /// What a tumbler's unspecified `Kept` means in this session.
    unspecified: Counters,
}

/// Whether counters are known to have gone on where they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Counters {
    Kept,
    #[default]
    Lost,
}

impl Memory {
    /// A device was greeted. An unspecified `Kept` means KEPT only when this boot was greeted before in this run; at a run's first
    /// greeting the table must compare the boot with its record.
    pub(super) fn greeted(&mut self, boot_id: u32) {
        self.unspecified = if self.boot_id == Some(boot_id) {
            Counters::Kept
        } else {
            Counters::Lost
        };
        self.boot_id = Some(boot_id);
    }

    fn kept(&self, said: wire::Kept) -> bool {
        match said {
            wire::Kept::Kept => true,
            wire::Kept::Lost => false,
            wire::Kept::Unspecified => self.unspecified == Counters::Kept,
        }
    }

    /// A status in the table's words.
    pub(super) fn status(&self, status: Status, relate: Relate<'_>) -> DeviceStatus {
        match status {
            Status::Tumbler(status) => DeviceStatus::Tumbler(self.tumbler(&status)),
            Status::Terminal(status) => DeviceStatus::Terminal(terminal(&status, relate)),
            Status::Lamps(status) => DeviceStatus::Lamps(lamps(status)),
        }
    }

    /// A message in the table's words; `None` when it means nothing to the table.
    pub(super) fn message(
        &self,
        kind: DeviceKind,
        body: from_device::Body,
        happened: Option<Uptime>,
        age: Age,
        relate: Relate<'_>,
    ) -> Option<Input> {
        Some(match body {
            from_device::Body::Tumbler(status) => Input::Tumbler {
                report: self.tumbler(&status),
                happened,
            },
            from_device::Body::Terminal(status) => Input::Terminal(terminal(&status, relate)),
            from_device::Body::Lamps(status) => Input::Lamps(lamps(status)),
            from_device::Body::Key(pressed) => Input::Key {
                key: key(pressed.key),
                entry: pressed.entry,
                pressed_at: happened,
                stale: age == Age::Stale,
            },
            from_device::Body::Entry(pressed) => Input::Entry {
                shown: keys(&pressed.shown),
                entry: pressed.entry,
                pressed_at: happened,
                stale: age == Age::Stale,
            },
            from_device::Body::Contact(state) => Input::Contact(contact(&state, relate)?),
            from_device::Body::Fault(fault) => Input::DeviceFault {
                kind,
                code: fault.code,
                raised: match fault.state() {
                    wire::FaultState::Raised => true,
                    wire::FaultState::Cleared => false,
                    wire::FaultState::Unspecified => return None,
                },
                text: fault.text,
            },
            // The link gives it to whoever asked; the table knows nothing of it.
            from_device::Body::Digest(_) => return None,
        })
    }

    fn tumbler(&self, status: &wire::TumblerStatus) -> TumblerReport {
        TumblerReport {
            motion: match status.motion() {
                wire::Motion::Unspecified => Motion::Unknown,
                wire::Motion::AtRest => Motion::AtRest,
                wire::Motion::Spinning => Motion::Spinning,
                wire::Motion::Fault => Motion::Fault,
            },
            activations: status.activations,
            spins: status.spins,
            cover: match status.cover() {
                wire::Cover::Unspecified => Cover::Unknown,
                wire::Cover::On => Cover::On,
                wire::Cover::Off => Cover::Off,
            },
            seal: match status.seal() {
                wire::Seal::Unspecified => Seal::Unknown,
                wire::Seal::Intact => Seal::Intact,
                wire::Seal::Broken => Seal::Broken,
            },
            dice: status.dice.as_ref().map(reading),
            fault_code: status.fault_code,
            counters_kept: self.kept(status.counters()),
        }
    }
}

fn reading(dice: &wire::DiceReading) -> DiceReading {
    DiceReading {
        flatness: match dice.flatness() {
            wire::Flatness::Unspecified => Flatness::Unknown,
            wire::Flatness::Flat => Flatness::Flat,
            wire::Flatness::NotFlat => Flatness::NotFlat,
        },
        faces: faces(&dice.faces),
    }
}

/// Three values 1 to 6, sorted; anything else was not read.
fn faces(said: &[u32]) -> Option<[u8; 3]> {
    let mut faces = [0; 3];
    if said.len() != faces.len() {
        return None;
    }
    for (face, value) in faces.iter_mut().zip(said) {
        *face = u8::try_from(*value).ok().filter(|value| (1..=6).contains(value))?;
    }
    faces.sort_unstable();
    Some(faces)
}

fn terminal(status: &wire::TerminalStatus, relate: Relate<'_>) -> TerminalReport {
    TerminalReport {
        shown: keys(&status.shown),
        entry: status.entry,
        contacts: status
            .contacts
            .iter()
            .filter_map(|state| contact(state, relate))
            .collect(),
    }
}

/// `None`: unknown, or not fitted.
fn contact(state: &wire::ContactState, relate: Relate<'_>) -> Option<ContactReport> {
    Some(ContactReport {
        contact: match state.contact() {
            wire::Contact::Bell => Contact::Bell,
            wire::Contact::SupervisorKey => Contact::SupervisorKey,
            wire::Contact::NoSpinButton => Contact::NoSpinButton,
            wire::Contact::CabinetDoor => Contact::CabinetDoor,
            wire::Contact::Unspecified => return None,
        },
        closed: match state.level() {
            wire::Level::Open => false,
            wire::Level::Closed => true,
            wire::Level::Unspecified => return None,
        },
        closings: state.closings,
        last_closed: if state.closings == 0 {
            None
        } else {
            relate(state.last_closed_ms)
        },
    })
}

fn keys(numbers: &[i32]) -> Vec<Key> {
    numbers.iter().copied().map(key).collect()
}

fn key(number: i32) -> Key {
    Key::from_number(u32::try_from(number).unwrap_or(0))
}

fn lamps(status: wire::LampStatus) -> LampReport {
    LampReport {
        measured: status.sensing() == wire::Sensing::Measured,
        lit: trimmed(status.lit),
        failed: trimmed(status.failed),
    }
}

/// The table compares pictures: those that differ only in dark lamps at the end are equal.
pub(super) fn trimmed(mut bits: Vec<u8>) -> Vec<u8> {
    let used = bits.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bits.truncate(used);
    bits
}

/// Who was greeted.
pub(super) fn identity(kind: DeviceKind, hello: &wire::DeviceHello) -> DeviceIdentity {
    DeviceIdentity {
        kind,
        serial_number: hello.serial_number.clone(),
        firmware: hello.firmware.clone(),
        boot_id: hello.boot_id,
        lamp_count: hello.lamp_count,
        firmware_digest: hello.firmware_digest.clone(),
    }
}

/// The kind's name on the line.
pub(super) fn wire_kind(kind: DeviceKind) -> wire::DeviceKind {
    match kind {
        DeviceKind::Tumbler => wire::DeviceKind::Tumbler,
        DeviceKind::Terminal => wire::DeviceKind::Terminal,
        DeviceKind::LayoutLamps => wire::DeviceKind::LayoutLamps,
        DeviceKind::ResultLights => wire::DeviceKind::ResultLights,
    }
}

/// A wish for a device of this kind; `None` when there is none, or it is for another kind.
pub(super) fn wish(kind: DeviceKind, wish: &Wish) -> Option<WireWish> {
    match (kind, wish) {
        (DeviceKind::Tumbler, Wish::Tumbler(TumblerWish { inhibit, dice_allowed })) => {
            Some(WireWish::Tumbler(wire::Inhibit {
                on: *inhibit,
                dice_allowed: *dice_allowed,
            }))
        }
        (DeviceKind::Terminal, Wish::Terminal(readout)) => Some(WireWish::Terminal(shown(readout))),
        (DeviceKind::LayoutLamps | DeviceKind::ResultLights, Wish::Lamps(LampPicture { lit, blink })) => {
            Some(WireWish::Lamps(wire::SetLamps {
                lit: lit.clone(),
                blink: *blink,
            }))
        }
        (
            DeviceKind::Tumbler | DeviceKind::Terminal | DeviceKind::LayoutLamps | DeviceKind::ResultLights,
            Wish::Nothing | Wish::Tumbler(_) | Wish::Terminal(_) | Wish::Lamps(_),
        ) => None,
    }
}

fn shown(readout: &Readout) -> wire::Readout {
    wire::Readout {
        text: readout.text.clone(),
        blink: readout.blink,
        entry: readout.entry,
        for_ms: readout.for_ms,
    }
}

/// A command on the line.
pub(super) fn command(command: &DeviceCommand) -> to_device::Body {
    match command {
        DeviceCommand::Spin { times } => to_device::Body::Spin(wire::Spin { times: *times }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::input::TwoUpKey;

    fn no_clock(_: u32) -> Option<Uptime> {
        None
    }

    fn input(body: from_device::Body) -> Option<Input> {
        let mut memory = Memory::default();
        memory.greeted(1);
        memory.message(DeviceKind::Terminal, body, None, Age::Fresh, &no_clock)
    }

    fn tumbler(memory: &Memory, status: wire::TumblerStatus) -> TumblerReport {
        memory.tumbler(&status)
    }

    #[test]
    fn faces_are_sorted_and_anything_else_was_not_read() {
        for (said, expected) in [
            (&[6, 1, 3][..], Some([1, 3, 6])),
            (&[2, 2, 2], Some([2, 2, 2])),
            (&[], None),
            (&[1, 2], None),
            (&[1, 2, 7], None),
            (&[0, 2, 3], None),
            (&[257, 2, 3], None),
            (&[1, 2, 3, 4], None),
        ] {
            assert_eq!(faces(said), expected, "{said:?}");
        }
    }

    #[test]
    fn the_keys_of_a_two_up_terminal_have_their_names_and_unknown_ones_none() {
        let shown = vec![wire::Key::NewSpinner.into(), wire::Key::Heads.into()];
        let entered = from_device::Body::Entry(wire::EntryPressed { shown, entry: 7 });
        let Some(Input::Entry { shown, entry: 7, .. }) = input(entered) else {
            panic!("an entry");
        };
        assert_eq!(shown, [Key::TwoUp(TwoUpKey::NewSpinner), Key::TwoUp(TwoUpKey::Heads)]);
        for number in 16..=27 {
            let known = matches!(key(number), Key::TwoUp(_) | Key::NoSpin);
            assert!(known, "{number}");
            assert_eq!(key(number).number(), u32::try_from(number).unwrap());
        }
        for number in [0, 7, 15, 28, -1] {
            assert!(matches!(key(number), Key::Other(_)), "{number}");
        }
    }

    #[test]
    fn result_lights_are_told_what_lamps_are_told_and_nothing_else() {
        let picture = LampPicture {
            lit: vec![0b0100_0001],
            blink: false,
        };
        let wished = wish(DeviceKind::ResultLights, &Wish::Lamps(picture));
        assert!(matches!(wished, Some(WireWish::Lamps(lamps)) if lamps.lit == [0b0100_0001]));
        assert_eq!(
            wish(DeviceKind::ResultLights, &Wish::Terminal(Readout::default())),
            None
        );
    }

    #[test]
    fn unspecified_counters_are_lost_when_the_boot_changed() {
        let mut memory = Memory::default();
        let status = wire::TumblerStatus::default();
        memory.greeted(7);
        assert!(
            !tumbler(&memory, status.clone()).counters_kept,
            "nothing to compare with"
        );
        memory.greeted(7);
        assert!(tumbler(&memory, status.clone()).counters_kept);
        memory.greeted(8);
        assert!(!tumbler(&memory, status).counters_kept);
        for (said, expected) in [(wire::Kept::Kept, true), (wire::Kept::Lost, false)] {
            let mut status = wire::TumblerStatus::default();
            status.set_counters(said);
            assert_eq!(tumbler(&memory, status).counters_kept, expected, "{said:?}");
        }
    }

    #[test]
    fn contacts_that_are_unknown_or_not_fitted_mean_nothing() {
        let mut state = wire::ContactState {
            closings: 2,
            last_closed_ms: 700,
            ..wire::ContactState::default()
        };
        state.set_level(wire::Level::Closed);
        assert_eq!(input(from_device::Body::Contact(state)), None);
        state.set_contact(wire::Contact::Bell);
        state.set_level(wire::Level::Unspecified);
        assert_eq!(input(from_device::Body::Contact(state)), None);
        state.set_level(wire::Level::Open);
        let report = contact(&state, &|ms| Some(Uptime::from_millis(u64::from(ms)))).unwrap();
        assert_eq!(
            report,
            ContactReport {
                contact: Contact::Bell,
                closed: false,
                closings: 2,
                last_closed: Some(Uptime::from_millis(700)),
            }
        );
        state.closings = 0;
        let never = contact(&state, &|_| panic!("a time that isn't one was asked for")).unwrap();
        assert_eq!(never.last_closed, None);
    }

    #[test]
    fn keys_keep_their_numbers() {
        let pressed = wire::EntryPressed {
            shown: vec![1, 6, 21, 16, 0],
            entry: 9,
        };
        assert_eq!(
            input(from_device::Body::Entry(pressed)),
            Some(Input::Entry {
                shown: vec![
                    Key::Number(1),
                    Key::Number(6),
                    Key::NoSpin,
                    Key::TwoUp(crate::table::input::TwoUpKey::Heads),
                    Key::Other(0)
                ],
                entry: 9,
                pressed_at: None,
                stale: false,
            })
        );
    }

    #[test]
    fn dark_lamps_at_the_end_make_no_difference() {
        for (said, expected) in [
            (vec![], vec![]),
            (vec![0, 0], vec![]),
            (vec![0, 4, 0], vec![0, 4]),
            (vec![1], vec![1]),
        ] {
            assert_eq!(trimmed(said), expected);
        }
    }

    #[test]
    fn a_wish_for_another_kind_is_none() {
        let lamps = Wish::Lamps(LampPicture::default());
        assert_eq!(wish(DeviceKind::Tumbler, &lamps), None);
        assert_eq!(wish(DeviceKind::LayoutLamps, &Wish::Nothing), None);
        assert!(wish(DeviceKind::ResultLights, &lamps).is_some());
    }

    #[test]
    fn a_fault_that_is_neither_raised_nor_cleared_means_nothing() {
        let mut fault = wire::DeviceFault {
            code: 3,
            text: "fan".into(),
            ..wire::DeviceFault::default()
        };
        assert_eq!(input(from_device::Body::Fault(fault.clone())), None);
        fault.set_state(wire::FaultState::Raised);
        assert!(matches!(
            input(from_device::Body::Fault(fault)),
            Some(Input::DeviceFault {
                raised: true,
                code: 3,
                ..
            })
        ));
    }
}
