//! The people around a simulated two-up table: what they do in a game, what goes wrong in it, and whether the table agrees.

use super::{Act, Game, Incident, Law, Outcome, Played, Turn, TwoUpDealer};
use crate::rules::two_up::Side;
use crate::rules::two_up_dice::Light;
use crate::sim::dealer::{Answer, Stuck};
use crate::sim::{Chance, StuckAt};
use crate::wire::message::{Contact, Key, Level};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// A spin takes longer than this; a bell that closes again sooner has bounced.
const BETWEEN_RINGS: Duration = Duration::from_millis(1050);

/// Spins after which a game that nobody knows must have ended: five odds or three of a side, and as many again.
const MAX_TRIES: u32 = 12;

/// The people at a two-up table, game after game.
#[derive(Debug)]
pub struct People<'a> {
    dealer: &'a TwoUpDealer,
    law: Law,
    chance: Chance,
    /// Who hears what they say.
    say: Option<mpsc::Sender<String>>,
    /// A light that stays dark until the technician comes.
    dark: Option<u32>,
    /// When the bell was rung last.
    rung: Option<Instant>,
    /// The last valid result.
    last: Option<Outcome>,
}

/// Whether somebody went on in the middle of an incident.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spin {
    /// The dice or coins show this, and it was entered.
    Valid(Game),
    /// Nothing counts of it.
    Invalid(Game),
}

impl<'a> People<'a> {
    /// At a table that has just opened, or is between games. The same seed gives the same games.
    #[must_use]
    pub fn new(dealer: &'a TwoUpDealer, seed: u64, say: Option<mpsc::Sender<String>>) -> Self {
        People {
            dealer,
            law: Law::new(dealer.game),
            chance: Chance::new(seed),
            say,
            dark: None,
            rung: None,
            last: None,
        }
    }

    /// A game, from the spinner's wager to its decision.
    ///
    /// # Errors
    /// When the table does something else than the law says, or nothing.
    pub async fn game(&mut self, incident: Incident) -> Result<Played, Stuck> {
        let mut played = Played::default();
        self.begin(incident, &mut played).await?;
        let mut incident = incident;
        let mut game = self.before_the_spins(incident, &mut played).await?;
        while game == Game::GoesOn {
            self.call().await?;
            let spin = self.spin(incident, &mut played).await?;
            game = match spin {
                Spin::Valid(game) | Spin::Invalid(game) => game,
            };
            // Three invalid spins are one incident; every other happens once.
            if incident != Incident::ThreeInvalid || played.invalid >= 3 {
                incident = Incident::None;
            }
        }
        played.lit = self.dealer.lights.view().lit;
        self.mend().await;
        Ok(played)
    }

    /// After a game that was given up: nobody knows how it stands at the table. Whoever has dice or coins stops, and the game is
    /// spun to its end, until the table takes a new spinner; that one's game is played like every other.
    ///
    /// # Errors
    /// When the table does nothing at all.
    pub async fn find_the_beginning(&mut self) -> Result<(), Stuck> {
        self.law = Law::new(self.dealer.game);
        for _ in 0..MAX_TRIES {
            // A game that runs is the house's then; one that is decided is over.
            self.dealer.enter(&[Key::SpinnerStops]).await?;
            if self.dealer.enter(&[Key::NewSpinner]).await? == Answer::Accepted {
                self.law = Law::new(self.dealer.game);
                return self.perform(Act::Decline).map(|_| ());
            }
            // A table that takes no call now may not answer at all.
            if matches!(self.ring().await, Ok(Answer::Accepted)) {
                self.dealer.enter(&[Key::Tails]).await?;
            }
        }
        Err(Stuck::Taken {
            what: "no new spinner, whatever is spun",
        })
    }

    /// A spinner is found, or the one who won goes on.
    async fn begin(&mut self, incident: Incident, played: &mut Played) -> Result<(), Stuck> {
        let house = incident == Incident::AllDecline;
        match self.law.turn() {
            Turn::PlayerDecides if !house && self.chance.hits(50) => {
                let side = self.side();
                self.say(format!("the spinner goes on, and wagers on {}", side.name()))
                    .await;
                return self.accepted(&[key_of(side)], Act::Continue(side)).await.map(|_| ());
            }
            Turn::PlayerDecides | Turn::HouseDecides => {
                self.say("who spun stops".to_owned()).await;
                self.accepted(&[Key::SpinnerStops], Act::Stop).await?;
            }
            // A game that was found going on.
            Turn::Betting if !self.law.is_run_out() => return Ok(()),
            Turn::Betting | Turn::Select | Turn::Closed | Turn::Choice => {}
        }
        self.run_out(played).await?;
        if incident == Incident::CallWithoutAWager && !self.a_triple_was_last() {
            self.say("dealer rings the bell, and nobody has wagered".to_owned())
                .await;
            match self.ring().await? {
                Answer::Refused(code) => self.told(code, played).await,
                Answer::Accepted => {
                    return Err(Stuck::Taken {
                        what: "a call without a wager",
                    });
                }
            }
        }
        if house {
            self.say("everybody declines: the house spins".to_owned()).await;
            self.accepted(&[Key::NewSpinner], Act::Decline).await?;
        } else {
            let side = self.side();
            self.say(format!("a player takes them, and wagers on {}", side.name()))
                .await;
            self.accepted(&[Key::NewSpinner, key_of(side)], Act::Accept(side))
                .await?;
        }
        // All lights go out when a game begins.
        self.see_lights().await
    }

