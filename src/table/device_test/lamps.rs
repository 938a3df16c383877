//! A walk over every lamp, one alone at a time, and before it none at all. PURE.

use super::Outcome;
use crate::table::due::Look;
use crate::table::event::{TestFault, TestFinding};
use crate::table::game::{Answer, Family};
use crate::table::input::LightSeen;
use crate::table::lamps::{Board, bits_in, is_lit, picture_of, trimmed};
use crate::table::operator::refused;
use crate::table::state::FailedLamp;
use crate::table::view::{DeviceTestView, TestedLamp};
use crate::time::Uptime;
use std::collections::BTreeMap;
use std::time::Duration;

/// A picture that isn't acknowledged within this time was not taken.
const STEP: Duration = Duration::from_secs(5);

/// The walk.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LampTrial {
    /// Every lamp of the board, in its order.
    lamps: Vec<Tried>,
    /// What is shown, once something was.
    shown: Option<Picture>,
    /// Pictures so far.
    pictures: u32,
    /// Lamps that were lit and were not to be.
    wrong: Vec<Wrong>,
    /// What is lit while every lamp is to be dark was measured.
    darkness: Darkness,
}

/// Whether it is known what burns though nothing lights it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Darkness {
    Unknown,
    Measured,
}

/// One lamp.
#[derive(Clone, PartialEq, Debug)]
struct Tried {
    area: &'static str,
    bit: u16,
    found: Found,
    said: Option<LightSeen>,
}

/// What the device tells of a lamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Untried,
    Waiting,
    Lit,
    Dark,
    /// It repeats what was commanded.
    Unproven,
    /// It did not take the picture.
    NotFollowed,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Picture {
    /// `None`: every lamp is dark.
    bit: Option<u16>,
    since: Uptime,
    judged: bool,
}

/// A lamp that was lit and was not to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wrong {
    bit: u16,
    /// What was lit then; `None`: nothing.
    with: Option<u16>,
}

/// What is known of the picture.
enum Told {
    Waiting,
    /// It was acknowledged, and is what is measured, or nothing is measured.
    Settled(Uptime),
    /// It was acknowledged, and is not yet what is measured.
    Differs(Uptime),
}

impl LampTrial {
    pub(super) fn new(board: &Board) -> Self {
        let tried = |(area, bit)| Tried {
            area,
            bit,
            found: Found::Untried,
            said: None,
        };
        LampTrial {
            lamps: board.lamps().map(tried).collect(),
            shown: None,
            pictures: 0,
            wrong: Vec::new(),
            darkness: Darkness::Unknown,
        }
    }

    pub(super) fn light(&mut self, bit: Option<u16>, now: Uptime) -> Answer {
        if let Some(bit) = bit {
            let Some(lamp) = self.lamp(bit) else {
                return Err(refused(format!("No lamp of this table has bit {bit}.")));
            };
            lamp.found = Found::Waiting;
        }
        self.wrong.retain(|wrong| wrong.with != bit);
        self.pictures = self.pictures.saturating_add(1);
        self.shown = Some(Picture {
            bit,
            since: now,
            judged: false,
        });
        Ok(match bit {
            Some(bit) => format!("The lamp with bit {bit} is lit alone."),
            None => "Every lamp is dark.".into(),
        })
    }

    pub(super) fn say(&mut self, bit: u16, seen: LightSeen) -> Answer {
        match self.lamp(bit) {
            Some(lamp) => {
                lamp.said = Some(seen);
                Ok("Noted.".into())
            }
            None => Err(refused(format!("No lamp of this table has bit {bit}."))),
        }
    }

    /// Of lamps that were lit, and of which nothing was said.
    pub(super) fn say_others(&mut self, seen: LightSeen) -> Answer {
        for lamp in &mut self.lamps {
            let was_lit = match lamp.found {
                Found::Lit | Found::Dark | Found::Unproven => true,
                Found::Untried | Found::Waiting | Found::NotFollowed => false,
            };
            if was_lit && lamp.said.is_none() {
                lamp.said = Some(seen);
            }
        }
        Ok("Noted.".into())
    }

    fn lamp(&mut self, bit: u16) -> Option<&mut Tried> {
        self.lamps.iter_mut().find(|lamp| lamp.bit == bit)
    }

    pub(super) fn picture(&self) -> Vec<u8> {
        picture_of(self.shown.and_then(|shown| shown.bit).into_iter())
    }

    /// Lamps that are lit whatever is commanded: they don't keep the others from being judged.
    fn always_lit(&self, bit: u16) -> bool {
        self.wrong.iter().any(|wrong| wrong.bit == bit && wrong.with.is_none())
    }

    fn told<F: Family>(&self, look: &Look<'_, F>, shown: Picture) -> Told {
        let lamps = &look.seen.lamps;
        let wanted = self.picture();
        let Some((_, at)) = lamps.acknowledged.as_ref().filter(|(lit, _)| *lit == trimmed(&wanted)) else {
            return Told::Waiting;
        };
        let at = (*at).max(shown.since);
        match lamps.report.as_ref().filter(|report| report.measured) {
            None => Told::Settled(at),
            Some(report) => {
                let others = |bit: &u16| shown.bit != Some(*bit) && !self.always_lit(*bit);
                let shows = shown.bit.is_none_or(|bit| is_lit(&report.lit, bit));
                match shows && !bits_in(&report.lit).any(|bit| others(&bit)) {
                    true => Told::Settled(at),
                    false => Told::Differs(at),
                }
            }
        }
    }

