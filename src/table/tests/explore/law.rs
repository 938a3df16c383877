//! What the events say by themselves: a small reading of them that shares nothing with the table, and what must hold of each.
//!
//! [`Ground`] reads what every game has: modes, locks, holds, numbers of rounds. Each game's law reads its play on top of it.

use super::form::{Form, Formed};
use super::world::World;
use crate::table::event::{
    ActorKind, Body, Event, Mode, RoundHeldCause, TableLockedKind, TableLockedReason, TableState,
};
use crate::table::input::Input;

/// What may be lit.
pub enum Lights {
    /// One of these pictures.
    Are(Vec<Vec<u8>>),
    /// The law says nothing.
    Any,
}

/// How a round ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By its result.
    Decided,
    /// Void, because a person said so.
    VoidByPerson,
    /// Void, by the gateway.
    VoidByGateway,
    /// Bets went back.
    Abandoned,
}

/// A game's reading of its events.
pub trait Law: Clone + Formed {
    /// A decision begins.
    fn decides(&mut self, input: &Input);
    /// An event was recorded.
    fn read(&mut self, event: &Event, world: &World) -> Result<(), String>;
    fn lights(&self) -> Lights;
    /// What the table publishes is what the events say.
    fn compare(&self, state: &TableState) -> Result<(), String>;
    /// A round runs.
    fn is_running(&self) -> bool;
    /// It waits for a supervisor.
    fn waits(&self) -> bool;
    /// How the newest round ended, since this was forgotten.
    fn end(&self) -> Option<End>;
    fn forget_end(&mut self);
}

/// Says what is wrong unless `holds`.
pub fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_string()) }
}

/// What every game has.
#[derive(Clone, PartialEq, Debug)]
pub struct Ground {
    pub mode: Mode,
    /// What Test was entered from.
    below: Mode,
    /// Reasons and kinds of locks that stand, oldest first.
    pub locks: Vec<(i32, i32)>,
    /// The round that runs; 0: none.
    pub round: u64,
    pub last_round: u64,
    /// Why it waits; 0: it doesn't.
    pub held: i32,
    pub end: Option<End>,
}

impl Ground {
    pub fn new() -> Self {
        Ground {
            mode: Mode::Closed,
            below: Mode::Closed,
            locks: Vec::new(),
            round: 0,
            last_round: 0,
            held: 0,
            end: None,
        }
    }

    pub fn is_frozen(&self) -> bool {
        self.locks
            .iter()
            .any(|(_, kind)| *kind == TableLockedKind::Freeze as i32)
    }

    pub fn waits(&self) -> bool {
        self.is_frozen() || self.held != 0
    }

    /// In play, and nothing that forbids taking anything.
    pub fn takes(&self, what: &str) -> Result<(), String> {
        must(
            self.mode == Mode::Open,
            &format!("{what} outside play, in {:?}", self.mode),
        )?;
        must(!self.is_frozen(), &format!("{what} at a frozen table"))?;
        must(
            self.held == 0,
            &format!("{what} in a round that waits for a supervisor"),
        )
    }

    /// The round begins.
    pub fn begins(&mut self, event: &Event) -> Result<(), String> {
        must(self.mode == Mode::Open, "a round began outside play")?;
        must(self.round == 0, "a round began in a round")?;
        must(event.round_id == self.last_round + 1, "a round has not the next number")?;
        self.round = event.round_id;
        self.last_round = event.round_id;
        self.held = 0;
        Ok(())
    }

    /// The round ends.
    pub fn ends(&mut self, end: End) {
        self.round = 0;
        self.held = 0;
        self.end = Some(end);
    }

