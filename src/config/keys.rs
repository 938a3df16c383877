//! Every key that the file may have: one table, from which the strict check, the template, the documents and the tests are made.

/// What a key's value is. Nothing is converted: a value of another type is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Text that isn't empty.
    Text,
    /// The name of a file, directory or socket, from the root.
    Path,
    /// `true` or `false`.
    Flag,
    /// A whole number, both ends included.
    Whole {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// What is counted: "ms".
        unit: &'static str,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of texts. In the environment they are separated by commas.
    Texts,
}

/// What a key is when nobody writes it. Texts are TOML.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absent {
    /// It has to be written when its section is there. The text is an example.
    Refused(&'static str),
    /// It is this.
    Default(&'static str),
    /// It follows from other values, as this text says.
    Follows(&'static str),
    /// There is none. The text is an example.
    None(&'static str),
    /// There is none, but most tables have one. The text is an example, and stands in the template.
    Usual(&'static str),
}

/// One key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// With its section: "devices.tumbler.baud".
    pub path: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What it is when nobody writes it.
    pub absent: Absent,
    /// What it does, for the template and the documents.
    pub doc: &'static str,
}

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

    /// The sections that its file has or may have.
    pub fn sections(self) -> impl Iterator<Item = &'static Section> {
        SECTIONS.iter().filter(move |section| section.presence(self).is_some())
    }
}

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

/// Never less than this: a regulator may ask that long after a game.
pub const RETENTION_DAYS_MIN: i64 = 90;

/// The slowest line on which the link protocol keeps its time limits.
pub const BAUD_MIN: i64 = 9_600;

/// The fastest that USB adapters reach.
pub const BAUD_MAX: i64 = 4_000_000;

/// Keys that fewer tables have than their section.
const FEWER: &[(&str, &[Play])] = &[
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
pub const REFUSED: &[(&str, &str)] = &[
    ("metrics", "this version has no metrics; remove the section"),
    (
        "mqtt.password",
        "secrets never stand in the configuration; write the password to a file and name it in mqtt.password_file",
    ),
];

/// How long a tumbler must lie still.
const REST_MS: Kind = Kind::Whole {
    min: 500,
    max: 30_000,
    unit: "ms",
};

/// From the entry to the settlement press.
const SETTLE_AFTER_MS: Kind = Kind::Whole {
    min: 500,
    max: 30_000,
    unit: "ms",
};

/// From the entry until the cover settles.
const COVER_SETTLES_AFTER_MS: Kind = Kind::Whole {
    min: 1_000,
    max: 60_000,
    unit: "ms",
};

/// The keys, section by section in the order of [`SECTIONS`].
pub const KEYS: &[Key] = &[
    Key {
        path: "table.site",
        kind: Kind::Text,
        absent: Absent::Refused("\"harbour\""),
        doc: "The casino. Letters, digits, _ and -, at most 32. Stands in every event and topic.",
    },
    Key {
        path: "table.id",
        kind: Kind::Text,
        absent: Absent::Refused("\"TS-07\""),
        doc: "The table, unique in its site. Letters, digits, _ and -, at most 32.",
    },
    Key {
        path: "table.game",
        kind: Kind::OneOf(GAMES),
        absent: Absent::Refused("\"tai-sai\""),
        doc: "The game.",
    },
    Key {
        path: "tai_sai.style",
        kind: Kind::OneOf(&["A", "B"]),
        absent: Absent::Refused("\"A\""),
        doc: "How the dice are thrown. \"A\": a tumbler under a cover. \"B\": a dice cup; such a table has no tumbler.",
    },
    Key {
        path: "tai_sai.layout",
        kind: Kind::OneOf(&["appendix-1", "appendix-2"]),
        absent: Absent::Refused("\"appendix-1\""),
        doc: "The layout: \"appendix-1\" (standard, 50 areas) or \"appendix-2\" (alternative, 106 areas).",
    },
    Key {
        path: "tai_sai.lamp_map",
        kind: Kind::Path,
        absent: Absent::None("\"/etc/tablegate/TS-07.lamps.toml\""),
        doc: "Which lamps belong to which area, a line an area: area = [bit, ...]; beside this file, unless its path begins at the root. Without it one bit an area, in the order of the link protocol.",
    },
    Key {
        path: "tai_sai.rest_ms",
        kind: REST_MS,
        absent: Absent::Default("3000"),
        doc: "The tumbler lies still this long before bets open.",
    },
    Key {
        path: "tai_sai.settle_after_ms",
        kind: SETTLE_AFTER_MS,
        absent: Absent::Default("3000"),
        doc: "The earliest settlement press after an accepted entry.",
    },
    Key {
        path: "tai_sai.cover_settles_after_ms",
        kind: COVER_SETTLES_AFTER_MS,
        absent: Absent::Default("5000"),
        doc: "The cover lying on, this long after the accepted entry or later, settles the round provisionally.",
    },
    Key {
        path: "tai_sai.no_spin_after_uncover",
        kind: Kind::OneOf(&["hold", "void"]),
        absent: Absent::Default("\"hold\""),
        doc: "What the dealer's \"no spin\" does once the dice were seen (style B: once the result is entered): \"hold\" asks a supervisor, \"void\" doesn't.",
    },
    Key {
        path: "tai_sai.display_fault_locks",
        kind: Kind::Flag,
        absent: Absent::Default("false"),
        doc: "A fault of the results display holds the next round, as r7.4 can be read.",
    },
    Key {
        path: "sic_bo.tumbler",
        kind: Kind::OneOf(&["covered", "open"]),
        absent: Absent::Refused("\"covered\""),
        doc: "The tumbler that is fitted. \"covered\": the dice are spun before bets close. \"open\": bets close first, and the tumbler refuses to spin until then.",
    },
    Key {
        path: "sic_bo.paytable",
        kind: Kind::Path,
        absent: Absent::None("\"/etc/tablegate/SB-02.paytable.toml\""),
        doc: "What the areas pay, a line an area: area = \"62:1\", a face value's for one, two and three dice; beside this file, unless its path begins at the root. Without it no odds are shown.",
    },
    Key {
        path: "sic_bo.lamp_map",
        kind: Kind::Path,
        absent: Absent::None("\"/etc/tablegate/SB-02.lamps.toml\""),
        doc: "Which lamps belong to which area, a line an area: area = [bit, ...]; beside this file, unless its path begins at the root. Without it one bit an area, in the order of the link protocol.",
    },
    Key {
        path: "sic_bo.rest_ms",
        kind: REST_MS,
        absent: Absent::Default("3000"),
        doc: "The tumbler lies still this long before bets open; an open one before its dice have landed.",
    },
    Key {
        path: "sic_bo.settle_after_ms",
        kind: SETTLE_AFTER_MS,
        absent: Absent::Default("3000"),
        doc: "The earliest settlement press after an accepted entry.",
    },
    Key {
        path: "sic_bo.cover_settles_after_ms",
        kind: COVER_SETTLES_AFTER_MS,
        absent: Absent::Default("5000"),
        doc: "The cover lying on, this long after the accepted entry or later, settles the round provisionally.",
    },
    Key {
        path: "sic_bo.no_spin_after_uncover",
        kind: Kind::OneOf(&["hold", "void"]),
        absent: Absent::Default("\"hold\""),
        doc: "Where the house voids: what the dealer's \"no spin\" does once the dice were seen: \"hold\" asks a supervisor, \"void\" doesn't.",
    },
    Key {
        path: "sic_bo.policy.void",
        kind: Kind::Flag,
        absent: Absent::Default("false"),
        doc: "A round can be void, for the reasons of a tumbler that New Zealand Division 9 has. Without it \"no spin\" holds the round.",
    },
    Key {
        path: "sic_bo.policy.lamps",
        kind: Kind::Flag,
        absent: Absent::Default("false"),
        doc: "Settlement waits until the lamps are confirmed, and a lamp's fault holds the next round.",
    },
    Key {
        path: "sic_bo.policy.amend",
        kind: Kind::Flag,
        absent: Absent::Default("false"),
        doc: "A supervisor can amend a result before settlement.",
    },
    Key {
        path: "two_up_dice.first_three",
        kind: Kind::OneOf(&["comes-back", "comes-back-after-a-win"]),
        absent: Absent::Default("\"comes-back\""),
        doc: "Whether a spinner whose first three spins were invalid may spin again once the wager is decided: however it was decided, or after a win only (s21(3) can be read both ways).",
    },
    mis_keyed("two_up_dice.mis_keyed"),
    Key {
        path: "triple_penny.display",
        kind: Kind::OneOf(&["lights", "electronic", "cards"]),
        absent: Absent::Default("\"lights\""),
        doc: "How results are shown: by result lights, by the results display (which has to be there then), or by cards alone.",
    },
    mis_keyed("triple_penny.mis_keyed"),
    port(
        "devices.tumbler.port",
        "\"/dev/serial/by-id/usb-TumblerCo_DT-3_0042-if00\"",
    ),
    baud("devices.tumbler.baud"),
    protocol("devices.tumbler.protocol"),
    port(
        "devices.terminal.port",
        "\"/dev/serial/by-id/usb-KeysCo_ET-1_0007-if00\"",
    ),
    baud("devices.terminal.baud"),
    protocol("devices.terminal.protocol"),
    port("devices.lamps.port", "\"/dev/serial/by-id/usb-LampCo_LL-50_0113-if00\""),
    baud("devices.lamps.baud"),
    protocol("devices.lamps.protocol"),
    port(
        "devices.lights.port",
        "\"/dev/serial/by-id/usb-LampCo_RL-11_0031-if00\"",
    ),
    baud("devices.lights.baud"),
    protocol("devices.lights.protocol"),
    Key {
        path: "mqtt.brokers",
        kind: Kind::Texts,
        absent: Absent::Refused("[\"mqtts://floor-a.example:8883\", \"mqtts://floor-b.example:8883\"]"),
        doc: "Tried in turn. mqtt:// (in the clear) only to this PC, unless allow_plaintext is true. Never with user:password@.",
    },
    Key {
        path: "mqtt.allow_plaintext",
        kind: Kind::Flag,
        absent: Absent::Default("false"),
        doc: "Allow mqtt:// to other hosts.",
    },
    Key {
        path: "mqtt.prefix",
        kind: Kind::Text,
        absent: Absent::Default("\"tablegate/v1/{site}/{table}\""),
        doc: "What every topic begins with.",
    },
    Key {
        path: "mqtt.response_prefixes",
        kind: Kind::Texts,
        absent: Absent::Default("[]"),
        doc: "Where answers to the floor's requests may go beside {prefix}/responses/.",
    },
    Key {
        path: "mqtt.client_id",
        kind: Kind::Text,
        absent: Absent::Follows("site-table"),
        doc: "The MQTT client id, unique at the broker. Letters, digits, _, - and ., at most 65.",
    },
    Key {
        path: "mqtt.ca",
        kind: Kind::Path,
        absent: Absent::Usual("\"/etc/tablegate/ca.pem\""),
        doc: "Certificates that may have signed the broker's, PEM. Needed for mqtts://.",
    },
    Key {
        path: "mqtt.certificate",
        kind: Kind::Path,
        absent: Absent::Usual("\"/etc/tablegate/TS-07.pem\""),
        doc: "The table's own certificate, PEM. Goes with key.",
    },
    Key {
        path: "mqtt.key",
        kind: Kind::Path,
        absent: Absent::Usual("\"/run/credentials/tablegate@TS-07.service/mqtt.key\""),
        doc: "The file of the certificate's private key, PEM.",
    },
    Key {
        path: "mqtt.username",
        kind: Kind::Text,
        absent: Absent::None("\"TS-07\""),
        doc: "For brokers that ask for a user name.",
    },
    Key {
        path: "mqtt.password_file",
        kind: Kind::Path,
        absent: Absent::None("\"/run/credentials/tablegate@TS-07.service/mqtt.password\""),
        doc: "The file of the password, one line.",
    },
    Key {
        path: "journal.directory",
        kind: Kind::Path,
        absent: Absent::Refused("\"/var/lib/tablegate/TS-07\""),
        doc: "On a local disk, for this table alone.",
    },
    Key {
        path: "journal.retention_days",
        kind: Kind::Whole {
            min: RETENTION_DAYS_MIN,
            max: 36_500,
            unit: "days",
        },
        absent: Absent::Default("90"),
        doc: "Events are kept at least this long, and until a broker has acknowledged them.",
    },
    Key {
        path: "journal.min_free_mb",
        kind: Kind::Whole {
            min: 16,
            max: 1_000_000,
            unit: "MB",
        },
        absent: Absent::Default("64"),
        doc: "With less room on the disk no further round begins.",
    },
    Key {
        path: "display.listen",
        kind: Kind::Text,
        absent: Absent::Refused("\"127.0.0.1:8480\""),
        doc: "Address and port of the page. It has no login: keep it on this PC.",
    },
    Key {
        path: "display.results",
        kind: Kind::Whole {
            min: 1,
            max: 100,
            unit: "rounds",
        },
        absent: Absent::Default("20"),
        doc: "How many ended rounds it shows.",
    },
    Key {
        path: "control.socket",
        kind: Kind::Path,
        absent: Absent::Follows("/run/tablegate/{instance}.sock"),
        doc: "Look and test: group tablegate-tech.",
    },
    Key {
        path: "control.supervisor_socket",
        kind: Kind::Path,
        absent: Absent::Follows("/run/tablegate/{instance}.supervisor.sock"),
        doc: "Act: group tablegate-supervisor.",
    },
    Key {
        path: "clock.source",
        kind: Kind::OneOf(&["timesyncd", "chrony", "none"]),
        absent: Absent::Default("\"timesyncd\""),
        doc: "Where \"synchronised\" comes from. With \"none\" retention deletes nothing.",
    },
];

const fn mis_keyed(path: &'static str) -> Key {
    Key {
        path,
        kind: Kind::OneOf(&["correct", "stands"]),
        absent: Absent::Default("\"correct\""),
        doc: "A result that was keyed wrongly: \"correct\" lets a supervisor put it right until the next wager, call or act of the spinner, \"stands\" doesn't. No rule has it: it is the house's policy, and events say so.",
    }
}

const fn port(path: &'static str, example: &'static str) -> Key {
    Key {
        path,
        kind: Kind::Path,
        absent: Absent::Refused(example),
        doc: "The serial port, best by its /dev/serial/by-id/ name: that stays the same however it is plugged.",
    }
}

const fn baud(path: &'static str) -> Key {
    Key {
        path,
        kind: Kind::Whole {
            min: BAUD_MIN,
            max: BAUD_MAX,
            unit: "bits a second",
        },
        absent: Absent::Default("115200"),
        doc: "As the device is set.",
    }
}

const fn protocol(path: &'static str) -> Key {
    Key {
        path,
        kind: Kind::OneOf(&["tlp"]),
        absent: Absent::Default("\"tlp\""),
        doc: "What the device speaks: \"tlp\", the Table Link Protocol.",
    }
}

/// The key with this path.
#[must_use]
pub fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The section with this path.
#[must_use]
pub fn section(path: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.path == path)
}

/// `path` is a section, or holds sections as "devices" does.
#[must_use]
pub fn is_section(path: &str) -> bool {
    let inside = |section: &Section| {
        section
            .path
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    SECTIONS.iter().any(inside)
}

/// The keys of a section.
pub fn keys_of(section: &'static str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section() == section)
}

impl Key {
    /// A table that plays this has it, or may have.
    #[must_use]
    pub fn is_of(&self, play: Play) -> bool {
        match FEWER.iter().find(|(path, _)| *path == self.path) {
            Some((_, plays)) => plays.contains(&play),
            None => section(self.section()).is_some_and(|section| section.presence(play).is_some()),
        }
    }

    /// Some of these has it, or may have; also when it isn't known what is played.
    #[must_use]
    pub fn is_of_some(&self, plays: &[Play]) -> bool {
        plays.is_empty() || plays.iter().any(|play| self.is_of(*play))
    }

    /// The section that it stands in.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Its name in its section.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The environment variable that overrules the file: `TABLEGATE__TABLE__SITE`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{VARIABLES}{}", self.path.to_uppercase().replace('.', "__"))
    }

    /// What would be right, in words: "500 to 30000 (ms)".
    #[must_use]
    pub fn right(&self) -> String {
        match self.kind {
            Kind::Text | Kind::Path | Kind::Texts => {
                let (Absent::Refused(example)
                | Absent::Default(example)
                | Absent::None(example)
                | Absent::Usual(example)) = self.absent
                else {
                    return match self.kind {
                        Kind::Path => "a path from the root, in quotes".to_owned(),
                        Kind::Text | Kind::Texts | Kind::Flag | Kind::Whole { .. } | Kind::OneOf(_) => {
                            "text in quotes".to_owned()
                        }
                    };
                };
                format!("for example {} = {example}", self.name())
            }
            Kind::Flag => "true or false, without quotes".to_owned(),
            Kind::Whole { min, max, unit } => format!("a whole number from {min} to {max} ({unit}), without quotes"),
            Kind::OneOf(words) => words
                .iter()
                .map(|word| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(" or "),
        }
    }
}

/// Environment variables that overrule the file begin so; two underscores separate section and key.
pub const VARIABLES: &str = "TABLEGATE__";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_in_a_known_section_and_once() {
        for (n, key) in KEYS.iter().enumerate() {
            assert!(section(key.section()).is_some(), "{}", key.path);
            assert!(KEYS[..n].iter().all(|other| other.path != key.path), "{}", key.path);
            assert!(key.doc.ends_with('.'), "{}", key.path);
        }
    }
}
