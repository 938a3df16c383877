//! Incidents that the law lists, and what they allow: chips that moved, throws at craps. PURE.
//!
//! A wager is settled by where it lies. For some causes, with the evidence that the law asks for, the casino operator may settle
//! it as if it lay where it was or should be; [`claim`] is the order of that. Most of the instruments are amending ones: where
//! their words end, this says so and guesses nothing. `Cn` marks a place where the law can be read in more than one way.

pub mod claim;

use super::citation::{Citation, nz_div_9, qld_1995, qld_2004, qld_sch_13};

/// A game of which the instruments say something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Game {
    /// NZ Division 9.
    TaiSai,
    /// Schedule 10.
    SicBo,
    /// Schedule 13.
    TwoUpDice,
    /// Part 21.
    TriplePenny,
    /// Schedule 7.
    MiniDice,
    /// Schedule 9.
    Roulette,
    /// Schedule 12.
    WheelOfFortune,
    /// Schedule 4.
    Craps,
}

impl Game {
    /// Every one.
    pub const ALL: [Game; 8] = [
        Game::TaiSai,
        Game::SicBo,
        Game::TwoUpDice,
        Game::TriplePenny,
        Game::MiniDice,
        Game::Roulette,
        Game::WheelOfFortune,
        Game::Craps,
    ];

    /// As configuration writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Game::TaiSai => "tai-sai",
            Game::SicBo => "sic-bo",
            Game::TwoUpDice => "two-up-dice",
            Game::TriplePenny => "triple-penny-two-up",
            Game::MiniDice => "mini-dice",
            Game::Roulette => "roulette",
            Game::WheelOfFortune => "wheel-of-fortune",
            Game::Craps => "craps",
        }
    }

    /// The rule that settles a wager by where it lies; `None` where it is not among the instruments.
    #[must_use]
    pub fn strict_rule(self) -> Option<Citation> {
        match self {
            Game::TaiSai => Some(nz_div_9!("r4.9")),
            Game::TwoUpDice => Some(qld_sch_13!("s17")),
            Game::Roulette => Some(qld_1995!("s139")),
            Game::SicBo | Game::TriplePenny | Game::MiniDice | Game::WheelOfFortune | Game::Craps => None,
        }
    }
}

/// Why a chip lies elsewhere than it was placed or should be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ChipCause {
    /// Another person moved it. A dealer is one who sweeps it away by accident, not one who misplaces it on instruction (C6).
    MovedByAnother,
    /// The dealer did not place it as instructed, or not at all.
    MisplacedByDealer,
    /// A die struck it during a spin, a valid one or not.
    StruckByDie,
    /// Its player moved it.
    MovedByPlayer,
    /// It fell by itself.
    FellByItself,
    /// Nobody can say where it lay.
    PlaceUnknown,
}

/// A throw at craps that was not as it must be. Both dice must do it (C8).
///
/// Two older grounds are repealed and have no code (C7).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CrapsThrow {
    /// The dice did not leave the hand together.
    NotSimultaneous,
    /// The dice did not strike the end farthest from the shooter.
    MissedFarEnd,
}

/// An incident that the law lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Incident {
    /// A chip lies elsewhere.
    Chip(ChipCause),
    /// A throw at craps.
    CrapsThrow(CrapsThrow),
}

/// What has to be shown before a wager is settled elsewhere than it lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Evidence {
    /// The casino operator can identify the chip and its original place; of several the first that can be (C3).
    ChipAndOriginalPlace,
    /// The dealer can confirm the instruction.
    InstructionConfirmed,
    /// It is apparent that the wager was accidentally moved or misplaced by the dealer or another patron; not for a call bet that
    /// the dealer placed wrongly.
    Apparent,
}

impl Evidence {
    /// A clause for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Evidence::ChipAndOriginalPlace => "the chip and its original place can be identified",
            Evidence::InstructionConfirmed => "the dealer can confirm the instruction",
            Evidence::Apparent => "it is apparent that this was an accident, and it was no call bet",
        }
    }
}

/// What an incident allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Allows {
    /// With this evidence, and when strict settlement would be unfair, the operator may settle as if the chip were in place.
    SettleInPlace {
        /// What has to be shown.
        evidence: Evidence,
        /// The rule.
        rule: Citation,
    },
    /// The wager is settled where it lies.
    Strict {
        /// The rule, where it is among the instruments.
        rule: Option<Citation>,
    },
    /// The section goes on beyond the words that we hold: somebody has to look it up.
    Unseen {
        /// The section.
        rule: Citation,
    },
    /// The throw may be called invalid; the call is the dealer's.
    CallInvalid {
        /// What the throw must be.
        rule: Citation,
    },
    /// It doesn't belong to this game, or none of its rules among the instruments speaks of it.
    Nothing,
}

