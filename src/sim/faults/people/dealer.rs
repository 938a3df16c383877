//! What the dealer does, by what the table waits for; and the errors that dealers make.

use super::{Look, People};
use crate::sim::faults::game::Game;
use crate::sim::faults::trace::Who;
use crate::sim::faults::two_up::{self, Next, Spun};
use crate::sim::{Terminal, Tumbler};
use crate::table::input::OperatorAct;
use crate::wire::message::{Contact, Cover, Level};
use std::sync::Arc;
use std::time::Duration;

/// The fewest spins of a tumble.
const SPINS: u32 = 3;
/// Key numbers: a key that isn't on a dice terminal, and NO_SPIN.
const FOREIGN_KEY: u32 = 17;
const NO_SPIN: u32 = 21;

impl People {
    /// The dealer's next act.
    pub(super) async fn deal(&mut self, look: &Look) {
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
        if look.round == 0 && self.closes > 0 && self.errs(self.closes) {
            return self.command(OperatorAct::Close).await;
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
    pub(super) fn faces(&mut self) -> [u8; 3] {
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
}
