//! The sections, and at which tables they are: that follows from what is played.

use super::{Absent, key};

/// Whether a section has to be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// It has to.
    Needed,
    /// Without it the defaults hold.
    Defaults,
    /// Without it there is no such thing.
    Optional,
}

/// What a table plays, as far as it decides which sections its file has: the game, and the way of it that takes other devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Play {
    /// Tai-sai with a tumbler.
    TaiSaiA,
    /// Tai-sai with a dice cup.
    TaiSaiB,
    /// Sic-bo with a covered tumbler.
    SicBoCovered,
    /// Sic-bo with an open tumbler.
    SicBoOpen,
    /// Two-up with dice.
    TwoUpDice,
    /// Triple penny two-up whose results are shown by lights.
    TriplePennyLights,
    /// Triple penny two-up whose results are shown by the results display.
    TriplePennyElectronic,
    /// Triple penny two-up whose results are shown by cards.
    TriplePennyCards,
}

impl Play {
    /// Each.
    pub const ALL: &[Play] = &[
        Play::TaiSaiA,
        Play::TaiSaiB,
        Play::SicBoCovered,
        Play::SicBoOpen,
        Play::TwoUpDice,
        Play::TriplePennyLights,
        Play::TriplePennyElectronic,
        Play::TriplePennyCards,
    ];

    /// What a file with these words can play: nothing written rules it out. None: nothing that is known.
    ///
    /// `word` gives what is written of a key.
    #[must_use]
    pub fn possible<'a>(word: &dyn Fn(&str) -> Option<&'a str>) -> Vec<Play> {
        let fits = |(key, own): (&str, &str)| {
            let word = word(key).or_else(|| default_word(key));
            word.is_none_or(|word| word == own)
        };
        Play::ALL
            .iter()
            .copied()
            .filter(|play| fits(("table.game", play.game())) && play.way().is_none_or(fits))
            .collect()
    }

    /// As `[table] game` names it.
    #[must_use]
    pub fn game(self) -> &'static str {
        match self {
            Play::TaiSaiA | Play::TaiSaiB => "tai-sai",
            Play::SicBoCovered | Play::SicBoOpen => "sic-bo",
            Play::TwoUpDice => "two-up-dice",
            Play::TriplePennyLights | Play::TriplePennyElectronic | Play::TriplePennyCards => "triple-penny-two-up",
        }
    }

    /// The key, and its word, that tells it from other ways to play its game; `None` where there is one only.
    #[must_use]
    pub fn way(self) -> Option<(&'static str, &'static str)> {
        match self {
            Play::TaiSaiA => Some(("tai_sai.style", "A")),
            Play::TaiSaiB => Some(("tai_sai.style", "B")),
            Play::SicBoCovered => Some(("sic_bo.tumbler", "covered")),
            Play::SicBoOpen => Some(("sic_bo.tumbler", "open")),
            Play::TwoUpDice => None,
            Play::TriplePennyLights => Some(("triple_penny.display", "lights")),
            Play::TriplePennyElectronic => Some(("triple_penny.display", "electronic")),
            Play::TriplePennyCards => Some(("triple_penny.display", "cards")),
        }
    }

    /// The word that a key must have for this to be played; `None`: the key doesn't decide it.
    #[must_use]
    pub fn word(self, key: &str) -> Option<&'static str> {
        if key == "table.game" {
            return Some(self.game());
        }
        self.way().filter(|(own, _)| *own == key).map(|(_, word)| word)
    }

    /// A word of this section has to be written for this to be played: without it the game is played in another way.
    #[must_use]
    pub fn needs_word_in(self, section: &str) -> bool {
        self.way().is_some_and(|(path, word)| {
            let here = key(path).is_some_and(|key| key.section() == section);
            here && default_word(path) != Some(word)
        })
    }

    /// For a person: "tai-sai style A".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Play::TaiSaiA => "tai-sai style A",
            Play::TaiSaiB => "tai-sai style B",
            Play::SicBoCovered => "sic-bo with a covered tumbler",
            Play::SicBoOpen => "sic-bo with an open tumbler",
            Play::TwoUpDice => "two-up with dice",
            Play::TriplePennyLights => "triple penny two-up shown by lights",
            Play::TriplePennyElectronic => "triple penny two-up shown by the results display",
            Play::TriplePennyCards => "triple penny two-up shown by cards",
        }
    }

    /// The instance that its template is of, as of the example in `deploy/`: "TU-01".
    #[must_use]
    pub fn instance(self) -> &'static str {
        match self {
            Play::TaiSaiA => EXAMPLE,
            Play::TaiSaiB => "TS-08",
            Play::SicBoCovered | Play::SicBoOpen => "SB-01",
            Play::TwoUpDice => "TU-01",
            Play::TriplePennyLights | Play::TriplePennyElectronic | Play::TriplePennyCards => "TP-01",
        }
    }

    /// The sections that its file has or may have.
    pub fn sections(self) -> impl Iterator<Item = &'static Section> {
        SECTIONS.iter().filter(move |section| section.presence(self).is_some())
    }
}

