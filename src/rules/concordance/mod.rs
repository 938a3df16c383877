//! The concordance: which provision a citation names, under which heading, in which part, and how certain that is. PURE.
//!
//! Three numbering systems of the Queensland rules are in use: old rule numbers (until 1995), section numbers (from 1995, still
//! used in 1998), schedules with their own sections (the rule of 1999, amended in 2004). So a citation names its instrument and
//! its number. [`renumbering`] has the table that joins the first two, [`instruments`] what the others are made of.

pub(crate) mod instruments;
mod parse;
pub(crate) mod renumbering;

pub use instruments::Instrument;
pub use parse::NotACitation;

use parse::{Item, System, bare};
use renumbering::{Pair, Table};

/// How certain something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Certainty {
    /// It stands so in the text; for a renumbering: equal counts of old and new numbers, and an unbroken sequence.
    Certain,
    /// A damaged token of the table was repaired.
    Likely,
    /// It follows from order or position.
    Inferred,
    /// There is more than one candidate.
    Uncertain,
}

impl Certainty {
    /// "certain".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::Likely => "likely",
            Certainty::Inferred => "inferred",
            Certainty::Uncertain => "uncertain",
        }
    }
}

/// A heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heading {
    /// As printed.
    pub text: String,
    /// Whether it belongs here.
    pub certainty: Certainty,
    /// Why it isn't certain, or where it stands; may be empty.
    pub note: String,
}

/// What is known of one provision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Provision {
    /// The instrument.
    pub instrument: Instrument,
    /// The whole citation of this provision alone: "Qld 1995 r21.2(1)".
    pub citation: String,
    /// Its heading; none is printed for some sections.
    pub heading: Option<Heading>,
    /// The part, and the division where there is one: "PART 5—SIC-BO".
    pub parts: Vec<String>,
    /// Old rules and sections that it pairs, for the instrument that renumbers.
    pub pairs: Vec<Pair>,
    /// That there is such a provision, and that the number is its own.
    pub certainty: Certainty,
    /// What else has to be known; may be empty.
    pub note: String,
}

/// Why nothing is known of a citation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// It isn't one.
    NotACitation(NotACitation),
    /// The instrument has no such provision, or none that we hold.
    NoSuchProvision {
        /// The instrument.
        instrument: Instrument,
        /// The number.
        number: String,
        /// What became of it, if that is known; may be empty.
        note: String,
    },
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unknown::NotACitation(why) => write!(f, "{why}"),
            Unknown::NoSuchProvision {
                instrument,
                number,
                note,
            } => {
                write!(f, "{} has no {number} that we know of", instrument.short())?;
                if note.is_empty() { Ok(()) } else { write!(f, ": {note}") }
            }
        }
    }
}

impl std::error::Error for Unknown {}

/// What is known of each provision that `citation` names: "1995 r21.2", "Qld 2004 sch 13 s10(2)-(3)", "NZ Div 9 r6.4, r6.6".
///
/// # Errors
///
/// What can't be read, or the first provision that isn't there.
pub fn look_up(citation: &str) -> Result<Vec<Provision>, Unknown> {
    let (instrument, items) = parse::citation(citation).map_err(Unknown::NotACitation)?;
    items.iter().map(|item| one(instrument, item)).collect()
}

fn one(instrument: Instrument, item: &Item) -> Result<Provision, Unknown> {
    let number = item.number();
    let found = match instrument {
        Instrument::Qld1995 => renumbered(item),
        Instrument::NzDiv9 | Instrument::Qld1998 | Instrument::Qld2004 { .. } => instruments::find(instrument, item),
    };
    found.map_err(|note| Unknown::NoSuchProvision {
        instrument,
        number,
        note,
    })
}

/// Old rules and sections are found by themselves, by what they contain, and by what contains them.
fn renumbered(item: &Item) -> Result<Provision, String> {
    let table = Table::read();
    let mut asked = bare(&item.text);
    let mut note = String::new();
    let pairs = loop {
        let pairs = match item.system {
            System::Rule => table.of_old_rule(&asked),
            System::Section => table.of_section(&asked),
        };
        if !pairs.is_empty() {
            break pairs;
        }
        let Some((container, _)) = asked.rsplit_once('(') else {
            return Err(renumbering::omitted(&asked).unwrap_or_default().to_owned());
        };
        asked = container.trim_end().to_owned();
        note = format!("the table goes no deeper than {}{asked}", item.system.prefix());
    };
    let section = pairs.first().map(|pair| pair.section_number()).unwrap_or_default();
    let certainty = pairs.iter().map(|pair| pair.certainty).max();
    Ok(Provision {
        instrument: Instrument::Qld1995,
        citation: format!("{} {}", Instrument::Qld1995.short(), item.number()),
        heading: table.heading(section),
        parts: renumbering::parts(section),
        pairs,
        certainty: certainty.unwrap_or(Certainty::Uncertain),
        note,
    })
}