    /// Reads what isn't play. `true`: it was read.
    pub fn read(&mut self, event: &Event) -> Result<bool, String> {
        let Some(body) = &event.body else {
            return Err("an event without a body".into());
        };
        match body {
            Body::OpeningStarted(_) => {
                must(self.mode == Mode::Closed, "opening of what isn't closed")?;
                self.mode = Mode::Opening;
            }
            Body::OpeningAbandoned(_) => {
                must(self.mode == Mode::Opening, "no opening to abandon")?;
                self.mode = Mode::Closed;
            }
            Body::TableOpened(_) => {
                must(self.mode == Mode::Opening, "opened without checks")?;
                must(is_supervisor(event), "opened by nobody")?;
                self.mode = Mode::Open;
            }
            Body::TableClosed(_) => {
                must(self.mode == Mode::Open && self.round == 0, "closed in a round")?;
                must(is_supervisor(event), "closed by nobody")?;
                self.mode = Mode::Closed;
            }
            Body::TestModeEntered(_) => {
                must(
                    self.mode == Mode::Closed || (self.mode == Mode::Open && self.round == 0),
                    "Test entered from a round",
                )?;
                self.below = self.mode;
                self.mode = Mode::Test;
            }
            Body::TestModeLeft(_) => {
                must(self.mode == Mode::Test, "Test left without being entered")?;
                self.mode = self.below;
            }
            Body::TumblerStarted(_) => {
                let tried = [Mode::Opening, Mode::Test].contains(&self.mode);
                must(tried, "the tumbler was started by the gateway in play")?;
            }
            Body::TableLocked(locked) => {
                let lock = (locked.reason, locked.kind);
                if !self.locks.contains(&lock) {
                    self.locks.push(lock);
                }
            }
            Body::TableUnlocked(unlocked) => {
                let lock = (unlocked.reason, unlocked.kind);
                must(self.locks.contains(&lock), "no such lock stood")?;
                let by_itself = unlocked.reason == TableLockedReason::Disk as i32
                    || unlocked.reason == TableLockedReason::Digest as i32
                    || unlocked.reason == TableLockedReason::Configuration as i32;
                let of_round = unlocked.reason == TableLockedReason::OutOfTurn as i32;
                must(
                    is_supervisor(event) || by_itself || of_round,
                    "unlocked without a supervisor",
                )?;
                self.locks.retain(|stands| *stands != lock);
            }
            Body::RoundHeld(held) => {
                must(self.round != 0 && event.round_id == self.round, "no round to hold")?;
                // By another entry that the dice reader contradicts.
                let differs_again = held.cause() == RoundHeldCause::DiceDiffer && self.held == held.cause;
                must(self.held == 0 || differs_again, "a held round is held")?;
                self.held = held.cause;
            }
            Body::RoundResumed(resumed) => {
                must(self.round != 0 && event.round_id == self.round, "no round to resume")?;
                must(
                    self.held == resumed.cause && self.held != 0,
                    "resumed from another hold",
                )?;
                self.held = 0;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The event is of no act of play: it may stand between a result and what that decides.
    pub fn is_aside(&self, event: &Event) -> bool {
        matches!(
            event.body,
            Some(
                Body::AlertRaised(_)
                    | Body::AlertCleared(_)
                    | Body::ActRefused(_)
                    | Body::EntryRejected(_)
                    | Body::LampFailed(_)
            )
        )
    }

    /// What is published of it.
    pub fn compare(&self, state: &TableState) -> Result<(), String> {
        let locks: Vec<(i32, i32)> = state.locks.iter().map(|lock| (lock.reason, lock.kind)).collect();
        must(
            state.mode() == self.mode,
            &format!("published mode {:?}, not {:?}", state.mode(), self.mode),
        )?;
        must(
            locks == self.locks,
            &format!("published locks {locks:?}, not {:?}", self.locks),
        )?;
        must(
            state.round_id == self.round,
            &format!("published round {}, not {}", state.round_id, self.round),
        )?;
        must(
            state.held == self.held,
            &format!("published hold {}, not {}", state.held, self.held),
        )
    }
}

impl Formed for Ground {
    fn form(&self, f: &mut Form<'_>) {
        let Ground {
            mode,
            below,
            locks,
            round,
            last_round,
            held,
            end: _,
        } = self;
        f.byte(*mode as u8);
        f.byte(*below as u8);
        locks.form(f);
        f.round(*round);
        f.round(*last_round);
        held.form(f);
    }
}

pub fn is_supervisor(event: &Event) -> bool {
    event
        .actor
        .as_ref()
        .is_some_and(|actor| actor.kind() == ActorKind::Supervisor)
}

pub fn is_gateway(event: &Event) -> bool {
    event
        .actor
        .as_ref()
        .is_some_and(|actor| actor.kind() == ActorKind::Gateway)
}
