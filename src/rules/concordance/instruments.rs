//! The instruments that are cited, and what those that are not renumbered are made of. PURE.

use super::parse::{Item, System};
use super::{Certainty, Heading, Provision};

/// An instrument, as citations name it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Instrument {
    /// New Zealand, Department of Internal Affairs, Division 9 (Tai-Sai).
    NzDiv9,
    /// The Casino Gaming Rules 1985 around their renumbering by SL 1995 No. 84: old rules and sections.
    Qld1995,
    /// The Casino Gaming Rules 1985, part 21, inserted by SL 1998 No. 233.
    Qld1998,
    /// A schedule of the Casino Gaming Rule 1999, as SL 2004 No. 322 inserts or amends it.
    Qld2004 {
        /// Its number.
        schedule: u8,
    },
}

impl Instrument {
    /// As citations begin: "Qld 2004 sch 13".
    #[must_use]
    pub fn short(self) -> String {
        match self {
            Instrument::NzDiv9 => "NZ Div 9".to_owned(),
            Instrument::Qld1995 => "Qld 1995".to_owned(),
            Instrument::Qld1998 => "Qld 1998".to_owned(),
            Instrument::Qld2004 { schedule } => format!("Qld 2004 sch {schedule}"),
        }
    }

    /// Its whole name.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Instrument::NzDiv9 => "New Zealand, Department of Internal Affairs, rules of casino games, Division 9",
            Instrument::Qld1995 => "Queensland, Casino Gaming Rules 1985, renumbered by SL 1995 No. 84",
            Instrument::Qld1998 => "Queensland, Casino Gaming Rules 1985, part 21 inserted by SL 1998 No. 233",
            Instrument::Qld2004 { .. } => "Queensland, Casino Gaming Rule 1999, amended by SL 2004 No. 322",
        }
    }
}

/// A section whose text we hold.
struct Section {
    number: u16,
    heading: &'static str,
    /// Numbered subsections; 0 when the section has none.
    subsections: u16,
}

const fn section(number: u16, subsections: u16, heading: &'static str) -> Section {
    Section {
        number,
        heading,
        subsections,
    }
}

/// Schedule 13 (Two-up dice): its parts with their sections.
static SCH_13: [(&str, &[Section]); 6] = [
    (
        "Part 1 Preliminary",
        &[
            section(1, 0, "Conducting and playing two-up dice"),
            section(2, 0, "Definitions for sch 13"),
        ],
    ),
    (
        "Part 2 Table, layout and equipment",
        &[
            section(3, 3, "Table and layout"),
            section(4, 5, "Dice to be used in the game"),
        ],
    ),
    (
        "Part 3 The spinner",
        &[
            section(5, 8, "Selecting the spinner and the dice for spinning"),
            section(6, 4, "Spinner’s wager"),
            section(7, 3, "Spinning the dice"),
            section(8, 2, "Results of the spinner’s wager"),
            section(9, 0, "Payout odds for a spinner’s wager"),
            section(10, 4, "Changing the spinner"),
        ],
    ),
    (
        "Part 4 Players",
        &[
            section(11, 3, "Player’s wager"),
            section(12, 2, "Results of a player’s wager"),
            section(13, 0, "Payout odds for a player’s wager"),
        ],
    ),
    (
        "Part 5 Other matters about wagers",
        &[
            section(14, 0, "Minimum and maximum wagers"),
            section(15, 2, "Player responsible for placing wagers"),
            section(16, 0, "Wagers to remain after dealer calls ‘no more bets’"),
            section(17, 0, "How wagers are dealt with"),
            section(18, 2, "Change to application of ss 15 and 17 if unfair"),
            section(19, 2, "Results of spins to be displayed"),
        ],
    ),
    (
        "Part 6 Irregularities",
        &[
            section(20, 4, "Invalid spins"),
            section(
                21,
                3,
                "Dealer may take over as spinner if there are consecutive or numerous invalid spins",
            ),
            section(22, 3, "Procedure if a die goes off the table"),
        ],
    ),
];

/// Part 21 (Triple penny two-up).
static PART_21: [(&str, &[Section]); 1] = [(
    "PART 21—TRIPLE PENNY TWO-UP",
    &[
        section(468, 0, "Definitions"),
        section(469, 5, "Table and layout"),
        section(470, 4, "Coins to be used in the game"),
        section(471, 6, "Selecting the spinner and coins for spinning"),
        section(472, 10, "Spinner’s role, wagers and results"),
        section(473, 8, "Player’s role, wagers and results"),
        section(474, 5, "Coins outside ring or lost coins"),
        section(475, 5, "Other matters about wagers"),
        section(476, 2, "Minimum and maximum wagers"),
        section(477, 6, "Spins may be declared invalid"),
        section(478, 2, "Consecutive invalid spins"),
        section(479, 0, "Results of spin to be displayed"),
        section(480, 2, "Payout odds"),
    ],
)];

/// Sections of other schedules of which SL 2004 No. 322 has amending words and nothing else; they have no headings there.
static AMENDED: [(u8, &str, &[u16]); 8] = [
    (2, "Schedule 2 Blackjack", &[58]),
    (3, "Schedule 3 Caribbean stud poker", &[8]),
    (4, "Schedule 4 Craps", &[20, 21, 22]),
    (7, "Schedule 7 Mini-dice", &[9]),
    (9, "Schedule 9 Roulette", &[11]),
    (10, "Schedule 10 Sic-bo", &[10]),
    (11, "Schedule 11 Spanish blackjack", &[48]),
    (12, "Schedule 12 Wheel of fortune", &[10]),
];

