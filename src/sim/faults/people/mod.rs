//! The people at a simulated table: a dealer who goes by what the table waits for, and a supervisor who is called when it goes no further.
//! They are slow, they err, and they never wait for ever. What the dealer does is in [`dealer`].

mod dealer;

use super::devices::Devices;
use super::eyes::{Eyes, hold};
use super::game::Game;
use super::trace::{Seen, Who};
use super::two_up;
use crate::gateway::Handle;
use crate::sim::Chance;
use crate::table::input::{DeviceKind, OperatorAct, Person, Role, TestStep};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Where people find the gateway; `None` while none runs.
pub(super) type Door = Arc<Mutex<Option<Handle>>>;

/// Nothing moves for this long: the supervisor is called.
const CALLED_AFTER: Duration = Duration::from_secs(12);
/// A command is answered within this, or the person goes away.
const ANSWERED_WITHIN: Duration = Duration::from_secs(12);
/// A round takes about so many turns.
const MOST_TURNS_MORE: usize = 12;
/// No round is worth more than this.
const LONGEST_ROUND: Duration = Duration::from_secs(90);

/// Whether people err.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Care {
    /// Now and then.
    Usual,
    /// Never.
    Great,
}

/// What a person sees of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Look {
    mode: String,
    phase: String,
    round: u64,
    held: Option<String>,
    freezes: bool,
    locked: bool,
    provisional: bool,
}

/// Dealer and supervisor.
pub(super) struct People {
    eyes: Eyes,
    door: Door,
    devices: Arc<Devices>,
    game: Game,
    chance: Chance,
    care: Care,
    /// Percent of rounds before which they close the table.
    closes: u8,
    /// Rounds that ended, and how many are to.
    ended: u32,
    enough: u32,
    seen: Option<(Look, Instant)>,
    /// How often the supervisor has tried since something moved.
    tries: usize,
}

impl People {
    pub(super) fn new(eyes: Eyes, door: Door, devices: Arc<Devices>, game: Game, seed: u64) -> Self {
        People {
            eyes,
            door,
            devices,
            game,
            chance: Chance::new(seed),
            care: Care::Usual,
            closes: 0,
            ended: 0,
            enough: u32::MAX,
            seen: None,
            tries: 0,
        }
    }

    /// The table is closed before most rounds: only what lies before the last but one closing may ever be deleted.
    pub(super) fn close_often(&mut self) {
        self.closes = 60;
    }

    /// Plays until so many rounds have ended, or there is no point in going on.
    pub(super) async fn play(&mut self, rounds: u32) {
        self.care = Care::Usual;
        let until = Instant::now() + LONGEST_ROUND.saturating_mul(rounds);
        self.enough = self.ended + rounds;
        while self.ended < self.enough && Instant::now() < until {
            self.turn().await;
        }
        // They stop anywhere in the next round: what must be shown then is judged too.
        for _ in 0..self.chance.below(MOST_TURNS_MORE) {
            self.turn().await;
        }
    }

    /// Ends what holds play back and plays one more round, with care.
    pub(super) async fn play_the_last(&mut self) {
        self.care = Care::Great;
        self.enough = u32::MAX;
        let until = Instant::now() + LONGEST_ROUND.saturating_mul(2);
        while Instant::now() < until {
            if let Some(look) = self.look()
                && self.is_ready(&look)
            {
                // The round that comes is the one that counts.
                self.seen = Some((look, Instant::now()));
                self.tries = 0;
                break;
            }
            self.turn().await;
        }
        self.eyes.see(&Seen::LastRound);
        let until = Instant::now() + LONGEST_ROUND.saturating_mul(2);
        self.enough = self.ended + 1;
        while self.ended < self.enough && Instant::now() < until {
            self.turn().await;
        }
    }

    /// Nothing holds the next round back. Where the end of a round opens the next, bets are open.
    fn is_ready(&self, look: &Look) -> bool {
        let between = match self.game {
            Game::TaiSaiA | Game::SicBoCovered => look.round == 0,
            Game::TaiSaiB | Game::SicBoOpen => look.phase == "betting",
            Game::TwoUpDice | Game::TriplePenny => look.phase == "select" || look.phase == "decide",
        };
        look.mode == "open" && between && look.held.is_none() && !look.locked
    }

    fn handle(&self) -> Option<Handle> {
        hold(&self.door).clone()
    }

    fn look(&self) -> Option<Look> {
        let table = self.handle()?.table();
        let view = table.borrow();
        let state = &view.state;
        Some(Look {
            mode: state.mode.clone(),
            phase: state.phase.clone(),
            round: state.round_id,
            held: state.held.clone(),
            freezes: state.locks.iter().any(|lock| lock.kind == "freeze"),
            locked: !state.locks.is_empty(),
            provisional: state.settled_provisionally,
        })
    }

    fn errs(&mut self, percent: u8) -> bool {
        self.care == Care::Usual && self.chance.hits(percent)
    }

    async fn pause(&mut self, from_ms: u64, more_ms: usize) {
        let more = u64::try_from(self.chance.below(more_ms)).unwrap_or(0);
        sleep(Duration::from_millis(from_ms + more)).await;
    }

    fn does(&self, who: Who, act: &str) {
        self.eyes.see(&Seen::Asked { who, act });
    }

