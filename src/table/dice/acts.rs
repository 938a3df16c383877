//! What people do by commands to a round of dice. PURE. Every refusal says what to do instead.

use crate::rules::citation::{Citation, nz_div_9, qld_1995};
use crate::rules::tai_sai::{self, VoidReason};
use crate::table::citation::void_reason;
use crate::table::dice::game::{Course, Ground};
use crate::table::dice::held::{Declared, Uncovered};
use crate::table::dice::phase::{After, Entered, Held, Phase};
use crate::table::dice::{Draft, entry, held, opening, settle, terminal, tumbler};
use crate::table::draft::Source;
use crate::table::entry::new_number;
use crate::table::event::{
    Body, ResultSource, RoundAbandoned, RoundHeldCause, RoundReopened, RoundVoidedReason, TableLockedKind,
    TableLockedReason, ThrowerOffered, VoidReasonStated,
};
use crate::table::game::Answer;
use crate::table::input::{OperatorAct, Person};
use crate::table::operator::{instead, not_here, refused};
use crate::table::rejection::Rejection;
use crate::table::terminal::Missed;
use crate::table::{due, locks};

/// Does the act, or says why not.
pub(crate) fn act(draft: &mut Draft<'_>, person: &Person, act: &OperatorAct) -> Answer {
    match act {
        OperatorAct::LightTestEntry { faces } => {
            let faces = checked_faces(*faces)?;
            opening::light(draft, faces)
        }
        OperatorAct::SpinTumbler => opening::spin(draft, person),
        OperatorAct::EnterResult { faces, reason } => enter_result(draft, person, *faces, reason),
        OperatorAct::Amend { faces } => amend(draft, person, *faces),
        OperatorAct::Void { reason } => void(draft, person, *reason),
        OperatorAct::StateVoidReason { reason } => state_reason(draft, person, *reason),
        OperatorAct::Settle => settle_round(draft, person),
        OperatorAct::Reopen => reopen(draft, person),
        OperatorAct::Resume => resume(draft, person),
        OperatorAct::WithdrawVoid => withdraw_void(draft, person),
        OperatorAct::Offer { seat } => offer(draft, person, *seat),
        OperatorAct::Spin { .. } => instead("round result"),
        OperatorAct::CorrectOutcome { .. } => instead("round amend"),
        OperatorAct::Invalid { .. } => instead("round void"),
        OperatorAct::LightTestOutcome { .. }
        | OperatorAct::Spinner { .. }
        | OperatorAct::DealerSpins
        | OperatorAct::Continues { .. }
        | OperatorAct::NoMoreBets
        | OperatorAct::Overrule { .. }
        | OperatorAct::SpinnerStops
        | OperatorAct::Relieve
        | OperatorAct::OffTable { .. }
        | OperatorAct::NewSet { .. }
        | OperatorAct::ReportLight { .. }
        // What every table has is done before it gets here.
        | OperatorAct::BeginOpening
        | OperatorAct::WalkLamps
        | OperatorAct::RecordCheck { .. }
        | OperatorAct::RecordTestEntry { .. }
        | OperatorAct::CompleteOpening
        | OperatorAct::AbandonOpening
        | OperatorAct::OpenVouched
        | OperatorAct::Close
        | OperatorAct::RecordIncident { .. }
        | OperatorAct::Lock { .. }
        | OperatorAct::Unlock { .. }
        | OperatorAct::AcceptDevice { .. }
        | OperatorAct::EnterTest
        | OperatorAct::LeaveTest
        | OperatorAct::DeviceTest(_)
        | OperatorAct::AcknowledgeAlert { .. } => not_here("two-up"),
    }
}

/// The table is closed by a person: what becomes of the running round.
pub(crate) fn close(draft: &mut Draft<'_>, source: &Source) -> Result<(), Rejection> {
    match draft.phase() {
        Some(Phase::Ready(_)) | None => {}
        Some(Phase::Tumbling(_) | Phase::Betting(_)) => {
            due::round_ends(draft);
            let base = draft.counters();
            draft.record(source.clone(), Body::RoundAbandoned(RoundAbandoned { base }));
            for lock in draft.state.locks.clone() {
                let of_round = matches!(
                    lock.reason,
                    TableLockedReason::OutOfTurn | TableLockedReason::Configuration
                );
                if of_round && lock.kind == TableLockedKind::Freeze {
                    locks::unlock(draft, source.clone(), &lock, "the round was abandoned");
                }
            }
        }
        Some(Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) => {
            return Err(Rejection::command(
                "Bets are closed: finish the round, or void it, then close the table.",
                "NZ Div 9 r4.7",
            ));
        }
    }
    Ok(())
}

