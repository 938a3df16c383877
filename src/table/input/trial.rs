//! Steps of a device's test in test mode, and the parts that are tried. PURE.

use crate::table::input::{Contact, DeviceKind, Key, LightSeen};

/// A step of a device's test. It is taken only in test mode, from the connection that asked for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestStep {
    /// The test of this device begins.
    Begin {
        /// Which.
        device: DeviceKind,
    },
    /// Light this lamp alone.
    Light {
        /// Its bit; `None`: every lamp is dark.
        bit: Option<u16>,
    },
    /// This part is asked for, and nothing else: a key to be pressed, a readout to be looked at, the cover to be lifted and put on again.
    Ask {
        /// Which.
        part: Part,
    },
    /// What a person sees.
    Say {
        /// Of what.
        what: Shown,
        /// What is seen.
        seen: LightSeen,
    },
    /// The test ends, and what was found is recorded.
    End,
}

impl TestStep {
    /// Its word, as the control socket and the events have it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            TestStep::Begin { .. } => "begin_test",
            TestStep::Light { .. } => "test_lamp",
            TestStep::Ask { .. } => "ask_test",
            TestStep::Say { .. } => "say_test",
            TestStep::End => "end_test",
        }
    }
}

/// What a person can say something of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// The lamp with this bit.
    Lamp(u16),
    /// Every lamp of which nothing was said.
    OtherLamps,
    /// A readout.
    Readout(Pattern),
}

impl Shown {
    /// As commands write it: "lamp_16", "other_lamps", "readout_full".
    #[must_use]
    pub fn from_name(name: &str) -> Option<Shown> {
        if name == "other_lamps" {
            return Some(Shown::OtherLamps);
        }
        if let Some(bit) = name.strip_prefix("lamp_") {
            return bit.parse().ok().map(Shown::Lamp);
        }
        match Part::from_name(name) {
            Some(Part::Readout(pattern)) => Some(Shown::Readout(pattern)),
            Some(Part::Key(_) | Part::Enter | Part::Contact(_) | Part::Cover) | None => None,
        }
    }
}

/// What a readout shows for a person to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Every segment.
    Full,
    /// None.
    Blank,
}

impl Pattern {
    /// What is sent to the readout.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Pattern::Full => "888",
            Pattern::Blank => "   ",
        }
    }
}

/// A part of a device that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A key.
    Key(Key),
    /// ENTER.
    Enter,
    /// A contact, to be closed once.
    Contact(Contact),
    /// A readout to be looked at.
    Readout(Pattern),
    /// The tumbler's cover, to be lifted and put on again.
    Cover,
}

/// The highest number of a key that has a name.
const LAST_KEY: u32 = 27;

impl Part {
    /// Keys that have a name.
    pub(crate) fn keys() -> impl Iterator<Item = Key> {
        (1..=LAST_KEY)
            .map(Key::from_number)
            .filter(|key| !matches!(key, Key::Other(_)))
    }

    /// Every part that has a name of its own.
    fn all() -> impl Iterator<Item = Part> {
        let others = [
            Part::Enter,
            Part::Contact(Contact::Bell),
            Part::Contact(Contact::SupervisorKey),
            Part::Contact(Contact::NoSpinButton),
            Part::Contact(Contact::CabinetDoor),
            Part::Readout(Pattern::Full),
            Part::Readout(Pattern::Blank),
            Part::Cover,
        ];
        Part::keys().map(Part::Key).chain(others)
    }

    /// As commands and events write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        use crate::table::input::TwoUpKey;
        match self {
            Part::Key(Key::Number(1)) => "key_1",
            Part::Key(Key::Number(2)) => "key_2",
            Part::Key(Key::Number(3)) => "key_3",
            Part::Key(Key::Number(4)) => "key_4",
            Part::Key(Key::Number(5)) => "key_5",
            Part::Key(Key::Number(6)) => "key_6",
            Part::Key(Key::NoSpin) => "no_spin",
            Part::Key(Key::TwoUp(key)) => match key {
                TwoUpKey::Heads => "heads",
                TwoUpKey::Tails => "tails",
                TwoUpKey::Odds => "odds",
                TwoUpKey::TripleHeads => "triple_heads",
                TwoUpKey::TripleTails => "triple_tails",
                TwoUpKey::NewSpinner => "new_spinner",
                TwoUpKey::SpinnerStops => "spinner_stops",
                TwoUpKey::Relieve => "relieve",
                TwoUpKey::OffTable => "off_table",
                TwoUpKey::NewSet => "new_set",
                TwoUpKey::Overrule => "overrule",
            },
            Part::Key(Key::Number(_) | Key::Other(_)) => "unknown_key",
            Part::Enter => "enter",
            Part::Contact(Contact::Bell) => "bell",
            Part::Contact(Contact::SupervisorKey) => "supervisor_key",
            Part::Contact(Contact::NoSpinButton) => "no_spin_button",
            Part::Contact(Contact::CabinetDoor) => "cabinet_door",
            Part::Readout(Pattern::Full) => "readout_full",
            Part::Readout(Pattern::Blank) => "readout_blank",
            Part::Cover => "cover",
        }
    }

    /// The part with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Part> {
        Part::all().find(|part| part.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_by_its_name() {
        let names: std::collections::BTreeSet<_> = Part::all().map(Part::name).collect();
        assert_eq!(names.len(), Part::all().count(), "no two have one name");
        for part in Part::all() {
            assert_eq!(Part::from_name(part.name()), Some(part));
        }
        assert_eq!(Part::from_name("unknown_key"), None);
        assert_eq!(Shown::from_name("lamp_16"), Some(Shown::Lamp(16)));
        assert_eq!(Shown::from_name("readout_blank"), Some(Shown::Readout(Pattern::Blank)));
        assert_eq!(Shown::from_name("bell"), None, "nobody sees a bell");
    }
}
