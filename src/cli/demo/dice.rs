//! What the people do at a table of tai-sai with a dice cup, or of sic-bo: rounds as they are played, an entry too early, and a "no
//! spin" as each law has it.

use super::super::ending::Failure;
use super::super::sim::devices::AnyDealer;
use super::super::sim::game::Game;
use super::crew::Crew;
use crate::control::Act;
use crate::rules::{sic_bo, tai_sai};
use crate::sim::{Answer, CupDealer, Dealer, Order, Stuck, StuckAt};
use crate::wire::message::Cover;
use std::time::Duration;
use tokio::time::Instant;

/// Every fourth round begins the list of what can happen again.
const CHAPTERS: u32 = 4;

/// A lamp that doesn't follow is known to have failed after this.
const LAMPS_ARE_JUDGED: Duration = Duration::from_secs(1);

/// Who deals, by how the dice come to be seen.
#[derive(Clone, Copy)]
enum Hands<'a> {
    /// From a tumbler.
    Tumbler(&'a Dealer),
    /// From a cup.
    Cup(&'a CupDealer),
}

/// Plays rounds, saying what it does.
pub struct Script<'a> {
    hands: Hands<'a>,
    game: Game,
    crew: Crew,
}

impl<'a> Script<'a> {
    /// A dealer and who is with him; `None` for a dealer of another kind of game.
    pub fn new(dealer: &'a AnyDealer, game: Game, crew: Crew) -> Option<Self> {
        let hands = match dealer {
            AnyDealer::TaiSai(dealer) => Hands::Tumbler(dealer),
            AnyDealer::Cup(dealer) => Hands::Cup(dealer),
            AnyDealer::TwoUp(_) => return None,
        };
        Some(Script { hands, game, crew })
    }

    /// Plays so many rounds, or without end; 0: nobody plays, and this doesn't end.
    ///
    /// # Errors
    /// When something that should happen doesn't.
    pub async fn play(mut self, rounds: Option<u32>) -> Result<(), Failure> {
        if rounds == Some(0) {
            return std::future::pending().await;
        }
        let mut played = 0u32;
        while rounds.is_none_or(|rounds| played < rounds) {
            let dice = self.crew.throw();
            match played % CHAPTERS {
                0 => self.plain(dice).await?,
                1 => self.entry_too_early(dice).await?,
                2 => self.no_spin(dice).await?,
                _ => self.dark_lamp(dice).await?,
            }
            played = played.saturating_add(1);
            self.crew.breathe().await;
        }
        Ok(())
    }

    async fn plain(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say(format!("-- a round as it should be: {}", self.call(dice)))
            .await;
        self.to_the_bell(dice).await?;
        self.to_the_dice(dice).await?;
        self.enter_and_pay(dice).await
    }

    async fn entry_too_early(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say("-- a round with an entry before there can be a result".to_owned())
            .await;
        if let Hands::Tumbler(_) = self.hands {
            self.to_the_bell(dice).await?;
        }
        self.crew
            .say("dealer presses three keys and ENTER too early".to_owned())
            .await;
        match self.enter(dice).await? {
            Answer::Accepted => return Err(Failure::failed("an entry before there can be a result was accepted")),
            Answer::Refused(code) => {
                self.crew
                    .say(format!(
                        "the terminal shows {code}: `tablegate rules why {code}` says why"
                    ))
                    .await;
            }
        }
        self.crew.breathe().await;
        if let Hands::Cup(_) = self.hands {
            self.to_the_bell(dice).await?;
        }
        self.to_the_dice(dice).await?;
        self.enter_and_pay(dice).await
    }

    /// Tai-sai: the round is void. Sic-bo: the rules at hand have no void, so a supervisor is asked.
    async fn no_spin(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say("-- a round in which the dealer calls \"no spin\"".to_owned())
            .await;
        self.to_the_bell(dice).await?;
        match self.hands {
            Hands::Cup(dealer) => {
                self.crew
                    .say("a die leaves the throwing area; dealer pushes NO SPIN: nobody wins or loses".to_owned())
                    .await;
                dealer.terminal.push_no_spin().await;
                Ok(())
            }
            Hands::Tumbler(dealer) => {
                self.crew
                    .say(
                        "dealer pushes NO SPIN; the rules of this game at hand have no void, so the round waits"
                            .to_owned(),
                    )
                    .await;
                dealer.terminal.push_no_spin().await;
                let words = "supervisor has looked, and lets the round go on";
                self.crew.until_done(Act::Resume {}, words, self.patience()).await?;
                self.to_the_dice(dice).await?;
                self.enter_and_pay(dice).await
            }
        }
    }

