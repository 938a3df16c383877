//! Where a family of games is plugged into the table: the one place that names them all. PURE.
//!
//! A *family* is games that are played with the same devices in the same order: dice in a tumbler or a cup ([`dice`]), two-up
//! with dice or coins ([`two_up`]). The rest of the table asks a family through [`Family`] and knows no game. A game of a family that
//! exists is a file in `rules/`, a file in that family's folder, and an arm where its configuration becomes a [`Kit`].

use crate::rules::citation::Citation;
use crate::table::dice::{self, Dice};
use crate::table::draft::{Draft, Source};
use crate::table::due::Look;
use crate::table::entry::{Refused, Which};
use crate::table::event::{Body, DeviceOnline, OpeningCheck, TableLocked, TableOpened, TableUnlocked};
use crate::table::indicators::TumblerWish;
use crate::table::input::{DeviceIdentity, DeviceKind, Key, OperatorAct, Person, TumblerReport};
use crate::table::lamps::Board;
use crate::table::mode::{Below, Mode};
use crate::table::opening::Evidence;
use crate::table::readout::Standing;
use crate::table::rejection::Rejection;
use crate::table::seen::Pressed;
use crate::table::state::{Count, Envelope, Known, State};
use crate::table::terminal::Missed;
use crate::table::two_up::{self, TwoUp};
use crate::table::view::{InPlay, Shown};
use crate::table::{GameConfig, dice::phase::Phase, two_up::phase::Course};
use crate::time::Uptime;
use std::borrow::Cow;
use std::time::Duration;

/// Where play stands, of whatever game.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Play {
    /// Tai-sai and its kin.
    Dice(Phase),
    /// Two-up.
    TwoUp(Course),
}

/// A configured game with what is worked out from its configuration once.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kit {
    /// Tai-sai and its kin.
    Dice(Dice),
    /// Two-up.
    TwoUp(TwoUp),
}

impl Default for Play {
    fn default() -> Self {
        Play::Dice(Phase::default())
    }
}

impl Kit {
    pub(crate) fn new(config: &GameConfig) -> Kit {
        match config {
            GameConfig::TaiSai(config) => Kit::Dice(Dice::tai_sai(config.clone())),
            GameConfig::SicBo(config) => Kit::Dice(Dice::sic_bo(config.clone())),
            GameConfig::TwoUpDice(config) => Kit::TwoUp(TwoUp::dice(config.clone())),
            GameConfig::TriplePenny(config) => Kit::TwoUp(TwoUp::coins(config.clone())),
        }
    }

    /// Devices without which no round starts.
    pub(crate) fn needed(&self) -> &'static [DeviceKind] {
        match self {
            Kit::Dice(dice) => dice.needed(),
            Kit::TwoUp(two_up) => two_up.needed(),
        }
    }
}

/// An act that was refused, or done, with a sentence for the person.
pub(crate) type Answer = Result<String, Rejection>;

/// What the table asks of a family of games. Everything here is about one game at one table; nothing reads a clock.
pub(crate) trait Family: Sized {
    /// The keys that an entry has at most; an earlier one is pushed out.
    const KEYS: usize;

    /// The device that shows results.
    const LAMPS: DeviceKind;

    /// What signals of the terminal were found in a status, before it is recorded.
    type Found;

    // ---- What the game is ----

    /// As `RoundStarted.game` and the configuration name it.
    fn name(&self) -> &'static str;

    /// Devices without which no round starts, in the order of their codes.
    fn needed(&self) -> &'static [DeviceKind];

    /// Other devices that the game can have: their being away is shown between rounds.
    fn wanted(&self) -> &'static [DeviceKind];

    /// How citations of the law of this game begin.
    fn instrument(&self) -> &'static str;

    /// The rules that decided a fact.
    fn cite(&self, body: &Body) -> Cow<'static, [Citation]>;

    /// The lamps that show results.
    fn board(&self) -> &Board;

    /// How long after its acknowledgement a picture may take to show.
    fn lamp_wait(&self) -> Duration;

    /// The running round was begun with this game and its settings.
    fn is_ours(&self, play: &Play) -> bool;