impl Allows {
    /// The rule, if there is one.
    #[must_use]
    pub fn rule(self) -> Option<Citation> {
        match self {
            Allows::SettleInPlace { rule, .. } | Allows::Unseen { rule } | Allows::CallInvalid { rule } => Some(rule),
            Allows::Strict { rule } => rule,
            Allows::Nothing => None,
        }
    }

    /// One sentence for a person.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Allows::SettleInPlace { evidence, .. } => format!(
                "if {}, and settling it as it lies would be unfair to the player, the casino operator may settle it as if it lay in place",
                evidence.text()
            ),
            Allows::Strict { .. } => "the wager is settled where it lies".to_owned(),
            Allows::Unseen { .. } => "the words of the section that are at hand end before this: look it up".to_owned(),
            Allows::CallInvalid { .. } => "the throw may be called invalid; the call is the dealer's".to_owned(),
            Allows::Nothing => "no rule at hand speaks of it at this game".to_owned(),
        }
    }
}

impl ChipCause {
    /// Every one; those that the law lists come first.
    pub const ALL: [ChipCause; 6] = [
        ChipCause::MovedByAnother,
        ChipCause::MisplacedByDealer,
        ChipCause::StruckByDie,
        ChipCause::MovedByPlayer,
        ChipCause::FellByItself,
        ChipCause::PlaceUnknown,
    ];

    /// What it allows at this game.
    #[must_use]
    pub fn allows(self, game: Game) -> Allows {
        let strict = Allows::Strict {
            rule: game.strict_rule(),
        };
        match (self, game) {
            (_, Game::TriplePenny | Game::Craps) => Allows::Nothing,
            (ChipCause::MovedByPlayer | ChipCause::FellByItself | ChipCause::PlaceUnknown, _) => strict,
            (ChipCause::MovedByAnother, game) => moved_by_another(game),
            (ChipCause::MisplacedByDealer, Game::TaiSai) => in_place(Evidence::Apparent, nz_div_9!("r4.9")),
            (ChipCause::MisplacedByDealer, Game::TwoUpDice) => {
                in_place(Evidence::InstructionConfirmed, qld_sch_13!("s18(1)(a)(ii)"))
            }
            (ChipCause::StruckByDie, Game::TwoUpDice) => {
                in_place(Evidence::ChipAndOriginalPlace, qld_sch_13!("s18(1)(a)(iii)"))
            }
            // Dice under a dome or in a throwing area of their own, or none at all: nothing that could strike a chip.
            (ChipCause::StruckByDie, Game::TaiSai | Game::Roulette | Game::WheelOfFortune) => strict,
            (ChipCause::MisplacedByDealer | ChipCause::StruckByDie, Game::SicBo) => {
                unseen(qld_2004!("sch 10 s10(1)(a)"))
            }
            (ChipCause::MisplacedByDealer | ChipCause::StruckByDie, Game::MiniDice) => {
                unseen(qld_2004!("sch 7 s9(1)(a)"))
            }
            (ChipCause::MisplacedByDealer, Game::Roulette) => unseen(qld_2004!("sch 9 s11(1)(a)")),
            (ChipCause::MisplacedByDealer, Game::WheelOfFortune) => unseen(qld_2004!("sch 12 s10(1)(a)")),
        }
    }
}

fn in_place(evidence: Evidence, rule: Citation) -> Allows {
    Allows::SettleInPlace { evidence, rule }
}

fn unseen(rule: Citation) -> Allows {
    Allows::Unseen { rule }
}

fn moved_by_another(game: Game) -> Allows {
    let rule = match game {
        Game::TaiSai => return in_place(Evidence::Apparent, nz_div_9!("r4.9")),
        Game::TriplePenny | Game::Craps => return Allows::Nothing,
        Game::TwoUpDice => qld_sch_13!("s18(1)(a)(i)"),
        Game::SicBo => qld_2004!("sch 10 s10(1)(a)(i)"),
        Game::MiniDice => qld_2004!("sch 7 s9(1)(a)(i)"),
        Game::Roulette => qld_2004!("sch 9 s11(1)(a)(i)"),
        Game::WheelOfFortune => qld_2004!("sch 12 s10(1)(a)(i)"),
    };
    in_place(Evidence::ChipAndOriginalPlace, rule)
}

