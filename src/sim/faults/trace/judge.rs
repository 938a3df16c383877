//! What a judge is, which rule each one keeps, and what it finds.

use std::fmt;
use std::time::Duration;

use super::seen::Seen;
use super::told::Clock;
use crate::table::event::Event;

/// Which rule was broken. One judge each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Invariant {
    /// What was shown or published is in the journal.
    ShownIsJournalled,
    /// Nothing is published twice with different bytes, nor with other bytes than journalled.
    SameBytes,
    /// Every event reaches the broker, in order.
    NoGap,
    /// No two results for a round.
    OneResult,
    /// Lamps, lights and the published state equal what the events say, once quiet.
    LampsEqualState,
    /// No round is voided by the gateway while a link was broken.
    NoVoidWhileBroken,
    /// Every round ends, and the table is never stuck.
    RoundsEnd,
    /// Numbers, chain and round ids run on across restarts.
    Contiguous,
    /// The cursor is never ahead of what the broker acknowledged.
    CursorBehind,
    /// The state after a restart is the state before it.
    StateSurvives,
    /// An alert is raised once, until it is cleared.
    AlertsOnce,
    /// What is recorded of people and devices happened: keys, ENTER, bell, spins, cover.
    NothingInvented,
    /// The connection's number only rises, and the retained status is its own.
    StatusTrue,
    /// Events are kept for as long as was promised, and what is deleted is told.
    KeptLongEnough,
    /// A journal that went back in time is not gone on with once the floor knows better.
    RollbackTold,
    /// Each request of the floor's is answered once, with what was asked for.
    Answered,
    /// What the gateway writes can be read, and it never dies.
    Sound,
}

impl Invariant {
    /// As reports name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Invariant::ShownIsJournalled => "shown-is-journalled",
            Invariant::SameBytes => "same-bytes",
            Invariant::NoGap => "no-gap",
            Invariant::OneResult => "one-result",
            Invariant::LampsEqualState => "lamps-equal-state",
            Invariant::NoVoidWhileBroken => "no-void-while-broken",
            Invariant::RoundsEnd => "rounds-end",
            Invariant::Contiguous => "contiguous",
            Invariant::CursorBehind => "cursor-behind",
            Invariant::StateSurvives => "state-survives",
            Invariant::AlertsOnce => "alerts-once",
            Invariant::NothingInvented => "nothing-invented",
            Invariant::StatusTrue => "status-true",
            Invariant::KeptLongEnough => "kept-long-enough",
            Invariant::RollbackTold => "rollback-told",
            Invariant::Answered => "answered",
            Invariant::Sound => "sound",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// One thing seen, and when. What the judges get.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// Virtual time since the simulation began.
    pub at: Duration,
    /// What.
    pub seen: &'a Seen<'a>,
    /// The events that it carries, decoded: of `Appended` each, of `Published` on the events topic the one.
    pub events: &'a [Event],
}

/// What becomes of a judge when the journal goes back in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterRollback {
    /// It knows what that means, and goes on.
    GoesOn,
    /// It looks at nothing more: what it has seen of the table did not happen any more.
    Retires,
}

/// Judges one invariant.
pub trait Judge: Send {
    /// What becomes of it after [`Seen::WentBack`].
    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::Retires
    }

    /// Which.
    fn invariant(&self) -> Invariant;

    /// Looks at the next thing.
    ///
    /// # Errors
    ///
    /// What is wrong, for a person. A judge goes on looking after it.
    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String>;
}

/// An invariant was broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Which.
    pub invariant: Invariant,
    /// When.
    pub at: Duration,
    /// How, for a person.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}: {}", self.invariant, Clock(self.at), self.text)
    }
}
