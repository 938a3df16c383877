//! What time brings: when each wait ends, and what happens then. PURE.
//!
//! Every wait is worked out from state and sight, never stored by itself, so that the same function says when it ends and
//! whether it has ended.

use crate::table::draft::Draft;
use crate::table::input::{Cover, DeviceKind};
use crate::table::mode::Mode;
use crate::table::seen::{Authority, Seen};
use crate::table::state::State;
use crate::table::tai_sai::layout::LayoutLamps;
use crate::table::tai_sai::phase::{Phase, Proof};
use crate::table::tai_sai::{entry, lamps, opening, play, settle, tumbler};
use crate::table::{TaiSaiConfig, alert, locks};
use crate::time::Uptime;
use std::time::Duration;

/// The supervisor's key gives its authority for at most this long.
pub(crate) const AUTHORITY: Duration = Duration::from_secs(30);

/// A supervisor's key that is on this long was forgotten.
const KEY_LEFT_ON: Duration = Duration::from_secs(60);

/// Devices that a round of style A needs.
pub(crate) const NEEDED: [DeviceKind; 3] = [DeviceKind::Tumbler, DeviceKind::Terminal, DeviceKind::LayoutLamps];

/// What waits are worked out from.
pub(crate) struct Look<'a> {
    pub(crate) config: &'a TaiSaiConfig,
    pub(crate) layout: &'a LayoutLamps,
    pub(crate) state: &'a State,
    pub(crate) seen: &'a Seen,
}

impl Draft<'_> {
    pub(crate) fn look(&self) -> Look<'_> {
        Look {
            config: self.config,
            layout: self.layout,
            state: &self.state,
            seen: &self.seen,
        }
    }
}

/// A lock stands or a needed device is away: the next round does not start.
pub(crate) fn is_next_round_held_back(state: &State) -> bool {
    !state.locks.is_empty() || NEEDED.iter().any(|kind| !state.is_online(*kind))
}

/// Play goes on by itself: the table is open, and neither frozen nor held.
fn running<'a>(look: &Look<'a>) -> Option<&'a Phase> {
    let waits = look.state.is_frozen() || look.state.is_held();
    look.state.phase().filter(|_| !waits)
}

/// Does everything that is due at the draft's time, as far as there is room.
pub(crate) fn run(draft: &mut Draft<'_>) {
    key(draft);
    entry::write_counts(draft, entry::Which::Due);
    lamps::write_flicker(draft, entry::Which::Due);
    locks::guard(draft);
    if cover_at(&draft.look()).is_some_and(|at| at <= draft.now) && draft.has_room(6) {
        play::cover_is_off(draft);
    }
    if draft.has_room(1) {
        play::open_bets(draft);
    }
    lamps::judge(draft);
    if draft.has_room(1) {
        settle::by_cover(draft);
    }
    opening::walk(draft);
    alert::follow(draft);
}

/// When something is due next.
pub(crate) fn next(look: &Look<'_>) -> Option<Uptime> {
    let at = [
        look.seen.unfinished.then_some(look.seen.latest),
        key_at(look),
        entry::counts_at(look),
        lamps::flicker_at(look),
        cover_at(look),
        bets_open_at(look),
        lamps::judge_at(look),
        settle::by_cover_at(look),
        opening::walk_at(look),
        crate::table::readout::next(look),
    ];
    at.into_iter().flatten().min().map(|at| at.max(look.seen.latest))
}

/// When bets open.
pub(crate) fn bets_open_at(look: &Look<'_>) -> Option<Uptime> {
    let Phase::Tumbling(tumbling) = running(look)? else {
        return None;
    };
    let seen = &look.seen.tumbler;
    let waits = tumbling.round.spins < play::SPINS_NEEDED
        || is_next_round_held_back(look.state)
        || seen.is_spinning()
        || seen.cover() == Cover::Off
        || seen.exposed_at.is_some();
    (!waits).then(|| tumbling.quiet_since.max(seen.rest_at) + look.config.rest)
}

/// When a cover that is off, or was off for long enough, means something.
pub(crate) fn cover_at(look: &Look<'_>) -> Option<Uptime> {
    let seen = &look.seen.tumbler;
    let off_at = seen.off_at.or(seen.exposed_at)?;
    match running(look)? {
        Phase::Ready(_) => {
            let bell_at = seen.bell_without_tumble?;
            (seen.off_at? >= bell_at).then_some(off_at + tumbler::COVER_OFF)
        }
        Phase::Tumbling(tumbling) if tumbling.round.spins < play::SPINS_NEEDED => Some(off_at + tumbler::COVER_OFF),
        // Found off while nobody watched, and the terminal has said that no bell rang.
        Phase::Betting(_) if seen.off_while_away && look.state.is_online(DeviceKind::Terminal) => Some(off_at),
        Phase::Tumbling(_) | Phase::Betting(_) => Some(off_at + play::BELL_LATE),
        Phase::Closed(_) => Some(off_at + tumbler::COVER_OFF),
        Phase::Landed(_) | Phase::Entered(_) => None,
    }
}

/// When the supervisor's key loses its authority, or was forgotten.
fn key_at(look: &Look<'_>) -> Option<Uptime> {
    match look.seen.key {
        Authority::Off => None,
        Authority::Running { since } => Some(since + AUTHORITY),
        Authority::Spent { since } => {
            let told = look.state.alerts.contains_key(alert::Name::KeyLeftOn.as_str());
            (!told).then_some(since + KEY_LEFT_ON)
        }
    }
}

fn key(draft: &mut Draft<'_>) {
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

/// The lamps of the entered picture are read back, or their fault is declared: settlement may begin (r6.5, r7.3).
pub(crate) fn lamps_are_known(look: &Look<'_>) -> bool {
    let Mode::Open(Phase::Entered(entered)) = &look.state.mode else {
        return false;
    };
    entered.fault_declared || entered.proof == Proof::Lit || lamps::prove_nothing(look, entered)
}

/// The round ends: what is only counted yet is written in it, as far as there is room beside its end.
pub(crate) fn round_ends(draft: &mut Draft<'_>) {
    const ITS_END: usize = 8;
    draft.reserve(ITS_END);
    entry::write_counts(draft, entry::Which::OfRound);
    lamps::write_flicker(draft, entry::Which::OfRound);
    draft.reserve(0);
}

/// The daemon stops: what is only counted yet is written now.
pub(crate) fn stopping(draft: &mut Draft<'_>) {
    entry::write_counts(draft, entry::Which::All);
    lamps::write_flicker(draft, entry::Which::All);
}
