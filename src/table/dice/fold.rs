//! How events change play. PURE; live running and recovery go through here alike.
//!
//! An event that doesn't fit the phase is a broken invariant of our own: it asserts in tests and changes nothing in the field.

use crate::table::dice::game::Course;
use crate::table::dice::phase::{
    After, BetsShut, Betting, Entered, Held, InSight, Landed, Phase, Proof, Ready, Round, Tumbling, link_broke,
    quiet_from,
};
use crate::table::event::{
    BetsClosed, BetsOpened, Body, Counters, DeviceOnline, DiceUncovered, LampFailed, LampRestored, ResultAmended,
    ResultEntered, RoundAbandoned, RoundHeld, RoundResumed, RoundSettled, RoundStarted, RoundVoided, TableLocked,
    TableLockedKind, TableLockedReason, TableUnlocked, TumblerSpun, VoidReasonStated, VoidWithdrawn,
};
use crate::table::game::Play;
use crate::table::input::{Contact, DeviceKind};
use crate::table::mode::{Below, Mode};
use crate::table::state::{
    ContactCount, Count, Envelope, FailedLamp, Known, LastVoid, State, contact_in, device_of, rung_at,
};
use crate::time::Uptime;
use std::time::Duration;

/// Replaces the phase by what `step` makes of it; `None`: the event doesn't fit.
fn step(state: &mut State, step: impl FnOnce(&Phase) -> Option<Phase>) {
    let Mode::Open(Play::Dice(phase)) = &mut state.mode else {
        debug_assert!(false, "an event of play outside play");
        return;
    };
    match step(phase) {
        Some(next) => *phase = next,
        None => debug_assert!(false, "an event doesn't fit {phase:?}"),
    }
}

/// The round of a fact that isn't the running one's: a new one, or one that comes back.
pub(crate) fn round_of(state: &State, phase: &Phase, body: &Body) -> Option<u64> {
    if let Body::RoundStarted(_) = body {
        return Some(state.last_round + 1);
    }
    if let (Body::RoundReopened(_) | Body::VoidWithdrawn(_), Phase::Ready(ready)) = (body, phase) {
        return Some(ready.ended_round().unwrap_or_default());
    }
    None
}

pub(crate) fn round_started(state: &mut State, envelope: Envelope<'_>, started: &RoundStarted) {
    state.last_round = state.last_round.max(envelope.round_id);
    if let Some(no_spin) = contact_in(&started.closings, Contact::NoSpinButton) {
        state.no_spin = no_spin;
    }
    step(state, |phase| {
        let Phase::Ready(ready) = phase else { return None };
        Some(Phase::Tumbling(Tumbling {
            round: Round {
                id: envelope.round_id,
                game: started.game.clone(),
                style: started.style.clone(),
                layout: started.layout.clone(),
                counters: started.counters.map(Count::from),
                ..Round::default()
            },
            base: ready.base,
            quiet_since: envelope.at,
        }))
    });
}

pub(crate) fn tumbler_spun(state: &mut State, envelope: Envelope<'_>, spun: &TumblerSpun) {
    step(state, |phase| {
        let mut next = phase.clone();
        quiet_from(&mut next, envelope.at);
        let round = next.round_mut()?;
        round.spins = spun.spins;
        round.counters = spun.counters.map(Count::from);
        Some(next)
    });
}

pub(crate) fn bets_opened(state: &mut State, envelope: Envelope<'_>, opened: &BetsOpened) {
    step(state, |phase| {
        let Phase::Tumbling(tumbling) = phase else { return None };
        let mut round = tumbling.round.clone();
        if opened.counters.is_some() {
            round.counters = opened.counters.map(Count::from);
        }
        Some(Phase::Betting(Betting {
            round,
            opened_at: envelope.at,
            bell: opened.bell.as_ref().map(Into::into).unwrap_or_default(),
            unbroken: true,
        }))
    });
}

pub(crate) fn bets_closed(state: &mut State, envelope: Envelope<'_>, closed: &BetsClosed) {
    step(state, |phase| {
        let Phase::Betting(betting) = phase else { return None };
        let mut round = betting.round.clone();
        let open = (round.course() == Course::OpenTumbler).then(|| InSight {
            base: closed.counters.map(Count::from),
            quiet_since: envelope.at,
        });
        if let Some(open) = open {
            // What it spun before was out of turn.
            round.spins = 0;
            round.counters = open.base.or(round.counters);
        }
        Some(Phase::Closed(BetsShut {
            round,
            closed_at: rung_at(envelope, closed),
            open,
        }))
    });
}

