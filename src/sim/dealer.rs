//! A dealer who plays tai-sai or sic-bo on three simulated devices, going by what can be seen: readout, lamps, whether the tumbler is
//! free. What a dealer with a dice cup does the same way stands here too.

use super::handle::Trouble;
use super::{Lamps, LampsView, Spun, Terminal, Tumbler};
use crate::wire::message::Cover;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// The fewest spins of a tumble.
const SPINS: u32 = 3;
/// A cover counts as off after 300 ms; nothing that can be seen says that it does.
const COVER_COUNTS: Duration = Duration::from_millis(350);
/// What the readout says when the table takes no entries: locked, in test, closed.
const MODE_TEXTS: [&str; 3] = ["LOC", "TST", "CLO"];
/// Settlement presses before the dealer calls for help.
const MAX_SETTLE_PRESSES: u32 = 5;

/// How a dealer goes about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Before each act, for people who watch.
    pub before_act: Duration,
    /// How long to wait for anything that should happen.
    pub patience: Duration,
    /// From the accepted entry to the settlement press: the table takes none before its `settle_after_ms`.
    pub settle_after: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            before_act: Duration::ZERO,
            patience: Duration::from_secs(15),
            settle_after: Duration::from_millis(3100),
        }
    }
}

/// What the terminal answered to ENTER.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It took it.
    Accepted,
    /// It shows this code.
    Refused(String),
}

/// A round as the dealer saw it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// Lamps that were lit.
    pub lit: BTreeSet<u32>,
    /// From ENTER to the first lit lamp.
    pub entry_to_lamps: Duration,
}

/// Why a dealer stops.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stuck {
    /// Something didn't happen.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// The tumbler doesn't spin.
    #[error("the tumbler is inhibited")]
    Inhibited,
    /// The terminal shows a code where none is expected.
    #[error("the terminal shows {code} {after}")]
    Refused {
        /// What it shows.
        code: String,
        /// After which act.
        after: &'static str,
    },
    /// The terminal takes what can't be.
    #[error("the terminal takes {what}")]
    Taken {
        /// Which act.
        what: &'static str,
    },
    /// The people at the table did what the law doesn't know.
    #[error("the law has it otherwise: {text}")]
    Unlawful {
        /// Why.
        text: String,
    },
}

/// In which order the dice are spun and bets are closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The dice are spun under a cover; then bets open, the bell closes them, and the cover comes off.
    SpinsFirst,
    /// Bets are open already; the bell closes them, and the dice are spun in sight.
    BetsFirst {
        /// How long the dice must lie still before they count: nothing that can be seen says when that is over.
        rest: Duration,
    },
}

/// A dealer at a table. Its parts can also be played one by one.
#[derive(Debug)]
pub struct Dealer {
    /// Whether the tumbler has a cover.
    pub order: Order,
    /// The tumbler.
    pub tumbler: Tumbler,
    /// The terminal.
    pub terminal: Terminal,
    /// The layout.
    pub lamps: Lamps,
    /// How to go about it.
    pub pace: Pace,
}

impl Dealer {
    /// One whole round with these dice: tumble, bets, bell, uncover, entry, lamps, settlement, cover on again; with an open tumbler
    /// the tumble comes after the bell.
    ///
    /// # Errors
    /// When something that should happen doesn't, within the dealer's patience.
    pub async fn play(&self, faces: [u8; 3]) -> Result<Played, Stuck> {
        self.to_the_dice(faces).await?;
        let played = enter_and_settle(&self.terminal, &self.lamps, self.pace, faces).await?;
        self.tumbler.cover(Cover::On).await;
        Ok(played)
    }

    /// From the beginning of a round until these dice can be seen and count.
    ///
    /// # Errors
    /// When something that should happen doesn't, within the dealer's patience.
    pub async fn to_the_dice(&self, faces: [u8; 3]) -> Result<(), Stuck> {
        match self.order {
            Order::SpinsFirst => {
                self.tumble(faces).await?;
                self.wait_for_bets().await?;
                self.no_more_bets().await?;
                self.uncover().await;
            }
            Order::BetsFirst { rest } => {
                self.wait_for_bets().await?;
                self.no_more_bets().await?;
                self.tumble(faces).await?;
                tokio::time::sleep(rest).await;
            }
        }
        Ok(())
    }

    /// Waits until the tumbler is free, then spins it three times, under its cover where it has one; `faces` will lie there.
    ///
    /// # Errors
    /// When it stays inhibited, or doesn't come to rest.
    pub async fn tumble(&self, faces: [u8; 3]) -> Result<(), Stuck> {
        self.breathe().await;
        let patience = self.pace.patience;
        if self.order == Order::SpinsFirst {
            self.tumbler.cover(Cover::On).await;
        }
        self.tumbler
            .wait("a free tumbler", |view| !view.inhibited, patience)
            .await?;
        self.tumbler.load_dice(faces).await;
        let done = self.tumbler.view().spins.wrapping_add(SPINS);
        if self.tumbler.spin(SPINS).await == Spun::Inhibited {
            return Err(Stuck::Inhibited);
        }
        self.tumbler
            .wait("dice at rest", |view| view.spins == done && !view.spinning, patience)
            .await?;
        Ok(())
    }

