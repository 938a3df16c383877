//! Held rounds, voids, and how they go on. PURE.
//!
//! The gateway never voids on a signal that it may have missed or misread: then the round is held, and a supervisor decides.

use crate::table::alert;
use crate::table::dice::game::Course;
use crate::table::dice::phase::{After, Phase, Ready};
use crate::table::dice::{Draft, tumbler};
use crate::table::draft::{Source, micros};
use crate::table::due;
use crate::table::entry;
use crate::table::event::{
    BetsClosed, BetsOpened, Body, DiceUncovered, RoundHeld, RoundHeldCause, RoundResumed, RoundVoided,
    RoundVoidedReason, TableLockedKind, TableLockedReason, VoidWithdrawn,
};
use crate::table::game::Family;
use crate::table::input::{Contact, Cover, DeviceKind};
use crate::table::locks;
use crate::table::seen::Signal;
use crate::table::state::Count;
use crate::table::terminal::Missed;
use crate::time::Uptime;

/// Holds the round, unless it is held already.
pub(crate) fn hold(draft: &mut Draft<'_>, cause: RoundHeldCause) {
    if draft.state.is_held() || draft.state.round_id() == 0 {
        return;
    }
    let held = RoundHeld {
        cause: cause as i32,
        text: text(cause).into(),
        closings: draft.closings(),
        ..RoundHeld::default()
    };
    draft.record(Source::gateway(), Body::RoundHeld(held));
    alert::raise_anew(draft, alert::Name::RoundHeld, text(cause));
}

/// Holds the round with an entry that the dice reader contradicts and a supervisor may confirm. One that is held with an entry before it
/// is held with this one: nobody is to confirm numbers that the dealer has taken back.
pub(crate) fn hold_with_entry(draft: &mut Draft<'_>, pressed: Vec<u32>, read: Option<[u8; 3]>) {
    let cause = RoundHeldCause::DiceDiffer;
    let before = draft.state.phase().and_then(Phase::held).cloned();
    if before
        .as_ref()
        .is_some_and(|held| held.cause != cause || held.pressed == pressed)
    {
        return;
    }
    let held = RoundHeld {
        cause: cause as i32,
        text: text(cause).into(),
        pressed,
        closings: draft.closings(),
        read_faces: read.map(|faces| faces.map(u32::from).to_vec()).unwrap_or_default(),
    };
    draft.record(Source::gateway(), Body::RoundHeld(held));
    if before.is_none() {
        alert::raise_anew(draft, alert::Name::RoundHeld, text(cause));
    }
}

/// For a person: what happened and what to do.
pub(crate) fn text(cause: RoundHeldCause) -> &'static str {
    match cause {
        RoundHeldCause::ExposedEarly => {
            "The cover went off and no bell was heard: let the round go on if the bets were closed, or void it."
        }
        RoundHeldCause::NotFlat => "Some die does not lie flat: void the round, or let it go on if all do.",
        RoundHeldCause::TumblerFault => "The tumbler reports a fault: void the round, or let it go on.",
        RoundHeldCause::TumblerShort => {
            "The dice were spun fewer than three times: put the cover on and spin further, or void the round."
        }
        RoundHeldCause::NotActivated => {
            "No spin is known for this round: void it, or let it go on if the dice were spun three times."
        }
        RoundHeldCause::ActivityWhileAway => {
            "The tumbler moved while it could not be watched: void the round, or let it go on."
        }
        RoundHeldCause::CountersLost => {
            "The tumbler's counters can't be compared with those before: void the round, or let it go on."
        }
        RoundHeldCause::NoSpinAfterUncover => {
            "\"No spin\" was called after the dice were uncovered: void the round, or let it go on."
        }
        RoundHeldCause::NoSpin => {
            "\"No spin\" was called, and the rules of this game that are at hand have no void: let the round go on when what was seen is put right."
        }
        RoundHeldCause::DiceDiffer => {
            "The entry differs from what the dice reader saw: press the dice again, or let a supervisor confirm the entry."
        }
        RoundHeldCause::Unspecified => "The round waits for a supervisor.",
    }
}

/// The tumbler's counters are not those that were last recorded or accepted, or it moves.
pub(crate) fn hold_if_moved(draft: &mut Draft<'_>, expected: Option<Count>) {
    let (Some(expected), Some(count)) = (expected, draft.seen.tumbler.count()) else {
        return;
    };
    let spinning = draft.seen.tumbler.is_spinning() && !draft.seen.tumbler.tolerated_spin;
    if expected != count || spinning {
        hold(draft, RoundHeldCause::ActivityWhileAway);
    }
}

/// The hold ends; the tumbler's counters and the contacts are accepted as they are.
pub(crate) fn resumed(draft: &mut Draft<'_>, cause: RoundHeldCause, source: Source) {
    let resumed = RoundResumed {
        cause: cause as i32,
        counters: draft.counters(),
        closings: draft.closings(),
    };
    draft.record(source, Body::RoundResumed(resumed));
}

