//! Players' chips in the law's machine: who may place and take them when, and what they win. PURE.

use super::operation::{Cause, Refusal};
use crate::rules::citation::nz_div_9;
use crate::rules::tai_sai::{Layout, Odds, wager};
pub use crate::rules::wager::{MAX_STAKE, Outcome, PlacedWager};

/// A wager that was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolved {
    /// The wager.
    pub wager: PlacedWager,
    /// What became of it.
    pub outcome: Outcome,
}

/// The chips on the layout.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Chips {
    placed: Vec<PlacedWager>,
}

impl Chips {
    pub(super) fn placed(&self) -> &[PlacedWager] {
        &self.placed
    }

    /// Adds to what the seat has there (r4.1, r4.3).
    pub(super) fn place(&mut self, seat: u8, area: &str, stake: u64, layout: Layout) -> Result<(), Refusal> {
        let area = area_id(area, layout)?;
        let there = self.placed.iter_mut().find(|w| w.seat == seat && w.area == area);
        let before = there.as_ref().map_or(0, |w| w.stake);
        let after = before
            .checked_add(stake)
            .filter(|sum| stake > 0 && *sum <= MAX_STAKE)
            .ok_or(Refusal {
                cause: Cause::StakeOutOfRange,
                rule: nz_div_9!("r4.3"),
            })?;
        match there {
            Some(wager) => wager.stake = after,
            None => self.placed.push(PlacedWager {
                seat,
                area,
                stake: after,
            }),
        }
        Ok(())
    }

    /// Takes back all that the seat has there.
    pub(super) fn withdraw(&mut self, seat: u8, area: &str, layout: Layout) -> Result<(), Refusal> {
        let area = area_id(area, layout)?;
        let before = self.placed.len();
        self.placed.retain(|w| !(w.seat == seat && w.area == area));
        if self.placed.len() == before {
            return Err(Refusal {
                cause: Cause::NoSuchWager,
                rule: nz_div_9!("r4.7"),
            });
        }
        Ok(())
    }

    /// Takes the losing wagers off the layout (r6.5(a), r6A.11(a)).
    pub(super) fn collect_losing(&mut self, faces: [u8; 3], layout: Layout) -> Vec<Resolved> {
        let (winning, losing) = self.placed.iter().partition(|w| paid(w.area, faces, layout).is_some());
        self.placed = winning;
        losing
            .into_iter()
            .map(|wager: PlacedWager| Resolved {
                wager,
                outcome: Outcome::Lost,
            })
            .collect()
    }

    /// Pays what is left, and gives the chips back to their players (r6.5(b), r6A.11(b), r4.10).
    pub(super) fn pay_winning(&mut self, faces: [u8; 3], layout: Layout) -> Vec<Resolved> {
        std::mem::take(&mut self.placed)
            .into_iter()
            .map(|wager| {
                let outcome = paid(wager.area, faces, layout).map_or(Outcome::Lost, |odds| odds.won(wager.stake));
                Resolved { wager, outcome }
            })
            .collect()
    }
}

/// What the area pays for these faces; `None` when it loses.
pub(super) fn paid(area: &str, faces: [u8; 3], layout: Layout) -> Option<Odds> {
    wager::wager(area, layout)?.pays(faces)
}

/// The layout's own text of this id.
pub(super) fn area_id(area: &str, layout: Layout) -> Result<&'static str, Refusal> {
    wager::areas(layout)
        .iter()
        .find(|known| **known == area)
        .copied()
        .ok_or(Refusal {
            cause: Cause::NoSuchArea,
            rule: nz_div_9!("r4.1"),
        })
}