/// The instance that the examples of the keys are of.
pub const EXAMPLE: &str = "TS-07";

/// The word that a key is when nobody writes it.
fn default_word(path: &str) -> Option<&'static str> {
    match key(path)?.absent {
        Absent::Default(text) => Some(text.trim_matches('"')),
        Absent::Refused(_) | Absent::Follows(_) | Absent::None(_) | Absent::Usual(_) => None,
    }
}

/// At which tables a section is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tables {
    /// At every table, whatever it plays.
    Every(Presence),
    /// The same, but where one of these is played.
    EveryBut(Presence, &'static [(Play, Presence)]),
    /// Only where one of these is played.
    Of(&'static [(Play, Presence)]),
}

fn found(plays: &[(Play, Presence)], play: Play) -> Option<Presence> {
    plays.iter().find(|(of, _)| *of == play).map(|(_, presence)| *presence)
}

/// One section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its name: "devices.tumbler".
    pub path: &'static str,
    /// At which tables it is, and whether it has to be there.
    pub tables: Tables,
    /// What it is for.
    pub doc: &'static str,
}

impl Section {
    /// Whether it has to be there at a table that plays this; `None`: such a table has no such thing.
    #[must_use]
    pub fn presence(&self, play: Play) -> Option<Presence> {
        match self.tables {
            Tables::Every(presence) => Some(presence),
            Tables::EveryBut(presence, plays) => Some(found(plays, play).unwrap_or(presence)),
            Tables::Of(plays) => found(plays, play),
        }
    }

    /// The same where it isn't known which of these the table plays: what holds for each of them; `None` as well for none of them.
    #[must_use]
    pub fn presence_among(&self, plays: &[Play]) -> Option<Presence> {
        match self.tables {
            Tables::Every(presence) => Some(presence),
            Tables::EveryBut(presence, _) if plays.is_empty() => Some(presence),
            Tables::EveryBut(..) | Tables::Of(_) => {
                let first = self.presence(*plays.first()?);
                first.filter(|_| plays.iter().all(|play| self.presence(*play) == first))
            }
        }
    }

    /// None of these has it.
    #[must_use]
    pub fn is_out_of_place(&self, plays: &[Play]) -> bool {
        !plays.is_empty() && plays.iter().all(|play| self.presence(*play).is_none())
    }
}

/// Games that this version plays, as `[table] game` names them.
pub const GAMES: &[&str] = &["tai-sai", "sic-bo", "two-up-dice", "triple-penny-two-up"];

/// Keys that fewer tables have than their section.
pub(super) const FEWER: &[(&str, &[Play])] = &[
    ("tai_sai.rest_ms", &[Play::TaiSaiA]),
    ("tai_sai.cover_settles_after_ms", &[Play::TaiSaiA]),
    ("sic_bo.cover_settles_after_ms", &[Play::SicBoCovered]),
];

const SIC_BO: &[(Play, Presence)] = &[
    (Play::SicBoCovered, Presence::Needed),
    (Play::SicBoOpen, Presence::Needed),
];

