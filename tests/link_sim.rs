//! Simulated devices on ptys against the gateway's port tasks: a real port, real time, every wait on a condition.

#![cfg(feature = "sim")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test looks for one input among many")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tablegate::device::{self, DeviceHandle, PortConfig, TumblerBuild, Wish};
use tablegate::gateway::SystemClock;
use tablegate::sim::{
    Faults, Garble, Hearing, Lamps, LampsSetup, Reader, Setup, Spun, StuckAt, Terminal, TerminalSetup, Tumbler,
    TumblerSetup,
};
use tablegate::table::event::DeviceOfflineReason;
use tablegate::table::indicators::{LampPicture, Readout, TumblerWish};
use tablegate::table::input::{Arrival, Contact as Wired, DeviceKind, DeviceStatus, Input, Key};
use tablegate::wire::message::{self, Contact, Cover, Level, Sensing};
use tokio::sync::mpsc;

/// Everything that should happen does so within this, on a busy machine too.
const SOON: Duration = Duration::from_secs(20);

/// A gateway's port.
struct Desk {
    handle: DeviceHandle,
    inputs: mpsc::Receiver<Arrival>,
}

impl Desk {
    fn new(kind: DeviceKind, path: &Path) -> Desk {
        let (sender, inputs) = mpsc::channel(64);
        let config = PortConfig {
            kind,
            path: path.to_owned(),
            baud: 115_200,
            table: "TS-07".to_owned(),
            lamps_needed: if kind == DeviceKind::LayoutLamps { 50 } else { 0 },
            tumbler: TumblerBuild::Covered,
        };
        let handle = device::start(config, sender, Arc::new(SystemClock::start()));
        Desk { handle, inputs }
    }

    /// The next input that is looked for; others before it are passed over.
    async fn input<T>(&mut self, what: &str, mut find: impl FnMut(&Input) -> Option<T>) -> T {
        let mut passed = Vec::new();
        loop {
            match tokio::time::timeout(SOON, self.inputs.recv()).await {
                Ok(Some(arrival)) => match find(&arrival.input) {
                    Some(found) => return found,
                    None => passed.push(arrival.input),
                },
                Ok(None) => panic!("the port's task ended"),
                Err(_) => panic!(
                    "no {what} within {SOON:?}; saw {passed:#?}; {:?}",
                    *self.handle.report.borrow()
                ),
            }
        }
    }

    async fn up(&mut self) -> DeviceStatus {
        self.input("device up", |input| match input {
            Input::DeviceUp { status, .. } => Some(status.clone()),
            _ => None,
        })
        .await
    }

    async fn down(&mut self) -> DeviceOfflineReason {
        self.input("device down", |input| match input {
            Input::DeviceDown { reason, .. } => Some(*reason),
            _ => None,
        })
        .await
    }

    fn readout(&self, entry: u32, text: &str, for_ms: u32) {
        self.handle.wish.send_modify(|wish| {
            let serial = if let Wish::Terminal(old) = wish {
                old.serial + 1
            } else {
                1
            };
            *wish = Wish::Terminal(Readout {
                text: text.to_owned(),
                blink: false,
                entry,
                for_ms,
                serial,
            });
        });
    }