impl Incident {
    /// Every one.
    pub const ALL: [Incident; 8] = [
        Incident::Chip(ChipCause::MovedByAnother),
        Incident::Chip(ChipCause::MisplacedByDealer),
        Incident::Chip(ChipCause::StruckByDie),
        Incident::Chip(ChipCause::MovedByPlayer),
        Incident::Chip(ChipCause::FellByItself),
        Incident::Chip(ChipCause::PlaceUnknown),
        Incident::CrapsThrow(CrapsThrow::NotSimultaneous),
        Incident::CrapsThrow(CrapsThrow::MissedFarEnd),
    ];

    /// As commands and events write it: "chip_struck_by_die".
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Incident::Chip(ChipCause::MovedByAnother) => "chip_moved_by_another",
            Incident::Chip(ChipCause::MisplacedByDealer) => "chip_misplaced_by_dealer",
            Incident::Chip(ChipCause::StruckByDie) => "chip_struck_by_die",
            Incident::Chip(ChipCause::MovedByPlayer) => "chip_moved_by_player",
            Incident::Chip(ChipCause::FellByItself) => "chip_fell_by_itself",
            Incident::Chip(ChipCause::PlaceUnknown) => "chip_place_unknown",
            Incident::CrapsThrow(CrapsThrow::NotSimultaneous) => "craps_not_simultaneous",
            Incident::CrapsThrow(CrapsThrow::MissedFarEnd) => "craps_missed_far_end",
        }
    }

    /// The incident with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Incident> {
        Incident::ALL.into_iter().find(|incident| incident.code() == code)
    }

    /// A clause for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Incident::Chip(ChipCause::MovedByAnother) => "another person moved a player's chip",
            Incident::Chip(ChipCause::MisplacedByDealer) => "the dealer did not place a chip as instructed",
            Incident::Chip(ChipCause::StruckByDie) => "a die struck a chip and moved it",
            Incident::Chip(ChipCause::MovedByPlayer) => "the player moved the chip",
            Incident::Chip(ChipCause::FellByItself) => "a chip fell by itself",
            Incident::Chip(ChipCause::PlaceUnknown) => "nobody can say where a chip lay",
            Incident::CrapsThrow(CrapsThrow::NotSimultaneous) => "craps: the dice did not leave the hand together",
            Incident::CrapsThrow(CrapsThrow::MissedFarEnd) => {
                "craps: the dice did not strike the end farthest from the shooter"
            }
        }
    }

    /// What it allows at this game.
    #[must_use]
    pub fn allows(self, game: Game) -> Allows {
        match (self, game) {
            (Incident::Chip(cause), game) => cause.allows(game),
            (Incident::CrapsThrow(throw), Game::Craps) => Allows::CallInvalid {
                rule: match throw {
                    CrapsThrow::NotSimultaneous => qld_2004!("sch 4 s21(1)(a)"),
                    CrapsThrow::MissedFarEnd => qld_2004!("sch 4 s21(1)(b), s22(2)(b)"),
                },
            },
            (
                Incident::CrapsThrow(_),
                Game::TaiSai
                | Game::SicBo
                | Game::TwoUpDice
                | Game::TriplePenny
                | Game::MiniDice
                | Game::Roulette
                | Game::WheelOfFortune,
            ) => Allows::Nothing,
        }
    }

    /// What it allows where it is recorded at a table of this game: a chip by the rules of that game, a throw at craps by those of
    /// craps, whatever the table plays that records it.
    #[must_use]
    pub fn allows_at(self, table: Game) -> Allows {
        match self {
            Incident::Chip(_) => self.allows(table),
            Incident::CrapsThrow(_) => self.allows(Game::Craps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_incidents() {
        for incident in Incident::ALL {
            assert_eq!(Incident::from_code(incident.code()), Some(incident));
        }
        assert_eq!(Incident::from_code("craps_rail"), None);
    }

    #[test]
    fn what_is_allowed_is_what_the_instruments_say() {
        let mut told = String::new();
        for game in Game::ALL {
            for incident in Incident::ALL {
                let allows = incident.allows(game);
                let kind = match allows {
                    Allows::SettleInPlace { evidence, .. } => format!("in place, {evidence:?}"),
                    Allows::Strict { .. } => "strict".to_owned(),
                    Allows::Unseen { .. } => "unseen".to_owned(),
                    Allows::CallInvalid { .. } => "invalid".to_owned(),
                    Allows::Nothing => continue,
                };
                told.push_str(&format!(
                    "{} {}: {kind} ({})\n",
                    game.name(),
                    incident.code(),
                    allows.rule().unwrap_or("-")
                ));
            }
        }
        insta::assert_snapshot!(told);
    }
}