fn checked_faces(faces: [u8; 3]) -> Result<[u8; 3], Rejection> {
    if tai_sai::are_faces(faces) {
        return Ok(faces);
    }
    Err(refused("Faces are three numbers from 1 to 6."))
}

/// Neither frozen nor held.
fn running(draft: &Draft<'_>) -> Result<(), Rejection> {
    if draft.state.is_frozen() {
        return Err(refused(
            "The table is frozen: let it go on (`tablegate round resume`), or void the round, first.",
        ));
    }
    if let Some(held) = draft.state.phase().and_then(Phase::held) {
        let text = held::text(held.cause);
        return Err(refused(format!("The round is held. {text}")));
    }
    Ok(())
}

fn outside_play() -> Rejection {
    refused("The table is not open: open it first (`tablegate open`).")
}

fn enter_result(draft: &mut Draft<'_>, person: &Person, faces: [u8; 3], reason: &str) -> Answer {
    let faces = checked_faces(faces)?;
    let reason = locks::checked_text("reason", reason)?;
    running(draft)?;
    match draft.phase() {
        Some(Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) => {
            entry::by_command(draft, Source::person(person), faces, &reason);
            Ok(format!("Entered: {}.", draft.game.game.call(faces)))
        }
        Some(Phase::Entered(_)) => Err(Rejection::command(
            "The result is entered: amend it (`tablegate round amend`).",
            "NZ Div 9 r7.2",
        )),
        Some(Phase::Ready(_) | Phase::Tumbling(_)) => Err(Rejection::command(
            "There is no result yet: bets have not been opened.",
            "NZ Div 9 r6.4",
        )),
        None => Err(outside_play()),
    }
}

/// The entered round, or why there is none.
fn entered(draft: &Draft<'_>) -> Result<Entered, Rejection> {
    match draft.phase() {
        Some(Phase::Entered(entered)) => Ok(entered),
        Some(Phase::Ready(ready)) => match ready.after {
            After::Provisional(_) => Err(Rejection::command(
                "The round is settled by the cover: take that back first (`tablegate round reopen`).",
                "NZ Div 9 r7.2",
            )),
            After::Nothing | After::Settled | After::Voided | After::Withdrawable { .. } | After::Abandoned => {
                Err(Rejection::command(
                    "No round runs; after settlement nothing is amended: record an incident (`tablegate round incident`).",
                    "NZ Div 9 r7.2",
                ))
            }
        },
        Some(Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_)) => {
            Err(Rejection::command("No result is entered yet.", "NZ Div 9 r6.5"))
        }
        None => Err(outside_play()),
    }
}

fn amend(draft: &mut Draft<'_>, person: &Person, faces: [u8; 3]) -> Answer {
    let faces = checked_faces(faces)?;
    if draft.game.game.amend() == Ground::None {
        return Err(refused(
            "The rules of this game that are at hand have no amendment, and the house has none: settle by the dice, and record an incident (`tablegate round incident`).",
        ));
    }
    let entered = entered(draft)?;
    running(draft)?;
    let source = Source::person(person);
    entry::amend(draft, source, &entered, Vec::new(), faces, ResultSource::Command);
    new_number(draft);
    Ok(format!("Amended to {}.", draft.game.game.call(faces)))
}

fn settle_round(draft: &mut Draft<'_>, person: &Person) -> Answer {
    let entered = entered(draft)?;
    running(draft)?;
    settle::by_command(draft, Source::person(person), &entered)?;
    Ok("The round is settled.".into())
}