    /// After a game with coins something may lie in the bonus area: the boxer spins until it is decided.
    async fn run_out(&mut self, played: &mut Played) -> Result<(), Stuck> {
        while self.law.is_run_out() {
            self.say("wagers lie in the bonus area: the boxer spins them out".to_owned())
                .await;
            self.call().await?;
            let outcome = self.throw();
            self.result(outcome, played).await?;
        }
        Ok(())
    }

    /// Something may lie in the bonus area, as far as the table can know.
    fn a_triple_was_last(&self) -> bool {
        match self.last {
            Some(Outcome::TripleHeads | Outcome::TripleTails) => true,
            Some(Outcome::Heads | Outcome::Tails | Outcome::Odds) | None => false,
        }
    }

    /// What happens while bets are open for the first spin.
    async fn before_the_spins(&mut self, incident: Incident, played: &mut Played) -> Result<Game, Stuck> {
        match incident {
            Incident::ResultBeforeTheCall => {
                self.say("dealer enters a result, and nobody has called \"no more bets\"".to_owned())
                    .await;
                match self.dealer.enter(&[Key::Heads]).await? {
                    Answer::Refused(code) => self.told(code, played).await,
                    Answer::Accepted => {
                        return Err(Stuck::Taken {
                            what: "a result before the call",
                        });
                    }
                }
                Ok(Game::GoesOn)
            }
            Incident::SpinnerStops => {
                self.say("the spinner stops".to_owned()).await;
                self.accepted(&[Key::SpinnerStops], Act::Stop).await
            }
            Incident::None
            | Incident::CallWithoutAWager
            | Incident::NoSpin
            | Incident::Overruled
            | Incident::ThreeInvalid
            | Incident::MisKeyed
            | Incident::OneGone
            | Incident::TwoGone
            | Incident::Relieved
            | Incident::AllDecline
            | Incident::DarkLight => Ok(Game::GoesOn),
        }
    }

    async fn call(&mut self) -> Result<(), Stuck> {
        self.say("dealer calls \"no more bets\" and rings the bell".to_owned())
            .await;
        match self.ring().await? {
            Answer::Accepted => self.perform(Act::Call).map(|_| ()),
            Answer::Refused(code) => Err(Stuck::Refused {
                code,
                after: "after the bell",
            }),
        }
    }

    /// Rings, not so soon after the last time that it would be the same ring.
    async fn ring(&mut self) -> Result<Answer, Stuck> {
        if let Some(rung) = self.rung {
            tokio::time::sleep_until(rung + BETWEEN_RINGS).await;
        }
        let answer = self.dealer.no_more_bets().await;
        self.rung = Some(Instant::now());
        answer
    }

    /// One spin, and what the dealer makes of it.
    async fn spin(&mut self, incident: Incident, played: &mut Played) -> Result<Spin, Stuck> {
        let outcome = self.throw();
        match incident {
            Incident::NoSpin | Incident::ThreeInvalid | Incident::Relieved => {
                self.say("\"no spin!\"".to_owned()).await;
                let mut game = self.accepted(&[Key::NoSpin], Act::Invalid).await?;
                played.invalid += 1;
                if self.law.turn() == Turn::Choice {
                    self.say("three invalid spins: the spinner lets the boxer go on".to_owned())
                        .await;
                    game = self.accepted(&[Key::Relieve], Act::Relieve).await?;
                }
                if incident == Incident::Relieved {
                    self.say("dealer relieves the spinner".to_owned()).await;
                    game = self.accepted(&[Key::Relieve], Act::Relieve).await?;
                }
                Ok(Spin::Invalid(game))
            }
            Incident::OneGone => {
                self.say("one leaves the table".to_owned()).await;
                self.accepted(&[Key::OffTable], Act::Gone(1)).await?;
                played.invalid += 1;
                self.say("it is found, and is good".to_owned()).await;
                self.accepted(&[Key::NewSet], Act::Found).await.map(Spin::Invalid)
            }
            Incident::TwoGone => {
                self.say("two leave the table and are not found".to_owned()).await;
                self.accepted(&[Key::OffTable, Key::OffTable], Act::Gone(2)).await?;
                played.invalid += 1;
                self.say("a new set is brought".to_owned()).await;
                self.accepted(&[Key::NewSet], Act::NewSet).await.map(Spin::Invalid)
            }
            Incident::Overruled => {
                self.say(format!("\"no spin!\" But it was a good spin: {}", outcome.words()))
                    .await;
                self.accepted(&[Key::NoSpin], Act::Invalid).await?;
                self.say("supervisor turns the key and overrules".to_owned()).await;
                let keys = [Key::Overrule, outcome.key()];
                let game = self.under_the_key(&keys, Act::Overrule(outcome)).await?;
                self.shown(outcome, played).await?;
                Ok(Spin::Valid(game))
            }
            Incident::MisKeyed => self.mis_keyed(outcome, played).await.map(Spin::Valid),
            Incident::DarkLight => {
                self.break_a_light(outcome).await;
                self.result(outcome, played).await.map(Spin::Valid)
            }
            Incident::None
            | Incident::ResultBeforeTheCall
            | Incident::CallWithoutAWager
            | Incident::SpinnerStops
            | Incident::AllDecline => self.result(outcome, played).await.map(Spin::Valid),
        }
    }

