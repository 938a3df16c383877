//! What people do by commands. PURE. Every refusal says what to do instead.

use crate::rules::citation::Citation;
use crate::table::draft::{Draft, Source};
use crate::table::entry;
use crate::table::event::{
    ActRefusedReason, AlertAcknowledged, Body, RoundVoided, RoundVoidedReason, SoftwareVerified, TableClosed,
    TableLockedKind, TestModeEntered, TestModeLeft,
};
use crate::table::game::{Answer, Family};
use crate::table::input::{Asker, OperatorAct, Person, Role};
use crate::table::mode::Mode;
use crate::table::rejection::Rejection;
use crate::table::state::State;
use crate::table::{device_test, incident, locks, opening, refused_act};

/// No rule of the game stands behind the refusal.
const HOUSE: Citation = "";

/// Does the act, or says why not.
pub(crate) fn act<F: Family>(draft: &mut Draft<'_, F>, person: &Person, act: &OperatorAct) {
    let may = allowed(draft, person, act);
    let is_late = matches!(act, OperatorAct::DeviceTest(step) if device_test::is_late(draft, step));
    let answer = may.clone().and_then(|()| dispatch(draft, person, act));
    // What every table refuses cites the one instrument that has it; at a table of another law it is the house's own rule.
    let answer = answer.map_err(|refusal| {
        let ours = refusal.rule.starts_with(draft.game.instrument());
        let rule = if ours { refusal.rule } else { HOUSE };
        Rejection { rule, ..refusal }
    });
    if let Err(refusal) = &answer
        && !is_late
    {
        let reason = match may {
            Ok(()) => ActRefusedReason::NotNow,
            Err(_) => ActRefusedReason::NotAllowed,
        };
        refused_act::refused(draft, person, act, refusal, reason);
    }
    draft.answer = Some(answer);
}

/// Technicians look and test; everything else is a supervisor's.
fn allowed<F: Family>(draft: &Draft<'_, F>, person: &Person, act: &OperatorAct) -> Result<(), Rejection> {
    let in_test = match draft.state.mode {
        Mode::Test(_) => true,
        Mode::Closed | Mode::Opening(_) | Mode::Open(_) => false,
    };
    let testing = match act {
        OperatorAct::EnterTest | OperatorAct::LeaveTest | OperatorAct::DeviceTest(_) => true,
        OperatorAct::SpinTumbler => in_test,
        OperatorAct::BeginOpening
        | OperatorAct::WalkLamps
        | OperatorAct::LightTestEntry { .. }
        | OperatorAct::LightTestOutcome { .. }
        | OperatorAct::Offer { .. }
        | OperatorAct::Spinner { .. }
        | OperatorAct::DealerSpins
        | OperatorAct::Continues { .. }
        | OperatorAct::NoMoreBets
        | OperatorAct::Spin { .. }
        | OperatorAct::CorrectOutcome { .. }
        | OperatorAct::Invalid { .. }
        | OperatorAct::Overrule { .. }
        | OperatorAct::SpinnerStops
        | OperatorAct::Relieve
        | OperatorAct::OffTable { .. }
        | OperatorAct::NewSet { .. }
        | OperatorAct::ReportLight { .. }
        | OperatorAct::RecordCheck { .. }
        | OperatorAct::RecordTestEntry { .. }
        | OperatorAct::CompleteOpening
        | OperatorAct::AbandonOpening
        | OperatorAct::OpenVouched
        | OperatorAct::Close
        | OperatorAct::EnterResult { .. }
        | OperatorAct::Amend { .. }
        | OperatorAct::Void { .. }
        | OperatorAct::StateVoidReason { .. }
        | OperatorAct::Settle
        | OperatorAct::Reopen
        | OperatorAct::Resume
        | OperatorAct::WithdrawVoid
        | OperatorAct::RecordIncident { .. }
        | OperatorAct::Lock { .. }
        | OperatorAct::Unlock { .. }
        | OperatorAct::AcceptDevice { .. }
        | OperatorAct::AcknowledgeAlert { .. } => false,
    };
    if person.role == Role::Supervisor || testing {
        return Ok(());
    }
    Err(refused("Only a supervisor may do this: use the supervisor's socket."))
}

