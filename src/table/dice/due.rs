//! What time brings to a round. PURE.

use crate::table::dice::game::Ground;
use crate::table::dice::phase::{Phase, Proof};
use crate::table::dice::{Draft, Look, lamps, play, settle, tumbler};
use crate::table::due::is_next_round_held_back;
use crate::table::input::{Cover, DeviceKind};
use crate::time::Uptime;

/// Does everything that is due at the draft's time, as far as there is room.
pub(crate) fn run(draft: &mut Draft<'_>) {
    if cover_at(&draft.look()).is_some_and(|at| at <= draft.now) && draft.has_room(6) {
        play::cover_is_off(draft);
    }
    if draft.has_room(2) {
        play::open_bets(draft);
    }
    if draft.has_room(2) {
        play::dice_have_landed(draft);
    }
    lamps::judge(draft);
    if draft.has_room(1) {
        settle::by_cover(draft);
    }
}

/// When something is due next.
pub(crate) fn next(look: &Look<'_>) -> Option<Uptime> {
    let at = [
        lamps::flicker_at(look),
        cover_at(look),
        bets_open_at(look),
        landed_at(look),
        lamps::judge_at(look),
        settle::by_cover_at(look),
    ];
    at.into_iter().flatten().min()
}

/// Play goes on by itself: the table is open, and neither frozen nor held.
fn running<'a>(look: &Look<'a>) -> Option<&'a Phase> {
    let waits = look.state.is_frozen() || look.state.is_held();
    look.state.phase().filter(|_| !waits)
}

/// When bets open.
pub(crate) fn bets_open_at(look: &Look<'_>) -> Option<Uptime> {
    let tumbling = match running(look)? {
        Phase::Tumbling(tumbling) => tumbling,
        // With the end of the last round, or with the table: as soon as nothing holds the round back.
        Phase::Ready(_) if look.game.course().opens_at_once() => {
            return (!is_next_round_held_back(look)).then_some(look.seen.latest);
        }
        Phase::Ready(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_) => return None,
    };
    let seen = &look.seen.tumbler;
    let waits = tumbling.round.spins < play::SPINS_NEEDED
        || is_next_round_held_back(look)
        || seen.is_spinning()
        || seen.cover() == Cover::Off
        || seen.exposed_at.is_some();
    (!waits).then(|| tumbling.quiet_since.max(seen.rest_at) + look.game.config.rest)
}

/// When an open tumbler's dice have landed: the spins needed, and the rest.
pub(crate) fn landed_at(look: &Look<'_>) -> Option<Uptime> {
    let Phase::Closed(shut) = running(look)? else {
        return None;
    };
    let seen = &look.seen.tumbler;
    let waits =
        shut.round.spins < play::SPINS_NEEDED || seen.is_spinning() || !look.state.is_online(DeviceKind::Tumbler);
    let open = shut.open.filter(|_| !waits)?;
    Some(open.quiet_since.max(seen.rest_at) + look.game.config.rest)
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

/// The lamps of the entered picture are read back, or their fault is declared: settlement may begin (r6.5, r7.3).
pub(crate) fn lamps_are_known(look: &Look<'_>) -> bool {
    let Some(Phase::Entered(entered)) = look.state.phase() else {
        return false;
    };
    let asked_for = look.game.game.lamps() != Ground::None;
    !asked_for || entered.fault_declared || entered.proof == Proof::Lit || lamps::prove_nothing(look, entered)
}
