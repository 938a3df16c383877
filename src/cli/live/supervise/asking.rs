//! What is chosen for an act, by arrow keys: one of several, the faces of three dice, a seat, a text.

use super::words::{self, Several, Step};
use crate::cli::live::input::Key;
use crate::cli::live::look::Look;
use crate::control::{Act, MAX_TEXT};
use crate::gateway::View;
use std::sync::Arc;

/// Seats as houses number them.
const SEATS: std::ops::RangeInclusive<u32> = 1..=99;

/// An act that is being put together.
pub(super) struct Asking {
    pub(super) act: Act,
    /// What the table would take of this kind.
    pub(super) choices: Vec<Act>,
    steps: Vec<Step>,
    step: usize,
    pub(super) place: Place,
    view: Arc<View>,
    look: Look,
}

/// Where the arrow keys stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// On a line of a list.
    Line(usize),
    /// On one of three dice.
    Die { faces: [u8; 3], at: usize },
    /// On a number.
    Seat(u32),
    /// In a text that is being typed.
    Typing(String),
}

/// What a key led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    Stay,
    Back,
    Answered,
}

/// Words of a list's last line: a keyboard may be there, and need not.
pub(super) const TYPE_IT: &str = "(type it)";
/// Words of the line for no text.
pub(super) const NOTHING: &str = "(nothing)";

impl Asking {
    /// Begins with what the table would take.
    pub(super) fn begin(choices: Vec<Act>, view: Arc<View>, look: Look) -> Asking {
        let act = choices.first().cloned().unwrap_or(Act::Resume {});
        let several = if choices.len() > 1 { Several::More } else { Several::One };
        let steps = words::steps(&act, several);
        let mut asking = Asking {
            act,
            choices,
            steps,
            step: 0,
            place: Place::Line(0),
            view,
            look,
        };
        asking.enter();
        asking
    }

    /// Nothing is left to ask.
    pub(super) fn is_complete(&self) -> bool {
        self.step >= self.steps.len()
    }

    /// What is asked now.
    pub(super) fn question(&self) -> String {
        match self.steps.get(self.step) {
            Some(Step::OneOf) | None => "Which?".to_owned(),
            Some(Step::Faces) => "What do the three dice show?".to_owned(),
            Some(Step::Seat) => "Which seat?".to_owned(),
            Some(Step::Text { what, .. }) => (*what).to_owned(),
        }
    }

    /// The lines to choose from.
    pub(super) fn lines(&self) -> Vec<String> {
        match self.steps.get(self.step) {
            Some(Step::OneOf) => {
                let choices = self.choices.iter();
                choices.map(|act| words::choice(act, &self.view, self.look)).collect()
            }
            Some(Step::Text { known, needed, .. }) => {
                let nothing = words::may_be_without(&self.act, *needed).then_some(NOTHING);
                let known = known.iter().copied();
                nothing
                    .into_iter()
                    .chain(known)
                    .chain([TYPE_IT])
                    .map(str::to_owned)
                    .collect()
            }
            Some(Step::Faces | Step::Seat) | None => Vec::new(),
        }
    }

    /// Back to the last question; false when there was none.
    pub(super) fn again(&mut self) -> bool {
        if self.steps.is_empty() {
            return false;
        }
        self.step = self.steps.len() - 1;
        self.enter();
        true
    }

    fn enter(&mut self) {
        self.place = match self.steps.get(self.step) {
            Some(Step::OneOf | Step::Text { .. }) | None => Place::Line(0),
            Some(Step::Faces) => Place::Die {
                faces: [1, 1, 1],
                at: 0,
            },
            Some(Step::Seat) => Place::Seat(*SEATS.start()),
        };
    }

    fn answered(&mut self) -> Next {
        self.step += 1;
        self.enter();
        Next::Answered
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: Key) -> Next {
        match self.place.clone() {
            Place::Line(at) => self.press_in_list(at, key),
            Place::Die { faces, at } => self.press_on_dice(faces, at, key),
            Place::Seat(seat) => self.press_on_seat(seat, key),
            Place::Typing(text) => self.press_in_text(text, key),
        }
    }