fn dispatch<F: Family>(draft: &mut Draft<'_, F>, person: &Person, act: &OperatorAct) -> Answer {
    match act {
        OperatorAct::Void { reason } if is_anothers(draft.game, &draft.state) => void_anothers(draft, person, *reason),
        OperatorAct::BeginOpening => opening::begin(draft, person),
        OperatorAct::WalkLamps => opening::walk_lamps(draft),
        OperatorAct::RecordCheck { check, passed, text } => opening::record_check(draft, person, *check, *passed, text),
        OperatorAct::RecordTestEntry { passed, text } => opening::record_entry(draft, person, *passed, text),
        OperatorAct::CompleteOpening => opening::complete(draft, person),
        OperatorAct::AbandonOpening => opening::abandon(draft, Source::person(person), "ended by the supervisor"),
        OperatorAct::OpenVouched => opening::open_vouched(draft, person),
        OperatorAct::Close => close(draft, person),
        OperatorAct::RecordIncident { cause, note } => incident::record(draft, person, *cause, note.as_deref()),
        OperatorAct::Lock { reason } => locks::by_supervisor(draft, person, reason),
        OperatorAct::Unlock { procedure } => locks::by_word(draft, person, procedure),
        OperatorAct::AcceptDevice { serial_number } => locks::accept_device(draft, person, serial_number),
        OperatorAct::EnterTest => enter_test(draft, person),
        OperatorAct::LeaveTest => leave_test(draft, Source::person(person)),
        OperatorAct::DeviceTest(step) => device_test::step(draft, person, step),
        OperatorAct::SpinTumbler => {
            let answer = F::act(draft, person, act)?;
            device_test::spun(draft);
            Ok(answer)
        }
        OperatorAct::AcknowledgeAlert { alert } => acknowledge(draft, person, alert),
        OperatorAct::LightTestEntry { .. }
        | OperatorAct::LightTestOutcome { .. }
        | OperatorAct::EnterResult { .. }
        | OperatorAct::Amend { .. }
        | OperatorAct::Void { .. }
        | OperatorAct::StateVoidReason { .. }
        | OperatorAct::Settle
        | OperatorAct::Reopen
        | OperatorAct::Resume
        | OperatorAct::WithdrawVoid
        | OperatorAct::Offer { .. }
        | OperatorAct::Spinner { .. }
        | OperatorAct::DealerSpins
        | OperatorAct::Continues { .. }
        | OperatorAct::NoMoreBets
        | OperatorAct::Spin { .. }
        | OperatorAct::CorrectOutcome { .. }
        | OperatorAct::Invalid { .. }
        | OperatorAct::Overrule { .. }
        | OperatorAct::SpinnerStops
        | OperatorAct::Relieve
        | OperatorAct::OffTable { .. }
        | OperatorAct::NewSet { .. }
        | OperatorAct::ReportLight { .. } => F::act(draft, person, act),
    }
}

/// The answer to an act that belongs to other games.
pub(crate) fn not_here(games: &str) -> Answer {
    Err(refused(format!(
        "This is no act of the game at this table: it belongs to {games}."
    )))
}

/// The answer to an act of another game that has a counterpart in this one.
pub(crate) fn instead(command: &str) -> Answer {
    Err(refused(format!(
        "This is no act of the game at this table: its counterpart is `tablegate {command}`."
    )))
}

pub(crate) fn refused(text: impl Into<String>) -> Rejection {
    Rejection::command(text, HOUSE)
}

/// The running round is of another game than the configuration's.
pub(crate) fn is_anothers<F: Family>(game: &F, state: &State) -> bool {
    let round = state.play().filter(|play| !play.is_between_rounds());
    round.is_some_and(|play| !game.is_ours(play) && !game.voids(play))
}

