//! What the terminal's bell and "no spin" mean. PURE. How they become known is the table's, as are keys and the supervisor's key.

use crate::table::dice::game::Ground;
use crate::table::dice::held::Declared;
use crate::table::dice::phase::{Betting, Phase, Tumbling};
use crate::table::dice::{Draft, held, play, tumbler};
use crate::table::draft::Source;
use crate::table::due;
use crate::table::event::{RoundHeldCause, RoundVoidedReason};
use crate::table::input::{Contact, DeviceKind};
use crate::table::mode::Mode;
use crate::table::rejection;
use crate::table::seen::Signal;
use crate::table::state::ContactCount;
use crate::table::terminal::Missed;
use crate::time::Uptime;
use std::time::Duration;

/// A ring of the bell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ring {
    /// When; `None` when the clocks can't be related.
    pub(crate) at: Option<Uptime>,
    pub(crate) missed: Missed,
}

/// What a status tells of bell and "no spin", and was not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) ring: Option<Ring>,
    pub(crate) no_spin: bool,
}

/// Looks for it.
pub(crate) fn find(draft: &Draft<'_>, missed: Missed) -> Found {
    Found {
        no_spin: no_spin_found(draft),
        ring: ring_found(draft, missed),
    }
}

/// Takes it.
pub(crate) fn found(draft: &mut Draft<'_>, found: Found, missed: Missed) {
    let Found { ring, no_spin } = found;
    if no_spin && !draft.state.is_frozen() {
        // It may be older than the uncover, or younger: a supervisor knows.
        held::hold(draft, RoundHeldCause::NoSpinAfterUncover);
    }
    if let Some(ring) = ring {
        bell_counted(draft, ring);
    }
    play::compare(draft, missed);
}

/// The bell rang, live.
pub(crate) fn bell(draft: &mut Draft<'_>, at: Uptime, last_closed: Option<Uptime>) {
    match draft.state.mode {
        Mode::Closed => return draft.notice(rejection::CLOSED),
        Mode::Test(_) => return draft.notice(rejection::TEST),
        Mode::Opening(_) => return,
        Mode::Open(_) => {}
    }
    if draft.state.is_frozen() {
        return draft.notice(rejection::LOCKED);
    }
    let ring = Signal { at, heard: draft.now };
    match draft.phase() {
        // A bell that a round has been spun for since is a new one, however soon it comes.
        Some(Phase::Ready(_)) if draft.seen.terminal.bell.is_some_and(|last| last.bounces_to(ring)) => {}
        Some(Phase::Ready(_)) => bell_in_ready(draft, at),
        Some(Phase::Tumbling(tumbling)) => bell_in_tumble(draft, &tumbling, at),
        Some(Phase::Betting(betting)) => {
            let ring = ring_of(&betting, draft.bell(), last_closed, Missed::Live);
            if let Some(ring) = ring {
                bell_counted(draft, ring);
            }
        }
        // Bets are closed already.
        Some(Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) | None => {}
    }
}

fn bell_in_ready(draft: &mut Draft<'_>, at: Uptime) {
    let ring = Ring {
        at: Some(at),
        missed: Missed::Live,
    };
    if draft.ready().and_then(held::voided_for_want_of_a_bell).is_some() && in_time(draft, ring) {
        return held::late_bell(draft, at);
    }
    if draft.game.course().has_tumbler() && !draft.state.is_online(DeviceKind::Tumbler) {
        return draft.notice(rejection::TUMBLER_AWAY);
    }
    if draft.game.course().opens_at_once() {
        // Bets would be open if nothing held the round back.
        return draft.notice(rejection::OUT_OF_ORDER);
    }
    draft.notice(rejection::BELL_WITHOUT_TUMBLE);
    draft.seen.tumbler.bell_without_tumble = Some(draft.now);
}

/// A bell in the rest opens and closes bets at once.
fn bell_in_tumble(draft: &mut Draft<'_>, tumbling: &Tumbling, at: Uptime) {
    if held::is_of_the_void(draft, Some(at)) {
        return;
    }
    if let Some(held) = &tumbling.round.held {
        let ring = Ring {
            at: Some(at),
            missed: Missed::Live,
        };
        if held.cause == RoundHeldCause::ExposedEarly && in_time(draft, ring) {
            return held::late_bell(draft, at);
        }
        return draft.notice(rejection::LOCKED);
    }
    if tumbling.round.spins < play::SPINS_NEEDED {
        return draft.notice(rejection::BELL_WITHOUT_TUMBLE);
    }
    // A bell that its line brings late was rung before these dice lay still, maybe before they were spun: players had no bets on them.
    let rung_before_the_rest = at + TWO_CLOCKS < draft.seen.tumbler.rest_at;
    if draft.seen.tumbler.is_spinning() || rung_before_the_rest || due::is_next_round_held_back(&draft.look()) {
        return draft.notice(rejection::OUT_OF_ORDER);
    }
    let ring = Ring {
        at: Some(at),
        missed: Missed::Live,
    };
    if !in_time(draft, ring) {
        return exposed(draft);
    }
    held::open_bets(draft, Source::gateway());
    let source = draft.dealer_at_terminal();
    held::close_bets(draft, source, Some(at), Missed::Live);
}