    /// Tai-sai: the dice decide, and the next round waits for a supervisor. Sic-bo: the rules at hand say nothing of lamps, so it is
    /// recorded, and play goes on.
    async fn dark_lamp(&self, dice: [u8; 3]) -> Result<(), Failure> {
        let (areas, winners): (&[&str], Vec<&str>) = match self.game {
            Game::SicBo(_) => (sic_bo::areas(), sic_bo::winners(dice)),
            Game::TaiSai { layout, .. } => (
                tai_sai::areas(layout),
                tai_sai::winners(dice, layout).iter().map(|winner| winner.id).collect(),
            ),
            Game::TwoUp(_) => return Ok(()),
        };
        let area = winners.first().copied().unwrap_or("small");
        let lamp = areas.iter().position(|id| *id == area).unwrap_or_default();
        let lamp = u32::try_from(lamp).unwrap_or_default();
        let lamps = match self.hands {
            Hands::Tumbler(dealer) => &dealer.lamps,
            Hands::Cup(dealer) => &dealer.lamps,
        };
        self.crew
            .say(format!("-- a round with a dead lamp ({area}): the dice decide"))
            .await;
        lamps.stick(lamp, StuckAt::Dark).await;
        self.to_the_bell(dice).await?;
        self.to_the_dice(dice).await?;
        let entered = self.enter_right(dice).await?;
        // Where no rule makes the settlement wait for the lamps, a quick dealer would be faster than they are judged.
        tokio::time::sleep(LAMPS_ARE_JUDGED).await;
        self.pay(entered).await?;
        lamps.stick(lamp, StuckAt::Healthy).await;
        match self.game {
            Game::TaiSai { .. } => {
                let procedure = "lamp replaced and seen lit".to_owned();
                let words = "technician replaces the lamp; supervisor unlocks the table";
                self.crew
                    .until_done(Act::Unlock { procedure }, words, self.patience())
                    .await
            }
            Game::SicBo(_) | Game::TwoUp(_) => {
                self.crew.say("technician replaces the lamp".to_owned()).await;
                Ok(())
            }
        }
    }

    async fn to_the_bell(&self, dice: [u8; 3]) -> Result<(), Failure> {
        match self.hands {
            Hands::Tumbler(dealer) => {
                if dealer.order == Order::SpinsFirst {
                    self.crew
                        .say("dealer spins the dice three times under the cover".to_owned())
                        .await;
                    dealer.tumble(dice).await.map_err(stuck)?;
                }
                dealer.wait_for_bets().await.map_err(stuck)?;
                self.crew.breathe().await;
                self.crew
                    .say("dealer says \"no more bets\" and rings the bell".to_owned())
                    .await;
                dealer.no_more_bets().await.map_err(stuck)
            }
            Hands::Cup(dealer) => {
                self.crew.breathe().await;
                self.crew
                    .say("dealer says \"no more bets\" and rings the bell".to_owned())
                    .await;
                dealer.no_more_bets().await.map_err(stuck)
            }
        }
    }

    async fn to_the_dice(&self, dice: [u8; 3]) -> Result<(), Failure> {
        match self.hands {
            Hands::Cup(_) => {
                self.crew
                    .say("the dice are offered to a player, who throws".to_owned())
                    .await;
                self.crew.breathe().await;
            }
            Hands::Tumbler(dealer) => match dealer.order {
                Order::SpinsFirst => {
                    self.crew.say("dealer takes the cover off".to_owned()).await;
                    dealer.uncover().await;
                }
                Order::BetsFirst { rest } => {
                    self.crew
                        .say("dealer spins the dice three times, for everybody to see".to_owned())
                        .await;
                    dealer.tumble(dice).await.map_err(stuck)?;
                    tokio::time::sleep(rest).await;
                }
            },
        }
        Ok(())
    }

    async fn enter(&self, dice: [u8; 3]) -> Result<Answer, Failure> {
        let keys = dice.map(u32::from);
        let answer = match self.hands {
            Hands::Tumbler(dealer) => dealer.enter(&keys).await,
            Hands::Cup(dealer) => dealer.enter(&keys).await,
        };
        answer.map_err(stuck)
    }

    async fn enter_and_pay(&self, dice: [u8; 3]) -> Result<(), Failure> {
        let entered = self.enter_right(dice).await?;
        self.pay(entered).await
    }

    async fn enter_right(&self, dice: [u8; 3]) -> Result<Instant, Failure> {
        let [first, second, third] = dice;
        self.crew
            .say(format!(
                "dealer calls {}, and enters {first} {second} {third}",
                self.call(dice)
            ))
            .await;
        if let Answer::Refused(code) = self.enter(dice).await? {
            return Err(Failure::failed(format!(
                "the terminal shows {code} where an entry is right"
            )));
        }
        let entered = Instant::now();
        match self.hands {
            Hands::Tumbler(dealer) => dealer.see_lamps().await,
            Hands::Cup(dealer) => dealer.see_lamps().await,
        }
        .map_err(stuck)?;
        Ok(entered)
    }

    async fn pay(&self, entered: Instant) -> Result<(), Failure> {
        self.crew
            .say("wagers are collected and paid; dealer presses ENTER".to_owned())
            .await;
        match self.hands {
            Hands::Tumbler(dealer) => {
                dealer.settle(entered).await.map_err(stuck)?;
                dealer.tumbler.cover(Cover::On).await;
            }
            Hands::Cup(dealer) => dealer.settle(entered).await.map_err(stuck)?,
        }
        Ok(())
    }

    fn patience(&self) -> Duration {
        match self.hands {
            Hands::Tumbler(dealer) => dealer.pace.patience,
            Hands::Cup(dealer) => dealer.pace.patience,
        }
    }

    fn call(&self, dice: [u8; 3]) -> String {
        match self.game {
            Game::SicBo(_) => sic_bo::call(dice),
            Game::TaiSai { .. } | Game::TwoUp(_) => tai_sai::call(dice),
        }
    }
}

fn stuck(error: Stuck) -> Failure {
    Failure::failed(format!("the dealer is stuck: {error}"))
}
