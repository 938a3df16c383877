//! What is different with dice (Qld 2004 sch 13) and with coins (Qld 1998 part 21). PURE. Results, counts, thresholds and who wins are
//! those of `rules`; here they are only put together as the table needs them, with players' wagers unseen.

use crate::rules::triple_penny::machine as coins_law;
use crate::rules::triple_penny::{self as coins, Agree, Display};
use crate::rules::two_up::Side;
use crate::rules::two_up_dice::machine as dice_law;
use crate::rules::two_up_dice::{self as dice, Counts};
use crate::rules::wager::Odds;
use crate::table::event::ResultDisplay;
use crate::table::input::{Key, Outcome, TwoUpKey};
use crate::table::lamps::Board;
use crate::table::two_up::phase::{Game, Lock, Results, Spinner, TakeOver};
use crate::table::{MisKeyed, TriplePennyConfig, TwoUpDiceConfig};
use crate::time::Uptime;
use std::time::Duration;

/// The lights of the board in the order of their bits; the same for both games.
pub(crate) const LIGHTS: [&str; 11] = [
    "heads_1", "heads_2", "heads_3", "tails_1", "tails_2", "tails_3", "odds_1", "odds_2", "odds_3", "odds_4", "odds_5",
];

/// A picture of the lights has this one on.
pub(crate) fn is_lit(light: &str, picture: &[u8]) -> bool {
    let bit = LIGHTS.iter().position(|known| *known == light);
    bit.is_some_and(|bit| picture.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0))
}

/// The game's law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Law {
    /// Two-up dice.
    Dice(TwoUpDiceConfig),
    /// Triple penny two-up.
    Coins(TriplePennyConfig),
}

/// What a valid spin leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Spun {
    /// What is shown from now on.
    pub(crate) shown: Results,
    /// What decides players' wagers; `None`: nothing yet.
    pub(crate) players: Option<Outcome>,
    /// Main area wagers of its side move to the bonus area.
    pub(crate) to_bonus_area: bool,
    /// What becomes of the game.
    pub(crate) verdict: Verdict,
}

/// What becomes of a game by a valid spin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It goes on.
    Undecided,
    /// The spinner's wager wins.
    Won {
        /// The spinner may go on.
        goes_on: bool,
    },
    /// It loses.
    Lost {
        /// The spinner comes back all the same (TD-8).
        goes_on: bool,
    },
    /// The game of a dealer who spins for everyone is decided (TD-6, TP-11).
    OfDealer,
    /// The wagers in the bonus area are decided.
    OfRunOut,
}

/// What an invalid spin leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Invalid {
    /// Nothing more.
    Nothing,
    /// The dealer takes over; the spins were the spinner's first three.
    FirstThree,
    /// The dealer takes over after three in a row.
    ThreeInARow,
    /// The spinner has to choose.
    MustChoose,
}

/// The set of dice or coins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    /// How many it has.
    pub(crate) size: u8,
    /// How many are spun.
    pub(crate) spun: u8,
    /// Lost ones that call for a new set.
    pub(crate) depleted: u8,
}