/// Voids a round that this game's acts can't reach, and closes the table: its devices must be checked for the new game.
fn void_anothers<F: Family>(draft: &mut Draft<'_, F>, person: &Person, reason: Option<RoundVoidedReason>) -> Answer {
    let source = Source::person(person);
    let voided = RoundVoided {
        reason: reason.unwrap_or(RoundVoidedReason::NotStated) as i32,
        automatic: false,
        text: "the configuration is another game's".into(),
        base: None,
        by_policy: false,
    };
    draft.record(source.clone(), Body::RoundVoided(voided));
    for lock in draft.state.locks.clone() {
        if lock.kind == TableLockedKind::Freeze {
            locks::unlock(draft, source.clone(), &lock, "the round was voided");
        }
    }
    draft.record(source, Body::TableClosed(TableClosed {}));
    Ok("The round is void, and the table is closed: open it for the game that is configured now.".into())
}

fn close<F: Family>(draft: &mut Draft<'_, F>, person: &Person) -> Answer {
    let source = Source::person(person);
    match &draft.state.mode {
        Mode::Closed => return Err(refused("The table is closed already.")),
        Mode::Opening(_) => return Err(refused("The table is being opened: end the checks first.")),
        Mode::Test(_) => return Err(refused("The table is in test mode: leave it first.")),
        Mode::Open(_) => F::close(draft, &source)?,
    }
    draft.record(source, Body::TableClosed(TableClosed {}));
    Ok("The table is closed.".into())
}

fn enter_test<F: Family>(draft: &mut Draft<'_, F>, person: &Person) -> Answer {
    match &draft.state.mode {
        Mode::Closed => {}
        Mode::Open(play) if play.is_between_rounds() => {}
        Mode::Test(_) => return Err(refused("The table is in test mode already.")),
        Mode::Opening(_) => return Err(refused("The table is being opened: end the checks first.")),
        Mode::Open(_) => return Err(refused("A round runs: test between rounds, or with the table closed.")),
    }
    draft.record(Source::person(person), Body::TestModeEntered(TestModeEntered {}));
    draft.seen.owner = Some(person.connection);
    Ok("Test mode: nothing counts until it is left.".into())
}

/// Leaves Test, by a person or because the one who asked for it is gone.
pub(crate) fn leave_test<F: Family>(draft: &mut Draft<'_, F>, source: Source) -> Answer {
    match draft.state.mode {
        Mode::Test(_) => {}
        Mode::Closed | Mode::Opening(_) | Mode::Open(_) => return Err(refused("The table is not in test mode.")),
    }
    device_test::left(draft);
    let base = draft.counters();
    draft.record(source, Body::TestModeLeft(TestModeLeft { base }));
    draft.base_taken();
    // Keys pressed in the test are of no entry in play.
    entry::new_number(draft);
    draft.seen.owner = None;
    Ok("Test mode is left.".into())
}

/// Digests that somebody asked for: recorded, whatever the table does.
pub(crate) fn verified<F: Family>(draft: &mut Draft<'_, F>, by: &Asker, verified: &SoftwareVerified) {
    let source = match by {
        Asker::Floor => Source::floor(),
        Asker::Person(person) => Source::person(person),
    };
    draft.record(source, Body::SoftwareVerified(verified.clone()));
    draft.answer = Some(Ok("The digests are recorded.".into()));
}

/// The connection that Test or the opening belongs to is gone.
pub(crate) fn gone<F: Family>(draft: &mut Draft<'_, F>, connection: u64) {
    if draft.seen.owner != Some(connection) {
        return;
    }
    let ended = match draft.state.mode {
        Mode::Test(_) => leave_test(draft, Source::gateway()),
        Mode::Opening(_) => opening::abandon(
            draft,
            Source::gateway(),
            "the connection of who opened the table is gone",
        ),
        Mode::Closed | Mode::Open(_) => Ok(String::new()),
    };
    debug_assert!(ended.is_ok());
    draft.seen.owner = None;
}

fn acknowledge<F: Family>(draft: &mut Draft<'_, F>, person: &Person, alert: &str) -> Answer {
    match draft.state.alerts.get(alert) {
        None => Err(refused(format!(
            "No alert {alert} stands, and none waits to be acknowledged."
        ))),
        Some(standing) if standing.acknowledged => Err(refused("It is acknowledged already.")),
        Some(_) => {
            let acknowledged = AlertAcknowledged { alert: alert.into() };
            draft.record(Source::person(person), Body::AlertAcknowledged(acknowledged));
            Ok("Acknowledged.".into())
        }
    }
}