/// The sections, in the order of the template.
pub const SECTIONS: &[Section] = &[
    Section {
        path: "table",
        tables: Tables::Every(Presence::Needed),
        doc: "Which table this is.",
    },
    Section {
        path: "tai_sai",
        tables: Tables::Of(&[(Play::TaiSaiA, Presence::Needed), (Play::TaiSaiB, Presence::Needed)]),
        doc: "Tai-sai: New Zealand Division 9.",
    },
    Section {
        path: "sic_bo",
        tables: Tables::Of(SIC_BO),
        doc: "Sic-bo: Queensland. Odds and irregularities stand in a text that is not at hand.",
    },
    Section {
        path: "sic_bo.policy",
        tables: Tables::Of(&[
            (Play::SicBoCovered, Presence::Defaults),
            (Play::SicBoOpen, Presence::Defaults),
        ]),
        doc: "What the house does where the rules at hand are silent. Events say that it is the house's. \
              Can be written in [sic_bo] as policy = { void = false, lamps = false, amend = false }.",
    },
    Section {
        path: "two_up_dice",
        tables: Tables::Of(&[(Play::TwoUpDice, Presence::Defaults)]),
        doc: "Two-up with dice: Queensland 2004, schedule 13.",
    },
    Section {
        path: "triple_penny",
        tables: Tables::Of(&[
            (Play::TriplePennyLights, Presence::Defaults),
            (Play::TriplePennyElectronic, Presence::Defaults),
            (Play::TriplePennyCards, Presence::Defaults),
        ]),
        doc: "Triple penny two-up: Queensland 1998, part 21.",
    },
    Section {
        path: "devices.tumbler",
        tables: Tables::Of(&[
            (Play::TaiSaiA, Presence::Needed),
            (Play::SicBoCovered, Presence::Needed),
            (Play::SicBoOpen, Presence::Needed),
        ]),
        doc: "The dice tumbler. A port that is missing at start is no error: the device is taken when it appears.",
    },
    Section {
        path: "devices.terminal",
        tables: Tables::Every(Presence::Needed),
        doc: "The entry terminal: keys, readout, bell, supervisor's key.",
    },
    Section {
        path: "devices.lamps",
        tables: Tables::Of(&[
            (Play::TaiSaiA, Presence::Needed),
            (Play::TaiSaiB, Presence::Needed),
            (Play::SicBoCovered, Presence::Needed),
            (Play::SicBoOpen, Presence::Needed),
        ]),
        doc: "The lamps of the layout's areas.",
    },
    Section {
        path: "devices.lights",
        tables: Tables::Of(&[
            (Play::TwoUpDice, Presence::Needed),
            (Play::TriplePennyLights, Presence::Needed),
        ]),
        doc: "The eleven result lights of two-up. While they are away, cards stand in for them and play goes on.",
    },
    Section {
        path: "mqtt",
        tables: Tables::Every(Presence::Needed),
        doc: "The brokers of the floor system.",
    },
    Section {
        path: "journal",
        tables: Tables::Every(Presence::Needed),
        doc: "Where everything that happens is recorded before anyone can see it.",
    },
    Section {
        path: "display",
        tables: Tables::EveryBut(Presence::Optional, &[(Play::TriplePennyElectronic, Presence::Needed)]),
        doc: "The table's game results display, a web page. Without this section there is none.",
    },
    Section {
        path: "metrics",
        tables: Tables::Every(Presence::Optional),
        doc: "Numbers for Prometheus, in its text format. Without this section there are none.",
    },
    Section {
        path: "control",
        tables: Tables::Every(Presence::Defaults),
        doc: "Two sockets for commands. Their rights are those of the files: who may open one may use it.",
    },
    Section {
        path: "clock",
        tables: Tables::Every(Presence::Defaults),
        doc: "Who keeps this PC's clock right.",
    },
];

/// Names that are refused with a reason of their own, and all that stands below them.
pub const REFUSED: &[(&str, &str)] = &[(
    "mqtt.password",
    "secrets never stand in the configuration; write the password to a file and name it in mqtt.password_file",
)];
