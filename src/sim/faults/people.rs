//! The people at a simulated table: a dealer who goes by what the table waits for, and a supervisor who is called when it goes no further.
//! They are slow, they err, and they never wait for ever.

use super::devices::Devices;
use super::eyes::{Eyes, hold};
use super::plan::Game;
use super::trace::{Seen, Who};
use super::two_up::{self, Next, Spun};
use crate::gateway::Handle;
use crate::sim::{Chance, Terminal, Tumbler};
use crate::table::input::{DeviceKind, OperatorAct, Person, Role, TestStep};
use crate::wire::message::{Contact, Cover, Level};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Where people find the gateway; `None` while none runs.
pub(super) type Door = Arc<Mutex<Option<Handle>>>;

/// The fewest spins of a tumble.
const SPINS: u32 = 3;
/// Nothing moves for this long: the supervisor is called.
const CALLED_AFTER: Duration = Duration::from_secs(12);
/// A command is answered within this, or the person goes away.
const ANSWERED_WITHIN: Duration = Duration::from_secs(12);
/// A round takes about so many turns.
const MOST_TURNS_MORE: usize = 12;
/// No round is worth more than this.
const LONGEST_ROUND: Duration = Duration::from_secs(90);
/// Key numbers: a key that isn't on a dice terminal, and NO_SPIN.
const FOREIGN_KEY: u32 = 17;
const NO_SPIN: u32 = 21;

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
            ended: 0,
            enough: u32::MAX,
            seen: None,
            tries: 0,
        }
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

    /// The dealer's next act.
    async fn deal(&mut self, look: &Look) {
        match self.game {
            Game::TaiSaiA | Game::TaiSaiB | Game::SicBoCovered | Game::SicBoOpen => {}
            Game::TwoUpDice => return self.deal_two_up(look, Spun::Dice).await,
            Game::TriplePenny => return self.deal_two_up(look, Spun::Coins).await,
        }
        match look.phase.as_str() {
            "ready" => self.begin(look).await,
            "tumbling" => self.tumbling().await,
            "betting" => self.betting().await,
            "closed" => self.closed().await,
            "landed" => self.landed().await,
            "entered" => self.entered().await,
            _ => {}
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

    async fn deal_two_up(&mut self, look: &Look, spun: Spun) {
        let Some(handle) = self.handle() else { return };
        let seen = handle.table().borrow().situation.two_up.clone().unwrap_or_default();
        self.pause(200, 1_500).await;
        match two_up::next(&look.phase, &seen, spun, self.care, &mut self.chance) {
            Next::Ring => {
                let devices = Arc::clone(&self.devices);
                self.ring(&devices.terminal).await;
            }
            Next::Press(what, keys) => {
                let under_the_key = self.errs(6);
                self.does(Who::Dealer, what);
                if under_the_key {
                    let terminal = &self.devices.terminal;
                    terminal.turn(Contact::SupervisorKey, Level::Closed).await;
                }
                self.press(&keys).await;
                if under_the_key {
                    let terminal = &self.devices.terminal;
                    terminal.turn(Contact::SupervisorKey, Level::Open).await;
                }
            }
        }
        self.pause(150, 300).await;
    }

    async fn begin(&mut self, look: &Look) {
        if self.errs(3) {
            let standing = self.standing_alert();
            if let Some(alert) = standing {
                self.command(OperatorAct::AcknowledgeAlert { alert }).await;
            }
        }
        if look.round == 0 && self.errs(2) {
            let act = match self.chance.below(3) {
                0 => OperatorAct::Close,
                1 => OperatorAct::EnterTest,
                _ => OperatorAct::Lock {
                    reason: "to be looked at".to_owned(),
                },
            };
            return self.command(act).await;
        }
        let devices = Arc::clone(&self.devices);
        let Some(tumbler) = &devices.tumbler else {
            return self.pause(200, 500).await;
        };
        if self.game != Game::SicBoOpen {
            self.cover(tumbler, Cover::On).await;
        }
        if self.errs(3) {
            self.ring(&devices.terminal).await;
        }
        self.spin(tumbler).await;
    }

    async fn spin(&mut self, tumbler: &Tumbler) {
        let view = tumbler.view();
        if view.inhibited || view.spinning {
            return;
        }
        let times = if self.errs(12) {
            u32::try_from(1 + self.chance.below(5)).unwrap_or(1)
        } else {
            SPINS
        };
        self.does(Who::Dealer, "spins");
        tumbler.spin(times).await;
        // Whether it came to rest is seen in the next turn.
        let _ = tumbler
            .wait("rest", |view| !view.spinning, Duration::from_secs(4))
            .await;
    }

    async fn tumbling(&mut self) {
        let devices = Arc::clone(&self.devices);
        if self.errs(6) {
            self.ring(&devices.terminal).await;
        }
        self.pause(800, 1_500).await;
        let since = self.seen.as_ref().map(|(_, since)| since.elapsed());
        if since.is_some_and(|since| since >= Duration::from_secs(5))
            && let Some(tumbler) = &devices.tumbler
        {
            self.spin(tumbler).await;
        }
    }

    async fn betting(&mut self) {
        self.pause(200, 1_200).await;
        let devices = Arc::clone(&self.devices);
        if self.errs(3) {
            self.push_no_spin().await;
        }
        if self.errs(4)
            && let Some(tumbler) = &devices.tumbler
        {
            // Shown before the bell.
            self.cover(tumbler, Cover::Off).await;
            self.pause(0, 3_000).await;
        }
        self.ring(&devices.terminal).await;
        self.pause(100, 200).await;
    }

    /// Bets are closed: the cover comes off, or the dice are spun in sight, or the cup is thrown.
    async fn closed(&mut self) {
        self.pause(50, 700).await;
        if self.errs(4) {
            return self.push_no_spin().await;
        }
        let devices = Arc::clone(&self.devices);
        match (self.game, &devices.tumbler) {
            (Game::TaiSaiA | Game::SicBoCovered, Some(tumbler)) => {
                self.cover(tumbler, Cover::Off).await;
                self.pause(310, 300).await;
                if !tumbler.view().line.plugged || self.is_old(Duration::from_secs(4)) {
                    self.enter_faces().await;
                }
            }
            (Game::SicBoOpen, Some(tumbler)) => {
                if self.is_old(Duration::from_secs(6)) {
                    self.enter_faces().await;
                } else {
                    self.spin(tumbler).await;
                    self.pause(1_500, 2_000).await;
                }
            }
            (Game::TaiSaiB | Game::TwoUpDice | Game::TriplePenny, _) | (_, None) => self.enter_faces().await,
        }
    }

    async fn landed(&mut self) {
        self.pause(350, 900).await;
        if self.errs(3) {
            return self.push_no_spin().await;
        }
        self.enter_faces().await;
    }

    async fn entered(&mut self) {
        let devices = Arc::clone(&self.devices);
        if self.errs(8) {
            return self.amend().await;
        }
        if self.errs(4) {
            return self.push_no_spin().await;
        }
        if self.chance.hits(15)
            && let Some(tumbler) = &devices.tumbler
        {
            self.cover(tumbler, Cover::On).await;
            return self.pause(4_000, 3_000).await;
        }
        if self.errs(10) {
            self.pause(100, 500).await;
        } else {
            self.pause(2_900, 1_200).await;
        }
        self.does(Who::Dealer, "settles");
        devices.terminal.enter().await;
        self.pause(200, 300).await;
        if let Some(tumbler) = &devices.tumbler
            && self.game != Game::SicBoOpen
            && self.look().is_some_and(|look| look.round == 0)
        {
            self.cover(tumbler, Cover::On).await;
        }
    }

    /// What was seen now has been so for this long.
    fn is_old(&self, age: Duration) -> bool {
        self.seen.as_ref().is_some_and(|(_, since)| since.elapsed() >= age)
    }

    /// What lies there; from a cup, what is thrown.
    fn faces(&mut self) -> [u8; 3] {
        match &self.devices.tumbler {
            Some(tumbler) => tumbler.view().faces,
            None => [self.chance.face(), self.chance.face(), self.chance.face()],
        }
    }

    async fn enter_faces(&mut self) {
        let mut keys: Vec<u32> = self.faces().map(u32::from).to_vec();
        if self.errs(4) {
            keys.pop();
        }
        if self.errs(3) {
            keys.insert(0, FOREIGN_KEY);
        }
        if self.errs(4)
            && let Some(key) = keys.first_mut()
        {
            *key = 1 + *key % 6;
        }
        self.does(Who::Dealer, "enters");
        self.press(&keys).await;
        self.pause(150, 300).await;
    }

    async fn press(&mut self, keys: &[u32]) {
        let terminal = &self.devices.terminal;
        for key in keys {
            terminal.press(*key).await;
        }
        if self.chance.hits(30) {
            self.pause(50, 400).await;
        }
        self.devices.terminal.enter().await;
    }

    async fn amend(&mut self) {
        self.does(Who::Supervisor, "amends under the key");
        self.devices.terminal.turn(Contact::SupervisorKey, Level::Closed).await;
        self.pause(100, 300).await;
        let keys: Vec<u32> = (0..3).map(|_| u32::from(self.chance.face())).collect();
        self.press(&keys).await;
        self.pause(100, 300).await;
        self.devices.terminal.turn(Contact::SupervisorKey, Level::Open).await;
    }

    async fn ring(&self, terminal: &Terminal) {
        self.does(Who::Dealer, "rings");
        terminal.ring().await;
    }

    async fn push_no_spin(&mut self) {
        self.does(Who::Dealer, "calls no spin");
        if self.chance.hits(50) {
            self.devices.terminal.push_no_spin().await;
        } else {
            self.press(&[NO_SPIN]).await;
        }
    }

    async fn cover(&self, tumbler: &Tumbler, cover: Cover) {
        let lies = tumbler.view().covered;
        if lies != (cover == Cover::On) {
            self.does(Who::Dealer, if lies { "uncovers" } else { "covers" });
            tumbler.cover(cover).await;
        }
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
