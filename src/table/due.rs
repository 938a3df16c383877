//! What time brings: when each wait ends, and what happens then. PURE.
//!
//! Every wait is worked out from state and sight, never stored by itself, so that the same function says when it ends and
//! whether it has ended.

use crate::table::draft::Draft;
use crate::table::entry::Which;
use crate::table::game::Family;
use crate::table::seen::{Authority, Seen};
use crate::table::state::State;
use crate::table::{alert, device_test, entry, locks, opening, readout, refused_act};
use crate::time::Uptime;
use std::time::Duration;

/// The supervisor's key gives its authority for at most this long.
pub(crate) const AUTHORITY: Duration = Duration::from_secs(30);

/// A supervisor's key that is on this long was forgotten.
const KEY_LEFT_ON: Duration = Duration::from_secs(60);

/// What waits are worked out from.
pub(crate) struct Look<'a, F> {
    pub(crate) game: &'a F,
    pub(crate) state: &'a State,
    pub(crate) seen: &'a Seen,
}

impl<F> Draft<'_, F> {
    pub(crate) fn look(&self) -> Look<'_, F> {
        Look {
            game: self.game,
            state: &self.state,
            seen: &self.seen,
        }
    }
}

/// A lock stands or a needed device is away: the next round does not start.
pub(crate) fn is_next_round_held_back<F: Family>(look: &Look<'_, F>) -> bool {
    !look.state.locks.is_empty() || look.game.needed().iter().any(|kind| !look.state.is_online(*kind))
}

/// Does everything that is due at the draft's time, as far as there is room.
pub(crate) fn run<F: Family>(draft: &mut Draft<'_, F>) {
    key(draft);
    entry::write_counts(draft, Which::Due);
    refused_act::write_counts(draft, refused_act::Which::Due);
    F::write_counts(draft, Which::Due);
    locks::guard(draft);
    F::due(draft);
    opening::walk(draft);
    device_test::due(draft);
    alert::follow(draft);
}

/// When something is due next.
pub(crate) fn next<F: Family>(look: &Look<'_, F>) -> Option<Uptime> {
    let at = [
        look.seen.unfinished.then_some(look.seen.latest),
        key_at(look),
        entry::counts_at(look),
        refused_act::counts_at(look),
        F::next(look),
        opening::walk_at(look),
        device_test::judge_at(look),
        readout::next(look),
    ];
    at.into_iter().flatten().min().map(|at| at.max(look.seen.latest))
}

/// When the supervisor's key loses its authority, or was forgotten.
fn key_at<F>(look: &Look<'_, F>) -> Option<Uptime> {
    match look.seen.key {
        Authority::Off => None,
        Authority::Running { since } => Some(since + AUTHORITY),
        Authority::Spent { since } => {
            let told = look.state.standing(alert::Name::KeyLeftOn).is_some();
            (!told).then_some(since + KEY_LEFT_ON)
        }
    }
}

fn key<F: Family>(draft: &mut Draft<'_, F>) {
    match draft.seen.key {
        Authority::Off => {
            if draft.has_room(1) {
                alert::clear(draft, alert::Name::KeyLeftOn);
            }
        }
        Authority::Running { since } if since + AUTHORITY <= draft.now => {
            draft.seen.key = Authority::Spent { since };
        }
        Authority::Spent { since } if since + KEY_LEFT_ON <= draft.now => {
            if draft.has_room(1) {
                let text = "The supervisor's key has been on for a minute: turn it off and take it out.";
                draft.raise(alert::Name::KeyLeftOn, text);
            }
        }
        Authority::Running { .. } | Authority::Spent { .. } => {}
    }
}

/// The round ends: what is only counted yet is written in it, as far as there is room beside its end.
pub(crate) fn round_ends<F: Family>(draft: &mut Draft<'_, F>) {
    const ITS_END: usize = 8;
    draft.reserve(ITS_END);
    entry::write_counts(draft, Which::OfRound);
    F::write_counts(draft, Which::OfRound);
    draft.reserve(0);
}

/// The daemon stops: a test that runs is broken off by it, and what is only counted yet is written now.
pub(crate) fn stopping<F: Family>(draft: &mut Draft<'_, F>) {
    device_test::left(draft);
    entry::write_counts(draft, Which::All);
    refused_act::write_counts(draft, refused_act::Which::All);
    F::write_counts(draft, Which::All);
}