    pub(super) fn judge_at<F: Family>(&self, look: &Look<'_, F>) -> Option<Uptime> {
        let shown = self.shown.filter(|shown| !shown.judged)?;
        Some(match self.told(look, shown) {
            Told::Waiting => shown.since + STEP,
            Told::Settled(at) => at,
            Told::Differs(at) => at + look.game.lamp_wait(),
        })
    }

    pub(super) fn judge<F: Family>(&mut self, look: &Look<'_, F>) {
        let Some(shown) = self.shown else { return };
        self.shown = Some(Picture { judged: true, ..shown });
        if let Told::Waiting = self.told(look, shown) {
            if let Some(lamp) = shown.bit.and_then(|bit| self.lamp(bit)) {
                lamp.found = Found::NotFollowed;
            }
            return;
        }
        let Some(report) = &look.seen.lamps.report else { return };
        if report.measured {
            let others: Vec<u16> = bits_in(&report.lit)
                .filter(|bit| shown.bit != Some(*bit) && !self.always_lit(*bit))
                .collect();
            let wrong = |bit| Wrong { bit, with: shown.bit };
            self.wrong.extend(others.into_iter().map(wrong));
            if shown.bit.is_none() {
                self.darkness = Darkness::Measured;
            }
        }
        let Some(bit) = shown.bit else { return };
        let found = match (report.measured, is_lit(&report.lit, bit)) {
            _ if is_lit(&report.failed, bit) => Found::Dark,
            (true, true) => Found::Lit,
            (true, false) => Found::Dark,
            (false, _) => Found::Unproven,
        };
        if let Some(lamp) = self.lamp(bit) {
            lamp.found = found;
        }
    }

    /// Places of the board that were known to have failed and that did in this test what they had not done. What a person has reported,
    /// a person's word ends.
    pub(super) fn mended(&self, board: &Board, failed: &BTreeMap<String, FailedLamp>) -> Vec<usize> {
        let works = |place: &usize| {
            let Some(failed) = failed.get(board.id(*place)) else {
                return false;
            };
            let lamps = board.numbers(board.id(*place));
            !lamps.is_empty()
                && lamps.into_iter().all(|bit| match failed.wrongly_lit {
                    true => self.is_dark_when_it_must_be(bit),
                    false => self.lights_up(bit, failed),
                })
        };
        (0..board.len()).filter(works).collect()
    }

    fn is_dark_when_it_must_be(&self, bit: u16) -> bool {
        self.darkness == Darkness::Measured && !self.wrong.iter().any(|wrong| wrong.bit == bit)
    }

    fn lights_up(&self, bit: u16, failed: &FailedLamp) -> bool {
        let Some(lamp) = self.lamps.iter().find(|lamp| lamp.bit == bit) else {
            return false;
        };
        match (lamp.found, lamp.said) {
            (Found::Lit, None) => !failed.reported,
            (Found::Lit | Found::Unproven, Some(LightSeen::Works)) => true,
            (Found::Lit | Found::Unproven, Some(LightSeen::Failed))
            | (Found::Unproven, None)
            | (Found::Untried | Found::Waiting | Found::Dark | Found::NotFollowed, _) => false,
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome {
            parts: self.lamps.len(),
            ..Outcome::default()
        };
        for lamp in &self.lamps {
            let fault = match (lamp.found, lamp.said) {
                (Found::Dark, _) => Some(TestFault::Dark),
                (Found::NotFollowed, _) => Some(TestFault::NotFollowed),
                (_, Some(LightSeen::Failed)) => Some(TestFault::SaidDark),
                (Found::Lit, _) | (Found::Unproven | Found::Untried | Found::Waiting, Some(LightSeen::Works)) => None,
                (Found::Unproven | Found::Untried | Found::Waiting, None) => {
                    outcome.not_tested.push(lamp.area.to_owned());
                    continue;
                }
            };
            outcome.tried += 1;
            outcome.findings.extend(fault.map(|fault| TestFinding {
                fault: fault as i32,
                part: lamp.area.to_owned(),
                number: Some(u32::from(lamp.bit)),
                ..TestFinding::default()
            }));
        }
        outcome.findings.extend(self.wrong.iter().map(|wrong| TestFinding {
            fault: TestFault::Lit as i32,
            part: self.area(wrong.bit).to_owned(),
            number: Some(u32::from(wrong.bit)),
            other: wrong.with.map(|with| self.area(with).to_owned()).unwrap_or_default(),
            times: 0,
        }));
        outcome
    }

    /// The area that the bit is of; empty: of none.
    fn area(&self, bit: u16) -> &'static str {
        let lamp = self.lamps.iter().find(|lamp| lamp.bit == bit);
        lamp.map(|lamp| lamp.area).unwrap_or_default()
    }

    pub(super) fn show(&self, view: &mut DeviceTestView) {
        view.lamps = self
            .lamps
            .iter()
            .map(|lamp| TestedLamp {
                area: lamp.area.to_owned(),
                bit: lamp.bit,
                found: match lamp.found {
                    Found::Untried => "untried",
                    Found::Waiting => "waiting",
                    Found::Lit => "lit",
                    Found::Dark => "dark",
                    Found::Unproven => "unproven",
                    Found::NotFollowed => "not_followed",
                }
                .to_owned(),
                said_dark: lamp.said == Some(LightSeen::Failed),
            })
            .collect();
        view.wrongly_lit = self.wrong.iter().map(|wrong| wrong.bit).collect();
        view.pictures = self.pictures;
        view.judged = self.shown.is_some_and(|shown| shown.judged);
    }
}