    /// Its own acts can void a round of this play: else it is another game's, and the table voids it.
    fn voids(&self, play: &Play) -> bool;

    // ---- Signals ----

    /// A tumbler's status.
    fn tumbler(draft: &mut Draft<'_, Self>, report: &TumblerReport, happened: Option<Uptime>);

    /// A tumbler was greeted.
    fn tumbler_greeted(draft: &mut Draft<'_, Self>, identity: &DeviceIdentity, report: &TumblerReport);

    /// The bell rang, live.
    fn bell(draft: &mut Draft<'_, Self>, at: Uptime, last_closed: Option<Uptime>);

    /// The bell rang so often before it was known, the last time then, and nothing came of it.
    fn rang_unheard(draft: &mut Draft<'_, Self>, times: u32, last: Option<Uptime>);

    /// The "no spin" contact closed, live.
    fn no_spin(draft: &mut Draft<'_, Self>, at: Uptime);

    /// Looks for signals that a terminal's status tells of and that were not recorded.
    fn find(draft: &Draft<'_, Self>, missed: Missed) -> Self::Found;

    /// Takes what was found.
    fn found(draft: &mut Draft<'_, Self>, found: Self::Found, missed: Missed);

    /// The game has this key.
    fn knows(&self, key: Key) -> bool;

    /// The keys so far are gone when this one is pressed.
    fn clears(keys: &[Pressed], key: Key) -> bool;

    /// An entry at an open table.
    ///
    /// # Errors
    ///
    /// Why it is refused.
    fn enter(draft: &mut Draft<'_, Self>, shown: &[Key]) -> Result<(), Refused>;

    // ---- Time ----

    /// Does what is due, as far as there is room.
    fn due(draft: &mut Draft<'_, Self>);

    /// When something is due next.
    fn next(look: &Look<'_, Self>) -> Option<Uptime>;

    /// Writes counts of its own (lamp flicker) as facts.
    fn write_counts(draft: &mut Draft<'_, Self>, which: Which);

    // ---- Start, locks ----

    /// The daemon is up, and the table is open: what must not go on.
    fn started(draft: &mut Draft<'_, Self>);

    /// A frozen table goes on: what devices did meanwhile counts as happening now.
    fn go_on(draft: &mut Draft<'_, Self>);

    /// The open table is closed by a person: what becomes of the running round.
    ///
    /// # Errors
    ///
    /// Why it can't be closed now.
    fn close(draft: &mut Draft<'_, Self>, source: &Source) -> Result<(), Rejection>;

    // ---- Opening ----

    /// The checks before play.
    fn checks(&self) -> &'static [OpeningCheck];

    /// What devices say of a check.
    fn evidence(draft: &Draft<'_, Self>, check: OpeningCheck) -> Evidence;

    /// A test entry on the terminal.
    fn test_entry(draft: &mut Draft<'_, Self>, shown: &[Key]);

    /// What the lamps show for a test entry, if there was one.
    fn tested(look: &Look<'_, Self>) -> Option<Vec<u8>>;

    /// What the readout shows for it.
    fn tested_text(look: &Look<'_, Self>) -> Option<String>;

    // ---- People ----

    /// A supervisor's act that belongs to the game.
    fn act(draft: &mut Draft<'_, Self>, person: &Person, act: &OperatorAct) -> Answer;

    // ---- What can be seen ----

    /// The picture of the lamps in play.
    fn lit<'a>(look: &Look<'a, Self>) -> Cow<'a, [u8]>;

    /// What the tumbler should obey.
    fn tumbler_wish(look: &Look<'_, Self>) -> TumblerWish;

    /// A test in Test found lamps to work that were known to have failed, and the facts are recorded.
    fn lamps_restored(draft: &mut Draft<'_, Self>);

    /// What stands on the readout in play.
    fn standing(look: &Look<'_, Self>) -> Standing;

    /// What the table waits for in play.
    fn in_play(look: &Look<'_, Self>) -> InPlay;
}

impl Play {
    /// Between rounds, as a table of this game is when it opens.
    pub(crate) fn opened(opened: &TableOpened) -> Play {
        match opened.game.as_str() {
            name @ (two_up::DICE | two_up::COINS) => Play::TwoUp(Course::opened(name)),
            // Earlier journals name no game: there was only one.
            _ => Play::Dice(Phase::opened(opened.base.map(Count::from))),
        }
    }

    /// Test ends, and the table is as before it; the tumbler's counters are taken anew.
    pub(crate) fn after_test(self, base: Option<Count>) -> Play {
        match self {
            Play::Dice(phase) => Play::Dice(phase.after_test(base)),
            Play::TwoUp(course) => Play::TwoUp(course),
        }
    }

    /// The running round's number; 0 between rounds.
    pub(crate) fn round_id(&self) -> u64 {
        match self {
            Play::Dice(phase) => phase.round().map_or(0, |round| round.id),
            Play::TwoUp(course) => course.round_id(),
        }
    }

    /// No round runs.
    pub(crate) fn is_between_rounds(&self) -> bool {
        self.round_id() == 0
    }

    /// Nothing presses: no round runs, or it waits for bets, as a game does whose bets open with the end of the last round.
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            Play::Dice(Phase::Betting(betting)) => betting.round.course().opens_at_once(),
            Play::Dice(_) | Play::TwoUp(_) => self.is_between_rounds(),
        }
    }

    /// The running round waits for a supervisor.
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Play::Dice(phase) => phase.held().is_some(),
            Play::TwoUp(_) => false,
        }
    }

    /// As `TableState` shows it.
    pub(crate) fn shown(&self) -> Shown {
        match self {
            Play::Dice(phase) => phase.shown(),
            Play::TwoUp(course) => course.shown(),
        }
    }

    /// A new run: deadlines begin anew, each with its full length.
    pub(crate) fn rearm(&mut self, at: Uptime) {
        match self {
            Play::Dice(phase) => dice::phase::rearm(phase, at),
            Play::TwoUp(course) => course.rearm(at),
        }
    }

    /// A device's link broke.
    pub(crate) fn link_broke(&mut self, kind: DeviceKind) {
        match self {
            Play::Dice(phase) => dice::phase::link_broke(phase, kind),
            Play::TwoUp(_) => {}
        }
    }
}

/// The round that a fact belongs to.
pub(crate) fn round_of(state: &State, body: &Body) -> u64 {
    let own = match &state.mode {
        Mode::Open(Play::Dice(phase)) => dice::fold::round_of(state, phase, body),
        Mode::Open(Play::TwoUp(course)) => two_up::fold::round_of(state, course, body),
        Mode::Closed | Mode::Opening(_) | Mode::Test(_) => None,
    };
    if let Body::VoidReasonStated(_) = body {
        return state.last_void.map_or(0, |void| void.round);
    }
    own.unwrap_or_else(|| state.round_id())
}

/// A device was greeted; `before` is what was known of it.
pub(crate) fn device_online(state: &mut State, envelope: Envelope<'_>, before: Option<&Known>, online: &DeviceOnline) {
    dice::fold::device_online(state, envelope, before, online);
    two_up::fold::device_online(state, envelope, online);
}

/// A lock was set.
pub(crate) fn locked(state: &mut State, envelope: Envelope<'_>, locked: &TableLocked) {
    dice::fold::locked(state, envelope, locked);
}

/// A lock ended.
pub(crate) fn unlocked(state: &mut State, envelope: Envelope<'_>, unlocked: &TableUnlocked) {
    dice::fold::unlocked(state, envelope, unlocked);
}

/// Folds a fact of play.
pub(crate) fn fold(state: &mut State, envelope: Envelope<'_>, body: &Body) {
    let is_two_up = matches!(
        state.mode,
        Mode::Open(Play::TwoUp(_)) | Mode::Test(Below::Open(Play::TwoUp(_)))
    );
    match body {
        Body::RoundStarted(body) => dice::fold::round_started(state, envelope, body),
        Body::TumblerSpun(body) => dice::fold::tumbler_spun(state, envelope, body),
        Body::BetsOpened(body) => dice::fold::bets_opened(state, envelope, body),
        Body::BetsClosed(body) if is_two_up => two_up::fold::bets_closed(state, envelope, body),
        Body::BetsClosed(body) => dice::fold::bets_closed(state, envelope, body),
        Body::DiceUncovered(body) => dice::fold::dice_uncovered(state, envelope, body),
        Body::ResultEntered(body) => dice::fold::result_entered(state, envelope, body),
        Body::ResultAmended(body) => dice::fold::result_amended(state, envelope, body),
        Body::LayoutLit(_) => dice::fold::layout_lit(state, envelope),
        Body::LampFailed(body) => dice::fold::lamp_failed(state, envelope, body),
        Body::LampRestored(body) if is_two_up => two_up::fold::lamp_restored(state, body),
        Body::LampRestored(body) => dice::fold::lamp_restored(state, body),
        Body::RoundHeld(body) => dice::fold::round_held(state, body),
        Body::RoundResumed(body) => dice::fold::round_resumed(state, body),
        Body::RoundVoided(body) if is_two_up => two_up::fold::round_voided(state, envelope, body),
        Body::RoundVoided(body) => dice::fold::round_voided(state, envelope, body),
        Body::VoidReasonStated(body) => dice::fold::void_reason_stated(state, envelope, body),
        Body::VoidWithdrawn(body) => dice::fold::void_withdrawn(state, body),
        Body::RoundAbandoned(_) if is_two_up => two_up::fold::round_abandoned(state),
        Body::RoundAbandoned(body) => dice::fold::round_abandoned(state, body),
        Body::RoundSettled(body) => dice::fold::round_settled(state, body),
        Body::RoundReopened(_) => dice::fold::round_reopened(state, envelope),
        Body::SpinnerSelected(body) => two_up::fold::spinner_selected(state, envelope, body),
        Body::SpinnerWagerPlaced(body) => two_up::fold::spinner_wager_placed(state, envelope, body),
        Body::SpinResulted(body) => two_up::fold::spin_resulted(state, envelope, body),
        Body::SpinInvalidated(body) => two_up::fold::spin_invalidated(state, envelope, body),
        Body::InvalidSpinOverruled(_) => two_up::fold::invalid_spin_overruled(state),
        Body::SpinCorrected(body) => two_up::fold::spin_corrected(state, envelope, body),
        Body::PlayersWagersDecided(body) => two_up::fold::players_wagers_decided(state, body),
        Body::SpinnerWagerDecided(body) => two_up::fold::spinner_wager_decided(state, body),
        Body::SpinnerChanged(body) => two_up::fold::spinner_changed(state, body),
        Body::ResultCardRequired(body) => two_up::fold::result_card_required(state, body),
        Body::DieOffTable(body) => two_up::fold::die_off_table(state, body),
        Body::DiceReplaced(body) => two_up::fold::dice_replaced(state, body),
        Body::GatewayStarted(_)
        | Body::GatewayStopped(_)
        | Body::JournalStarted(_)
        | Body::CheckpointRecorded(_)
        | Body::EventsExpired(_)
        | Body::JournalFailed(_)
        | Body::EventSetAside(_)
        | Body::ClockStepped(_)
        | Body::SelfTestFailed(_)
        | Body::SoftwareVerified(_)
        | Body::DeviceOnline(_)
        | Body::DeviceOffline(_)
        | Body::DeviceFaulted(_)
        | Body::DeviceFaultCleared(_)
        | Body::StaleKeysIgnored(_)
        | Body::DeviceAccepted(_)
        | Body::OpeningStarted(_)
        | Body::OpeningAbandoned(_)
        | Body::OpeningCheckRecorded(_)
        | Body::TumblerStarted(_)
        | Body::TableOpened(_)
        | Body::TableClosed(_)
        | Body::TableLocked(_)
        | Body::TableUnlocked(_)
        | Body::TestModeEntered(_)
        | Body::TestModeLeft(_)
        | Body::AlertRaised(_)
        | Body::AlertAcknowledged(_)
        | Body::AlertCleared(_)
        | Body::IncidentRecorded(_)
        | Body::ThrowerOffered(_)
        | Body::ActRefused(_)
        | Body::TestRecorded(_)
        | Body::TestStarted(_)
        | Body::EntryRejected(_) => {}
    }
}
