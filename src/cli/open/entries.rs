//! The test entries of an opening: what is keyed at which game, and what lights up for a person to see.

use crate::control::{Act, Check, OutcomeName};
use crate::gateway::View;
use crate::rules::sic_bo;
use crate::rules::tai_sai::{self, Layout};
use crate::table::input::Outcome;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The three of a day at a dice table: different totals, a double, a triple. Each in order, as the daemon tells what was entered.
const OF_A_DAY: [[u8; 3]; 3] = [[1, 3, 6], [2, 2, 5], [4, 4, 4]];

/// How many are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// A few of different kinds.
    Day,
    /// Until everything that can be lit was lit.
    Commissioning,
}

/// The areas that an entry of dice lights.
type Lights = fn([u8; 3]) -> Vec<&'static str>;

/// One test entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TestEntry {
    /// Dice, in order, and the areas they light.
    Dice { faces: [u8; 3], areas: Vec<&'static str> },
    /// A result of two-up, and how it is shown.
    TwoUp { outcome: OutcomeName, shown: Shown },
}

/// How two-up shows a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shown {
    /// By the light of the result that stands in the row.
    FirstLight,
    /// By as many lights as coins show the side.
    LightPerCoin,
    /// On the readout alone.
    Readout,
}

impl TestEntry {
    /// What is pressed before ENTER.
    pub(super) fn keys(&self) -> String {
        match self {
            TestEntry::Dice {
                faces: [one, two, three],
                ..
            } => format!("{one} {two} {three}"),
            TestEntry::TwoUp { outcome, .. } => key(*outcome),
        }
    }

    /// What is seen then.
    pub(super) fn seen(&self) -> String {
        match self {
            TestEntry::Dice { areas, .. } => {
                format!("These areas light up, and no others:\n  {}", areas.join(", "))
            }
            TestEntry::TwoUp { shown, .. } => match shown {
                Shown::FirstLight => "Its first light goes on, and no other.".to_owned(),
                Shown::LightPerCoin => "As many lights of its side go on as coins show it, and no others.".to_owned(),
                Shown::Readout => "The readout shows its letter.".to_owned(),
            },
        }
    }

    /// Shows it without the terminal.
    pub(super) fn light(&self) -> Act {
        match self {
            TestEntry::Dice { faces, .. } => Act::LightTestEntry { faces: *faces },
            TestEntry::TwoUp { outcome, .. } => Act::LightTestOutcome { outcome: *outcome },
        }
    }

    /// The daemon shows it.
    pub(super) fn is_made(&self, view: &View) -> bool {
        let situation = &view.table.situation;
        match self {
            TestEntry::Dice { faces, .. } => situation.test_entry == Some(*faces),
            TestEntry::TwoUp { outcome, .. } => {
                situation.test_outcome.as_deref() == Some(Outcome::from(*outcome).name())
            }
        }
    }
}

/// As the key is labelled.
fn key(outcome: OutcomeName) -> String {
    Outcome::from(outcome).name().to_uppercase()
}

/// Those of the table's game.
pub(super) fn of(view: &View, extent: Extent) -> Vec<TestEntry> {
    use OutcomeName::{Heads, Odds, Tails, TripleHeads, TripleTails};
    let results = |outcomes: &[OutcomeName], by_lights: Shown| {
        let shown = match super::needs(view, Check::LampWalk) {
            true => by_lights,
            false => Shown::Readout,
        };
        let entry = |outcome: &OutcomeName| TestEntry::TwoUp {
            outcome: *outcome,
            shown,
        };
        outcomes.iter().map(entry).collect()
    };
    match (view.table.game.as_str(), view.table.layout.as_str()) {
        ("two-up-dice", _) => results(&[Heads, Tails, Odds], Shown::FirstLight),
        ("triple-penny-two-up", _) => results(&[Heads, Tails, TripleHeads, TripleTails], Shown::LightPerCoin),
        ("sic-bo", _) => dice(sic_bo::winners, sic_bo::areas(), extent),
        (_, "appendix-2") => dice(on_appendix_2, tai_sai::areas(Layout::Appendix2), extent),
        _ => dice(on_appendix_1, tai_sai::areas(Layout::Appendix1), extent),
    }
}