    /// Waits for "place your bets": the tumbler is inhibited from then on.
    ///
    /// # Errors
    /// When bets don't open.
    pub async fn wait_for_bets(&self) -> Result<(), Stuck> {
        self.tumbler
            .wait("bets to open", |view| view.inhibited, self.pace.patience)
            .await?;
        Ok(())
    }

    /// Rings the bell and waits for the new entry number that closing bets brings.
    ///
    /// # Errors
    /// When bets don't close.
    pub async fn no_more_bets(&self) -> Result<(), Stuck> {
        no_more_bets(&self.terminal, self.pace).await
    }

    /// Takes the cover off and lets everyone see.
    pub async fn uncover(&self) {
        self.breathe().await;
        self.tumbler.cover(Cover::Off).await;
        tokio::time::sleep(COVER_COUNTS).await;
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
        see_lamps(&self.lamps, self.pace).await
    }

    /// Wagers are paid: an empty ENTER, not too soon after what was `entered`, until the lamps go out.
    ///
    /// # Errors
    /// When the terminal refuses again and again, or the lamps stay lit.
    pub async fn settle(&self, entered: Instant) -> Result<(), Stuck> {
        settle(&self.terminal, &self.lamps, self.pace, entered).await
    }

    async fn breathe(&self) {
        tokio::time::sleep(self.pace.before_act).await;
    }
}

/// The bell on any terminal, and the new entry number that closing bets brings.
///
/// # Errors
/// When bets don't close.
pub(super) async fn no_more_bets(terminal: &Terminal, pace: Pace) -> Result<(), Stuck> {
    tokio::time::sleep(pace.before_act).await;
    let before = terminal.view().entry;
    terminal.ring().await;
    terminal
        .wait("bets to close", |view| view.entry != before, pace.patience)
        .await?;
    Ok(())
}

/// Waits until lamps are lit.
///
/// # Errors
/// When they stay dark.
pub(super) async fn see_lamps(lamps: &Lamps, pace: Pace) -> Result<BTreeSet<u32>, Stuck> {
    let view = lamps
        .wait("lit lamps", |view| !view.lit.is_empty(), pace.patience)
        .await?;
    Ok(view.lit)
}

/// Wagers are paid: an empty ENTER, not too soon after what was `entered`, until the lamps go out.
///
/// # Errors
/// When the terminal refuses again and again, or the lamps stay lit.
pub(super) async fn settle(terminal: &Terminal, lamps: &Lamps, pace: Pace, entered: Instant) -> Result<(), Stuck> {
    let mut earliest = entered + pace.settle_after;
    let mut refusal = String::new();
    for _ in 0..MAX_SETTLE_PRESSES {
        tokio::time::sleep_until(earliest).await;
        // What stands on the readout then may answer an earlier press; what counts is whether the lamps go out.
        let patience = match enter(terminal, pace, &[]).await? {
            Answer::Accepted => pace.patience,
            Answer::Refused(code) => {
                refusal = code;
                pace.settle_after
            }
        };
        earliest = Instant::now() + pace.settle_after;
        let dark = |view: &LampsView| view.commanded.is_empty();
        match lamps.wait("dark lamps", dark, patience).await {
            Ok(_) => return Ok(()),
            Err(_) if !refusal.is_empty() => {}
            Err(trouble) => return Err(trouble.into()),
        }
    }
    Err(Stuck::Refused {
        code: refusal,
        after: "after the settlement press",
    })
}

/// From the entry of these dice to the settlement.
///
/// # Errors
/// When the entry is refused, lamps stay dark, or the settlement is refused again and again.
pub(super) async fn enter_and_settle(
    terminal: &Terminal,
    lamps: &Lamps,
    pace: Pace,
    faces: [u8; 3],
) -> Result<Played, Stuck> {
    let entered = Instant::now();
    if let Answer::Refused(code) = enter(terminal, pace, &faces.map(u32::from)).await? {
        let after = "after the entry";
        return Err(Stuck::Refused { code, after });
    }
    let lit = see_lamps(lamps, pace).await?;
    let entry_to_lamps = entered.elapsed();
    settle(terminal, lamps, pace, entered).await?;
    Ok(Played { lit, entry_to_lamps })
}

/// A dealer's entry on any terminal: takes breath, waits until it takes keys, presses these and ENTER, and waits for the answer.
///
/// # Errors
/// When the terminal takes no keys, or gives no answer.
pub(super) async fn enter(terminal: &Terminal, pace: Pace, keys: &[u32]) -> Result<Answer, Stuck> {
    tokio::time::sleep(pace.before_act).await;
    terminal
        .wait("a terminal that takes keys", |view| !view.locked, pace.patience)
        .await?;
    let before = terminal.view().readouts;
    for key in keys {
        terminal.press(*key).await;
    }
    terminal.enter().await;
    let view = terminal
        .wait("an answer on the readout", |view| view.readouts > before, pace.patience)
        .await?;
    Ok(if is_code(&view.readout) {
        Answer::Refused(view.readout)
    } else {
        Answer::Accepted
    })
}

/// The readout says why something can't be, instead of showing keys or numbers.
pub(super) fn is_code(readout: &str) -> bool {
    readout.starts_with('E') || MODE_TEXTS.contains(&readout)
}