impl Law {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Law::Dice(_) => super::DICE,
            Law::Coins(_) => super::COINS,
        }
    }

    /// How results are shown.
    pub(crate) fn display(&self) -> Display {
        match self {
            Law::Dice(_) => Display::Lights,
            Law::Coins(config) => config.display,
        }
    }

    /// As events write it.
    pub(crate) fn shown_by(&self) -> ResultDisplay {
        match self.display() {
            Display::Lights => ResultDisplay::Lights,
            Display::Electronic => ResultDisplay::Electronic,
            Display::Cards => ResultDisplay::Cards,
        }
    }

    pub(crate) fn board(&self) -> Board {
        match self.display() {
            Display::Lights => Board::new(&LIGHTS, (0..11).map(|bit| vec![bit]).collect()),
            Display::Electronic | Display::Cards => Board::new(&[], Vec::new()),
        }
    }

    pub(crate) fn lamp_wait(&self) -> Duration {
        match self {
            Law::Dice(config) => config.lamp_wait,
            Law::Coins(config) => config.lamp_wait,
        }
    }

    pub(crate) fn mis_keyed(&self) -> MisKeyed {
        match self {
            Law::Dice(config) => config.mis_keyed,
            Law::Coins(config) => config.mis_keyed,
        }
    }

    /// The set that is played with.
    pub(crate) fn set(&self) -> Set {
        match self {
            Law::Dice(_) => Set {
                size: dice::DICE_OF_A_SET,
                spun: dice::DICE_SPUN,
                depleted: dice_law::DICE_LOST_FOR_A_NEW_SET,
            },
            Law::Coins(_) => Set {
                size: coins::COINS_OF_A_SET,
                spun: coins::COINS_SPUN,
                depleted: coins_law::COINS_LOST_FOR_A_NEW_SET,
            },
        }
    }

    /// What a winning spinner's wager pays.
    pub(crate) fn spinner_odds(&self) -> Odds {
        match self {
            Law::Dice(_) => dice::SPINNER_ODDS,
            Law::Coins(_) => coins::SPINNER_ODDS,
        }
    }

    /// The game has this key.
    pub(crate) fn knows(&self, key: Key) -> bool {
        let with_coins = match self {
            Law::Dice(_) => false,
            Law::Coins(_) => true,
        };
        match key {
            Key::Number(_) | Key::Other(_) => false,
            Key::NoSpin => true,
            Key::TwoUp(key) => match key {
                TwoUpKey::Heads
                | TwoUpKey::Tails
                | TwoUpKey::NewSpinner
                | TwoUpKey::SpinnerStops
                | TwoUpKey::Relieve
                | TwoUpKey::OffTable
                | TwoUpKey::NewSet => true,
                // Nobody overrules an invalid spin of coins (Qld 1998 s477).
                TwoUpKey::Odds | TwoUpKey::Overrule => !with_coins,
                TwoUpKey::TripleHeads | TwoUpKey::TripleTails => with_coins,
            },
        }
    }

    /// What a valid spin after the call leads to; `None`: the game has no such result.
    pub(crate) fn spin(
        &self,
        board: &Board,
        game: &Game,
        shown: &Results,
        outcome: Outcome,
        now: Uptime,
    ) -> Option<Spun> {
        match self {
            Law::Dice(config) => Some(with_dice(config, board, game, shown, dice_spun(outcome)?, now)),
            Law::Coins(_) => Some(with_coins(board, game, shown, coins_spun(outcome)?, now)),
        }
    }

    /// What an invalid spin leads to.
    pub(crate) fn invalid(&self, game: &Game) -> Invalid {
        let Spinner::Player = game.spinner else {
            // The dealer's own invalid spins relieve nobody (TD-11).
            return Invalid::Nothing;
        };
        let tally = game.tally;
        match self {
            Law::Dice(_) if tally.run + 1 < dice_law::INVALID_IN_A_ROW => Invalid::Nothing,
            Law::Dice(_) if tally.past_first => Invalid::ThreeInARow,
            Law::Dice(_) => Invalid::FirstThree,
            Law::Coins(_) if tally.valid == 0 && tally.invalid + 1 >= coins_law::INVALID_IN_A_ROW => {
                Invalid::MustChoose
            }
            Law::Coins(_) => Invalid::Nothing,
        }
    }

    /// The spinner's wager may still be placed anew: with dice until the game's first call (TD-9), with coins until its first valid
    /// spin (Qld 1998 s472(10)).
    pub(crate) fn wager_is_free(&self, game: &Game) -> bool {
        match self {
            Law::Dice(_) => game.lock == Lock::Free,
            Law::Coins(_) => game.tally.valid == 0,
        }
    }

    /// With coins: a ground that can be seen for putting the boxer in (Qld 1998 s478(2)(a)-(b), TP-7).
    pub(crate) fn ground_is_seen(game: &Game) -> bool {
        game.tally.run >= coins_law::INVALID_IN_A_ROW || game.tally.invalid > game.tally.valid
    }
}