fn on_appendix_1(faces: [u8; 3]) -> Vec<&'static str> {
    let won = tai_sai::winners(faces, Layout::Appendix1);
    won.into_iter().map(|area| area.id).collect()
}

fn on_appendix_2(faces: [u8; 3]) -> Vec<&'static str> {
    let won = tai_sai::winners(faces, Layout::Appendix2);
    won.into_iter().map(|area| area.id).collect()
}

fn dice(lights: Lights, areas: &[&'static str], extent: Extent) -> Vec<TestEntry> {
    let entries = match extent {
        Extent::Day => OF_A_DAY.to_vec(),
        Extent::Commissioning => ordered(lights, covering(lights, areas)),
    };
    let entry = |faces| TestEntry::Dice {
        faces,
        areas: lights(faces),
    };
    entries.into_iter().map(entry).collect()
}

/// Entries that light every area at least once: 17, or 56 for tai-sai's alternative layout. The area that the fewest outcomes light
/// is lit next, by the outcome that lights the most dark areas with it.
fn covering(lights: Lights, areas: &[&'static str]) -> Vec<[u8; 3]> {
    let outcomes: Vec<_> = tai_sai::outcomes().filter(|faces| faces.is_sorted()).collect();
    let lit_by = |faces: [u8; 3]| -> BTreeSet<&'static str> { lights(faces).into_iter().collect() };
    let rarity = |area: &&str| outcomes.iter().filter(|faces| lit_by(**faces).contains(*area)).count();
    let mut dark: BTreeSet<_> = areas.iter().copied().collect();
    let mut entries = Vec::new();
    while let Some(rarest) = dark.iter().copied().min_by_key(rarity) {
        let best = outcomes
            .iter()
            .filter(|faces| lit_by(**faces).contains(rarest))
            .max_by_key(|faces| lit_by(**faces).intersection(&dark).count());
        let Some(faces) = best else { break };
        dark = dark.difference(&lit_by(*faces)).copied().collect();
        entries.push(*faces);
    }
    entries
}

/// The same entries in the order that finds a fault soonest and is keyed fastest: next comes the one that lights the most areas that
/// were not lit yet; of several, the one that differs from the last in the fewest keys; of several, the lowest.
fn ordered(lights: Lights, mut entries: Vec<[u8; 3]>) -> Vec<[u8; 3]> {
    let mut lit = BTreeSet::new();
    let mut order: Vec<[u8; 3]> = Vec::new();
    while !entries.is_empty() {
        let new = |faces: [u8; 3]| lights(faces).into_iter().filter(|area| !lit.contains(area)).count();
        let keys = |faces: [u8; 3]| {
            let differs = |last: &[u8; 3]| last.iter().zip(faces).filter(|(last, now)| *last != now).count();
            order.last().map_or(0, differs)
        };
        let next = (0..entries.len()).min_by_key(|at| {
            let faces = entries.get(*at).copied().unwrap_or_default();
            (Reverse(new(faces)), keys(faces), faces)
        });
        let Some(next) = next else { break };
        let faces = entries.remove(next);
        lit.extend(lights(faces));
        order.push(faces);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::testing;

    fn at(game: &str, layout: &str, checks: &[&str]) -> View {
        let mut table = testing::view();
        table.game = game.into();
        table.layout = layout.into();
        table.situation.checks = checks.iter().map(|check| (*check).to_owned()).collect();
        View {
            table,
            links: Vec::new(),
            uplink: None,
        }
    }

    #[test]
    fn the_entries_of_a_commissioning_light_every_area() {
        let tables = [
            ("tai-sai", "appendix-1", tai_sai::areas(Layout::Appendix1), 17),
            ("tai-sai", "appendix-2", tai_sai::areas(Layout::Appendix2), 56),
            ("sic-bo", "", sic_bo::areas(), 17),
        ];
        for (game, layout, areas, fewest) in tables {
            let entries = of(&at(game, layout, &["lamp_walk"]), Extent::Commissioning);
            let lit: BTreeSet<_> = entries
                .iter()
                .flat_map(|entry| match entry {
                    TestEntry::Dice { areas, .. } => areas.clone(),
                    TestEntry::TwoUp { .. } => Vec::new(),
                })
                .collect();
            assert_eq!(lit, areas.iter().copied().collect(), "{game} {layout}");
            assert_eq!(entries.len(), fewest, "{game} {layout}");
            // Half of the entries have lit most of the layout: a fault is found soon.
            let soon: BTreeSet<_> = entries
                .iter()
                .take(fewest.div_ceil(2))
                .flat_map(|entry| match entry {
                    TestEntry::Dice { areas, .. } => areas.clone(),
                    TestEntry::TwoUp { .. } => Vec::new(),
                })
                .collect();
            assert!(
                soon.len() * 10 >= areas.len() * 7,
                "{game} {layout}: {} of {}",
                soon.len(),
                areas.len()
            );
        }
    }

    #[test]
    fn each_entry_of_a_commissioning_lights_no_fewer_new_areas_than_the_next() {
        let mut lit = BTreeSet::new();
        let mut before = usize::MAX;
        let order = ordered(
            on_appendix_2,
            covering(on_appendix_2, tai_sai::areas(Layout::Appendix2)),
        );
        for faces in &order {
            let new = on_appendix_2(*faces)
                .into_iter()
                .filter(|area| lit.insert(*area))
                .count();
            assert!(
                new <= before && new > 0,
                "{faces:?} lights {new} after {before}: {order:?}"
            );
            before = new;
        }
        let apart = |pair: &[[u8; 3]]| {
            pair[0]
                .iter()
                .zip(pair[1])
                .filter(|(one, other)| **one != *other)
                .count()
        };
        let near = order.windows(2).filter(|pair| apart(pair) == 1).count();
        assert!(
            near * 2 > order.len(),
            "most differ in one key from the one before: {near} of {order:?}"
        );
    }

    #[test]
    fn each_game_has_entries_of_its_own() {
        let told = |game, layout, checks: &[&str]| -> Vec<String> {
            let entries = of(&at(game, layout, checks), Extent::Day);
            let tell = |entry: &TestEntry| format!("{}: {}", entry.keys(), entry.seen());
            entries.iter().map(tell).collect()
        };
        let sic_bo = told("sic-bo", "", &["lamp_walk"]);
        assert!(
            sic_bo[1].starts_with("2 2 5: These areas light up") && sic_bo[1].contains("double_2"),
            "{sic_bo:?}"
        );
        assert_eq!(
            told("two-up-dice", "", &["lamp_walk"]),
            ["HEADS", "TAILS", "ODDS"].map(|key| format!("{key}: Its first light goes on, and no other."))
        );
        assert_eq!(
            told("triple-penny-two-up", "", &[]),
            ["HEADS", "TAILS", "TRIPLE_HEADS", "TRIPLE_TAILS"]
                .map(|key| format!("{key}: The readout shows its letter."))
        );
    }

    #[test]
    fn an_entry_is_made_when_the_daemon_shows_it() {
        let mut view = at("two-up-dice", "", &["lamp_walk"]);
        let entries = of(&view, Extent::Day);
        assert!(!entries.iter().any(|entry| entry.is_made(&view)));
        view.table.situation.test_outcome = Some("tails".into());
        let made: Vec<_> = entries
            .iter()
            .filter(|entry| entry.is_made(&view))
            .map(TestEntry::keys)
            .collect();
        assert_eq!(made, ["TAILS"]);
    }
}
