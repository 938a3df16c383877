//! Every key and contact of a terminal, one asked for after the other, and its readout. PURE.

use super::{BOUNCE, Outcome};
use crate::table::draft::Draft;
use crate::table::event::{TestFault, TestFinding};
use crate::table::game::{Answer, Family};
use crate::table::input::{Contact, Key, LightSeen, Part, Pattern};
use crate::table::operator::refused;
use crate::table::view::{DeviceTestView, TestedPart};
use crate::time::Uptime;
use std::collections::VecDeque;

/// Presses that are shown to whoever runs the test.
const SHOWN: usize = 16;

/// The parts.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TerminalTrial {
    parts: Vec<Tried>,
    /// What is asked for now.
    asked: Option<Part>,
    /// The newest presses, bounces left out, and how many there were.
    presses: VecDeque<Part>,
    pressed: u32,
}

/// One part.
#[derive(Clone, PartialEq, Debug)]
struct Tried {
    part: Part,
    was_asked: bool,
    /// Presses while it was asked for.
    answered: u32,
    bounced: u32,
    last: Option<Uptime>,
    /// What came first when it was asked for and did not come.
    instead: Option<Part>,
    said: Option<LightSeen>,
}

impl TerminalTrial {
    /// The keys of the game, ENTER, the contacts that are fitted, and the readout. "No spin" is a button or a key.
    pub(super) fn new<F: Family>(draft: &Draft<'_, F>) -> Self {
        let contacts = &draft.seen.terminal.contacts;
        let has_button = contacts.contains_key(&Contact::NoSpinButton);
        let keys = Part::keys().filter(|key| draft.game.knows(*key) && !(has_button && *key == Key::NoSpin));
        let contacts = contacts.keys().copied().map(Part::Contact);
        let readouts = [Pattern::Full, Pattern::Blank].map(Part::Readout);
        let tried = |part| Tried {
            part,
            was_asked: false,
            answered: 0,
            bounced: 0,
            last: None,
            instead: None,
            said: None,
        };
        let parts = keys.map(Part::Key).chain([Part::Enter]).chain(contacts).chain(readouts);
        TerminalTrial {
            parts: parts.map(tried).collect(),
            asked: None,
            presses: VecDeque::new(),
            pressed: 0,
        }
    }

    pub(super) fn ask(&mut self, part: Part) -> Answer {
        let Some(tried) = self.parts.iter_mut().find(|tried| tried.part == part) else {
            return Err(refused(format!("This terminal has no {}.", part.name())));
        };
        tried.was_asked = true;
        self.asked = Some(part);
        Ok(format!("Asked for: {}.", part.name()))
    }

    pub(super) fn say(&mut self, pattern: Pattern, seen: LightSeen) -> Answer {
        for tried in self
            .parts
            .iter_mut()
            .filter(|tried| tried.part == Part::Readout(pattern))
        {
            tried.said = Some(seen);
        }
        Ok("Noted.".into())
    }

    pub(super) fn pressed(&mut self, part: Part, at: Uptime) {
        let asked = self.asked;
        if let Some(tried) = self.parts.iter_mut().find(|tried| tried.part == part) {
            let bounces = tried.last.is_some_and(|last| at.since(last) < BOUNCE);
            tried.last = Some(at);
            if bounces {
                tried.bounced = tried.bounced.saturating_add(1);
                return;
            }
            if asked == Some(part) {
                tried.answered = tried.answered.saturating_add(1);
            }
        }
        self.pressed = self.pressed.saturating_add(1);
        self.presses.push_back(part);
        if self.presses.len() > SHOWN {
            self.presses.pop_front();
        }
        let waited_for = self.parts.iter_mut().find(|tried| Some(tried.part) == asked);
        if let Some(tried) = waited_for.filter(|tried| tried.part != part && tried.answered == 0) {
            tried.instead.get_or_insert(part);
        }
    }

    /// A contact closed so often since it was reported last: more than once within a report is a bounce.
    pub(super) fn closed(&mut self, contact: Contact, times: u32, at: Uptime) {
        let part = Part::Contact(contact);
        if times == 0 {
            return;
        }
        self.pressed(part, at);
        if let Some(tried) = self.parts.iter_mut().find(|tried| tried.part == part) {
            tried.bounced = tried.bounced.saturating_add(times - 1);
        }
    }

    pub(super) fn readout(&self) -> Option<&'static str> {
        match self.asked? {
            Part::Readout(pattern) => Some(pattern.text()),
            Part::Key(_) | Part::Enter | Part::Contact(_) | Part::Cover => None,
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let mut outcome = Outcome {
            parts: self.parts.len(),
            ..Outcome::default()
        };
        for tried in &self.parts {
            let number = match tried.part {
                Part::Key(key) => Some(key.number()),
                Part::Enter | Part::Contact(_) | Part::Readout(_) | Part::Cover => None,
            };
            let finding = |fault: TestFault| TestFinding {
                fault: fault as i32,
                part: tried.part.name().to_owned(),
                number,
                ..TestFinding::default()
            };
            if tried.bounced > 0 {
                outcome.findings.push(TestFinding {
                    times: tried.bounced,
                    ..finding(TestFault::Bounced)
                });
            }
            let is_readout = matches!(tried.part, Part::Readout(_));
            match (is_readout, tried.said) {
                (true, Some(LightSeen::Works)) => {}
                (true, Some(LightSeen::Failed)) => outcome.findings.push(finding(TestFault::SaidWrong)),
                (false, _) if tried.answered > 0 => {}
                // It was still waited for: after an answer that never comes another part is asked for, the readout at last.
                (false, _) if self.asked == Some(tried.part) => {
                    outcome.not_tested.push(tried.part.name().to_owned());
                    continue;
                }
                (false, _) if tried.was_asked => outcome.findings.push(TestFinding {
                    other: tried.instead.map(|part| part.name().to_owned()).unwrap_or_default(),
                    ..finding(TestFault::NoAnswer)
                }),
                (true, None) | (false, _) => {
                    outcome.not_tested.push(tried.part.name().to_owned());
                    continue;
                }
            }
            outcome.tried += 1;
        }
        outcome
    }

    pub(super) fn show(&self, view: &mut DeviceTestView) {
        view.parts = self
            .parts
            .iter()
            .map(|tried| TestedPart {
                part: tried.part.name().to_owned(),
                answered: tried.answered,
                bounced: tried.bounced,
            })
            .collect();
        view.asked = self.asked.map(|part| part.name().to_owned());
        view.pressed = self.pressed;
        view.presses = self.presses.iter().map(|part| part.name().to_owned()).collect();
    }
}