/// The reason as recorded; one that this table's rounds can't have is refused.
fn checked_reason(draft: &Draft<'_>, reason: Option<RoundVoidedReason>) -> Result<RoundVoidedReason, Rejection> {
    if draft.game.game.void() == Ground::None {
        return Err(Rejection::command(
            "The rules of this game that are at hand have no void, and the house has none: let the round go on (`tablegate round resume`), or enter what the dice show (`tablegate round result`).",
            qld_1995!("r22.1, s80"),
        ));
    }
    let reason = reason.unwrap_or(RoundVoidedReason::NotStated);
    let known = draft.game.game.void_reasons();
    match void_reason(reason) {
        Some(of_rules) if known.contains(&of_rules) => Ok(reason),
        None if reason == RoundVoidedReason::NotStated => Ok(reason),
        Some(_) | None => {
            let codes: Vec<_> = known.into_iter().map(VoidReason::code).collect();
            let (last, rest) = codes.split_last().unwrap_or((&"", &[]));
            Err(Rejection::command(
                format!("This is no reason of this table's: give {} or {last}.", rest.join(", ")),
                "NZ Div 9 r7.1",
            ))
        }
    }
}

fn void(draft: &mut Draft<'_>, person: &Person, reason: Option<RoundVoidedReason>) -> Answer {
    let reason = checked_reason(draft, reason)?;
    // Where the dice are spun first, a round may have to be void before a spin is known.
    let before_the_first_spin = draft.game.course() == Course::CoveredTumbler
        && matches!(
            reason,
            RoundVoidedReason::ANotActivated | RoundVoidedReason::ATumblerFault
        );
    match draft.phase() {
        None => return Err(outside_play()),
        // Nobody has started it: the supervisor's word stands for it.
        Some(Phase::Ready(_)) if before_the_first_spin => tumbler::start_round(draft, Source::person(person), false),
        Some(Phase::Ready(_)) => {
            let text = match draft.game.course() {
                Course::CoveredTumbler => {
                    "No round runs; after settlement nothing is voided: record an incident (`tablegate round incident`). A tumble \
                     that failed before a spin was counted is voided with its reason (`tablegate round void --reason \
                     a_not_activated`, or `a_tumbler_fault`)."
                }
                Course::OpenTumbler | Course::DiceCup => {
                    "No round runs; after settlement nothing is voided: record an incident (`tablegate round incident`)."
                }
            };
            return Err(Rejection::command(text, "NZ Div 9 r7.1"));
        }
        Some(Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) => {}
    }
    held::void(draft, Source::person(person), reason, Declared::Supervisor);
    Ok("The round is void: nobody wins or loses.".into())
}

/// The most seats that a table has: more is a slip of the hand.
const MOST_SEATS: u32 = 99;

/// The dice are offered to a seat (r6A.3). Whether it may throw is the dealer's to see: nobody here knows its wagers.
fn offer(draft: &mut Draft<'_>, person: &Person, seat: u32) -> Answer {
    const RULE: Citation = nz_div_9!("r6A.3");
    if draft.game.course() != Course::DiceCup {
        return Err(refused("No dice are offered at this table: they are in a tumbler."));
    }
    if !(1..=MOST_SEATS).contains(&seat) {
        return Err(refused(format!("Seats are counted from 1, up to {MOST_SEATS}.")));
    }
    running(draft)?;
    match draft.phase() {
        Some(Phase::Closed(_)) => {
            draft.record(Source::person(person), Body::ThrowerOffered(ThrowerOffered { seat }));
            Ok(format!("Recorded: the dice were offered to seat {seat}."))
        }
        Some(Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_)) => Err(Rejection::command(
            "The dice are offered when bets are closed: ring the bell first.",
            RULE,
        )),
        Some(Phase::Landed(_) | Phase::Entered(_)) => Err(Rejection::command(
            "The dice are thrown: offer them in the next round.",
            RULE,
        )),
        None => Err(outside_play()),
    }
}

fn state_reason(draft: &mut Draft<'_>, person: &Person, reason: RoundVoidedReason) -> Answer {
    let reason = checked_reason(draft, Some(reason))?;
    let waits = draft
        .state
        .last_void
        .is_some_and(|void| void.reason == RoundVoidedReason::NotStated);
    if !waits {
        return Err(Rejection::command("No void waits for its reason.", "NZ Div 9 r7.1"));
    }
    if reason == RoundVoidedReason::NotStated {
        return Err(Rejection::command("Give the reason of the void.", "NZ Div 9 r7.1"));
    }
    let stated = VoidReasonStated { reason: reason as i32 };
    draft.record(Source::person(person), Body::VoidReasonStated(stated));
    Ok("The reason is recorded.".into())
}