/// Division 9: its sections with their rules.
static DIVISION_9: [(&str, &[&str]); 8] = [
    ("Section 1 Interpretation", &["1.0"]),
    ("Section 2 Application", &["2.0"]),
    (
        "Section 3 Table Layout and Equipment",
        &["3.0", "3.1", "3.1A", "3.2", "3.3", "3.4"],
    ),
    (
        "Section 4 Wagers",
        &[
            "4.0", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10",
        ],
    ),
    ("Section 5 Opening of Table for Gambling", &["5.0", "5.1"]),
    (
        "Section 6 Dice Tumbler and Table Operation – Style A",
        &["6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6"],
    ),
    (
        "Section 6A Dice Throw and Table Operations – Style B",
        &[
            "6A.0", "6A.1", "6A.2", "6A.3", "6A.4", "6A.5", "6A.6", "6A.7", "6A.8", "6A.9", "6A.10", "6A.11", "6A.12",
            "6A.13",
        ],
    ),
    ("Section 7 Irregularities", &["7.0", "7.1", "7.2", "7.3", "7.4", "7.5"]),
];

/// Rules of Division 9 whose paragraph letters the Gazette prints as they are given here.
const LETTERS_PRINTED: [&str; 2] = ["3.3", "4.1"];

/// Finds a provision of an instrument that isn't renumbered.
///
/// # Errors
///
/// What is known of the number all the same; may be empty.
pub(super) fn find(instrument: Instrument, item: &Item) -> Result<Provision, String> {
    let found = match (instrument, item.system) {
        (Instrument::NzDiv9, System::Rule) => return in_division_9(item),
        (Instrument::Qld1998, System::Section) => in_parts(&PART_21, item)?,
        (Instrument::Qld2004 { schedule: 13 }, System::Section) => in_parts(&SCH_13, item)?,
        (Instrument::Qld2004 { schedule }, System::Section) => in_amended(schedule, item)?,
        (Instrument::NzDiv9 | Instrument::Qld1995, System::Section) => {
            return Err("its provisions are rules: write r, not s".to_owned());
        }
        (Instrument::Qld1995 | Instrument::Qld1998 | Instrument::Qld2004 { .. }, System::Rule) => {
            return Err("its provisions are sections: write s, not r".to_owned());
        }
    };
    let (parts, heading, note) = found;
    Ok(Provision {
        instrument,
        citation: format!("{} {}", instrument.short(), item.number()),
        heading: heading.map(|text| Heading {
            text: text.to_owned(),
            certainty: Certainty::Certain,
            note: String::new(),
        }),
        parts: vec![parts.to_owned()],
        pairs: Vec::new(),
        certainty: Certainty::Certain,
        note: note.to_owned(),
    })
}

/// The part, the heading, a note.
type Found = (&'static str, Option<&'static str>, &'static str);

fn in_parts(parts: &'static [(&'static str, &'static [Section])], item: &Item) -> Result<Found, String> {
    let number: u16 = item.base().parse().unwrap_or_default();
    for (part, sections) in parts {
        let Some(section) = sections.iter().find(|section| section.number == number) else {
            continue;
        };
        if let Some(subsection) = item.brackets().first().and_then(|text| text.parse::<u16>().ok())
            && !(1..=section.subsections).contains(&subsection)
        {
            return Err(format!("s{number} has {} subsections", section.subsections));
        }
        return Ok((part, Some(section.heading), ""));
    }
    Err(String::new())
}

fn in_amended(schedule: u8, item: &Item) -> Result<Found, String> {
    let (_, name, sections) = AMENDED
        .iter()
        .find(|(number, ..)| *number == schedule)
        .ok_or("no such schedule is amended or inserted there")?;
    let number: u16 = item.base().parse().unwrap_or_default();
    if !sections.contains(&number) {
        return Err("only sections that are amended there are known".to_owned());
    }
    let is_repealed = schedule == 4 && number == 22 && matches!(item.brackets().as_slice(), ["1", "f" | "g", ..]);
    Ok((
        name,
        None,
        if is_repealed {
            "repealed by SL 2004 No. 322 s5(3); its words are not among the instruments"
        } else {
            "only the amending words are among the instruments"
        },
    ))
}

fn in_division_9(item: &Item) -> Result<Provision, String> {
    let rule = item.base();
    let (section, _) = DIVISION_9
        .iter()
        .find(|(_, rules)| rules.iter().any(|known| known.eq_ignore_ascii_case(rule)))
        .ok_or_else(String::new)?;
    let by_position = !item.brackets().is_empty() && !LETTERS_PRINTED.contains(&rule);
    Ok(Provision {
        instrument: Instrument::NzDiv9,
        citation: format!("{} {}", Instrument::NzDiv9.short(), item.number()),
        heading: None,
        parts: vec!["Division 9 Tai-Sai".to_owned(), (*section).to_owned()],
        pairs: Vec::new(),
        certainty: if by_position {
            Certainty::Inferred
        } else {
            Certainty::Certain
        },
        note: if by_position {
            "the published text has lost its paragraph letters: they are given by position".to_owned()
        } else {
            String::new()
        },
    })
}
