//! A tai-sai table in play: one enum, its data in the variants. PURE.
//!
//! Every [`Uptime`] here is the uptime of the event that armed it, or of the thing which that event reports.

use crate::table::dice::Draft;
use crate::table::dice::game::Course;
use crate::table::event::{Area, RoundHeldCause, RoundVoidedReason};
use crate::table::game::Play;
use crate::table::input::DeviceKind;
use crate::table::mode::Mode;
use crate::table::state::{ContactCount, Count, State};
use crate::time::Uptime;
use std::collections::BTreeSet;

/// Where play stands.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Phase {
    /// Between rounds.
    Ready(Ready),
    /// The dice were spun at least once; bets are not open.
    Tumbling(Tumbling),
    /// Bets are open.
    Betting(Betting),
    /// "No more bets"; the cover is on.
    Closed(BetsShut),
    /// The dice can be seen.
    Landed(Landed),
    /// The result is entered, its areas lit.
    Entered(Entered),
}

/// Between rounds.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Ready {
    /// The counters from which spins count; `None` while the tumbler is away.
    pub(crate) base: Option<Count>,
    /// No spin since the base can have been missed.
    pub(crate) watched: bool,
    /// How the last round ended.
    pub(crate) after: After,
}

/// How the last round ended, as far as something can still be done about it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) enum After {
    /// There was none since the table opened.
    #[default]
    Nothing,
    /// Settled for good.
    Settled,
    /// Settled by the cover: a supervisor may reopen it until the next spin.
    Provisional(Box<Entered>),
    /// Void for good.
    Voided,
    /// Void, declared by the gateway: may be withdrawn until the next spin.
    Withdrawable {
        /// Why it is void.
        reason: RoundVoidedReason,
        /// What the round was.
        before: Box<Phase>,
    },
    /// Bets went back.
    Abandoned,
}

/// What every running round knows.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Round {
    /// Its number.
    pub(crate) id: u64,
    /// As `RoundStarted` said.
    pub(crate) game: String,
    /// As `RoundStarted` said.
    pub(crate) style: String,
    /// As `RoundStarted` said.
    pub(crate) layout: String,
    /// The tumbler's counters, as last recorded or accepted by a supervisor.
    pub(crate) counters: Option<Count>,
    /// Spins recorded so far.
    pub(crate) spins: u32,
    /// It waits for a supervisor.
    pub(crate) held: Option<Held>,
    /// Holds that a supervisor has ended: the same cause doesn't hold the round again by itself.
    pub(crate) resumed: BTreeSet<RoundHeldCause>,
}

/// A held round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    pub(crate) cause: RoundHeldCause,
    /// The entry that a supervisor may confirm (`DICE_DIFFER`), as pressed.
    pub(crate) pressed: Vec<u32>,
    /// What the dice reader saw (`DICE_DIFFER`), sorted: it stands when the cover is on again.
    pub(crate) read_faces: Vec<u32>,
}

/// The tumble.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tumbling {
    pub(crate) round: Round,
    /// The counters from which spins count.
    pub(crate) base: Option<Count>,
    /// From here the tumbler must be at rest for bets to open.
    pub(crate) quiet_since: Uptime,
}

/// Bets are open.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Betting {
    pub(crate) round: Round,
    /// A bell before it doesn't count. After a restart: the start of the run.
    pub(crate) opened_at: Uptime,
    /// The bell as last recorded.
    pub(crate) bell: ContactCount,
    /// Tumbler and terminal have been up since bets opened.
    pub(crate) unbroken: bool,
}

/// Bets are closed, the dice covered, or not thrown or spun yet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BetsShut {
    pub(crate) round: Round,
    /// When the bell rang.
    pub(crate) closed_at: Uptime,
    /// The spins that an open tumbler must make now; `None` with another course.
    pub(crate) open: Option<InSight>,
}

/// Dice that are spun in sight after the bell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InSight {
    /// The counters from which spins count; `None` until the tumbler is there.
    pub(crate) base: Option<Count>,
    /// From here the tumbler must be at rest for the dice to have landed.
    pub(crate) quiet_since: Uptime,
}

/// The dice can be seen.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Landed {
    pub(crate) round: Round,
    /// When the cover went off.
    pub(crate) uncovered_at: Uptime,
}

/// The result is entered.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entered {
    pub(crate) round: Round,
    /// As pressed.
    pub(crate) pressed: Vec<u32>,
    /// Sorted.
    pub(crate) faces: Vec<u32>,
    /// The winning areas.
    pub(crate) areas: Vec<Area>,
    /// The picture that the lamps are commanded.
    pub(crate) lit: Vec<u8>,
    /// The dealer's call.
    pub(crate) call: String,
    /// When it was entered or amended.
    pub(crate) entered_at: Uptime,
    /// What is known of the lamps.
    pub(crate) proof: Proof,
    /// A fault of this picture was declared: settlement goes by the dice.
    pub(crate) fault_declared: bool,
    /// When the lamps were first confirmed, or their fault declared.
    pub(crate) lamps_settled_at: Option<Uptime>,
    /// A supervisor took its settlement back: the cover that settled it doesn't do so again.
    pub(crate) reopened: bool,
}

/// Whether the lamps were read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Proof {
    /// Not yet, since this moment.
    Waiting(Uptime),
    /// As commanded.
    Lit,
}

impl Default for Phase {
    fn default() -> Self {
        Phase::Ready(Ready::default())
    }
}

impl Phase {
    /// Between rounds, as a table is when it opens.
    pub(crate) fn opened(base: Option<Count>) -> Phase {
        Phase::Ready(Ready {
            base,
            watched: base.is_some(),
            after: After::Nothing,
        })
    }

