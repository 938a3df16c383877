//! The dice games that a table can be set up for, and what differs between them: the course of a round, the areas and what they
//! pay, the call, and where the law is silent. PURE.

use crate::rules::sic_bo::machine::Tumbler;
use crate::rules::sic_bo::{self, Paytable};
use crate::rules::tai_sai::{self, Layout, Style, VoidReason};
use crate::rules::wager::Odds;
use crate::table::event::{self, Area, OpeningCheck};
use crate::table::input::DeviceKind;

/// A dice game as the configuration has it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum DiceGame {
    /// Tai-sai: New Zealand Division 9.
    TaiSai {
        /// A or B.
        style: Style,
        /// Which areas.
        layout: Layout,
    },
    /// Sic-bo (Queensland).
    SicBo {
        /// The tumbler that is fitted.
        tumbler: Tumbler,
        /// What the areas pay, from an approved table; without one no odds are shown: each pays 0 per 0.
        paytable: Option<Paytable>,
        /// What the house has decided where the instruments are silent.
        policy: HousePolicy,
    },
}

/// What the instruments of sic-bo don't have, and a house may do all the same. Nothing of it unless it is configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HousePolicy {
    /// A round can be void.
    pub void: bool,
    /// Settlement waits for the lamps, and a lamp's fault holds the next round.
    pub lamps: bool,
    /// A result can be amended.
    pub amend: bool,
}

/// What starts a round, what closes its bets and what shows its dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Course {
    /// The dice are spun under a cover, then bets open; the bell closes them, and the cover comes off.
    CoveredTumbler,
    /// Bets open with the end of the last round; the bell closes them, then the dice are spun in sight.
    OpenTumbler,
    /// Bets open with the end of the last round; the bell closes them, then somebody throws: nothing tells that the dice have
    /// landed, and the entry follows.
    DiceCup,
}

/// On what ground something is done that not every law has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ground {
    /// The law has it.
    Law,
    /// The house has it, where the law at hand is silent.
    House,
    /// Neither has it.
    None,
}

impl Course {
    /// Devices without which no round starts.
    pub(crate) fn needed(self) -> &'static [DeviceKind] {
        match self {
            Course::CoveredTumbler | Course::OpenTumbler => {
                &[DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps]
            }
            Course::DiceCup => &[DeviceKind::Terminal, DeviceKind::LayoutLamps],
        }
    }

    /// The checks before play (r5.1; sic-bo's are the house's own, after it).
    pub(crate) fn checks(self) -> &'static [OpeningCheck] {
        match self {
            Course::CoveredTumbler | Course::OpenTumbler => &[
                OpeningCheck::Devices,
                OpeningCheck::LampWalk,
                OpeningCheck::TestEntries,
                OpeningCheck::Tumbler,
                OpeningCheck::Seal,
            ],
            Course::DiceCup => &[
                OpeningCheck::Devices,
                OpeningCheck::LampWalk,
                OpeningCheck::TestEntries,
                OpeningCheck::Dice,
            ],
        }
    }

    /// The dice are in a tumbler, which is a device of the table.
    pub(crate) fn has_tumbler(self) -> bool {
        match self {
            Course::CoveredTumbler | Course::OpenTumbler => true,
            Course::DiceCup => false,
        }
    }

    /// There is a cover whose going off means something.
    pub(crate) fn has_cover(self) -> bool {
        match self {
            Course::CoveredTumbler => true,
            Course::OpenTumbler | Course::DiceCup => false,
        }
    }

    /// Bets open by themselves as soon as a round may start.
    pub(crate) fn opens_at_once(self) -> bool {
        match self {
            Course::CoveredTumbler => false,
            Course::OpenTumbler | Course::DiceCup => true,
        }
    }
}

impl Ground {
    /// It is the house's, not the law's.
    pub(crate) fn is_policy(self) -> bool {
        match self {
            Ground::House => true,
            Ground::Law | Ground::None => false,
        }
    }
}

impl Course {
    /// The course of a round of this game and style, as `RoundStarted` named them.
    pub(crate) fn named(game: &str, style: &str) -> Course {
        match (game, style) {
            ("tai-sai", "B") => Course::DiceCup,
            ("sic-bo", "open") => Course::OpenTumbler,
            _ => Course::CoveredTumbler,
        }
    }
}