/// A frozen table leaves its lamps as they are: no round comes back to it.
fn not_frozen(draft: &Draft<'_>) -> Result<(), Rejection> {
    if !draft.state.is_frozen() {
        return Ok(());
    }
    Err(refused(
        "The table is frozen: let it go on (`tablegate round resume`) first.",
    ))
}

fn reopen(draft: &mut Draft<'_>, person: &Person) -> Answer {
    let provisional = draft.ready().is_some_and(|ready| match ready.after {
        After::Provisional(_) => true,
        After::Nothing | After::Settled | After::Voided | After::Withdrawable { .. } | After::Abandoned => false,
    });
    if !provisional || held::spun_since(draft) {
        return Err(Rejection::command(
            "Only a round that the cover settled can be reopened, and only until the next spin: record an incident (`tablegate round incident`).",
            "NZ Div 9 r7.2",
        ));
    }
    not_frozen(draft)?;
    draft.record(Source::person(person), Body::RoundReopened(RoundReopened {}));
    draft.seen.readout.numbers_hidden = false;
    Ok("The round is open again: its areas are lit.".into())
}

fn withdraw_void(draft: &mut Draft<'_>, person: &Person) -> Answer {
    let withdrawable = draft.ready().is_some_and(|ready| match ready.after {
        After::Withdrawable { .. } => true,
        After::Nothing | After::Settled | After::Voided | After::Provisional(_) | After::Abandoned => false,
    });
    if !withdrawable || held::spun_since(draft) {
        return Err(Rejection::command(
            "Only a void that the gateway declared can be withdrawn, and only until the next spin.",
            "NZ Div 9 r7.1",
        ));
    }
    not_frozen(draft)?;
    let source = Source::person(person);
    held::withdraw(draft, source.clone(), Declared::Supervisor);
    held::stand_for(draft, &source, None);
    Ok("The void is withdrawn: the round goes on with the dice uncovered.".into())
}

fn resume(draft: &mut Draft<'_>, person: &Person) -> Answer {
    let held = draft.state.phase().and_then(Phase::held).cloned();
    if held.is_none() && !draft.state.is_frozen() {
        return Err(refused("No round is held, and the table is not frozen."));
    }
    if held
        .as_ref()
        .is_some_and(|held| held.cause == RoundHeldCause::TumblerShort)
    {
        return Err(Rejection::command(
            held::text(RoundHeldCause::TumblerShort),
            "NZ Div 9 r6.1",
        ));
    }
    if draft.state.is_frozen() {
        let answer = locks::thaw(draft, person)?;
        if draft.state.is_frozen() || held.is_none() {
            return Ok(answer);
        }
    }
    let Some(held) = held else {
        return Ok("The table goes on.".into());
    };
    let source = Source::person(person);
    held::resumed(draft, held.cause, source.clone());
    match (held.cause, draft.phase()) {
        (RoundHeldCause::DiceDiffer, Some(Phase::Landed(_))) => confirm(draft, source, &held),
        (RoundHeldCause::ExposedEarly | RoundHeldCause::NotActivated, Some(Phase::Tumbling(_) | Phase::Betting(_))) => {
            held::stand_for(draft, &source, None);
        }
        (_, Some(Phase::Betting(_))) => {
            let ring = terminal::ring_found(draft, Missed::WhileAway);
            let uncovered = draft.seen.tumbler.off_at.is_some();
            if let Some(ring) = ring {
                held::close_bets(
                    draft,
                    source.clone(),
                    Some(ring.at.unwrap_or(draft.now)),
                    Missed::WhileAway,
                );
            }
            if uncovered {
                held::stand_for(draft, &source, None);
            }
        }
        (_, Some(Phase::Closed(_))) if draft.seen.tumbler.off_at.is_some() => {
            held::uncover(draft, source, Uncovered::Seen(Missed::Live));
        }
        (_, _) => {}
    }
    Ok("The round goes on.".into())
}

/// The entry that a dice reader contradicted counts.
fn confirm(draft: &mut Draft<'_>, source: Source, held: &Held) {
    let Some(faces) = tumbler::three(&held.pressed) else {
        return;
    };
    let accepted = entry::Accepted {
        pressed: held.pressed.clone(),
        faces,
        source: ResultSource::Terminal,
        reason: String::new(),
        confirmed: true,
        read: tumbler::reading(draft).or_else(|| tumbler::three(&held.read_faces)),
    };
    entry::accept(draft, source, accepted);
    new_number(draft);
}