pub(crate) fn dice_uncovered(state: &mut State, envelope: Envelope<'_>, uncovered: &DiceUncovered) {
    step(state, |phase| {
        let Phase::Closed(shut) = phase else { return None };
        Some(Phase::Landed(Landed {
            round: shut.round.clone(),
            uncovered_at: match (uncovered.implied, uncovered.off_us_before) {
                // Some time after the bell: every key since then counts.
                (true, 0) => Uptime::ZERO,
                (_, before) => envelope.at - Duration::from_micros(before),
            },
        }))
    });
}

pub(crate) fn result_entered(state: &mut State, envelope: Envelope<'_>, entered: &ResultEntered) {
    step(state, |phase| {
        let round = match phase {
            Phase::Landed(landed) => &landed.round,
            // Nothing tells when dice from a cup have landed.
            Phase::Closed(shut) if shut.round.course() == Course::DiceCup => &shut.round,
            Phase::Closed(_) | Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) | Phase::Entered(_) => {
                return None;
            }
        };
        Some(Phase::Entered(Entered {
            round: round.clone(),
            pressed: entered.pressed.clone(),
            faces: entered.faces.clone(),
            areas: entered.areas.clone(),
            lit: entered.lit.clone(),
            call: entered.call.clone(),
            entered_at: envelope.at,
            proof: Proof::Waiting(envelope.at),
            fault_declared: false,
            lamps_settled_at: None,
            reopened: false,
        }))
    });
}

pub(crate) fn result_amended(state: &mut State, envelope: Envelope<'_>, amended: &ResultAmended) {
    // The new picture is judged by itself: what fails in it is named again.
    state.failed_lamps.values_mut().for_each(|failed| failed.round = 0);
    step(state, |phase| {
        let Phase::Entered(entered) = phase else { return None };
        Some(Phase::Entered(Entered {
            round: entered.round.clone(),
            pressed: amended.pressed.clone(),
            faces: amended.faces.clone(),
            areas: amended.areas.clone(),
            lit: amended.lit.clone(),
            call: amended.call.clone(),
            entered_at: envelope.at,
            proof: Proof::Waiting(envelope.at),
            fault_declared: false,
            lamps_settled_at: None,
            reopened: false,
        }))
    });
}

pub(crate) fn layout_lit(state: &mut State, envelope: Envelope<'_>) {
    state.board_failed = false;
    step(state, |phase| {
        let Phase::Entered(entered) = phase else { return None };
        let mut entered = entered.clone();
        entered.proof = Proof::Lit;
        entered.lamps_settled_at.get_or_insert(envelope.at);
        Some(Phase::Entered(entered))
    });
}

pub(crate) fn lamp_failed(state: &mut State, envelope: Envelope<'_>, failed: &LampFailed) {
    let Some(area) = &failed.area else { return };
    let lamp = FailedLamp {
        wrongly_lit: failed.wrongly_lit,
        round: envelope.round_id,
        reported: failed.reported,
    };
    state.failed_lamps.insert(area.id.clone(), lamp);
    declare_fault(state, envelope.at, envelope.round_id);
}

pub(crate) fn lamp_restored(state: &mut State, restored: &LampRestored) {
    if let Some(area) = &restored.area {
        state.failed_lamps.remove(&area.id);
    }
}

/// The dice decide, whatever the lamps show (r7.3).
fn declare_fault(state: &mut State, at: Uptime, round_id: u64) {
    if let Mode::Open(Play::Dice(Phase::Entered(entered))) = &mut state.mode
        && entered.round.id == round_id
    {
        entered.fault_declared = true;
        entered.lamps_settled_at.get_or_insert(at);
    }
}