/// What stands on the lights for one result, for a person to see before play.
pub(crate) fn test_lights(law: &Law, board: &Board, outcome: Outcome) -> Option<Vec<u8>> {
    let game = Game {
        spinner: Spinner::Dealer,
        ..Game::default()
    };
    let spun = law.spin(board, &game, &Results::default(), outcome, Uptime::ZERO)?;
    Some(spun.shown.lights)
}

fn dice_spun(outcome: Outcome) -> Option<dice::Spun> {
    match outcome {
        Outcome::Heads => Some(dice::Spun::Heads),
        Outcome::Tails => Some(dice::Spun::Tails),
        Outcome::Odds => Some(dice::Spun::Odds),
        Outcome::TripleHeads | Outcome::TripleTails => None,
    }
}

fn coins_spun(outcome: Outcome) -> Option<coins::Spun> {
    match outcome {
        Outcome::Heads => Some(coins::Spun::Heads),
        Outcome::Tails => Some(coins::Spun::Tails),
        Outcome::TripleHeads => Some(coins::Spun::TripleHeads),
        Outcome::TripleTails => Some(coins::Spun::TripleTails),
        Outcome::Odds => None,
    }
}

fn of_side(side: Side) -> Outcome {
    match side {
        Side::Heads => Outcome::Heads,
        Side::Tails => Outcome::Tails,
    }
}

fn with_dice(
    config: &TwoUpDiceConfig,
    board: &Board,
    game: &Game,
    shown: &Results,
    spun: dice::Spun,
    now: Uptime,
) -> Spun {
    let counts = Counts {
        heads: shown.heads,
        tails: shown.tails,
        odds: shown.odds,
    }
    .and(spun);
    let lit: Vec<String> = counts.lit().into_iter().map(dice::Light::name).collect();
    let outcome = match spun {
        dice::Spun::Heads => Outcome::Heads,
        dice::Spun::Tails => Outcome::Tails,
        dice::Spun::Odds => Outcome::Odds,
    };
    let decided = dice_law::decision(spun, counts);
    let verdict = decided.map_or(Verdict::Undecided, |by| match (game.spinner, game.wager) {
        (Spinner::Player | Spinner::TakenOver(_), Some(side)) => {
            let ended = dice_law::spinner_ends(side, by, counts);
            ended.map_or(Verdict::Undecided, |ended| dice_verdict(config, game.spinner, ended))
        }
        (Spinner::Dealer | Spinner::RunOut(_), _) | (Spinner::Player | Spinner::TakenOver(_), None) => {
            Verdict::OfDealer
        }
    });
    Spun {
        shown: Results {
            outcome: Some(outcome),
            heads: counts.heads,
            tails: counts.tails,
            odds: counts.odds,
            lights: board.picture(lit.iter().map(String::as_str)),
            cards: Vec::new(),
            since: now,
        },
        players: decided.map(|by| match by {
            dice_law::Decision::Side(side) => of_side(side),
            dice_law::Decision::OddsOut => Outcome::Odds,
        }),
        to_bonus_area: false,
        verdict,
    }
}

fn dice_verdict(config: &TwoUpDiceConfig, spinner: Spinner, ended: dice_law::GameEnd) -> Verdict {
    let comes_back = match spinner {
        Spinner::TakenOver(why) => {
            let why = match why {
                TakeOver::Stopped => dice_law::TakeOver::Stopped,
                TakeOver::FirstThree => dice_law::TakeOver::FirstThreeInvalid,
                TakeOver::InvalidSpins => dice_law::TakeOver::ThreeInvalid,
                TakeOver::Relieved => dice_law::TakeOver::HighInvalidShare,
            };
            why.comes_back(ended, config.first_three)
        }
        Spinner::Player => ended == dice_law::GameEnd::SpinnerWon,
        Spinner::Dealer | Spinner::RunOut(_) => false,
    };
    match ended {
        dice_law::GameEnd::SpinnerWon => Verdict::Won { goes_on: comes_back },
        dice_law::GameEnd::SpinnerLost(_) => Verdict::Lost { goes_on: comes_back },
        dice_law::GameEnd::Dealer(_) => Verdict::OfDealer,
    }
}

