//! The keys themselves, each with its range, its default and what it does.

use super::{Absent, BAUD_MAX, BAUD_MIN, GAMES, Key, Kind, RETENTION_DAYS_MIN};

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

/// The keys, section by section in the order of [`super::SECTIONS`].
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
        path: "journal.signing_key",
        kind: Kind::Path,
        absent: Absent::None("\"/run/credentials/tablegate@TS-07.service/signing.key\""),
        doc: "The file of the Ed25519 private key that signs checkpoints, PEM (PKCS#8). Without it they are unsigned.",
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
        path: "metrics.listen",
        kind: Kind::Text,
        absent: Absent::Refused("\"127.0.0.1:9480\""),
        doc: "Address and port of /metrics. It has no login: keep it on this PC, or behind one.",
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
