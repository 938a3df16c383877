//! What a technician is told of a line beside its state: devices on each other's ports, and a line that spoils what it carries.

use crate::counted::{counted, often};
use crate::device::LinkReport;
use std::time::Duration;

/// A sentence for each device that answers on another's port: which is which, and what to do about it.
#[must_use]
pub fn exchanged(links: &[LinkReport]) -> Vec<String> {
    links.iter().filter_map(|link| wrong(link, links)).collect()
}

fn wrong(link: &LinkReport, links: &[LinkReport]) -> Option<String> {
    let found = link.found.as_ref()?;
    let kind = found.kind.filter(|kind| *kind != link.kind)?;
    let (here, there) = (link.kind, links.iter().find(|other| other.kind == kind));
    let word = kind.word();
    let serial = &found.serial_number;
    let Some(there) = there else {
        return Some(format!(
            "{serial} on the port {} is of kind {word}, which this table doesn't have: its {} belong there",
            link.port,
            here.word()
        ));
    };
    let there_is = there.found.as_ref().and_then(|found| found.kind);
    let told_with_the_other = there_is == Some(here) && here > kind;
    (!told_with_the_other).then(|| match there_is == Some(here) {
        true => format!(
            "{} and {word} are exchanged: exchange their plugs, or the two `port` lines of the configuration",
            here.word()
        ),
        false => format!(
            "the {word} {serial} is on the {}'s port {}: plug it in at {}, or correct the `port` lines of the configuration",
            here.word(),
            link.port,
            there.port
        ),
    })
}

/// How a line spoils what it carries; `None`: it doesn't.
#[must_use]
pub fn poor(link: &LinkReport) -> Option<String> {
    let poor = link.poor?;
    let lost = match poor.lost {
        0 => String::new(),
        times => format!(", lost {} in ten minutes", often(times)),
    };
    Some(format!(
        "POOR LINE for {}: {} and {} in the last minute{lost}: plug, cable, power, interference?",
        spoken(link.at_us.saturating_sub(poor.since_us)),
        counted(poor.damaged, "damaged frame"),
        counted(poor.repeats, "repeat")
    ))
}

/// Two units at most: "3 h 20 min".
#[must_use]
pub fn spoken(micros: u64) -> String {
    let seconds = Duration::from_micros(micros).as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Found, Kind, Poor};

    fn link(kind: Kind, port: &str, found: Option<Kind>) -> LinkReport {
        let mut link = LinkReport::new(kind, port.into());
        link.found = found.map(|kind| Found {
            kind: Some(kind),
            serial_number: format!("{}-1", kind.word()),
        });
        link
    }

    #[test]
    fn devices_on_each_others_ports_are_told_once() {
        let links = [
            link(Kind::Tumbler, "/dev/a", Some(Kind::Terminal)),
            link(Kind::Terminal, "/dev/b", Some(Kind::Tumbler)),
            link(Kind::Lamps, "/dev/c", None),
        ];
        assert_eq!(
            exchanged(&links),
            ["tumbler and terminal are exchanged: exchange their plugs, or the two `port` lines of the configuration"]
        );
    }

    #[test]
    fn a_device_on_anothers_port_is_told_with_its_own() {
        let links = [
            link(Kind::Tumbler, "/dev/a", None),
            link(Kind::Terminal, "/dev/b", Some(Kind::Tumbler)),
        ];
        assert_eq!(
            exchanged(&links),
            [
                "the tumbler tumbler-1 is on the terminal's port /dev/b: plug it in at /dev/a, or correct the `port` lines of the configuration"
            ]
        );
        let links = [link(Kind::Lamps, "/dev/c", Some(Kind::Lights))];
        assert_eq!(
            exchanged(&links),
            ["lights-1 on the port /dev/c is of kind lights, which this table doesn't have: its lamps belong there"]
        );
        // Right in kind and wrong otherwise (too few lamps): the link's own text says it.
        assert!(exchanged(&[link(Kind::Lamps, "/dev/c", Some(Kind::Lamps))]).is_empty());
    }

    #[test]
    fn a_poor_line_says_since_when_and_how_poor() {
        let mut link = link(Kind::Terminal, "/dev/b", None);
        assert_eq!(poor(&link), None);
        link.at_us = 200_000_000;
        link.poor = Some(Poor {
            since_us: 20_000_000,
            damaged: 41,
            repeats: 7,
            lost: 0,
        });
        assert_eq!(
            poor(&link).unwrap(),
            "POOR LINE for 3 min: 41 damaged frames and 7 repeats in the last minute: plug, cable, power, interference?"
        );
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, expected) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3600, "1 h 0 min"),
            (12_000, "3 h 20 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(spoken(seconds * 1_000_000), expected);
        }
    }
}