impl DiceGame {
    /// As events and the configuration name it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            DiceGame::TaiSai { .. } => "tai-sai",
            DiceGame::SicBo { .. } => "sic-bo",
        }
    }

    /// As events and the configuration name it: "A", "B"; of sic-bo its tumbler, "covered", "open".
    pub(crate) fn style(&self) -> &'static str {
        match self {
            DiceGame::TaiSai { style, .. } => style.name(),
            DiceGame::SicBo {
                tumbler: Tumbler::Covered,
                ..
            } => "covered",
            DiceGame::SicBo {
                tumbler: Tumbler::Open, ..
            } => "open",
        }
    }

    /// As events and the configuration name it; empty where the game has one only.
    pub(crate) fn layout(&self) -> &'static str {
        match self {
            DiceGame::TaiSai { layout, .. } => layout.name(),
            DiceGame::SicBo { .. } => "",
        }
    }

    /// Ids of the areas, in the order of the lamp map.
    pub(crate) fn areas(&self) -> &'static [&'static str] {
        match self {
            DiceGame::TaiSai { layout, .. } => tai_sai::areas(*layout),
            DiceGame::SicBo { .. } => sic_bo::areas(),
        }
    }

    /// What wins, with what it pays.
    pub(crate) fn winners(&self, faces: [u8; 3]) -> Vec<Area> {
        let area = |id: &str, odds: Odds| Area {
            id: id.to_string(),
            pays: odds.pays,
            per: odds.per,
        };
        match self {
            DiceGame::TaiSai { layout, .. } => tai_sai::winners(faces, *layout)
                .iter()
                .map(|winner| area(winner.id, winner.odds))
                .collect(),
            DiceGame::SicBo { paytable, .. } => {
                let unknown = Odds { pays: 0, per: 0 };
                let odds = |id: &str| paytable.as_ref().and_then(|table| table.pays(id, faces));
                sic_bo::winners(faces)
                    .into_iter()
                    .map(|id| area(id, odds(id).unwrap_or(unknown)))
                    .collect()
            }
        }
    }

    /// The dealer's call.
    pub(crate) fn call(&self, faces: [u8; 3]) -> String {
        match self {
            DiceGame::TaiSai { .. } => tai_sai::call(faces),
            DiceGame::SicBo { .. } => sic_bo::call(faces),
        }
    }

    /// The list of areas, for its digest.
    pub(crate) fn areas_text(&self) -> String {
        match self {
            DiceGame::TaiSai { layout, .. } => tai_sai::areas_text(*layout),
            DiceGame::SicBo { .. } => sic_bo::areas_text(),
        }
    }

    /// What each area pays, for its digest; `None` without a table of odds.
    pub(crate) fn paytable_text(&self) -> Option<String> {
        match self {
            DiceGame::TaiSai { layout, .. } => Some(tai_sai::paytable_text(*layout)),
            DiceGame::SicBo { paytable, .. } => paytable.as_ref().map(Paytable::text),
        }
    }

    pub(crate) fn course(&self) -> Course {
        match self {
            DiceGame::TaiSai { style: Style::A, .. }
            | DiceGame::SicBo {
                tumbler: Tumbler::Covered,
                ..
            } => Course::CoveredTumbler,
            DiceGame::SicBo {
                tumbler: Tumbler::Open, ..
            } => Course::OpenTumbler,
            DiceGame::TaiSai { style: Style::B, .. } => Course::DiceCup,
        }
    }

    /// Whether a round can be void (NZ r7.1).
    pub(crate) fn void(&self) -> Ground {
        self.ground(|policy| policy.void)
    }

    /// Whether settlement waits for the lamps, and their fault holds the next round (NZ r6.5, r7.3, r7.4).
    pub(crate) fn lamps(&self) -> Ground {
        self.ground(|policy| policy.lamps)
    }

    /// Whether a result can be amended (NZ r7.2).
    pub(crate) fn amend(&self) -> Ground {
        self.ground(|policy| policy.amend)
    }

    fn ground(&self, decided: fn(&HousePolicy) -> bool) -> Ground {
        match self {
            DiceGame::TaiSai { .. } => Ground::Law,
            DiceGame::SicBo { policy, .. } if decided(policy) => Ground::House,
            DiceGame::SicBo { .. } => Ground::None,
        }
    }

    /// Whether the spin is void, in law, when dice were seen too early or never spun: else a supervisor decides (SB-4).
    pub(crate) fn voids_by_itself(&self) -> bool {
        match self {
            DiceGame::TaiSai { .. } => true,
            DiceGame::SicBo { .. } => false,
        }
    }

    /// What `RoundStarted` says of the house's policy.
    pub(crate) fn policy(&self) -> Option<event::HousePolicy> {
        match self {
            DiceGame::TaiSai { .. } => None,
            DiceGame::SicBo { policy, .. } => Some(event::HousePolicy {
                void: policy.void,
                lamps: policy.lamps,
                amend: policy.amend,
            }),
        }
    }

    /// The reasons for which a round can be void: those of the style; of sic-bo those that its tumbler can have.
    pub(crate) fn void_reasons(&self) -> Vec<VoidReason> {
        let of_style = |style: Style| {
            VoidReason::ALL
                .into_iter()
                .filter(move |reason| reason.style() == style)
        };
        match self {
            DiceGame::TaiSai { style, .. } => of_style(*style).collect(),
            DiceGame::SicBo { tumbler, .. } => of_style(Style::A)
                .filter(|reason| *tumbler == Tumbler::Covered || *reason != VoidReason::AExposedEarly)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sic_bo(tumbler: Tumbler) -> DiceGame {
        DiceGame::SicBo {
            tumbler,
            paytable: None,
            policy: HousePolicy::default(),
        }
    }

    #[test]
    fn without_a_table_of_odds_none_are_shown() {
        let areas = sic_bo(Tumbler::Open).winners([1, 3, 6]);
        assert_eq!(areas.len(), 8);
        assert!(areas.iter().all(|area| (area.pays, area.per) == (0, 0)), "{areas:?}");
    }

    #[test]
    fn reasons_are_those_of_the_style_and_the_tumbler() {
        let codes = |game: &DiceGame| {
            game.void_reasons()
                .iter()
                .map(|r| r.code())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let cup = DiceGame::TaiSai {
            style: Style::B,
            layout: Layout::Appendix1,
        };
        assert_eq!(
            codes(&cup),
            "b_short_of_line b_left_area b_hit_object b_not_flat b_interference b_not_random"
        );
        assert_eq!(
            codes(&sic_bo(Tumbler::Open)),
            "a_not_flat a_tumbler_fault a_not_activated"
        );
        assert!(codes(&sic_bo(Tumbler::Covered)).contains("a_exposed_early"));
    }
}
