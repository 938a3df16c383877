//! A round of dice as `CheckpointRecorded` carries it, and back. PURE. It only ever grows.

use crate::table::dice::game::Course;
use crate::table::dice::phase::{
    After, BetsShut, Betting, Entered, Held, InSight, Landed, Phase, Proof, Ready, Round, Tumbling,
};
use crate::table::event::{
    BettingCheckpoint, ClosedCheckpoint, EnteredCheckpoint, LandedCheckpoint, PhaseCheckpoint, ReadyAfter,
    ReadyCheckpoint, RoundCheckpoint, RoundHeldCause, TumblingCheckpoint, phase_checkpoint,
};
use crate::table::input::Contact;
use crate::table::state::Count;
use crate::time::Uptime;

/// Where play stands as a message.
pub(crate) fn phase_out(phase: &Phase) -> PhaseCheckpoint {
    let phase = match phase {
        Phase::Ready(ready) => phase_checkpoint::Phase::Ready(Box::new(ready_out(ready))),
        Phase::Tumbling(tumbling) => phase_checkpoint::Phase::Tumbling(TumblingCheckpoint {
            round: Some(round_out(&tumbling.round)),
            base: tumbling.base.map(Into::into),
            quiet_since_us: tumbling.quiet_since.as_micros(),
        }),
        Phase::Betting(betting) => phase_checkpoint::Phase::Betting(BettingCheckpoint {
            round: Some(round_out(&betting.round)),
            opened_at_us: betting.opened_at.as_micros(),
            bell: Some(betting.bell.named(Contact::Bell)),
            unbroken: betting.unbroken,
        }),
        Phase::Closed(shut) => phase_checkpoint::Phase::Closed(ClosedCheckpoint {
            round: Some(round_out(&shut.round)),
            closed_at_us: shut.closed_at.as_micros(),
            base: shut.open.and_then(|open| open.base).map(Into::into),
            quiet_since_us: shut.open.map_or(0, |open| open.quiet_since.as_micros()),
        }),
        Phase::Landed(landed) => phase_checkpoint::Phase::Landed(LandedCheckpoint {
            round: Some(round_out(&landed.round)),
            uncovered_at_us: landed.uncovered_at.as_micros(),
        }),
        Phase::Entered(entered) => phase_checkpoint::Phase::Entered(entered_out(entered)),
    };
    PhaseCheckpoint { phase: Some(phase) }
}

/// Where play stands, from a message.
pub(crate) fn phase_in(checkpoint: &PhaseCheckpoint) -> Phase {
    match &checkpoint.phase {
        // Another family's: whoever asks looks first.
        None | Some(phase_checkpoint::Phase::TwoUp(_)) => Phase::default(),
        Some(phase_checkpoint::Phase::Ready(ready)) => Phase::Ready(ready_in(ready)),
        Some(phase_checkpoint::Phase::Tumbling(tumbling)) => Phase::Tumbling(Tumbling {
            round: round_in(tumbling.round.as_ref()),
            base: tumbling.base.map(Into::into),
            quiet_since: Uptime::from_micros(tumbling.quiet_since_us),
        }),
        Some(phase_checkpoint::Phase::Betting(betting)) => Phase::Betting(Betting {
            round: round_in(betting.round.as_ref()),
            opened_at: Uptime::from_micros(betting.opened_at_us),
            bell: betting.bell.as_ref().map(Into::into).unwrap_or_default(),
            unbroken: betting.unbroken,
        }),
        Some(phase_checkpoint::Phase::Closed(shut)) => Phase::Closed(shut_in(shut)),
        Some(phase_checkpoint::Phase::Landed(landed)) => Phase::Landed(Landed {
            round: round_in(landed.round.as_ref()),
            uncovered_at: Uptime::from_micros(landed.uncovered_at_us),
        }),
        Some(phase_checkpoint::Phase::Entered(entered)) => Phase::Entered(entered_in(entered)),
    }
}

fn shut_in(shut: &ClosedCheckpoint) -> BetsShut {
    let round = round_in(shut.round.as_ref());
    BetsShut {
        open: (round.course() == Course::OpenTumbler).then(|| InSight {
            base: shut.base.map(Into::into),
            quiet_since: Uptime::from_micros(shut.quiet_since_us),
        }),
        round,
        closed_at: Uptime::from_micros(shut.closed_at_us),
    }
}

