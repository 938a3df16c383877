//! Refusals: every code with its text, its rule and what it shows on the readout, in one place. PURE.
//!
//! Numbers are never reused and never change their meaning: dealers know them, and journals keep them.
//! E01 to E19 refuse entries, E20 to E29 say which device is away, E30 to E39 refuse what is out of the order of play,
//! E90 to E99 are the gateway's own.

use crate::rules::citation::Citation;

/// A refusal that the readout can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// 7 is shown as E07; 0: text only.
    pub number: u32,
    /// As the readout shows it.
    pub readout: &'static str,
    /// One sentence for a person: what is wrong and what to do.
    pub text: &'static str,
    /// The rule behind it.
    pub rule: Citation,
}

/// An act that the rules or the order of play make impossible now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// Its number; 7 is shown as E07. 0: text only (LOC, TST, CLO, OPN, and what a person asked by a command).
    pub code: u32,
    /// What the readout shows: "E07", "LOC"; empty for a command.
    pub readout: &'static str,
    /// One sentence for a person: what is wrong and what to do.
    pub text: String,
    /// The rule behind it; empty where none is.
    pub rule: Citation,
}

/// What the entry keys say of the device rather than of the law.
pub(crate) const HOUSE: Citation = "the table's own rule";

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $readout:literal, $rule:expr, $text:literal;)*) => {
        $($(#[$doc])* pub const $name: Code = Code { number: $number, readout: $readout, text: $text, rule: $rule };)*
        /// Every code, in order.
        pub const CODES: &[Code] = &[$($name),*];
    };
}

codes! {
    /// The gateway's own copy of the keys and what ENTER committed differ.
    KEYS_DIFFER = 1, "E01", "NZ Div 9 r3.3", "A key was lost on the way: press the three numbers again, then ENTER.";
    /// Fewer than three keys of this entry.
    FEWER_THAN_THREE = 2, "E02", "NZ Div 9 r3.3", "Fewer than three numbers were pressed for this entry: press all three, then ENTER.";
    /// A key was pressed before the dice could be seen.
    PRESSED_BEFORE_UNCOVER = 3, "E03", "NZ Div 9 r6.4", "A number was pressed before the dice were uncovered: press the three numbers again, then ENTER.";
    /// A dice reader saw other dice.
    DICE_DIFFER = 4, "E04", "NZ Div 9 r4.2", "The dice reader saw other numbers: look at the dice and press them again, or let a supervisor confirm the entry.";
    /// A second entry without a supervisor.
    NEEDS_SUPERVISOR = 5, "E05", "NZ Div 9 r7.2", "The result is entered: only a supervisor may amend it; turn the supervisor key, press the three numbers, then ENTER.";
    /// A key that this game doesn't have.
    UNKNOWN_KEY = 6, "E06", "NZ Div 9 r3.3", "A key was pressed that this game does not have: press the three numbers again, then ENTER.";
    /// Keys older than two seconds.
    STALE = 7, "E07", HOUSE, "The keys arrived too late to count (the line was interrupted): press the three numbers again, then ENTER.";
    /// Keys that make no entry of this game.
    NO_SUCH_ENTRY = 8, "E08", HOUSE, "These keys are no entry of this game: press the keys of one act, then ENTER.";
    /// The tumbler is away.
    TUMBLER_AWAY = 20, "E20", "NZ Div 9 r7.4", "The tumbler does not answer: check its cable and power; the next round waits for it.";
    /// The terminal is away.
    TERMINAL_AWAY = 21, "E21", "NZ Div 9 r7.4", "The entry terminal does not answer: check its cable and power; the next round waits for it.";
    /// The layout's lamps are away.
    LAMPS_AWAY = 22, "E22", "NZ Div 9 r7.4", "The layout's lamps do not answer: check their cable and power; the next round waits for them.";
    /// The result lights are away.
    LIGHTS_AWAY = 23, "E23", HOUSE, "The result lights do not answer: announce results with cards.";
    /// A bell before the dice were spun.
    BELL_WITHOUT_TUMBLE = 30, "E30", "NZ Div 9 r6.1", "The dice were not spun three times for this round: put the cover on and spin them, or call \"no spin\".";
    /// Something at a moment that the order of play does not have it.
    OUT_OF_ORDER = 31, "E31", "NZ Div 9 r6.4", "Not now: the order is spin, bets, bell, uncover, entry, settlement; in two-up spinner, wager, bell, result.";
    /// A settlement press too early.
    TOO_EARLY_TO_SETTLE = 32, "E32", "NZ Div 9 r6.5", "Too early to settle: wait three seconds after the entry or the last key, with the supervisor key off, then press ENTER.";
    /// A settlement before the lamps are known.
    LAMPS_NOT_CONFIRMED = 33, "E33", "NZ Div 9 r6.5", "The lamps have not been confirmed yet: wait a moment, then press ENTER again.";
    /// A bell without the spinner's wager.
    SPINNER_WAGER_REQUIRED = 34, "E34", "Qld 2004 sch 13 s6(1)", "The spinner has no wager: press its side, then ENTER, before \"no more bets\".";
    /// A result without a bell.
    NO_CALL = 35, "E35", "Qld 2004 sch 13 s7(1)", "\"No more bets\" was not called for this spin: ring the bell first.";
    /// Too many of a set are lost.
    NEW_SET_REQUIRED = 36, "E36", "Qld 2004 sch 13 s22(1)(d)", "Too many of the set are lost: place a new set (NEW SET, ENTER) first.";
    /// A dealer who may not stop.
    DEALER_MUST_SPIN = 37, "E37", "Qld 2004 sch 13 s5(8)", "The dealer spins until there is a decision.";
    /// A spinner who may not go on.
    SPINNER_MUST_STOP = 38, "E38", "Qld 2004 sch 13 s10(2)", "The spinner must stop: select a new one.";
    /// The spinner has to choose.
    CHOICE_PENDING = 39, "E39", "Qld 1998 s478(1)", "The spinner has to choose first: SPINNER STOPS to retire, RELIEVE to have the boxer spin.";
    /// Nothing can be recorded.
    JOURNAL = 90, "E90", HOUSE, "The journal has no room, or cannot be written: no round begins. Call a technician.";
    /// A lock or a hold stands.
    LOCKED = 0, "LOC", "NZ Div 9 r7.4", "The table is locked or the round is held: a supervisor must act.";
    /// Test mode.
    TEST = 0, "TST", HOUSE, "The table is in test mode: nothing counts.";
    /// A closed table.
    CLOSED = 0, "CLO", "NZ Div 9 r5.1", "The table is closed.";
    /// The opening checks, before the first test entry.
    OPENING = 0, "OPN", HOUSE, "The table is being opened: what is keyed is a test entry and counts for nothing.";
}

impl From<Code> for Rejection {
    fn from(code: Code) -> Self {
        Rejection {
            code: code.number,
            readout: code.readout,
            text: code.text.to_string(),
            rule: code.rule,
        }
    }
}

impl Rejection {
    /// The answer to a command that can't be done now: what is wrong, and what to do instead.
    pub(crate) fn command(text: impl Into<String>, rule: Citation) -> Self {
        Rejection {
            code: 0,
            readout: "",
            text: text.into(),
            rule,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_dealers_know() {
        let list: Vec<_> = CODES.iter().map(|code| (code.number, code.readout)).collect();
        assert_eq!(
            list,
            [
                (1, "E01"),
                (2, "E02"),
                (3, "E03"),
                (4, "E04"),
                (5, "E05"),
                (6, "E06"),
                (7, "E07"),
                (8, "E08"),
                (20, "E20"),
                (21, "E21"),
                (22, "E22"),
                (23, "E23"),
                (30, "E30"),
                (31, "E31"),
                (32, "E32"),
                (33, "E33"),
                (34, "E34"),
                (35, "E35"),
                (36, "E36"),
                (37, "E37"),
                (38, "E38"),
                (39, "E39"),
                (90, "E90"),
                (0, "LOC"),
                (0, "TST"),
                (0, "CLO"),
                (0, "OPN"),
            ]
        );
    }

    #[test]
    fn every_readout_fits_and_shows_its_number() {
        for code in CODES {
            assert!(
                code.readout.len() == 3
                    && code
                        .readout
                        .bytes()
                        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            );
            assert!(code.number == 0 || code.readout == format!("E{:02}", code.number));
            assert!(code.text.ends_with('.') && !code.rule.is_empty());
        }
    }
}
