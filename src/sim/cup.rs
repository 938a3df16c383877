//! A dealer of tai-sai with a dice cup: terminal and lamps, and a throw that no device sees.

use super::dealer::{self, Answer, Pace, Played, Stuck, enter, is_code};
use super::{Lamps, Terminal};
use std::collections::BTreeSet;
use tokio::time::Instant;

/// A dealer at a table with a dice cup. Its parts can also be played one by one.
#[derive(Debug)]
pub struct CupDealer {
    /// The terminal.
    pub terminal: Terminal,
    /// The layout.
    pub lamps: Lamps,
    /// How to go about it.
    pub pace: Pace,
}

impl CupDealer {
    /// One whole round: bets are open, bell, somebody throws these dice, entry, lamps, settlement.
    ///
    /// # Errors
    /// When something that should happen doesn't, within the dealer's patience.
    pub async fn play(&self, faces: [u8; 3]) -> Result<Played, Stuck> {
        self.no_more_bets().await?;
        dealer::enter_and_settle(&self.terminal, &self.lamps, self.pace, faces).await
    }

    /// Waits until the readout says nothing against a round, then rings the bell: bets have been open since the last round ended.
    ///
    /// # Errors
    /// When the table takes no round, or bets don't close.
    pub async fn no_more_bets(&self) -> Result<(), Stuck> {
        self.terminal
            .wait(
                "a table that takes a round",
                |view| view.entry != 0 && !is_code(&view.readout),
                self.pace.patience,
            )
            .await?;
        dealer::no_more_bets(&self.terminal, self.pace).await
    }

    /// Presses these keys and ENTER, and waits for the answer.
    ///
    /// # Errors
    /// When the terminal takes no keys, or gives no answer.
    pub async fn enter(&self, keys: &[u32]) -> Result<Answer, Stuck> {
        enter(&self.terminal, self.pace, keys).await
    }

    /// Waits until lamps are lit.
    ///
    /// # Errors
    /// When they stay dark.
    pub async fn see_lamps(&self) -> Result<BTreeSet<u32>, Stuck> {
        dealer::see_lamps(&self.lamps, self.pace).await
    }

    /// Wagers are paid: an empty ENTER, not too soon after what was `entered`, until the lamps go out.
    ///
    /// # Errors
    /// When the terminal refuses again and again, or the lamps stay lit.
    pub async fn settle(&self, entered: Instant) -> Result<(), Stuck> {
        dealer::settle(&self.terminal, &self.lamps, self.pace, entered).await
    }
}