/// After a resumption or a withdrawn void: the acts that it stands for, up to dice that can be seen.
pub(crate) fn stand_for(draft: &mut Draft<'_>, source: &Source, rung: Option<Uptime>) {
    if let Some(Phase::Tumbling(_)) = draft.phase() {
        open_bets(draft, source.clone());
    }
    close_bets(draft, source.clone(), rung, Missed::Live);
    uncover(draft, source.clone(), Uncovered::Seen(Missed::Live));
}

/// How the uncover is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Uncovered {
    /// By the cover's contact.
    Seen(Missed),
    /// By the spins and the rest of an open tumbler, whose dice can always be seen.
    AtRest,
    /// An entry or a supervisor stands for it.
    Implied,
}

/// Opens bets.
pub(crate) fn open_bets(draft: &mut Draft<'_>, source: Source) {
    let Some(Phase::Tumbling(tumbling)) = draft.phase() else {
        return;
    };
    draft.seen.tumbler.void_off = None;
    let needed = draft.game.needed();
    let offline = needed
        .iter()
        .filter(|kind| !draft.state.is_online(**kind))
        .filter_map(|kind| draft.device(*kind))
        .collect();
    let opened = BetsOpened {
        counters: draft.counters(),
        bell: Some(draft.bell().named(Contact::Bell)),
        offline,
        spins: tumbling.round.spins,
    };
    draft.record(source, Body::BetsOpened(opened));
}

/// Closes bets: a bell that rang at `rung`, else somebody's word for it.
pub(crate) fn close_bets(draft: &mut Draft<'_>, source: Source, rung: Option<Uptime>, missed: Missed) {
    let Some(Phase::Betting(betting)) = draft.phase() else {
        return;
    };
    let rang = draft.rang(betting.opened_at, rung, missed);
    let closed = BetsClosed {
        implied: rung.is_none(),
        while_away: rang.while_away,
        bell: Some(draft.bell().named(Contact::Bell)),
        bets_open_ms: rang.bets_open_ms,
        rung_us_before: rang.rung_us_before,
        run_out: false,
        counters: match draft.game.course() {
            Course::OpenTumbler => draft.counters(),
            Course::CoveredTumbler | Course::DiceCup => None,
        },
    };
    let heard = draft.now;
    draft.seen.terminal.bell = rung.map(|at| Signal { at, heard }).or(draft.seen.terminal.bell);
    draft.record(source, Body::BetsClosed(closed));
    if draft.game.course() == Course::OpenTumbler {
        draft.base_taken();
    }
    // Keys from before the bell can't count; the dealer begins with an empty readout.
    entry::new_number(draft);
}

/// The dice can be seen. Nothing of the kind is known of dice from a cup: their entry follows the bell.
pub(crate) fn uncover(draft: &mut Draft<'_>, source: Source, how: Uncovered) {
    let Some(Phase::Closed(shut)) = draft.phase() else {
        return;
    };
    if draft.game.course() == Course::DiceCup {
        return;
    }
    let seen = &draft.seen.tumbler;
    let off_at = match how {
        Uncovered::Seen(_) => seen.off_at.or(seen.exposed_at).unwrap_or(draft.now),
        Uncovered::AtRest => draft.now,
        Uncovered::Implied => seen.off_at.unwrap_or(shut.closed_at),
    };
    let uncovered = DiceUncovered {
        implied: how == Uncovered::Implied,
        while_away: how == Uncovered::Seen(Missed::WhileAway),
        bell_to_uncover_ms: draft.measured(shut.closed_at, off_at),
        read_faces: tumbler::reading(draft)
            .map(|faces| faces.map(u32::from).to_vec())
            .unwrap_or_default(),
        off_us_before: match how {
            // The bell of an earlier run stands for it.
            Uncovered::Implied if off_at <= draft.seen.run_began => 0,
            Uncovered::Implied | Uncovered::Seen(_) | Uncovered::AtRest => micros(off_at, draft.now),
        },
        at_rest: how == Uncovered::AtRest,
    };
    draft.seen.tumbler.exposed_at = None;
    draft.record(source, Body::DiceUncovered(uncovered));
    if how != Uncovered::Implied {
        tumbler::dice(draft);
    }
}

/// Who declared a void.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Declared {
    /// The gateway by itself.
    Gateway,
    /// The dealer.
    Dealer,
    /// A supervisor, whose word also ends a freeze.
    Supervisor,
}