    /// One act, or a wait.
    async fn turn(&mut self) {
        self.pause(120, 400).await;
        let Some(look) = self.look() else {
            self.pause(200, 300).await;
            return;
        };
        if self.has_stood_still(&look) {
            return self.call_supervisor(&look).await;
        }
        if self.ended >= self.enough {
            // The end of one round may have opened the next: nobody plays it.
            return;
        }
        match look.mode.as_str() {
            "open" => {}
            "closed" => {
                self.command(OperatorAct::OpenVouched).await;
                return;
            }
            "opening" => {
                self.command(OperatorAct::AbandonOpening).await;
                return;
            }
            "test" => return self.test_lamps().await,
            _ => {
                self.pause(300, 500).await;
                return;
            }
        }
        if look.held.is_some() || look.freezes {
            return self.decide(&look).await;
        }
        if look.locked && (look.round == 0 || look.phase == "betting") && self.chance.hits(40) {
            if self.chance.hits(20) {
                let serial_number = format!("SIM-{}", 1 + self.chance.below(3));
                self.command(OperatorAct::AcceptDevice { serial_number }).await;
                return;
            }
            let procedure = "rectified".to_owned();
            self.command(OperatorAct::Unlock { procedure }).await;
            return;
        }
        self.deal(&look).await;
    }

    /// Remembers what was seen; whether it has stood still for too long.
    fn has_stood_still(&mut self, look: &Look) -> bool {
        let now = Instant::now();
        let Some((before, since)) = &self.seen else {
            self.seen = Some((look.clone(), now));
            return false;
        };
        if before == look {
            let patience = CALLED_AFTER + Duration::from_secs(3).saturating_mul(u32::try_from(self.tries).unwrap_or(0));
            return now.duration_since(*since) >= patience;
        }
        let round_ended = before.round != 0 && look.round != before.round;
        if round_ended {
            self.ended += 1;
        }
        self.tries = 0;
        self.seen = Some((look.clone(), now));
        false
    }

    /// Nothing goes on: everything that a supervisor can do is tried in turn.
    async fn call_supervisor(&mut self, look: &Look) {
        let reason = "simulated".to_owned();
        let faces = self.faces();
        let mut acts = vec![
            OperatorAct::Unlock {
                procedure: reason.clone(),
            },
            OperatorAct::Resume,
        ];
        match self.game {
            Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => acts.extend([
                OperatorAct::EnterResult { faces, reason },
                OperatorAct::Settle,
                OperatorAct::Void { reason: None },
            ]),
            Game::TwoUpDice | Game::TriplePenny => acts.extend(two_up::remedies()),
        }
        acts.push(OperatorAct::Close);
        let between = look.round == 0;
        let act = acts.get(self.tries % acts.len()).cloned();
        self.tries += 1;
        match act {
            Some(OperatorAct::Close) if between && self.tries < 2 * acts.len() => {}
            Some(act) => self.command(act).await,
            None => {}
        }
        // What stood still may also wait for the dealer.
        if look.mode == "open" && look.held.is_none() && !look.freezes {
            self.deal(look).await;
        } else if look.mode == "closed" {
            self.command(OperatorAct::OpenVouched).await;
        }
    }

    /// A held round, or a frozen table.
    async fn decide(&mut self, look: &Look) {
        self.pause(300, 2_000).await;
        let goes_on = self.chance.hits(60);
        if look.held.as_deref() == Some("tumbler_short") || !goes_on {
            self.command(OperatorAct::Void { reason: None }).await;
        } else {
            self.command(OperatorAct::Resume).await;
        }
        if look.freezes && self.chance.hits(40) {
            let procedure = "seen to".to_owned();
            self.command(OperatorAct::Unlock { procedure }).await;
        }
    }

    /// A lamp is tried; every other time the test is left before it has ended.
    async fn test_lamps(&mut self) {
        let device = match self.game {
            Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => DeviceKind::LayoutLamps,
            Game::TwoUpDice | Game::TriplePenny => DeviceKind::ResultLights,
        };
        let ends = self.ended.is_multiple_of(2);
        let steps = [TestStep::Begin { device }, TestStep::Light { bit: Some(3) }];
        for step in steps.into_iter().chain(ends.then_some(TestStep::End)) {
            self.command(OperatorAct::DeviceTest(step)).await;
            self.pause(100, 300).await;
        }
        self.command(OperatorAct::LeaveTest).await;
    }

    fn standing_alert(&self) -> Option<String> {
        let table = self.handle()?.table();
        let view = table.borrow();
        view.state.alerts.first().cloned()
    }

    /// A supervisor's command; whoever gets no answer goes away.
    async fn command(&mut self, act: OperatorAct) {
        let Some(handle) = self.handle() else { return };
        self.does(Who::Supervisor, &format!("{act:?}"));
        let person = Person {
            name: "S. Eer".to_owned(),
            login: None,
            role: Role::Supervisor,
            connection: 1,
        };
        let answered = timeout(ANSWERED_WITHIN, handle.act(person, act)).await;
        let (done, text) = match answered {
            Ok(Ok(text)) => (true, text),
            Ok(Err(refusal)) => (false, refusal.to_string()),
            Err(_) => (false, "no answer".to_owned()),
        };
        self.eyes.see(&Seen::Told {
            who: Who::Supervisor,
            done,
            text: &text,
        });
    }
}