/// A bell that counts for the running round, or for one that waits for it.
fn bell_counted(draft: &mut Draft<'_>, ring: Ring) {
    let at = ring.at.unwrap_or(draft.now);
    if draft.state.is_frozen() {
        return;
    }
    match draft.phase() {
        Some(Phase::Ready(_)) if in_time(draft, ring) => held::late_bell(draft, at),
        Some(Phase::Ready(_) | Phase::Tumbling(_)) => {}
        Some(Phase::Betting(betting)) => match &betting.round.held {
            Some(held) if held.cause == RoundHeldCause::ExposedEarly && in_time(draft, ring) => {
                held::late_bell(draft, at);
            }
            Some(_) => draft.notice(rejection::LOCKED),
            None if in_time(draft, ring) => {
                let source = draft.dealer_at_terminal();
                held::close_bets(draft, source, Some(at), ring.missed);
            }
            None => exposed(draft),
        },
        Some(Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) | None => {}
    }
}

/// The dice were seen before the bell rang.
fn exposed(draft: &mut Draft<'_>) {
    draft.seen.tumbler.early_off = draft.seen.tumbler.off_at.or(draft.seen.tumbler.exposed_at);
    held::hold(draft, RoundHeldCause::ExposedEarly);
}

/// The bell rang before the cover went off, or so little later that two clocks may account for it.
fn in_time(draft: &Draft<'_>, ring: Ring) -> bool {
    let seen = &draft.seen.tumbler;
    let off_at = seen.early_off.or(seen.off_at).or(seen.exposed_at);
    match (off_at, ring.at, ring.missed) {
        (None, _, _) => true,
        // Both while away: nobody knows the order, and the call was rung.
        (Some(_), _, Missed::WhileAway) if seen.off_while_away => true,
        (Some(_), None, Missed::WhileAway) => true,
        (Some(off_at), at, Missed::Live | Missed::WhileAway) => at.unwrap_or(draft.now) <= off_at + tumbler::COVER_OFF,
    }
}

/// What two clocks, related over a line, may differ by. A dealer who rings as soon as bets open is not to ring in vain.
pub(crate) const TWO_CLOCKS: Duration = Duration::from_millis(300);

/// The ring of a bell with this count, if it counts for these bets.
fn ring_of(betting: &Betting, bell: ContactCount, last_closed: Option<Uptime>, missed: Missed) -> Option<Ring> {
    let same_start = bell.boot_id == betting.bell.boot_id;
    let recorded = if same_start { betting.bell.closings } else { 0 };
    let counts = bell.closings > recorded
        && match last_closed {
            Some(at) => at + TWO_CLOCKS >= betting.opened_at,
            // A terminal that started after bets opened, and whose bell is heard now, was rung now.
            None => same_start || missed == Missed::Live,
        };
    counts.then_some(Ring {
        at: last_closed,
        missed,
    })
}

/// A ring that a status tells of.
pub(crate) fn ring_found(draft: &Draft<'_>, missed: Missed) -> Option<Ring> {
    let last_closed = draft.seen.terminal.contacts.get(&Contact::Bell)?.last_closed;
    let betting = match draft.state.phase()? {
        Phase::Betting(betting) => betting,
        Phase::Ready(ready) => match held::voided_for_want_of_a_bell(ready)? {
            Phase::Betting(betting) => betting,
            Phase::Ready(_) | Phase::Tumbling(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_) => {
                return None;
            }
        },
        Phase::Tumbling(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_) => return None,
    };
    ring_of(betting, draft.bell(), last_closed, missed)
}

/// "No spin" closed more often than was recorded.
pub(crate) fn no_spin_found(draft: &Draft<'_>) -> bool {
    let recorded = draft.state.no_spin;
    let count = draft.seen.terminal.count(Contact::NoSpinButton);
    let same_start = recorded.boot_id == count.boot_id;
    if count.closings <= if same_start { recorded.closings } else { 0 } {
        return false;
    }
    // What only bounced after the one that counted was not said again.
    let closed = draft
        .seen
        .terminal
        .contacts
        .get(&Contact::NoSpinButton)
        .and_then(|contact| contact.last_closed);
    let bounced = |(last, at): (Signal, Uptime)| last.bounces_to(Signal { at, heard: last.heard });
    !draft.seen.terminal.no_spin.zip(closed).is_some_and(bounced)
}

/// The dealer calls "no spin".
pub(crate) fn no_spin(draft: &mut Draft<'_>, at: Uptime) {
    match draft.state.mode {
        Mode::Closed => return draft.notice(rejection::CLOSED),
        Mode::Test(_) => return draft.notice(rejection::TEST),
        Mode::Opening(_) => return,
        Mode::Open(_) => {}
    }
    let said = Signal { at, heard: draft.now };
    if draft.seen.terminal.has_said(said) {
        return;
    }
    let after_uncover = match draft.phase() {
        Some(Phase::Ready(_)) | None => return,
        Some(Phase::Tumbling(_) | Phase::Betting(_)) => false,
        Some(Phase::Closed(_)) => draft.seen.tumbler.off_at.is_some_and(|off_at| off_at <= at),
        Some(Phase::Landed(landed)) => landed.uncovered_at <= at,
        Some(Phase::Entered(_)) => true,
    };
    draft.seen.terminal.no_spin = Some(said);
    if draft.state.is_frozen() || draft.state.is_held() {
        // Whether the round goes on is a supervisor's to say now.
        return draft.notice(rejection::LOCKED);
    }
    if after_uncover && draft.game.config.hold_no_spin_after_uncover {
        return held::hold(draft, RoundHeldCause::NoSpinAfterUncover);
    }
    if draft.game.game.void() == Ground::None {
        return held::hold(draft, RoundHeldCause::NoSpin);
    }
    let source = draft.dealer_at_terminal();
    held::void(draft, source, RoundVoidedReason::NotStated, Declared::Dealer);
}
