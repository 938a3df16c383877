//! What the dealer and the supervisor of a tai-sai table do: rounds as they are played, and the mistakes and faults that a table lives with.

use super::super::ending::Failure;
use super::crew::Crew;
use crate::control::Act;
use crate::rules::tai_sai::{self, Layout};
use crate::sim::{Answer, Dealer, Stuck, StuckAt};
use crate::wire::message::{Contact, Cover, Level};
use tokio::time::Instant;

/// Every sixth round begins the list of mistakes again.
const CHAPTERS: u32 = 6;

/// Plays rounds, saying what it does.
pub struct Script<'a> {
    dealer: &'a Dealer,
    crew: Crew,
}

impl<'a> Script<'a> {
    /// A dealer, and who is with him.
    pub fn new(dealer: &'a Dealer, crew: Crew) -> Self {
        Script { dealer, crew }
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
                2 => self.wrong_numbers(dice).await?,
                3 => self.lost_bell(dice).await?,
                4 => self.dark_lamp(dice).await?,
                _ => self.no_spin(dice).await?,
            }
            played = played.saturating_add(1);
            self.crew.breathe().await;
        }
        Ok(())
    }

    async fn plain(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say(format!("-- a round as it should be: {}", tai_sai::call(dice)))
            .await;
        self.to_the_uncover(dice).await?;
        let entered = self.enter_right(dice).await?;
        self.pay(entered).await
    }

    async fn entry_too_early(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say("-- a round with an entry before the dice are shown".to_owned())
            .await;
        self.to_the_bell(dice).await?;
        self.crew
            .say(
                "dealer presses three keys and ENTER, but the cover is on: nothing that was pressed can be the result"
                    .to_owned(),
            )
            .await;
        self.refused(&dice.map(u32::from)).await?;
        self.uncover().await;
        let entered = self.enter_right(dice).await?;
        self.pay(entered).await
    }

    async fn wrong_numbers(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say("-- a round with wrong numbers, amended before anyone is paid".to_owned())
            .await;
        self.to_the_uncover(dice).await?;
        let [first, second, third] = dice;
        let wrong = [first, second, third % 6 + 1];
        self.crew
            .say(format!(
                "dealer calls {}, and enters {first} {second} {}",
                tai_sai::call(dice),
                third % 6 + 1
            ))
            .await;
        self.accepted(&wrong.map(u32::from)).await?;
        self.dealer.see_lamps().await.map_err(stuck)?;
        self.crew.breathe().await;
        self.crew
            .say("supervisor turns the key; the right numbers are entered; both stand in the journal".to_owned())
            .await;
        self.dealer.terminal.turn(Contact::SupervisorKey, Level::Closed).await;
        self.crew.breathe().await;
        let entered = self.accepted(&dice.map(u32::from)).await?;
        self.dealer.terminal.turn(Contact::SupervisorKey, Level::Open).await;
        self.pay(entered).await
    }

    async fn lost_bell(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say(
                "-- a round whose bell is lost: was it rung? the gateway holds the round and lets a person decide"
                    .to_owned(),
            )
            .await;
        self.tumble(dice).await?;
        self.dealer.wait_for_bets().await.map_err(stuck)?;
        self.crew
            .say("the terminal's cable comes loose and is put back; nobody heard the bell".to_owned())
            .await;
        self.dealer.terminal.unplug().await;
        self.crew.breathe().await;
        let before = self.dealer.terminal.view().readouts;
        self.dealer.terminal.replug().await;
        self.dealer
            .terminal
            .wait(
                "the gateway to greet the terminal again",
                |view| view.readouts > before,
                self.dealer.pace.patience,
            )
            .await
            .map_err(stuck)?;
        self.uncover().await;
        let held = self.dealer.terminal.view().entry;
        let words = "supervisor saw the bets closed, and lets the round go on";
        self.crew
            .until_done(Act::Resume {}, words, self.dealer.pace.patience)
            .await?;
        self.dealer
            .terminal
            .wait(
                "the held round to go on",
                |view| view.entry != held,
                self.dealer.pace.patience,
            )
            .await
            .map_err(stuck)?;
        let entered = self.enter_right(dice).await?;
        self.pay(entered).await
    }

    async fn dark_lamp(&self, dice: [u8; 3]) -> Result<(), Failure> {
        let first = tai_sai::winners(dice, Layout::Appendix1).into_iter().next();
        let area = first.map_or("small", |winner| winner.id);
        let lamp = tai_sai::areas(Layout::Appendix1)
            .iter()
            .position(|id| *id == area)
            .unwrap_or_default();
        let lamp = u32::try_from(lamp).unwrap_or_default();
        self.crew
            .say(format!(
                "-- a round with a dead lamp ({area}): the dice decide, and the next round waits"
            ))
            .await;
        self.dealer.lamps.stick(lamp, StuckAt::Dark).await;
        self.to_the_uncover(dice).await?;
        let entered = self.enter_right(dice).await?;
        self.pay(entered).await?;
        self.dealer.lamps.stick(lamp, StuckAt::Healthy).await;
        let procedure = "lamp replaced and seen lit".to_owned();
        let words = "technician replaces the lamp; supervisor unlocks the table";
        self.crew
            .until_done(Act::Unlock { procedure }, words, self.dealer.pace.patience)
            .await
    }

    async fn no_spin(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say("-- a round that the dealer calls \"no spin\": nobody wins or loses".to_owned())
            .await;
        self.to_the_bell(dice).await?;
        self.crew.say("dealer pushes NO SPIN".to_owned()).await;
        self.dealer.terminal.push_no_spin().await;
        self.dealer
            .tumbler
            .wait("a free tumbler", |view| !view.inhibited, self.dealer.pace.patience)
            .await
            .map_err(stuck)?;
        self.dealer.tumbler.cover(Cover::On).await;
        Ok(())
    }

    async fn tumble(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.crew
            .say("dealer spins the dice three times under the cover, and says \"place your bets\"".to_owned())
            .await;
        self.dealer.tumble(dice).await.map_err(stuck)
    }

    async fn to_the_bell(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.tumble(dice).await?;
        self.dealer.wait_for_bets().await.map_err(stuck)?;
        self.crew.breathe().await;
        self.crew
            .say("dealer says \"no more bets\" and rings the bell".to_owned())
            .await;
        self.dealer.no_more_bets().await.map_err(stuck)
    }

    async fn to_the_uncover(&self, dice: [u8; 3]) -> Result<(), Failure> {
        self.to_the_bell(dice).await?;
        self.uncover().await;
        Ok(())
    }

    async fn uncover(&self) {
        self.crew.say("dealer takes the cover off".to_owned()).await;
        self.dealer.uncover().await;
    }

    async fn enter_right(&self, dice: [u8; 3]) -> Result<Instant, Failure> {
        let [first, second, third] = dice;
        self.crew
            .say(format!(
                "dealer calls {}, and enters {first} {second} {third}",
                tai_sai::call(dice)
            ))
            .await;
        let entered = self.accepted(&dice.map(u32::from)).await?;
        self.dealer.see_lamps().await.map_err(stuck)?;
        Ok(entered)
    }

    async fn accepted(&self, keys: &[u32]) -> Result<Instant, Failure> {
        match self.dealer.enter(keys).await.map_err(stuck)? {
            Answer::Accepted => Ok(Instant::now()),
            Answer::Refused(code) => Err(Failure::failed(format!(
                "the terminal shows {code} where an entry is right"
            ))),
        }
    }

    async fn refused(&self, keys: &[u32]) -> Result<(), Failure> {
        match self.dealer.enter(keys).await.map_err(stuck)? {
            Answer::Refused(code) => {
                self.crew
                    .say(format!(
                        "the terminal shows {code}: `tablegate rules why {code}` says why"
                    ))
                    .await;
                self.crew.breathe().await;
                Ok(())
            }
            Answer::Accepted => Err(Failure::failed("an entry before the uncover was accepted")),
        }
    }

    async fn pay(&self, entered: Instant) -> Result<(), Failure> {
        self.crew
            .say("wagers are collected and paid; dealer presses ENTER".to_owned())
            .await;
        self.dealer.settle(entered).await.map_err(stuck)?;
        self.dealer.tumbler.cover(Cover::On).await;
        Ok(())
    }
}

fn stuck(error: impl Into<Stuck>) -> Failure {
    Failure::failed(format!("the dealer is stuck: {}", error.into()))
}