pub(crate) fn locked(state: &mut State, envelope: Envelope<'_>, locked: &TableLocked) {
    if let (TableLockedKind::Freeze, Mode::Open(Play::Dice(phase))) = (locked.kind(), &mut state.mode) {
        // A frozen table takes no bell: it may miss one.
        link_broke(phase, DeviceKind::Terminal);
    }
    match locked.reason() {
        TableLockedReason::Lamp => declare_fault(state, envelope.at, envelope.round_id),
        TableLockedReason::LampBoard => {
            state.board_failed = true;
            declare_fault(state, envelope.at, envelope.round_id);
        }
        TableLockedReason::Unspecified
        | TableLockedReason::Tumbler
        | TableLockedReason::Display
        | TableLockedReason::DeviceNotApproved
        | TableLockedReason::ReadsUnderCover
        | TableLockedReason::Seal
        | TableLockedReason::Door
        | TableLockedReason::OutOfTurn
        | TableLockedReason::Digest
        | TableLockedReason::Configuration
        | TableLockedReason::Journal
        | TableLockedReason::Disk
        | TableLockedReason::Supervisor => {}
    }
}

pub(crate) fn unlocked(state: &mut State, envelope: Envelope<'_>, unlocked: &TableUnlocked) {
    let Mode::Open(Play::Dice(phase)) = &mut state.mode else {
        return;
    };
    quiet_from(phase, envelope.at);
    if let (Some(counters), Some(round)) = (unlocked.counters, phase.round_mut()) {
        round.counters = Some(counters.into());
    }
}

pub(crate) fn round_held(state: &mut State, held: &RoundHeld) {
    if let Some(no_spin) = contact_in(&held.closings, Contact::NoSpinButton) {
        state.no_spin = no_spin;
    }
    step(state, |phase| {
        let mut next = phase.clone();
        next.round_mut()?.held = Some(Held {
            cause: held.cause(),
            pressed: held.pressed.clone(),
            read_faces: held.read_faces.clone(),
        });
        Some(next)
    });
}

pub(crate) fn round_resumed(state: &mut State, resumed: &RoundResumed) {
    if let Some(no_spin) = contact_in(&resumed.closings, Contact::NoSpinButton) {
        state.no_spin = no_spin;
    }
    step(state, |phase| {
        let mut next = phase.clone();
        let round = next.round_mut()?;
        round.held = None;
        round.resumed.insert(resumed.cause());
        if let Some(counters) = resumed.counters {
            round.counters = Some(counters.into());
        }
        Some(next)
    });
}

/// The round is over; the next one's spins count from `base`.
fn round_ended(state: &mut State, base: Option<Counters>, after: After) {
    step(state, |phase| {
        phase.round()?;
        let base = base.map(Count::from);
        Some(Phase::Ready(Ready {
            base,
            watched: base.is_some(),
            after,
        }))
    });
}

pub(crate) fn round_abandoned(state: &mut State, abandoned: &RoundAbandoned) {
    round_ended(state, abandoned.base, After::Abandoned);
}

pub(crate) fn round_settled(state: &mut State, settled: &RoundSettled) {
    let after = match &state.mode {
        Mode::Open(Play::Dice(Phase::Entered(entered))) if settled.provisional => {
            After::Provisional(Box::new(entered.clone()))
        }
        Mode::Open(_) | Mode::Closed | Mode::Opening(_) | Mode::Test(_) => After::Settled,
    };
    round_ended(state, settled.base, after);
}

pub(crate) fn round_voided(state: &mut State, envelope: Envelope<'_>, voided: &RoundVoided) {
    state.last_void = Some(LastVoid {
        round: envelope.round_id,
        reason: voided.reason(),
    });
    let after = match &state.mode {
        Mode::Open(Play::Dice(phase @ (Phase::Tumbling(_) | Phase::Betting(_)))) if voided.automatic => {
            After::Withdrawable {
                reason: voided.reason(),
                before: Box::new(phase.clone()),
            }
        }
        Mode::Open(_) | Mode::Closed | Mode::Opening(_) | Mode::Test(_) => After::Voided,
    };
    round_ended(state, voided.base, after);
}

pub(crate) fn void_reason_stated(state: &mut State, envelope: Envelope<'_>, stated: &VoidReasonStated) {
    if let Some(void) = state.last_void.as_mut().filter(|void| void.round == envelope.round_id) {
        void.reason = stated.reason();
    }
}