/// The round is void.
pub(crate) fn void(draft: &mut Draft<'_>, source: Source, reason: RoundVoidedReason, declared: Declared) {
    due::round_ends(draft);
    let text = crate::table::citation::void_reason(reason).map_or("no reason was stated", |reason| reason.text());
    let voided = RoundVoided {
        reason: reason as i32,
        automatic: declared == Declared::Gateway,
        text: text.into(),
        base: tumbler::base(draft),
        by_policy: draft.game.game.void().is_policy(),
    };
    draft.record(source.clone(), Body::RoundVoided(voided));
    draft.base_taken();
    for lock in draft.state.locks.clone() {
        let of_this_round = matches!(
            lock.reason,
            TableLockedReason::OutOfTurn | TableLockedReason::Configuration
        );
        if lock.kind == TableLockedKind::Freeze && (of_this_round || declared == Declared::Supervisor) {
            locks::unlock(draft, source.clone(), &lock, "the round was voided");
        }
    }
}

/// A bell that rang in time arrived for a round that was held, or voided, for want of it.
pub(crate) fn late_bell(draft: &mut Draft<'_>, rung: Uptime) {
    let seen = &draft.seen.tumbler;
    let same_uncover = seen.early_off.is_none() || seen.off_at == seen.early_off;
    let still_off = seen.cover() == Cover::Off && same_uncover && draft.state.is_online(DeviceKind::Tumbler);
    if !still_off || spun_since(draft) {
        alert::raise_anew(
            draft,
            alert::Name::LateBell,
            "A bell that rang in time arrived late, and the cover is on again: the round stays as it is; a supervisor decides, \
             and acknowledges this (tablegate acknowledge late_bell).",
        );
        return;
    }
    let source = Source::gateway().with_device(draft.device(DeviceKind::Terminal));
    match draft.phase() {
        Some(Phase::Ready(_)) => withdraw(draft, source.clone(), Declared::Gateway),
        Some(Phase::Tumbling(_) | Phase::Betting(_)) => {
            resumed(draft, RoundHeldCause::ExposedEarly, source.clone());
        }
        Some(Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) | None => return,
    }
    let dealer = draft.dealer_at_terminal();
    if let Some(Phase::Tumbling(_)) = draft.phase() {
        open_bets(draft, Source::gateway());
    }
    close_bets(draft, dealer, Some(rung), Missed::Live);
    let dealer = draft.dealer_at_tumbler();
    uncover(draft, dealer, Uncovered::Seen(Missed::Live));
}

/// A bell became known while the next round is spun, and rang in time for the one that was void for want of it: whether it was.
pub(crate) fn is_of_the_void(draft: &mut Draft<'_>, rung: Option<Uptime>) -> bool {
    let off_at = draft.seen.tumbler.void_off;
    let in_time = off_at
        .zip(rung)
        .is_some_and(|(off_at, rung)| rung <= off_at + tumbler::COVER_OFF);
    if in_time {
        alert::raise_anew(
            draft,
            alert::Name::LateBell,
            "A bell that rang in time arrived late, and the next round was spun meanwhile: the round before stays void; whoever placed \
             bets in it is to be told, and this acknowledged (tablegate acknowledge late_bell).",
        );
    }
    in_time
}

/// The bell rang more than once before its line told of it, the last time too late: an earlier time may have been before the cover went off, and
/// then a void for want of it is wrong. Nobody can tell but those who were there.
pub(crate) fn rang_unheard(draft: &mut Draft<'_>, times: u32, last: Option<Uptime>) {
    let is_void = draft.ready().and_then(voided_for_want_of_a_bell).is_some() || draft.seen.tumbler.void_off.is_some();
    if !is_void || is_of_the_void(draft, last) || times < 2 {
        return;
    }
    let text = format!(
        "The bell rang {times} times before the terminal's line told of it, and whether once before the cover went off can't be known: the \
         round stays void; a supervisor decides (tablegate round withdraw-void), and acknowledges this (tablegate acknowledge late_bell)."
    );
    alert::raise_anew(draft, alert::Name::LateBell, text);
}

/// The tumbler has moved since the last round ended: nothing of it can be brought back.
pub(crate) fn spun_since(draft: &Draft<'_>) -> bool {
    let Some(ready) = draft.ready() else { return false };
    let moved = match (ready.base, draft.seen.tumbler.count()) {
        (Some(base), Some(count)) => base != count,
        (None, _) | (_, None) => false,
    };
    moved || draft.seen.tumbler.is_spinning()
}

/// The void that the gateway declared is taken back.
pub(crate) fn withdraw(draft: &mut Draft<'_>, source: Source, declared: Declared) {
    let withdrawn = VoidWithdrawn {
        automatic: declared == Declared::Gateway,
        counters: draft.counters(),
    };
    draft.record(source, Body::VoidWithdrawn(withdrawn));
}

/// The round that a void was declared for by the gateway, for want of a bell: the phase it was in.
pub(crate) fn voided_for_want_of_a_bell(ready: &Ready) -> Option<&Phase> {
    match &ready.after {
        After::Withdrawable { before, .. } if ready.after.wants_a_bell() => Some(before),
        After::Nothing
        | After::Settled
        | After::Provisional(_)
        | After::Voided
        | After::Withdrawable { .. }
        | After::Abandoned => None,
    }
}
