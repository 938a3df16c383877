//! What people do by commands at a two-up table. PURE. Every refusal says what to do instead.

use crate::rules::two_up::Side;
use crate::table::draft::Source;
use crate::table::due::round_ends;
use crate::table::entry::new_number;
use crate::table::event::{Body, ResultSource, RoundAbandoned, SpinInvalidatedReason};
use crate::table::game::Answer;
use crate::table::input::{DeviceKind, DiceOff, LightSeen, OperatorAct, Person};
use crate::table::locks;
use crate::table::operator::{instead, not_here, refused};
use crate::table::rejection::Rejection;
use crate::table::state;
use crate::table::terminal::Missed;
use crate::table::two_up::Draft;
use crate::table::two_up::phase::{Lock, Phase, Spinner};
use crate::table::two_up::play::{self, Act, Authority, By};
use crate::table::two_up::refusal::Cause;
use crate::table::two_up::{lights, opening};

/// Does the act, or says why not.
pub(crate) fn act(draft: &mut Draft<'_>, person: &Person, act: &OperatorAct) -> Answer {
    match act {
        OperatorAct::LightTestOutcome { outcome } => opening::light(draft, *outcome),
        OperatorAct::Resume => resume(draft, person),
        OperatorAct::Spinner { side: None } => perform(draft, person, Act::SpinnerAlone, "A player spins; the wager follows."),
        OperatorAct::Spinner { side: Some(side) } => spinner(draft, person, *side),
        OperatorAct::DealerSpins => perform(draft, person, Act::DealerSpins, "The dealer spins."),
        OperatorAct::Continues { side } => {
            perform(draft, person, Act::Wager(*side), &format!("The spinner wagers on {}.", side.name()))
        }
        OperatorAct::NoMoreBets => no_more_bets(draft, person),
        OperatorAct::Spin { outcome } => {
            perform(draft, person, Act::Result(*outcome), &format!("Entered: {}.", words(outcome.name())))
        }
        OperatorAct::CorrectOutcome { outcome } => {
            perform(draft, person, Act::Correct(*outcome), &format!("Corrected to {}.", words(outcome.name())))
        }
        OperatorAct::Invalid { reason } => {
            let reason = reason.unwrap_or(SpinInvalidatedReason::NotStated);
            perform(draft, person, Act::Invalid(reason), "The spin is invalid: nothing counts.")
        }
        OperatorAct::Overrule { outcome } => perform(
            draft,
            person,
            Act::Overrule(*outcome),
            &format!("The spin stands: {}.", words(outcome.name())),
        ),
        OperatorAct::SpinnerStops => perform(draft, person, Act::Stops, "The spinner stops."),
        OperatorAct::Relieve => perform(draft, person, Act::Relieve, "The dealer takes over."),
        OperatorAct::OffTable { dice } => {
            let dice = match dice {
                DiceOff::One => 1,
                DiceOff::Two => 2,
                DiceOff::Three => 3,
            };
            perform(draft, person, Act::OffTable(dice), "Recorded.")
        }
        OperatorAct::NewSet { from } => perform(draft, person, Act::NewSet(*from), "The set is complete."),
        OperatorAct::ReportLight { light, seen } => report_light(draft, person, light, *seen),
        OperatorAct::Void { .. } => Err(refused(
            "There is no void in two-up: a spin is invalid (`tablegate round invalid`), or the game is finished.",
        )),
        OperatorAct::EnterResult { .. } => instead("round spin"),
        OperatorAct::Amend { .. } => instead("round correct"),
        OperatorAct::StateVoidReason { .. } => instead("round invalid --reason CODE"),
        OperatorAct::Offer { .. } => not_here("tai-sai with a dice cup"),
        OperatorAct::LightTestEntry { .. }
        | OperatorAct::SpinTumbler
        | OperatorAct::Settle
        | OperatorAct::Reopen
        | OperatorAct::WithdrawVoid
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
        | OperatorAct::AcknowledgeAlert { .. } => not_here("tai-sai and sic-bo"),
    }
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// A supervisor by a command.
fn by(person: &Person) -> By {
    By {
        source: Source::person(person),
        how: ResultSource::Command,
        pressed: Vec::new(),
        authority: Authority::Supervisor,
    }
}

/// The table is open and not frozen.
fn running(draft: &Draft<'_>) -> Result<(), Rejection> {
    if draft.state.course().is_none() {
        return Err(refused("The table is not open: open it first (`tablegate open`)."));
    }
    if draft.state.is_frozen() {
        return Err(refused(
            "The table is frozen: let it go on (`tablegate round resume`) first.",
        ));
    }
    Ok(())
}

fn perform(draft: &mut Draft<'_>, person: &Person, act: Act, done: &str) -> Answer {
    running(draft)?;
    play::perform(draft, &by(person), act).map_err(|cause| refusal(draft, cause))?;
    // Keys that were pressed for what has been done by command are gone.
    new_number(draft);
    Ok(done.to_string())
}

/// Why not. What holds the next game back is named, with what ends it.
fn refusal(draft: &Draft<'_>, cause: Cause) -> Rejection {
    if cause != Cause::HeldBack {
        return cause.of_command(&draft.game.law);
    }
    let mut why: Vec<String> = draft.state.locks.iter().map(|lock| standing(draft, lock)).collect();
    if !draft.state.is_online(DeviceKind::Terminal) {
        why.push("the terminal does not answer: check its cable and power".into());
    }
    refused(format!("The next game is held back: {}.", why.join("; ")))
}

fn standing(draft: &Draft<'_>, lock: &state::Lock) -> String {
    let name = lock.reason.as_str_name();
    let reason = words(&name.trim_start_matches("TABLE_LOCKED_REASON_").to_ascii_lowercase());
    let details = match lock.text.trim_end_matches('.') {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    let ends = locks::obstacle(draft, lock).unwrap_or("end it with `tablegate unlock` when it is rectified");
    format!("a lock stands, {reason}{details}: {ends}")
}

/// A new spinner, or the wager of the one there is while it is free.
fn spinner(draft: &mut Draft<'_>, person: &Person, side: Side) -> Answer {
    let free = draft.state.course().is_some_and(|course| match &course.phase {
        Phase::Betting(game) => game.spinner == Spinner::Player && draft.game.law.wager_is_free(game),
        Phase::Select { .. } | Phase::Closed { .. } | Phase::Choice(_) | Phase::Decide { .. } => false,
    });
    let act = if free { Act::Rewager(side) } else { Act::Spinner(side) };
    perform(draft, person, act, &format!("The spinner wagers on {}.", side.name()))
}

fn no_more_bets(draft: &mut Draft<'_>, person: &Person) -> Answer {
    running(draft)?;
    play::call(draft, &by(person), None, Missed::Live).map_err(|cause| refusal(draft, cause))?;
    Ok("Bets are closed.".into())
}

fn resume(draft: &mut Draft<'_>, person: &Person) -> Answer {
    if !draft.state.is_frozen() {
        return Err(refused("The table is not frozen."));
    }
    locks::thaw(draft, person)
}

fn report_light(draft: &mut Draft<'_>, person: &Person, light: &str, seen: LightSeen) -> Answer {
    let place = lights::place(&draft.game.board, light)
        .ok_or_else(|| refused("There is no such light: heads_1 to heads_3, tails_1 to tails_3, odds_1 to odds_5."))?;
    lights::reported(draft, Source::person(person), place, seen).map_err(refused)?;
    Ok(match seen {
        LightSeen::Failed => format!("Recorded: {light} has failed; a card is shown in its place when it must be lit."),
        LightSeen::Works => format!("Recorded: {light} works."),
    })
}

/// The table is closed by a person: between games, or before the game's first call, when bets go back.
pub(crate) fn close(draft: &mut Draft<'_>, source: &Source) -> Result<(), Rejection> {
    let Some(course) = draft.course() else { return Ok(()) };
    match &course.phase {
        Phase::Select { .. } | Phase::Decide { .. } => Ok(()),
        Phase::Betting(game) if game.lock == Lock::Free => {
            round_ends(draft);
            draft.record(source.clone(), Body::RoundAbandoned(RoundAbandoned { base: None }));
            Ok(())
        }
        Phase::Betting(_) | Phase::Closed { .. } | Phase::Choice(_) => Err(refused(
            "The spinner's wager is not decided: finish the game, then close the table.",
        )),
    }
}