fn ready_out(ready: &Ready) -> ReadyCheckpoint {
    let (after, before, voided) = match &ready.after {
        After::Nothing => (ReadyAfter::Nothing, None, 0),
        After::Settled => (ReadyAfter::Settled, None, 0),
        After::Provisional(entered) => {
            let before = phase_out(&Phase::Entered((**entered).clone()));
            (ReadyAfter::Settled, Some(Box::new(before)), 0)
        }
        After::Voided => (ReadyAfter::Voided, None, 0),
        After::Withdrawable { reason, before } => {
            (ReadyAfter::Voided, Some(Box::new(phase_out(before))), *reason as i32)
        }
        After::Abandoned => (ReadyAfter::Abandoned, None, 0),
    };
    ReadyCheckpoint {
        base: ready.base.map(Into::into),
        watched: ready.watched,
        after: after as i32,
        before,
        voided,
    }
}

fn ready_in(ready: &ReadyCheckpoint) -> Ready {
    let before = ready.before.as_deref().map(phase_in);
    let after = match (ready.after(), before) {
        (ReadyAfter::Unspecified | ReadyAfter::Nothing, _) => After::Nothing,
        (ReadyAfter::Settled, Some(Phase::Entered(entered))) => After::Provisional(Box::new(entered)),
        (ReadyAfter::Settled, _) => After::Settled,
        (ReadyAfter::Voided, Some(before)) => After::Withdrawable {
            reason: ready.voided(),
            before: Box::new(before),
        },
        (ReadyAfter::Voided, None) => After::Voided,
        (ReadyAfter::Abandoned, _) => After::Abandoned,
    };
    Ready {
        base: ready.base.map(Count::from),
        watched: ready.watched,
        after,
    }
}

fn round_out(round: &Round) -> RoundCheckpoint {
    let held = round.held.as_ref();
    RoundCheckpoint {
        round_id: round.id,
        game: round.game.clone(),
        style: round.style.clone(),
        layout: round.layout.clone(),
        counters: round.counters.map(Into::into),
        spins: round.spins,
        held: held.map_or(0, |held| held.cause as i32),
        pressed: held.map(|held| held.pressed.clone()).unwrap_or_default(),
        resumed: round.resumed.iter().map(|cause| *cause as i32).collect(),
        read_faces: held.map(|held| held.read_faces.clone()).unwrap_or_default(),
    }
}

fn round_in(round: Option<&RoundCheckpoint>) -> Round {
    let Some(round) = round else { return Round::default() };
    let held = (round.held() != RoundHeldCause::Unspecified).then(|| Held {
        cause: round.held(),
        pressed: round.pressed.clone(),
        read_faces: round.read_faces.clone(),
    });
    Round {
        id: round.round_id,
        game: round.game.clone(),
        style: round.style.clone(),
        layout: round.layout.clone(),
        counters: round.counters.map(Count::from),
        spins: round.spins,
        held,
        resumed: round.resumed().collect(),
    }
}

fn entered_out(entered: &Entered) -> EnteredCheckpoint {
    let waiting_since = match entered.proof {
        Proof::Waiting(since) => since,
        Proof::Lit => Uptime::ZERO,
    };
    EnteredCheckpoint {
        round: Some(round_out(&entered.round)),
        pressed: entered.pressed.clone(),
        faces: entered.faces.clone(),
        areas: entered.areas.clone(),
        lit: entered.lit.clone(),
        call: entered.call.clone(),
        entered_at_us: entered.entered_at.as_micros(),
        lamps_lit: entered.proof == Proof::Lit,
        waiting_since_us: waiting_since.as_micros(),
        fault_declared: entered.fault_declared,
        lamps_settled_at_us: entered.lamps_settled_at.map(Uptime::as_micros),
        reopened: entered.reopened,
    }
}

fn entered_in(entered: &EnteredCheckpoint) -> Entered {
    let proof = if entered.lamps_lit {
        Proof::Lit
    } else {
        Proof::Waiting(Uptime::from_micros(entered.waiting_since_us))
    };
    Entered {
        round: round_in(entered.round.as_ref()),
        pressed: entered.pressed.clone(),
        faces: entered.faces.clone(),
        areas: entered.areas.clone(),
        lit: entered.lit.clone(),
        call: entered.call.clone(),
        entered_at: Uptime::from_micros(entered.entered_at_us),
        proof,
        fault_declared: entered.fault_declared,
        lamps_settled_at: entered.lamps_settled_at_us.map(Uptime::from_micros),
        reopened: entered.reopened,
    }
}
