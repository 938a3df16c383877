//! A tumbler is started by command and watched until it rests; its cover is lifted and put on again. PURE.

use super::{Ending, Outcome};
use crate::table::draft::Draft;
use crate::table::due::Look;
use crate::table::event::{TestFault, TestFinding};
use crate::table::game::{Answer, Family};
use crate::table::input::{Cover, Motion, Part, Seal, TumblerReport};
use crate::table::operator::refused;
use crate::table::state::Count;
use crate::table::view::{DeviceTestView, TestedTumbler};

/// What was seen of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct TumblerTrial {
    /// Its counters when it was started last; `None`: it was not started.
    started: Option<Count>,
    cover: CoverSeen,
    cover_asked: bool,
}

/// What the cover's contact has told since the test began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum CoverSeen {
    /// Nothing fitted tells.
    #[default]
    NotFitted,
    /// On, and not lifted yet.
    Unlifted,
    /// Lifted.
    Lifted,
    /// Lifted, and on again.
    OnAgain,
}

impl TumblerTrial {
    pub(super) fn new<F: Family>(draft: &Draft<'_, F>) -> Self {
        TumblerTrial {
            cover: match draft.seen.tumbler.cover() {
                Cover::Unknown => CoverSeen::NotFitted,
                Cover::On => CoverSeen::Unlifted,
                Cover::Off => CoverSeen::Lifted,
            },
            ..TumblerTrial::default()
        }
    }

    pub(super) fn ask(&mut self, part: Part) -> Answer {
        match part {
            Part::Cover if self.cover != CoverSeen::NotFitted => {
                self.cover_asked = true;
                Ok("Asked for: the cover.".into())
            }
            Part::Cover => Err(refused("This tumbler has no contact for its cover.")),
            Part::Key(_) | Part::Enter | Part::Contact(_) | Part::Readout(_) => {
                Err(refused(format!("A tumbler has no {}.", part.name())))
            }
        }
    }

    pub(super) fn started(&mut self, count: Option<Count>) {
        self.started = count;
    }

    pub(super) fn reported(&mut self, report: &TumblerReport) {
        self.cover = match (self.cover, report.cover) {
            (before, Cover::Unknown) => before,
            (CoverSeen::OnAgain, _) => CoverSeen::OnAgain,
            (CoverSeen::NotFitted | CoverSeen::Unlifted, Cover::On) => CoverSeen::Unlifted,
            (CoverSeen::Lifted, Cover::On) => CoverSeen::OnAgain,
            (CoverSeen::NotFitted | CoverSeen::Unlifted | CoverSeen::Lifted, Cover::Off) => CoverSeen::Lifted,
        };
    }

    fn spins<F>(&self, look: &Look<'_, F>) -> u32 {
        let now = look.seen.tumbler.count();
        let spun = |(before, now): (Count, Count)| now.spins.wrapping_sub(before.spins);
        self.started.zip(now).map_or(0, spun)
    }

    /// What it was still watched for when the test was broken off is not tested.
    pub(super) fn outcome<F: Family>(&self, draft: &Draft<'_, F>, ending: Ending) -> Outcome {
        let look = draft.look();
        let mut outcome = Outcome::default();
        let finding = |fault: TestFault, part: &str| TestFinding {
            fault: fault as i32,
            part: part.to_owned(),
            ..TestFinding::default()
        };
        let mut note = |part: &str, verdict: Verdict| {
            outcome.parts += 1;
            match verdict {
                Verdict::NotTested => outcome.not_tested.push(part.to_owned()),
                Verdict::Passed => outcome.tried += 1,
                Verdict::Failed(found) => {
                    outcome.tried += 1;
                    outcome.findings.push(found);
                }
            }
        };
        let report = draft.seen.tumbler.report.as_ref();
        let motion = report.map_or(Motion::Unknown, |report| report.motion);
        let fault_code = report.map_or(0, |report| report.fault_code);
        let spin = match (self.started, motion) {
            (_, Motion::Fault) => Verdict::Failed(TestFinding {
                number: Some(fault_code),
                ..finding(TestFault::Fault, "spin")
            }),
            (None, _) => Verdict::NotTested,
            (Some(_), Motion::Spinning) if ending == Ending::Interrupted => Verdict::NotTested,
            (Some(_), Motion::AtRest | Motion::Unknown) if self.spins(&look) == 0 && ending == Ending::Interrupted => {
                Verdict::NotTested
            }
            (Some(_), Motion::Spinning) => Verdict::Failed(finding(TestFault::DidNotRest, "spin")),
            (Some(_), Motion::AtRest | Motion::Unknown) if self.spins(&look) == 0 => {
                Verdict::Failed(finding(TestFault::DidNotSpin, "spin"))
            }
            (Some(_), Motion::AtRest | Motion::Unknown) => Verdict::Passed,
        };
        note("spin", spin);
        match (self.cover, self.cover_asked) {
            (CoverSeen::NotFitted, _) => {}
            (CoverSeen::OnAgain, _) => note("cover", Verdict::Passed),
            (CoverSeen::Unlifted | CoverSeen::Lifted, true) if ending == Ending::Asked => {
                note("cover", Verdict::Failed(finding(TestFault::NoAnswer, "cover")));
            }
            (CoverSeen::Unlifted | CoverSeen::Lifted, true | false) => note("cover", Verdict::NotTested),
        }
        match report.map_or(Seal::Unknown, |report| report.seal) {
            Seal::Unknown => {}
            Seal::Intact => note("seal", Verdict::Passed),
            Seal::Broken => note("seal", Verdict::Failed(finding(TestFault::SealBroken, "seal"))),
        }
        outcome
    }

    pub(super) fn show<F>(&self, look: &Look<'_, F>, view: &mut DeviceTestView) {
        let report = look.seen.tumbler.report.as_ref();
        view.tumbler = Some(TestedTumbler {
            started: self.started.is_some(),
            spins: self.spins(look),
            motion: match report.map_or(Motion::Unknown, |report| report.motion) {
                Motion::Unknown => "unknown",
                Motion::AtRest => "at_rest",
                Motion::Spinning => "spinning",
                Motion::Fault => "fault",
            }
            .to_owned(),
            cover: match self.cover {
                CoverSeen::NotFitted => "not_fitted",
                CoverSeen::Unlifted => "unlifted",
                CoverSeen::Lifted => "lifted",
                CoverSeen::OnAgain => "on_again",
            }
            .to_owned(),
            seal: match report.map_or(Seal::Unknown, |report| report.seal) {
                Seal::Unknown => "no_sensor",
                Seal::Intact => "intact",
                Seal::Broken => "broken",
            }
            .to_owned(),
        });
    }
}

enum Verdict {
    NotTested,
    Passed,
    Failed(TestFinding),
}
