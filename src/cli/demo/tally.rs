//! What the demo has done, as the floor heard it, for the summary.

use super::super::sim::game::Game;
use crate::counted::counted;
use crate::table::event::{Body, Event};

/// Counts of the few facts that a summary names.
#[derive(Default)]
pub struct Tally {
    settled: u32,
    void: u32,
    refused: u32,
    amended: u32,
    held: u32,
    lamp_faults: u32,
    ended: [u32; 4],
    /// How the newest game of two-up ended, while a correction could take it back.
    newest: Option<(u64, End)>,
    spins: u32,
    invalid: u32,
    overruled: u32,
    corrected: u32,
    cards: u32,
}

/// How a game of two-up ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Won = 0,
    Lost = 1,
    OfTheHouse = 2,
    Returned = 3,
}

impl Tally {
    /// Takes in one event.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a summary names the few facts that it counts"
    )]
    pub fn count(&mut self, event: &Event) {
        let Some(body) = &event.body else { return };
        match body {
            Body::RoundSettled(_) => self.settled += 1,
            Body::RoundVoided(_) => self.void += 1,
            Body::EntryRejected(rejected) => self.refused += rejected.count,
            Body::ResultAmended(_) => self.amended += 1,
            Body::RoundHeld(_) => self.held += 1,
            Body::LampFailed(_) => self.lamp_faults += 1,
            Body::SpinnerWagerDecided(decided) if decided.won => self.end(event.round_id, End::Won),
            Body::SpinnerWagerDecided(_) => self.end(event.round_id, End::Lost),
            Body::PlayersWagersDecided(decided) if decided.ends_game => self.end(event.round_id, End::OfTheHouse),
            Body::SpinnerChanged(changed) if changed.wager_returned => self.end(event.round_id, End::Returned),
            Body::SpinResulted(_) => self.spins += 1,
            Body::SpinInvalidated(_) => self.invalid += 1,
            Body::InvalidSpinOverruled(_) => self.overruled += 1,
            Body::SpinCorrected(_) => {
                self.corrected += 1;
                self.take_back(event.round_id);
            }
            Body::ResultCardRequired(_) => self.cards += 1,
            _ => {}
        }
    }

    fn end(&mut self, round_id: u64, end: End) {
        self.newest = Some((round_id, end));
        if let Some(count) = self.ended.get_mut(end as usize) {
            *count += 1;
        }
    }

    /// What a wrong key decided is decided anew.
    fn take_back(&mut self, round_id: u64) {
        let Some((_, end)) = self.newest.take_if(|(of, _)| *of == round_id) else {
            return;
        };
        if let Some(count) = self.ended.get_mut(end as usize) {
            *count = count.saturating_sub(1);
        }
    }

    /// One line.
    pub fn in_words(&self, game: Game) -> String {
        match game {
            Game::TaiSai { .. } | Game::SicBo(_) => format!(
                "{}: {} settled, {} void; {} refused, {} amended, {} held, {}.",
                counted(self.settled + self.void, "round"),
                self.settled,
                self.void,
                counted(self.refused, "entry"),
                self.amended,
                self.held,
                counted(self.lamp_faults, "lamp fault"),
            ),
            Game::TwoUp(_) => {
                let [won, lost, of_the_house, returned] = self.ended;
                format!(
                    "{}: {won} won, {lost} lost, {of_the_house} of the house, {returned} given back; {}, {} invalid, \
                     {} overruled, {} corrected; {} refused, {}.",
                    counted(won + lost + of_the_house + returned, "game"),
                    counted(self.spins, "spin"),
                    self.invalid,
                    self.overruled,
                    self.corrected,
                    counted(self.refused, "entry"),
                    counted(self.cards, "card"),
                )
            }
        }
    }
}
