//! Tests of devices in test mode: what is lit, asked for and spun, and what came of it. PURE.
//!
//! What devices tell is judged here; what a person sees is said to it. Nothing of it is in the state but that it runs, so that none of
//! it can become a result: its facts are its beginning and the record at its end, and that lamps which were known to have failed were
//! found to work. A test belongs to the connection that entered Test; when that, the device or the daemon goes, the lamps and the readout
//! are the table's again.

mod lamps;
mod terminal;
mod tumbler;

use crate::table::draft::{Draft, Source};
use crate::table::due::Look;
use crate::table::event::{Body, LampRestored, TestFinding, TestKind, TestRecorded, TestStarted};
use crate::table::game::{Answer, Family};
use crate::table::input::{ContactReport, DeviceKind, Key, LightSeen, Part, Person, Shown, TestStep, TumblerReport};
use crate::table::mode::Mode;
use crate::table::opening::device_name;
use crate::table::operator::refused;
use crate::table::rejection;
use crate::table::view::DeviceTestView;
use crate::time::Uptime;
use lamps::LampTrial;
use std::time::Duration;
use terminal::TerminalTrial;
use tumbler::TumblerTrial;

/// Findings that are named in a record: an event has at most 8 KiB.
const MOST_FINDINGS: usize = 32;

/// Parts that were not tested and are named: more is a test that was broken off, and the numbers tell how early.
const MOST_NOT_TESTED: usize = 20;

/// A test that runs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DeviceTest {
    /// Who tries which device.
    by: Source,
    device: DeviceKind,
    /// A person has said what was seen.
    watched: bool,
    trial: Trial,
}

/// What is tried.
#[derive(Clone, PartialEq, Debug)]
enum Trial {
    Lamps(LampTrial),
    Terminal(TerminalTrial),
    Tumbler(TumblerTrial),
}

/// What came of a test.
#[derive(Default)]
struct Outcome {
    tried: usize,
    parts: usize,
    findings: Vec<TestFinding>,
    not_tested: Vec<String>,
}

/// How a test ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// Whoever ran it has ended it.
    Asked,
    /// The device is away, or whoever ran it.
    Interrupted,
}

/// Takes a step.
pub(crate) fn step<F: Family>(draft: &mut Draft<'_, F>, person: &Person, step: &TestStep) -> Answer {
    match draft.state.mode {
        Mode::Test(_) => {}
        Mode::Closed | Mode::Opening(_) | Mode::Open(_) => {
            return Err(refused("The table is not in test mode: begin with `tablegate test`."));
        }
    }
    if draft.seen.owner != Some(person.connection) {
        return Err(refused(
            "Somebody else has the table in test mode: wait until they have left it.",
        ));
    }
    match step {
        TestStep::Begin { device } => begin(draft, person, *device),
        TestStep::Light { bit } => light(draft, *bit),
        TestStep::Ask { part } => ask(draft, *part),
        TestStep::Say { what, seen } => say(draft, *what, *seen),
        TestStep::End => {
            running(draft)?;
            end(draft, Ending::Asked);
            Ok("The test has ended, and what was found is recorded.".into())
        }
    }
}