    /// Test ends: nothing of the round before it can be brought back.
    pub(crate) fn after_test(self, base: Option<Count>) -> Phase {
        let after = match self {
            Phase::Ready(ready) => ready.after.final_form(),
            Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_) => {
                After::Nothing
            }
        };
        Phase::Ready(Ready {
            base,
            watched: base.is_some(),
            after,
        })
    }

    /// As `TableState.phase` writes it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Phase::Ready(_) => "ready",
            Phase::Tumbling(_) => "tumbling",
            Phase::Betting(_) => "betting",
            Phase::Closed(_) => "closed",
            Phase::Landed(_) => "landed",
            Phase::Entered(_) => "entered",
        }
    }

    /// The running round.
    pub(crate) fn round(&self) -> Option<&Round> {
        match self {
            Phase::Ready(_) => None,
            Phase::Tumbling(tumbling) => Some(&tumbling.round),
            Phase::Betting(betting) => Some(&betting.round),
            Phase::Closed(shut) => Some(&shut.round),
            Phase::Landed(landed) => Some(&landed.round),
            Phase::Entered(entered) => Some(&entered.round),
        }
    }

    /// The running round, to change it.
    pub(crate) fn round_mut(&mut self) -> Option<&mut Round> {
        match self {
            Phase::Ready(_) => None,
            Phase::Tumbling(tumbling) => Some(&mut tumbling.round),
            Phase::Betting(betting) => Some(&mut betting.round),
            Phase::Closed(shut) => Some(&mut shut.round),
            Phase::Landed(landed) => Some(&mut landed.round),
            Phase::Entered(entered) => Some(&mut entered.round),
        }
    }

    /// Why the running round waits for a supervisor.
    pub(crate) fn held(&self) -> Option<&Held> {
        self.round().and_then(|round| round.held.as_ref())
    }
}

impl Round {
    /// What started it, closes its bets and shows its dice.
    pub(crate) fn course(&self) -> Course {
        Course::named(&self.game, &self.style)
    }
}

impl Ready {
    /// The round that a supervisor, or a late bell, may still bring back.
    pub(crate) fn ended_round(&self) -> Option<u64> {
        match &self.after {
            After::Provisional(entered) => Some(entered.round.id),
            After::Withdrawable { before, .. } => before.round().map(|round| round.id),
            After::Nothing | After::Settled | After::Voided | After::Abandoned => None,
        }
    }
}

impl State {
    /// Where play of a dice game stands; `None` outside it.
    pub(crate) fn phase(&self) -> Option<&Phase> {
        match &self.mode {
            Mode::Open(Play::Dice(phase)) => Some(phase),
            Mode::Open(Play::TwoUp(_)) | Mode::Closed | Mode::Opening(_) | Mode::Test(_) => None,
        }
    }
}

impl Draft<'_> {
    /// Where play stands, to match on while facts are recorded.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.state.phase().cloned()
    }

    /// The phase between rounds.
    pub(crate) fn ready(&self) -> Option<&Ready> {
        match self.state.phase() {
            Some(Phase::Ready(ready)) => Some(ready),
            Some(Phase::Tumbling(_) | Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_))
            | None => None,
        }
    }
}

/// Deadlines and comparisons with times of an earlier run begin anew, each with its full length.
pub(crate) fn rearm(phase: &mut Phase, at: Uptime) {
    match phase {
        Phase::Ready(ready) => {
            if let After::Withdrawable { before, .. } = &mut ready.after {
                rearm(before, at);
            }
        }
        Phase::Tumbling(tumbling) => {
            tumbling.quiet_since = at;
        }
        Phase::Betting(betting) => {
            // Bets opened before this run: everything that happens in it is later.
            betting.opened_at = Uptime::ZERO;
            betting.unbroken = false;
        }
        Phase::Closed(shut) => {
            shut.closed_at = at;
            if let Some(open) = &mut shut.open {
                open.quiet_since = at;
            }
        }
        Phase::Landed(landed) => landed.uncovered_at = at,
        Phase::Entered(entered) => {
            entered.entered_at = at;
            entered.proof = Proof::Waiting(at);
            // Lit again after the restart: no run sees the time from the first lamps to the settlement.
            entered.lamps_settled_at = entered.lamps_settled_at.map(|_| at);
        }
    }
}

/// From here a tumbler whose rest is waited for must be at rest.
pub(crate) fn quiet_from(phase: &mut Phase, at: Uptime) {
    match phase {
        Phase::Tumbling(tumbling) => tumbling.quiet_since = tumbling.quiet_since.max(at),
        Phase::Closed(shut) => {
            if let Some(open) = &mut shut.open {
                open.quiet_since = open.quiet_since.max(at);
            }
        }
        Phase::Ready(_) | Phase::Betting(_) | Phase::Landed(_) | Phase::Entered(_) => {}
    }
}

/// A link that tells of early exposure broke.
pub(crate) fn link_broke(phase: &mut Phase, kind: DeviceKind) {
    match kind {
        DeviceKind::Tumbler | DeviceKind::Terminal => {}
        DeviceKind::LayoutLamps | DeviceKind::ResultLights => return,
    }
    if let Phase::Betting(betting) = phase {
        betting.unbroken = false;
    }
}

impl After {
    /// The same without a way back.
    pub(crate) fn final_form(self) -> After {
        match self {
            After::Provisional(_) => After::Settled,
            After::Withdrawable { .. } => After::Voided,
            other @ (After::Nothing | After::Settled | After::Voided | After::Abandoned) => other,
        }
    }

    /// A void that was declared for want of a bell.
    pub(crate) fn wants_a_bell(&self) -> bool {
        match self {
            After::Withdrawable { reason, .. } => *reason == RoundVoidedReason::AExposedEarly,
            After::Nothing | After::Settled | After::Provisional(_) | After::Voided | After::Abandoned => false,
        }
    }
}
