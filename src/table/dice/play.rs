//! The round from the tumble to the uncover, as time and covers move it; and what devices say against what is recorded. PURE.

use crate::table::dice::held::{Declared, Uncovered};
use crate::table::dice::phase::Phase;
use crate::table::dice::{Draft, due, held, terminal, tumbler};
use crate::table::draft::Source;
use crate::table::event::{RoundHeldCause, RoundVoidedReason};
use crate::table::terminal::Missed;
use std::time::Duration;

/// Dice spins that a tumble needs (r6.1; TS-6: the sum over activations).
pub(crate) const SPINS_NEEDED: u32 = 3;

/// A bell that hasn't come this long after the cover went off was not rung, if nothing can have been missed.
pub(crate) const BELL_LATE: Duration = Duration::from_secs(2);

/// After a restart, a reconnection or a freeze: what devices did meanwhile counts as happening now.
pub(crate) fn compare(draft: &mut Draft<'_>, missed: Missed) {
    if draft.state.is_frozen() || draft.state.is_held() {
        return;
    }
    if let Some(Phase::Closed(_)) = draft.phase()
        && draft.seen.tumbler.off_at.is_some()
        && draft.seen.tumbler.off_while_away
    {
        let source = draft.dealer_at_tumbler();
        held::uncover(draft, source, Uncovered::Seen(missed));
    }
}

/// A frozen table goes on: as after a restart.
pub(crate) fn go_on(draft: &mut Draft<'_>) {
    if draft.state.is_frozen() || draft.state.is_held() {
        return;
    }
    let expected = draft
        .phase()
        .and_then(|phase| phase.round().and_then(|round| round.counters));
    match draft.phase() {
        None | Some(Phase::Ready(_)) => return,
        Some(Phase::Tumbling(_)) => return tumbler::count(draft, tumbler::Reported::WhileAway),
        Some(Phase::Closed(shut)) if shut.open.is_some() => tumbler::count(draft, tumbler::Reported::WhileAway),
        Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) => {
            held::hold_if_moved(draft, expected);
        }
    }
    if draft.seen.tumbler.off_at.is_some() {
        draft.seen.tumbler.off_while_away = true;
    }
    let found = terminal::find(draft, Missed::WhileAway);
    terminal::found(draft, found, Missed::WhileAway);
}

/// What the cover, uncovered for long enough, means.
pub(crate) fn cover_is_off(draft: &mut Draft<'_>) {
    match draft.phase() {
        Some(Phase::Ready(_)) => not_activated(draft),
        Some(Phase::Tumbling(tumbling)) if tumbling.round.spins < SPINS_NEEDED => {
            draft.seen.tumbler.exposed_at = None;
            held::hold(draft, RoundHeldCause::TumblerShort);
        }
        // Bets were not open yet: whether a bell rang in the rest is a supervisor's to say.
        Some(Phase::Tumbling(_)) => exposed_early(draft, Links::Broken),
        Some(Phase::Betting(betting)) => exposed_early(
            draft,
            if betting.unbroken {
                Links::Unbroken
            } else {
                Links::Broken
            },
        ),
        Some(Phase::Closed(_)) => {
            let source = draft.dealer_at_tumbler();
            held::uncover(draft, source, Uncovered::Seen(Missed::Live));
        }
        Some(Phase::Landed(_) | Phase::Entered(_)) | None => {}
    }
}

/// The dealer rang for a round whose dice were never spun, and shows them.
fn not_activated(draft: &mut Draft<'_>) {
    let watched = draft.ready().is_some_and(|ready| ready.watched);
    draft.seen.tumbler.bell_without_tumble = None;
    let source = draft.dealer_at_tumbler();
    tumbler::start_round(draft, source, false);
    if watched && draft.game.game.voids_by_itself() {
        let source = Source::gateway();
        held::void(draft, source, RoundVoidedReason::ANotActivated, Declared::Gateway);
    } else {
        held::hold(draft, RoundHeldCause::NotActivated);
    }
}

/// Whether tumbler and terminal have been up without a break since bets opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Links {
    Unbroken,
    Broken,
}

/// No bell came in time: void when nothing can have been missed, else a supervisor decides.
fn exposed_early(draft: &mut Draft<'_>, links: Links) {
    let seen = &mut draft.seen.tumbler;
    seen.early_off = seen.off_at.or(seen.exposed_at);
    seen.exposed_at = None;
    if links == Links::Unbroken && draft.game.game.voids_by_itself() {
        let source = Source::gateway();
        held::void(draft, source, RoundVoidedReason::AExposedEarly, Declared::Gateway);
    } else {
        held::hold(draft, RoundHeldCause::ExposedEarly);
    }
}

/// Bets open: the last round has ended, and where the dice are spun first, three spins and the rest are done.
pub(crate) fn open_bets(draft: &mut Draft<'_>) {
    if due::bets_open_at(&draft.look()).is_none_or(|at| at > draft.now) {
        return;
    }
    if draft.ready().is_some() {
        tumbler::start_round(draft, Source::gateway(), false);
    }
    held::open_bets(draft, Source::gateway());
}

/// An open tumbler has spun its dice and lies still.
pub(crate) fn dice_have_landed(draft: &mut Draft<'_>) {
    if due::landed_at(&draft.look()).is_some_and(|at| at <= draft.now) {
        let source = draft.dealer_at_tumbler();
        held::uncover(draft, source, Uncovered::AtRest);
    }
}