fn begin<F: Family>(draft: &mut Draft<'_, F>, person: &Person, device: DeviceKind) -> Answer {
    if let Some(test) = &draft.seen.device_test {
        return Err(refused(format!(
            "A test of the {} runs: end it first.",
            device_name(test.device)
        )));
    }
    if !draft.game.needed().contains(&device) && !draft.game.wanted().contains(&device) {
        let has: Vec<_> = draft.game.needed().iter().chain(draft.game.wanted()).collect();
        let has: Vec<_> = has.into_iter().map(|kind| device_name(*kind)).collect();
        return Err(refused(format!(
            "This table has no {}; it has: {}.",
            device_name(device),
            has.join(", ")
        )));
    }
    if !draft.state.is_online(device) {
        return Err(match device {
            DeviceKind::Tumbler => rejection::TUMBLER_AWAY,
            DeviceKind::Terminal => rejection::TERMINAL_AWAY,
            DeviceKind::LayoutLamps => rejection::LAMPS_AWAY,
            DeviceKind::ResultLights => rejection::LIGHTS_AWAY,
        }
        .into());
    }
    let trial = match device {
        DeviceKind::LayoutLamps | DeviceKind::ResultLights => Trial::Lamps(LampTrial::new(draft.game.board())),
        DeviceKind::Terminal => Trial::Terminal(TerminalTrial::new(draft)),
        DeviceKind::Tumbler => Trial::Tumbler(TumblerTrial::new(draft)),
    };
    let test = DeviceTest {
        by: Source::person(person).with_device(draft.device(device)),
        device,
        watched: false,
        trial,
    };
    let started = TestStarted {
        kind: kind(device) as i32,
        parts: count(test.outcome(draft, Ending::Interrupted).parts),
    };
    draft.record(test.by.clone(), Body::TestStarted(started));
    draft.seen.device_test = Some(Box::new(test));
    Ok(format!("The test of the {} has begun.", device_name(device)))
}

fn running<'d, F>(draft: &'d mut Draft<'_, F>) -> Result<&'d mut DeviceTest, rejection::Rejection> {
    let none = || refused("No test runs: its device went away, or it was never begun.");
    draft.seen.device_test.as_deref_mut().ok_or_else(none)
}

fn light<F: Family>(draft: &mut Draft<'_, F>, bit: Option<u16>) -> Answer {
    let now = draft.now;
    match &mut running(draft)?.trial {
        Trial::Lamps(trial) => trial.light(bit, now),
        Trial::Terminal(_) | Trial::Tumbler(_) => Err(refused("The device that is tested has no lamps.")),
    }
}

fn ask<F: Family>(draft: &mut Draft<'_, F>, part: Part) -> Answer {
    let answer = match &mut running(draft)?.trial {
        Trial::Lamps(_) => Err(refused("Lamps are lit, not asked.")),
        Trial::Terminal(trial) => trial.ask(part),
        Trial::Tumbler(trial) => trial.ask(part),
    };
    if answer.is_ok() {
        // What a bell or an ENTER left on the readout gives way to what is to be looked at.
        draft.seen.readout.numbers_hidden = false;
        draft.seen.readout.notice = None;
    }
    answer
}

fn say<F: Family>(draft: &mut Draft<'_, F>, what: Shown, seen: LightSeen) -> Answer {
    let test = running(draft)?;
    let answer = match (&mut test.trial, what) {
        (Trial::Lamps(trial), Shown::Lamp(bit)) => trial.say(bit, seen),
        (Trial::Lamps(trial), Shown::OtherLamps) => trial.say_others(seen),
        (Trial::Terminal(trial), Shown::Readout(pattern)) => trial.say(pattern, seen),
        (Trial::Lamps(_), Shown::Readout(_))
        | (Trial::Terminal(_), Shown::Lamp(_) | Shown::OtherLamps)
        | (Trial::Tumbler(_), Shown::Lamp(_) | Shown::OtherLamps | Shown::Readout(_)) => {
            Err(refused("The device that is tested shows nothing of the kind."))
        }
    };
    test.watched |= answer.is_ok();
    answer
}

/// Records what was found, and shows what the table shows.
fn end<F: Family>(draft: &mut Draft<'_, F>, ending: Ending) {
    let Some(test) = draft.seen.device_test.take() else {
        return;
    };
    let outcome = test.outcome(draft, ending);
    let interrupted = ending == Ending::Interrupted;
    let named = outcome.findings.len().min(MOST_FINDINGS);
    let more = outcome.findings.len() - named;
    let recorded = TestRecorded {
        kind: kind(test.device) as i32,
        passed: outcome.findings.is_empty() && outcome.tried == outcome.parts && !interrupted,
        interrupted,
        tried: count(outcome.tried),
        parts: count(outcome.parts),
        watched: test.watched,
        findings: outcome.findings.into_iter().take(MOST_FINDINGS).collect(),
        more_findings: count(more),
        not_tested: outcome.not_tested.into_iter().take(MOST_NOT_TESTED).collect(),
    };
    draft.record(test.by.clone(), Body::TestRecorded(recorded));
    if let Trial::Lamps(trial) = &test.trial {
        let mended = trial.mended(draft.game.board(), &draft.state.failed_lamps);
        draft.seen.mended = mended.into_iter().map(|place| (place, test.by.clone())).collect();
        restore(draft);
    }
}

