//! What the people of every demo have in common: a supervisor, a pace, chance, and somebody to tell what they do.

use super::table::Supervisor;
use crate::cli::ending::Failure;
use crate::control::Act;
use crate::sim::Chance;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The people, besides the dealer.
pub struct Crew {
    /// Acts when the dealer can't go on.
    pub supervisor: Supervisor,
    /// 2.0 is twice as fast as people are.
    pub speed: f64,
    /// What the dice show.
    pub chance: Chance,
    /// Where they say what they do.
    pub say: mpsc::Sender<String>,
}

impl Crew {
    /// Three dice.
    pub(super) fn throw(&mut self) -> [u8; 3] {
        [(); 3].map(|()| self.chance.face())
    }

    /// People pause between two things.
    pub(super) async fn breathe(&self) {
        tokio::time::sleep(Duration::from_millis(1000).div_f64(self.speed)).await;
    }

    pub(super) async fn say(&self, words: String) {
        // Nobody listens any more once the demo ends.
        let _ended = self.say.send(words).await;
    }

    /// A supervisor acts as soon as the act is possible: the table may need a moment to see what it is about.
    pub(super) async fn until_done(&self, act: Act, words: &str, patience: Duration) -> Result<(), Failure> {
        let began = Instant::now();
        self.breathe().await;
        loop {
            match self.supervisor.act(act.clone()).await {
                Ok(_) => {
                    self.say(words.to_owned()).await;
                    return Ok(());
                }
                Err(refused) if began.elapsed() > patience => return Err(refused),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