pub(crate) fn void_withdrawn(state: &mut State, withdrawn: &VoidWithdrawn) {
    state.last_void = None;
    step(state, |phase| {
        let Phase::Ready(Ready {
            after: After::Withdrawable { before, .. },
            ..
        }) = phase
        else {
            return None;
        };
        let mut next = (**before).clone();
        let round = next.round_mut()?;
        round.held = None;
        if let Some(counters) = withdrawn.counters {
            round.counters = Some(counters.into());
        }
        Some(next)
    });
}

pub(crate) fn round_reopened(state: &mut State, envelope: Envelope<'_>) {
    step(state, |phase| {
        let Phase::Ready(Ready {
            after: After::Provisional(entered),
            ..
        }) = phase
        else {
            return None;
        };
        let mut entered = (**entered).clone();
        entered.entered_at = envelope.at;
        entered.proof = Proof::Waiting(envelope.at);
        entered.reopened = true;
        if !entered.fault_declared {
            entered.lamps_settled_at = None;
        }
        Some(Phase::Entered(entered))
    });
}

/// A device was greeted; `before` is what was known of it.
pub(crate) fn device_online(state: &mut State, envelope: Envelope<'_>, before: Option<&Known>, online: &DeviceOnline) {
    let Some((kind, serial_number)) = device_of(envelope) else {
        return;
    };
    let waits = state.is_frozen() || state.is_held();
    if kind == DeviceKind::Terminal
        && !waits
        && let Some(no_spin) = contact_in(&online.closings, Contact::NoSpinButton)
    {
        state.no_spin = no_spin;
    }
    let Mode::Open(Play::Dice(phase)) = &mut state.mode else {
        if let Mode::Test(Below::Open(Play::Dice(Phase::Ready(ready)))) = &mut state.mode {
            ready.watched = false;
        }
        return;
    };
    link_broke(phase, kind);
    quiet_from(phase, envelope.at);
    match kind {
        DeviceKind::Tumbler => tumbler_online(phase, before, &serial_number, online),
        DeviceKind::Terminal => {
            if let Phase::Betting(betting) = phase
                && !waits
            {
                let unrung = ContactCount {
                    closings: 0,
                    boot_id: online.boot_id,
                };
                betting.bell = contact_in(&online.closings, Contact::Bell).unwrap_or(unrung);
            }
        }
        DeviceKind::LayoutLamps => {
            if let Phase::Entered(entered) = phase {
                entered.proof = Proof::Waiting(envelope.at);
            }
        }
        DeviceKind::ResultLights => {}
    }
}

/// Where spins count from, after the tumbler was away.
fn tumbler_online(phase: &mut Phase, before: Option<&Known>, serial_number: &str, online: &DeviceOnline) {
    let found = online.counters.map(Count::from);
    let same = before.is_some_and(|known| {
        known.serial_number == serial_number && (known.boot_id == online.boot_id || online.counters_kept)
    });
    let in_this_run = before.is_some_and(|known| known.seen_since_start);
    match phase {
        Phase::Ready(ready) => {
            let nothing_missed = same && ready.base.is_some() && ready.base == found;
            if !nothing_missed {
                // Whatever was settled provisionally or can be withdrawn could be so until the next spin.
                ready.after = std::mem::take(&mut ready.after).final_form();
            }
            if !(same && in_this_run && ready.base.is_some()) {
                ready.watched = ready.watched && nothing_missed;
                ready.base = found;
            }
        }
        Phase::Tumbling(tumbling) => {
            if !(same && tumbling.base.is_some()) {
                tumbling.base = found;
                tumbling.round.spins = 0;
            } else if !in_this_run {
                // What was recorded counts; what was spun while the table was away doesn't.
                let spins = tumbling.round.spins;
                tumbling.base = found.map(|count| Count {
                    spins: count.spins.wrapping_sub(spins),
                    ..count
                });
            }
            tumbling.round.counters = found;
        }
        Phase::Closed(shut) => {
            if let Some(open) = &mut shut.open
                && !(same && open.base.is_some())
            {
                // Another tumbler, or one that was not there at the bell: its spins count from here.
                open.base = found;
                shut.round.spins = 0;
                shut.round.counters = found;
            }
        }
        // The round is held for a difference; what counts is accepted with its resumption.
        Phase::Betting(_) | Phase::Landed(_) | Phase::Entered(_) => {}
    }
}