/// Lamps that were known to have failed and that a test found to work are so recorded, as far as there is room.
fn restore<F: Family>(draft: &mut Draft<'_, F>) {
    if draft.seen.mended.is_empty() {
        return;
    }
    while !draft.seen.mended.is_empty() && draft.has_room(AFTER_A_TEST) {
        let (place, by) = draft.seen.mended.remove(0);
        let restored = LampRestored {
            area: Some(draft.game.board().area(place)),
        };
        draft.record(by, Body::LampRestored(restored));
    }
    if draft.seen.mended.is_empty() {
        F::lamps_restored(draft);
    }
}

/// Facts that may follow a restored lamp in the same decision: its own, an alert that tells of fewer lights now, and the end of Test.
const AFTER_A_TEST: usize = 4;

/// The run in which a test was begun ended without a word of it: it is recorded now, as broken off.
pub(crate) fn killed<F: Family>(draft: &mut Draft<'_, F>) {
    let Some(testing) = draft.state.testing.clone() else {
        return;
    };
    let recorded = TestRecorded {
        kind: testing.started.kind,
        interrupted: true,
        parts: testing.started.parts,
        ..TestRecorded::default()
    };
    let by = Source {
        actor: testing.actor,
        device: testing.device,
    };
    draft.record(by, Body::TestRecorded(recorded));
}

impl DeviceTest {
    /// What came of it so far.
    fn outcome<F: Family>(&self, draft: &Draft<'_, F>, ending: Ending) -> Outcome {
        match &self.trial {
            Trial::Lamps(trial) => trial.outcome(),
            Trial::Terminal(trial) => trial.outcome(),
            Trial::Tumbler(trial) => trial.outcome(draft, ending),
        }
    }
}

/// A guided test's own next step, which comes when that test has ended already (its device went away, the daemon was stopped): the
/// program asks for it, and no person.
pub(crate) fn is_late<F>(draft: &Draft<'_, F>, step: &TestStep) -> bool {
    match step {
        TestStep::Begin { .. } => false,
        TestStep::Light { .. } | TestStep::Ask { .. } | TestStep::Say { .. } | TestStep::End => {
            draft.seen.device_test.is_none()
        }
    }
}

/// Test mode is left: a test that runs ends with it.
pub(crate) fn left<F: Family>(draft: &mut Draft<'_, F>) {
    end(draft, Ending::Interrupted);
}

/// A device went away.
pub(crate) fn device_down<F: Family>(draft: &mut Draft<'_, F>, kind: DeviceKind) {
    if draft.seen.device_test.as_ref().is_some_and(|test| test.device == kind) {
        end(draft, Ending::Interrupted);
    }
}

/// A key was pressed.
pub(crate) fn key<F>(draft: &mut Draft<'_, F>, key: Key, at: Uptime) {
    pressed(draft, Part::Key(key), at);
}

/// ENTER was pressed.
pub(crate) fn enter<F>(draft: &mut Draft<'_, F>, at: Uptime) {
    pressed(draft, Part::Enter, at);
}

fn pressed<F>(draft: &mut Draft<'_, F>, part: Part, at: Uptime) {
    if let Some(Trial::Terminal(trial)) = draft.seen.device_test.as_deref_mut().map(|test| &mut test.trial) {
        trial.pressed(part, at);
    }
}

