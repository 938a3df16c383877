//! The simulated dealer against a table of a few lines: what the dealer sees is what the dealer goes by.

#![cfg(feature = "sim")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test may panic, and looks for few inputs among many"
)]

use std::sync::Arc;
use std::time::Duration;
use tablegate::device::{self, DeviceHandle, PortConfig, TumblerBuild, Wish};
use tablegate::gateway::SystemClock;
use tablegate::sim::{
    Dealer, Lamps, LampsSetup, Order, Pace, Setup, Stuck, Terminal, TerminalSetup, Tumbler, TumblerSetup,
};
use tablegate::table::indicators::{LampPicture, Readout, TumblerWish};
use tablegate::table::input::{Arrival, Contact, Cover, DeviceKind, Input, Motion};
use tablegate::time::Clock;
use tokio::sync::mpsc;

/// Opens bets after three spins, closes them at the bell, lights bit 0 at an entry after the uncover, darkens it at the next one.
struct Table {
    tumbler: DeviceHandle,
    terminal: DeviceHandle,
    lamps: DeviceHandle,
    readout: Readout,
    base: u32,
    refusals: u32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    Ready,
    Betting,
    Closed,
    Entered,
}

impl Table {
    fn show(&mut self, text: &str, entry: u32) {
        self.readout = Readout {
            text: text.to_owned(),
            entry,
            serial: self.readout.serial + 1,
            ..Readout::default()
        };
        self.terminal.wish.send_replace(Wish::Terminal(self.readout.clone()));
    }

    fn inhibit(&self, inhibit: bool) {
        let dice_allowed = false;
        self.tumbler
            .wish
            .send_replace(Wish::Tumbler(TumblerWish { inhibit, dice_allowed }));
    }

    fn light(&self, lit: &[u8]) {
        let lit = lit.to_vec();
        self.lamps
            .wish
            .send_replace(Wish::Lamps(LampPicture { lit, blink: false }));
    }

    async fn run(mut self, mut inputs: mpsc::Receiver<Arrival>) {
        let mut phase = Phase::Ready;
        let mut uncovered = false;
        while let Some(Arrival { input, .. }) = inputs.recv().await {
            match input {
                Input::DeviceUp { identity, .. } => match identity.kind {
                    DeviceKind::Terminal => self.show("", self.readout.entry + 1),
                    DeviceKind::Tumbler => self.inhibit(false),
                    _ => self.light(&[]),
                },
                Input::Tumbler { report, .. } => {
                    uncovered = report.cover == Cover::Off;
                    let rests = report.motion == Motion::AtRest;
                    if phase == Phase::Ready && rests && report.spins == self.base + 3 {
                        phase = Phase::Betting;
                        self.base = report.spins;
                        self.inhibit(true);
                    }
                }
                Input::Contact(report)
                    if report.contact == Contact::Bell && report.closed && phase == Phase::Betting =>
                {
                    phase = Phase::Closed;
                    self.show("", self.readout.entry + 1);
                }
                Input::Entry { shown, .. } => {
                    let entry = self.readout.entry + 1;
                    if phase == Phase::Closed && shown.len() == 3 && uncovered {
                        phase = Phase::Entered;
                        self.light(&[1]);
                        self.show("136", entry);
                    } else if phase == Phase::Entered && shown.is_empty() && self.refusals == 0 {
                        phase = Phase::Ready;
                        self.refusals = 1;
                        self.light(&[]);
                        self.inhibit(false);
                        self.show("", entry);
                    } else {
                        self.refusals = self.refusals.saturating_sub(1);
                        self.show("E32", entry);
                    }
                }
                _ => {}
            }
        }
    }
}

fn dealer(folder: &tempfile::TempDir) -> Dealer {
    let path = |name: &str| folder.path().join(name);
    let tumbler = TumblerSetup {
        spin: Duration::from_millis(20),
        ..TumblerSetup::default()
    };
    Dealer {
        order: Order::SpinsFirst,
        tumbler: Tumbler::start(Setup::new(path("tumbler"), "D-1", 1), tumbler).unwrap(),
        terminal: Terminal::start(Setup::new(path("terminal"), "T-1", 2), TerminalSetup::default()).unwrap(),
        lamps: Lamps::start(Setup::new(path("lamps"), "L-1", 3), LampsSetup::default()).unwrap(),
        pace: Pace {
            settle_after: Duration::from_millis(50),
            ..Pace::default()
        },
    }
}

#[tokio::test]
async fn a_dealer_plays_rounds_and_presses_again_when_it_was_too_early() {
    let folder = tempfile::tempdir().unwrap();
    let dealer = dealer(&folder);
    let (sender, inputs) = mpsc::channel(16);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let port = |kind, name: &str| {
        let config = PortConfig {
            kind,
            path: folder.path().join(name),
            baud: 115_200,
            table: "TS-07".to_owned(),
            lamps_needed: 0,
            tumbler: TumblerBuild::Covered,
        };
        device::start(config, sender.clone(), Arc::clone(&clock))
    };
    let table = Table {
        tumbler: port(DeviceKind::Tumbler, "tumbler"),
        terminal: port(DeviceKind::Terminal, "terminal"),
        lamps: port(DeviceKind::LayoutLamps, "lamps"),
        readout: Readout::default(),
        base: 0,
        refusals: 0,
    };
    tokio::spawn(table.run(inputs));
    for faces in [[1, 3, 6], [2, 2, 5], [4, 4, 4]] {
        let played = dealer.play(faces).await.unwrap();
        assert_eq!(played.lit, [0].into());
        assert_eq!(dealer.tumbler.view().faces, faces);
    }
    assert!(dealer.tumbler.view().covered);
    assert_eq!(dealer.tumbler.view().spins, 9);
}

#[tokio::test]
async fn a_dealer_without_a_table_says_what_was_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut dealer = dealer(&folder);
    dealer.pace.patience = Duration::from_millis(300);
    let stuck = dealer.play([1, 3, 6]).await.unwrap_err();
    assert!(matches!(&stuck, Stuck::Trouble(_)), "{stuck}");
    assert!(stuck.to_string().contains("bets to open"), "{stuck}");
}