    async fn entry(&mut self) -> (Vec<Key>, u32, bool) {
        self.input("entry", |input| match input {
            Input::Entry {
                shown, entry, stale, ..
            } => Some((shown.clone(), *entry, *stale)),
            _ => None,
        })
        .await
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("port");
    (folder, port)
}

async fn terminal(port: &Path) -> (Terminal, Desk) {
    let terminal = Terminal::start(Setup::new(port, "T-1", 1), TerminalSetup::default()).unwrap();
    let mut desk = Desk::new(DeviceKind::Terminal, port);
    desk.up().await;
    desk.readout(1, "", 0);
    terminal
        .wait("the first entry", |view| view.entry == 1, SOON)
        .await
        .unwrap();
    (terminal, desk)
}

#[tokio::test]
async fn a_terminal_keeps_the_last_three_keys_and_locks_after_enter() {
    let (_folder, port) = folder();
    let (terminal, mut desk) = terminal(&port).await;
    for key in [2, 1, 3, 6] {
        terminal.press(key).await;
    }
    assert_eq!(terminal.view().readout, "136");
    terminal.enter().await;
    terminal.press(5).await;
    terminal.enter().await;
    assert_eq!(terminal.view().ignored, 2);
    let numbers = [1, 3, 6].map(Key::Number).to_vec();
    assert_eq!(desk.entry().await, (numbers, 1, false));
    // Text until a key is taken, and a new number drops the keys.
    desk.readout(2, "136", u32::MAX);
    let view = terminal.wait("the text", |view| view.entry == 2, SOON).await.unwrap();
    assert_eq!((view.readout.as_str(), view.keys.len(), view.locked), ("136", 0, false));
    terminal.press(4).await;
    assert_eq!(terminal.view().readout, "4");
    // NO_SPIN clears, stands alone, and a number after it begins afresh.
    terminal.press(21).await;
    assert_eq!(terminal.view().readout, "X");
    terminal.press(2).await;
    assert_eq!(terminal.view().readout, "2");
    // A text with a limit ends by itself.
    desk.readout(2, "E03", 200);
    terminal
        .wait("the code", |view| view.readout == "E03", SOON)
        .await
        .unwrap();
    terminal
        .wait("its end", |view| view.readout == "2", SOON)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_bell_is_counted_and_keys_pressed_without_a_session_are_gone() {
    let (_folder, port) = folder();
    let (terminal, mut desk) = terminal(&port).await;
    terminal.ring().await;
    let bell = |input: &Input| match input {
        Input::Contact(report) if report.contact == Wired::Bell => Some(report.clone()),
        _ => None,
    };
    let report = desk.input("bell", bell).await;
    assert_eq!((report.closings, report.closed), (1, true));
    terminal.unplug().await;
    desk.down().await;
    terminal
        .wait("no session", |view| view.line.hearing == Hearing::NoSession, SOON)
        .await
        .unwrap();
    assert_eq!(terminal.view().readout, "---");
    terminal.press(1).await;
    terminal.ring().await;
    terminal.turn(Contact::SupervisorKey, Level::Closed).await;
    terminal.replug().await;
    let DeviceStatus::Terminal(status) = desk.up().await else {
        panic!("no terminal");
    };
    let found = |contact| {
        status
            .contacts
            .iter()
            .find(|report| report.contact == contact)
            .unwrap()
            .clone()
    };
    assert_eq!(
        found(Wired::Bell).closings,
        2,
        "a bell is a fact, even when nobody heard it"
    );
    assert!(found(Wired::SupervisorKey).closed);
    assert!(status.shown.is_empty());
    desk.readout(2, "", 0);
    terminal.wait("entry 2", |view| view.entry == 2, SOON).await.unwrap();
    terminal.press(3).await;
    let key = desk.input("key", |input| match input {
        Input::Key { key, entry, .. } => Some((*key, *entry)),
        _ => None,
    });
    assert_eq!(key.await, (Key::Number(3), 2));
}

#[tokio::test]
async fn a_tumbler_spins_and_obeys_its_inhibit() {
    let (_folder, port) = folder();
    let tumbler = Tumbler::start(
        Setup::new(&port, "D-1", 1),
        TumblerSetup {
            spin: Duration::from_millis(20),
            counters: u32::MAX - 1,
            ..TumblerSetup::default()
        },
    )
    .unwrap();
    let mut desk = Desk::new(DeviceKind::Tumbler, &port);
    desk.up().await;
    assert_eq!(tumbler.spin(3).await, Spun::Started);
    let rest = desk.input("three spins", |input| match input {
        Input::Tumbler { report, .. } if report.spins == 1 => Some((report.activations, report.dice.clone())),
        _ => None,
    });
    assert_eq!(
        rest.await,
        (1, None),
        "counters wrap, and nothing is told under the cover"
    );
    let inhibit = TumblerWish {
        inhibit: true,
        dice_allowed: false,
    };
    desk.handle.wish.send_replace(Wish::Tumbler(inhibit));
    tumbler.wait("the inhibit", |view| view.inhibited, SOON).await.unwrap();
    assert_eq!(tumbler.spin(1).await, Spun::Inhibited);
    tumbler.load_dice([1, 3, 6]).await;
    tumbler.cover(Cover::Off).await;
    let dice = desk.input("a reading", |input| match input {
        Input::Tumbler { report, .. } => report.dice.clone(),
        _ => None,
    });
    assert_eq!(dice.await.faces, Some([1, 3, 6]));
}

#[tokio::test]
async fn a_tumbler_that_reads_under_its_cover_is_found_out_and_not_heard() {
    let (_folder, port) = folder();
    let tumbler = Tumbler::start(Setup::new(&port, "D-1", 1), TumblerSetup::default()).unwrap();
    tumbler.load_dice([2, 4, 5]).await;
    tumbler.reader(Reader::Cheating).await;
    let mut desk = Desk::new(DeviceKind::Tumbler, &port);
    let mut told = Vec::new();
    desk.input("the fault", |input| {
        told.push(format!("{input:?}"));
        (*input == Input::ReadUnderCover).then_some(())
    })
    .await;
    tumbler.spin(1).await;
    desk.input("rest", |input| {
        told.push(format!("{input:?}"));
        matches!(input, Input::Tumbler { report, .. } if report.spins == 1).then_some(())
    })
    .await;
    told.push(format!("{:?}", desk.handle.report.borrow()));
    assert!(!told.concat().contains("2, 4, 5"), "{told:#?}");
}

#[tokio::test]
async fn lamps_show_measure_and_break() {
    let (_folder, port) = folder();
    let lamps = Lamps::start(Setup::new(&port, "L-1", 1), LampsSetup::default()).unwrap();
    let mut desk = Desk::new(DeviceKind::LayoutLamps, &port);
    desk.up().await;
    let lit = |wanted: &'static [u8], measured| {
        move |input: &Input| match input {
            Input::Lamps(report) => (report.lit == wanted && report.measured == measured).then_some(()),
            _ => None,
        }
    };
    let show = |bits: &[u8]| {
        Wish::Lamps(LampPicture {
            lit: bits.to_vec(),
            blink: false,
        })
    };
    desk.handle.wish.send_replace(show(&[0b11, 0, 0x80]));
    desk.input("the picture", lit(&[0b11, 0, 0x80], true)).await;
    assert_eq!(lamps.view().lit, [0, 1, 23].into());
    lamps.stick(23, StuckAt::Dark).await;
    desk.input("a dark lamp", lit(&[0b11], true)).await;
    lamps.stick(2, StuckAt::Lit).await;
    desk.input("a lamp lit wrongly", lit(&[0b111], true)).await;
    lamps.sense(Sensing::AsCommanded).await;
    desk.input("what was commanded", lit(&[0b11, 0, 0x80], false)).await;
    // Without a host they go dark after the hold time; the world still sees the lamp that is stuck.
    lamps.reboot().await;
    assert_eq!(lamps.view().lit, [2].into());
    desk.down().await;
    desk.up().await;
    lamps
        .wait("the whole picture again", |view| view.commanded.len() == 3, SOON)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_bad_line_loses_and_repeats_nothing() {
    let seed = 20_260_101;
    let (_folder, port) = folder();
    let terminal = Terminal::start(Setup::new(&port, "T-1", seed), TerminalSetup::default()).unwrap();
    let mut desk = Desk::new(DeviceKind::Terminal, &port);
    desk.up().await;
    desk.readout(1, "", 0);
    terminal
        .wait("the first entry", |view| view.entry == 1, SOON)
        .await
        .unwrap();
    terminal
        .set_faults(Faults {
            lost: 5,
            repeated: 15,
            flipped: 3,
            noise: 20,
            ..Faults::default()
        })
        .await;
    for round in 0..40_u32 {
        let key = round % 6 + 1;
        terminal.press(key).await;
        let got = desk.input("a key", |input| match input {
            Input::Key { key, .. } => Some(key.number()),
            Input::DeviceDown { .. } => panic!("the line is bad, not dead"),
            _ => None,
        });
        assert_eq!(got.await, key, "round {round}, seed {seed}");
    }
}

#[tokio::test]
async fn wrong_devices_wrong_baud_and_loops_are_told() {
    let (_folder, port) = folder();
    let setup = Setup {
        pretends: Some(message::DeviceKind::Terminal),
        ..Setup::new(&port, "D-1", 1)
    };
    let tumbler = Tumbler::start(setup, TumblerSetup::default()).unwrap();
    let mut desk = Desk::new(DeviceKind::Tumbler, &port);
    assert_eq!(desk.down().await, DeviceOfflineReason::WrongDevice);
    tumbler.pretend(None).await;
    tumbler.reboot().await;
    desk.up().await;
    for garble in [Garble::WrongBaud, Garble::Echo] {
        tumbler
            .set_faults(Faults {
                garble,
                ..Faults::default()
            })
            .await;
        tumbler.reboot().await;
        let said = desk.input("an odd line", |input| match input {
            Input::Condition {
                text, standing: true, ..
            } => Some(text.clone()),
            _ => None,
        });
        // Real time: garbage comes as fast as a device would send it, until the port says what it thinks of it.
        let mut again = tokio::time::interval(Duration::from_millis(20));
        let noise = async {
            loop {
                again.tick().await;
                tumbler.noise(100).await;
            }
        };
        let said = if garble == Garble::WrongBaud {
            tokio::select! { said = said => said, () = noise => unreachable!() }
        } else {
            said.await
        };
        assert!(
            said.contains(if garble == Garble::Echo { "loop" } else { "baud" }),
            "{said}"
        );
        tumbler.set_faults(Faults::default()).await;
        tumbler.reboot().await;
        desk.up().await;
    }
}

#[tokio::test]
async fn stale_keys_are_marked_and_a_flood_is_a_noisy_link() {
    let (_folder, port) = folder();
    let (terminal, mut desk) = terminal(&port).await;
    terminal.stale_keys(5, Duration::from_secs(60)).await;
    for _ in 0..5 {
        let stale = desk.input("a key", |input| match input {
            Input::Key { stale, .. } => Some(*stale),
            _ => None,
        });
        assert!(stale.await);
    }
    terminal.flood(5000).await;
    assert_eq!(desk.down().await, DeviceOfflineReason::Noisy);
}

#[tokio::test]
async fn another_pty_under_the_same_name_is_found() {
    let (_folder, port) = folder();
    let mut desk = Desk::new(DeviceKind::Tumbler, &port);
    let tumbler = Tumbler::start(Setup::new(&port, "D-1", 1), TumblerSetup::default()).unwrap();
    desk.up().await;
    for _ in 0..2 {
        tumbler.unplug().await;
        assert!(!port.is_symlink(), "the name goes with the plug");
        assert_eq!(desk.down().await, DeviceOfflineReason::PortGone);
        tumbler.replug().await;
        desk.up().await;
    }
    drop(tumbler);
    assert_eq!(desk.down().await, DeviceOfflineReason::PortGone);
}