/// A contact changed; `before` is how often it had closed.
pub(crate) fn contact<F>(draft: &mut Draft<'_, F>, report: &ContactReport, before: u32) {
    let at = report.last_closed.map_or(draft.now, |at| at.min(draft.now));
    if let Some(Trial::Terminal(trial)) = draft.seen.device_test.as_deref_mut().map(|test| &mut test.trial) {
        trial.closed(report.contact, report.closings.wrapping_sub(before), at);
    }
}

/// The tumbler was started by command.
pub(crate) fn spun<F>(draft: &mut Draft<'_, F>) {
    let count = draft.seen.tumbler.count();
    if let Some(Trial::Tumbler(trial)) = draft.seen.device_test.as_deref_mut().map(|test| &mut test.trial) {
        trial.started(count);
    }
}

/// A tumbler's status came.
pub(crate) fn tumbler<F>(draft: &mut Draft<'_, F>, report: &TumblerReport) {
    if let Some(Trial::Tumbler(trial)) = draft.seen.device_test.as_deref_mut().map(|test| &mut test.trial) {
        trial.reported(report);
    }
}

/// Judges the lamp that is lit, when it can be, and records what a test has left to be recorded.
pub(crate) fn due<F: Family>(draft: &mut Draft<'_, F>) {
    restore(draft);
    if judge_at(&draft.look()).is_none_or(|at| at > draft.now) {
        return;
    }
    let Some(mut test) = draft.seen.device_test.take() else {
        return;
    };
    if let Trial::Lamps(trial) = &mut test.trial {
        trial.judge(&draft.look());
    }
    draft.seen.device_test = Some(test);
}

/// When the lamp that is lit is judged.
pub(crate) fn judge_at<F: Family>(look: &Look<'_, F>) -> Option<Uptime> {
    match &look.seen.device_test.as_ref()?.trial {
        Trial::Lamps(trial) => trial.judge_at(look),
        Trial::Terminal(_) | Trial::Tumbler(_) => None,
    }
}

/// What the lamps show.
pub(crate) fn picture<F>(look: &Look<'_, F>) -> Vec<u8> {
    match look.seen.device_test.as_ref().map(|test| &test.trial) {
        Some(Trial::Lamps(trial)) => trial.picture(),
        Some(Trial::Terminal(_) | Trial::Tumbler(_)) | None => Vec::new(),
    }
}

/// What the readout shows, if the test has something for it.
pub(crate) fn readout<F>(look: &Look<'_, F>) -> Option<&'static str> {
    match &look.seen.device_test.as_ref()?.trial {
        Trial::Terminal(trial) => trial.readout(),
        Trial::Lamps(_) | Trial::Tumbler(_) => None,
    }
}

/// What a person sees of it.
pub(crate) fn view<F: Family>(look: &Look<'_, F>) -> Option<DeviceTestView> {
    let test = look.seen.device_test.as_ref()?;
    let mut view = DeviceTestView {
        of: kind_name(kind(test.device)).to_owned(),
        ..DeviceTestView::default()
    };
    match &test.trial {
        Trial::Lamps(trial) => trial.show(&mut view),
        Trial::Terminal(trial) => trial.show(&mut view),
        Trial::Tumbler(trial) => trial.show(look, &mut view),
    }
    Some(view)
}

fn kind(device: DeviceKind) -> TestKind {
    match device {
        DeviceKind::LayoutLamps => TestKind::Lamps,
        DeviceKind::ResultLights => TestKind::Lights,
        DeviceKind::Terminal => TestKind::Terminal,
        DeviceKind::Tumbler => TestKind::Tumbler,
    }
}

/// As the command names it.
pub(crate) fn kind_name(kind: TestKind) -> &'static str {
    match kind {
        TestKind::Unspecified => "unknown",
        TestKind::Lamps => "lamps",
        TestKind::Lights => "lights",
        TestKind::Terminal => "terminal",
        TestKind::Tumbler => "tumbler",
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Two presses of one key, or two closings of one contact, within this time by the device's clock are one that bounced. Contacts
/// bounce for up to some 20 ms, worn ones for 50; nobody presses a key twice in less than 100 ms.
const BOUNCE: Duration = Duration::from_millis(80);
