//! "Tai-sai, style B": no tumbler; bets open with the end of the last round and with the table; the bell closes them; the entry
//! follows.

use crate::scene::{MS, Scene, config_with, play_with, supervisor, technician};
use tablegate::rules::tai_sai::{Layout, Style};
use tablegate::table::event::{Body, OpeningCheck, RoundVoidedReason, TableLockedKind, TableLockedReason};
use tablegate::table::input::{DeviceKind, Key, OperatorAct};
use tablegate::table::{TableConfig, TaiSaiConfig};

mod a_round;
mod bets;
mod devices;
mod no_roll;
mod opening_checks;
mod people;
mod restarts;

fn cup(config: &mut TaiSaiConfig) {
    config.style = Style::B;
}

fn config() -> TableConfig {
    config_with(cup)
}

/// Plays a script at an open table with a dice cup.
fn play(script: impl FnOnce(&mut Scene)) {
    play_with(config(), |s| {
        s.open();
        s.expect_phase("betting");
        s.forget();
        script(s);
    });
}

fn to_the_bell(s: &mut Scene) {
    s.wait(5000);
    s.bell();
    s.expect_phase("closed");
}

fn to_the_entry(s: &mut Scene, faces: &[u8]) {
    to_the_bell(s);
    s.wait(4000);
    s.key_in(faces);
    s.wait(500);
    s.expect_phase("entered");
}

fn settle(s: &mut Scene) {
    s.wait(3500);
    s.enter();
}
