//! The bell and the "no spin" contact at a two-up table. PURE.
//!
//! The bell is judged by how often it closed: one that was rung while the terminal was away is a fact that arrives late. A "no spin"
//! that was pressed meanwhile means nothing: which spin it was for nobody knows, and the dealer says it again.

use crate::table::event::{ResultSource, SpinInvalidatedReason};
use crate::table::input::Contact;
use crate::table::mode::Mode;
use crate::table::rejection;
use crate::table::seen::Signal;
use crate::table::terminal::Missed;
use crate::table::two_up::Draft;
use crate::table::two_up::phase::Phase;
use crate::table::two_up::play::{self, Act, Authority, By};
use crate::table::two_up::refusal::Cause;
use crate::time::Uptime;
use std::time::Duration;

/// What two clocks, related over a line, may differ by. A dealer who rings as soon as bets open is not to ring in vain.
const TWO_CLOCKS: Duration = Duration::from_millis(300);

/// A ring that a status tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ring {
    at: Option<Uptime>,
}

fn dealer(draft: &Draft<'_>) -> By {
    By {
        source: draft.dealer_at_terminal(),
        how: ResultSource::Terminal,
        pressed: Vec::new(),
        authority: Authority::Dealer,
    }
}

/// Signals count now; else why not is shown.
fn counts(draft: &mut Draft<'_>) -> bool {
    let code = match draft.state.mode {
        Mode::Closed => rejection::CLOSED,
        Mode::Test(_) => rejection::TEST,
        Mode::Opening(_) => return false,
        Mode::Open(_) if draft.state.is_frozen() => rejection::LOCKED,
        Mode::Open(_) => return true,
    };
    draft.notice(code);
    false
}

/// The bell closed again so soon that nobody rang it. One that bets have been opened for since is a new one, however soon it comes.
fn bounced(draft: &Draft<'_>, at: Uptime) -> bool {
    let reopened = draft.state.course().is_some_and(|course| match course.phase {
        Phase::Betting(_) => true,
        Phase::Select { .. } | Phase::Closed { .. } | Phase::Choice(_) | Phase::Decide { .. } => false,
    });
    let ring = Signal { at, heard: draft.now };
    !reopened && draft.seen.terminal.bell.is_some_and(|last| last.bounces_to(ring))
}

/// The bell rang, live.
pub(crate) fn bell(draft: &mut Draft<'_>, at: Uptime, last_closed: Option<Uptime>) {
    if !counts(draft) {
        return;
    }
    let bounced = bounced(draft, at);
    let too_old = draft
        .state
        .course()
        .zip(last_closed)
        .is_some_and(|(course, rung)| rung + TWO_CLOCKS < course.opened_at);
    if bounced || too_old {
        return;
    }
    let by = dealer(draft);
    match play::call(draft, &by, Some(at), Missed::Live) {
        Ok(()) => {}
        // Bets are closed already.
        Err(Cause::BetsClosed) => {}
        Err(cause) => draft.notice(cause.code()),
    }
}

/// A bell that has rung since bets opened and was not recorded.
pub(crate) fn find(draft: &Draft<'_>, missed: Missed) -> Option<Ring> {
    let course = draft.state.course()?;
    let Phase::Betting(_) = course.phase else { return None };
    let last_closed = draft.seen.terminal.contacts.get(&Contact::Bell)?.last_closed;
    let bell = draft.bell();
    let same_start = bell.boot_id == course.bell.boot_id;
    let recorded = if same_start { course.bell.closings } else { 0 };
    let counts = bell.closings > recorded
        && match last_closed {
            // From before this run, as bets are, and nobody knows what came first: the dealer rings again.
            Some(Uptime::ZERO) if course.bell_unheard => false,
            Some(at) => at + TWO_CLOCKS >= course.opened_at,
            // A terminal that started after bets opened, and whose bell is heard now, was rung now.
            None => (same_start && !course.bell_unheard) || missed == Missed::Live,
        };
    counts.then_some(Ring { at: last_closed })
}

/// Takes it.
pub(crate) fn found(draft: &mut Draft<'_>, ring: Option<Ring>, missed: Missed) {
    let Some(ring) = ring else { return };
    if draft.state.is_frozen() {
        return;
    }
    let by = dealer(draft);
    let at = ring.at.unwrap_or(draft.now).min(draft.now);
    if let Err(cause) = play::call(draft, &by, Some(at), missed) {
        draft.notice(cause.code());
    }
}

/// "No spin" is said at this time: by the contact, or by the key and ENTER. Whether it is said anew: a contact that bounces, or contact
/// and key for one spin, must not count as several invalid spins.
pub(crate) fn says_no_spin(draft: &mut Draft<'_>, at: Uptime) -> bool {
    let said = Signal { at, heard: draft.now };
    let anew = !draft.seen.terminal.has_said(said);
    if anew {
        draft.seen.terminal.no_spin = Some(said);
    }
    anew
}

/// The "no spin" contact, live: as the key and ENTER.
pub(crate) fn no_spin(draft: &mut Draft<'_>, at: Uptime) {
    if !counts(draft) || !says_no_spin(draft, at) {
        return;
    }
    let by = dealer(draft);
    let act = Act::Invalid(SpinInvalidatedReason::NotStated);
    if let Err(cause) = play::perform(draft, &by, act) {
        draft.notice(cause.code());
    }
}