    /// A valid spin, entered as it is.
    async fn result(&mut self, outcome: Outcome, played: &mut Played) -> Result<Game, Stuck> {
        self.say(format!("{}!", outcome.words())).await;
        let game = self.accepted(&[outcome.key()], Act::Spun(outcome)).await?;
        self.shown(outcome, played).await?;
        Ok(game)
    }

    async fn mis_keyed(&mut self, outcome: Outcome, played: &mut Played) -> Result<Game, Stuck> {
        let ways = Outcome::ways(self.dealer.game);
        let wrong = ways.into_iter().find(|other| *other != outcome).unwrap_or(outcome);
        self.say(format!("{}! Dealer presses {}", outcome.words(), wrong.words()))
            .await;
        let before = self.law.clone();
        self.accepted(&[wrong.key()], Act::Spun(wrong)).await?;
        self.see_lights().await?;
        self.say("supervisor turns the key; the right result is entered; both stand in the journal".to_owned())
            .await;
        self.law = before;
        let game = self.under_the_key(&[outcome.key()], Act::Spun(outcome)).await?;
        self.shown(outcome, played).await?;
        Ok(game)
    }

    async fn shown(&mut self, outcome: Outcome, played: &mut Played) -> Result<(), Stuck> {
        played.spun.push(outcome);
        self.last = Some(outcome);
        self.see_lights().await
    }

    /// The light that this spin will light first stays dark.
    async fn break_a_light(&mut self, outcome: Outcome) {
        let mut after = self.law.clone();
        if after.perform(Act::Spun(outcome)).is_err() {
            return;
        }
        let lit = self.law.lights();
        let Some(next) = after.lights().into_iter().find(|light| !lit.contains(light)) else {
            return;
        };
        let named = Light::ALL.into_iter().find(|light| u32::from(light.bit()) == next);
        let name = named.map_or_else(|| format!("light {next}"), |light| format!("light {}", light.name()));
        self.say(format!(
            "{name} has failed: a card will be shown in its place, and play goes on"
        ))
        .await;
        self.dealer.lights.stick(next, StuckAt::Dark).await;
        self.dark = Some(next);
    }

    async fn mend(&mut self) {
        if let Some(light) = self.dark.take() {
            self.say("technician replaces the light".to_owned()).await;
            self.dealer.lights.stick(light, StuckAt::Healthy).await;
        }
    }

    async fn under_the_key(&mut self, keys: &[Key], act: Act) -> Result<Game, Stuck> {
        let terminal = &self.dealer.terminal;
        terminal.turn(Contact::SupervisorKey, Level::Closed).await;
        let done = self.accepted(keys, act).await;
        let terminal = &self.dealer.terminal;
        terminal.turn(Contact::SupervisorKey, Level::Open).await;
        done
    }

    /// An entry that the law allows, and the table takes.
    async fn accepted(&mut self, keys: &[Key], act: Act) -> Result<Game, Stuck> {
        match self.dealer.enter(keys).await? {
            Answer::Accepted => self.perform(act),
            Answer::Refused(code) => Err(Stuck::Refused {
                code,
                after: "after an entry",
            }),
        }
    }

    fn perform(&mut self, act: Act) -> Result<Game, Stuck> {
        self.law.perform(act).map_err(|text| Stuck::Unlawful { text })
    }

    async fn see_lights(&self) -> Result<(), Stuck> {
        let mut lit = self.law.lights();
        if let Some(dark) = self.dark {
            lit.remove(&dark);
        }
        self.dealer.see_lights(&lit).await
    }

    async fn told(&mut self, code: String, played: &mut Played) {
        self.say(format!(
            "the terminal shows {code}: `tablegate rules why {code}` says why"
        ))
        .await;
        played.refused.push(code);
    }

    async fn say(&self, words: String) {
        if let Some(say) = &self.say {
            // Nobody listens any more once a demonstration ends.
            let _ended = say.send(words).await;
        }
    }

    fn throw(&mut self) -> Outcome {
        let ways = Outcome::ways(self.dealer.game);
        let at = self.chance.below(ways.len());
        ways.get(at).copied().unwrap_or(Outcome::Heads)
    }

    fn side(&mut self) -> Side {
        if self.chance.hits(50) { Side::Heads } else { Side::Tails }
    }
}

fn key_of(side: Side) -> Key {
    match side {
        Side::Heads => Key::Heads,
        Side::Tails => Key::Tails,
    }
}