fn with_coins(board: &Board, game: &Game, shown: &Results, spun: coins::Spun, now: Uptime) -> Spun {
    let side = spun.side();
    let (mut heads, mut tails) = (shown.heads, shown.tails);
    match game.spinner {
        Spinner::Player | Spinner::Dealer | Spinner::TakenOver(_) => match side {
            Side::Heads => heads = heads.saturating_add(1),
            Side::Tails => tails = tails.saturating_add(1),
        },
        // The game that it follows is over.
        Spinner::RunOut(_) => {}
    }
    let triple = spun.agree() == Agree::Three;
    let outcome = match spun {
        coins::Spun::Heads => Outcome::Heads,
        coins::Spun::Tails => Outcome::Tails,
        coins::Spun::TripleHeads => Outcome::TripleHeads,
        coins::Spun::TripleTails => Outcome::TripleTails,
    };
    let verdict = match (game.spinner, game.wager) {
        (Spinner::Player | Spinner::TakenOver(_), Some(wager)) => {
            let hits = match wager {
                Side::Heads => heads,
                Side::Tails => tails,
            };
            let ended = coins_law::spinner_ends(wager, spun, hits);
            ended.map_or(Verdict::Undecided, |ended| coins_verdict(game.spinner, ended))
        }
        (Spinner::RunOut(_), _) => Verdict::OfRunOut,
        (Spinner::Dealer, _) | (Spinner::Player | Spinner::TakenOver(_), None) => Verdict::OfDealer,
    };
    let lit = coin_lights(spun);
    Spun {
        shown: Results {
            outcome: Some(outcome),
            heads,
            tails,
            odds: 0,
            lights: board.picture(lit.iter().copied()),
            cards: Vec::new(),
            since: now,
        },
        players: Some(outcome),
        // In a run-out as well: who wagered between the game's end and the run-out has a wager in the main area.
        to_bonus_area: triple,
        verdict,
    }
}

fn coins_verdict(spinner: Spinner, ended: coins_law::GameEnd) -> Verdict {
    match ended {
        coins_law::GameEnd::SpinnerWon => {
            let goes_on = match spinner {
                Spinner::Player => true,
                Spinner::TakenOver(why) => match why {
                    TakeOver::Stopped => coins_law::TakeOver::Stopped,
                    TakeOver::FirstThree => coins_law::TakeOver::FirstThreeInvalid,
                    TakeOver::InvalidSpins => coins_law::TakeOver::Directed(coins_law::Ground::ThreeConsecutiveInvalid),
                    TakeOver::Relieved => coins_law::TakeOver::Directed(coins_law::Ground::UnableOrUnwilling),
                }
                .comes_back(),
                Spinner::Dealer | Spinner::RunOut(_) => false,
            };
            Verdict::Won { goes_on }
        }
        coins_law::GameEnd::SpinnerLost | coins_law::GameEnd::SpinnerRetired => Verdict::Lost { goes_on: false },
        coins_law::GameEnd::BoxerDecision => Verdict::OfDealer,
    }
}

/// As many lights of the side as coins show it: two, or all three. The law leaves the picture to the house (Qld 1998 s479).
fn coin_lights(spun: coins::Spun) -> &'static [&'static str] {
    match spun {
        coins::Spun::Heads => &["heads_1", "heads_2"],
        coins::Spun::TripleHeads => &["heads_1", "heads_2", "heads_3"],
        coins::Spun::Tails => &["tails_1", "tails_2"],
        coins::Spun::TripleTails => &["tails_1", "tails_2", "tails_3"],
    }
}