    fn press_in_list(&mut self, at: usize, key: Key) -> Next {
        let lines = self.lines();
        let last = lines.len().saturating_sub(1);
        match key {
            Key::Up => self.place = Place::Line(at.saturating_sub(1)),
            Key::Down => self.place = Place::Line((at + 1).min(last)),
            Key::PageUp => self.place = Place::Line(0),
            Key::PageDown => self.place = Place::Line(last),
            Key::Escape | Key::Backspace | Key::Left => return self.back(),
            Key::Enter | Key::Right => return self.take_line(at, lines.get(at).map_or("", String::as_str)),
            Key::Tab | Key::Letter(_) => {}
        }
        Next::Stay
    }

    fn take_line(&mut self, at: usize, line: &str) -> Next {
        match self.steps.get(self.step) {
            Some(Step::OneOf) => {
                if let Some(act) = self.choices.get(at) {
                    self.act = act.clone();
                }
                self.answered()
            }
            Some(Step::Text { .. }) if line == TYPE_IT => {
                self.place = Place::Typing(String::new());
                Next::Stay
            }
            Some(Step::Text { .. }) => {
                let text = Some(line.to_owned()).filter(|line| line != NOTHING);
                self.act = words::with_text(self.act.clone(), text);
                self.answered()
            }
            Some(Step::Faces | Step::Seat) | None => Next::Stay,
        }
    }

    fn press_on_dice(&mut self, mut faces: [u8; 3], at: usize, key: Key) -> Next {
        let mut at = at;
        match key {
            Key::Up => turn(&mut faces, at, |face| face % 6 + 1),
            Key::Down => turn(&mut faces, at, |face| (face + 4) % 6 + 1),
            Key::Left if at == 0 => return self.back(),
            Key::Left => at -= 1,
            Key::Right => at = (at + 1).min(2),
            Key::Letter(digit @ '1'..='6') => {
                let face = digit.to_digit(10).and_then(|face| u8::try_from(face).ok()).unwrap_or(1);
                turn(&mut faces, at, |_| face);
                at = (at + 1).min(2);
            }
            Key::Enter if at < 2 => at += 1,
            Key::Enter => {
                self.act = words::with_faces(self.act.clone(), faces);
                return self.answered();
            }
            Key::Escape | Key::Backspace => return self.back(),
            Key::PageUp | Key::PageDown | Key::Tab | Key::Letter(_) => {}
        }
        self.place = Place::Die { faces, at };
        Next::Stay
    }

    fn press_on_seat(&mut self, seat: u32, key: Key) -> Next {
        let (first, last) = (*SEATS.start(), *SEATS.end());
        let seat = match key {
            Key::Up | Key::Right => (seat + 1).min(last),
            Key::Down => seat.saturating_sub(1).max(first),
            Key::PageUp => (seat + 10).min(last),
            Key::PageDown => seat.saturating_sub(10).max(first),
            Key::Escape | Key::Backspace | Key::Left => return self.back(),
            Key::Enter => {
                self.act = words::with_seat(self.act.clone(), seat);
                return self.answered();
            }
            Key::Tab | Key::Letter(_) => seat,
        };
        self.place = Place::Seat(seat);
        Next::Stay
    }

    fn press_in_text(&mut self, mut text: String, key: Key) -> Next {
        match key {
            Key::Letter(letter) if text.chars().count() < MAX_TEXT => text.push(letter),
            Key::Backspace if !text.is_empty() => {
                text.pop();
            }
            Key::Escape | Key::Backspace => {
                self.place = Place::Line(0);
                return Next::Stay;
            }
            Key::Enter if !text.trim().is_empty() => {
                self.act = words::with_text(self.act.clone(), Some(text));
                return self.answered();
            }
            Key::Enter
            | Key::Letter(_)
            | Key::Up
            | Key::Down
            | Key::Left
            | Key::Right
            | Key::PageUp
            | Key::PageDown
            | Key::Tab => {}
        }
        self.place = Place::Typing(text);
        Next::Stay
    }

    /// One question back; out of the act before the first.
    fn back(&mut self) -> Next {
        match self.step.checked_sub(1) {
            Some(step) => {
                self.step = step;
                self.enter();
                Next::Stay
            }
            None => Next::Back,
        }
    }

    /// What was chosen so far, in words.
    pub(super) fn chosen(&self) -> String {
        words::choice(&self.act, &self.view, self.look)
    }
}

fn turn(faces: &mut [u8; 3], at: usize, to: impl Fn(u8) -> u8) {
    if let Some(face) = faces.get_mut(at) {
        *face = to(*face);
    }
}
