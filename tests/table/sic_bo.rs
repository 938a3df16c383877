//! "Sic-bo (Queensland)": as style A with a covered tumbler, or open; where the instruments at hand are silent, the house decides.

use crate::oracle;
use crate::scene::{Scene, play_with, sic_bo};
use std::time::Duration;
use tablegate::rules::sic_bo::machine::Tumbler;
use tablegate::rules::sic_bo::paytable::{Pays, Paytable};
use tablegate::rules::sic_bo::wagers;
use tablegate::rules::tai_sai::Wager;
use tablegate::rules::wager::Odds;
use tablegate::table::event::{Body, RoundHeldCause, RoundVoidedReason, TableLockedKind, TableLockedReason};
use tablegate::table::input::{Cover, DeviceKind, Flatness, Motion, OperatorAct};
use tablegate::table::{GameConfig, HousePolicy, SicBoConfig, TableConfig};

mod covered;
mod open;
mod open_devices;
mod policy;

fn with(tumbler: Tumbler, change: impl FnOnce(&mut SicBoConfig)) -> TableConfig {
    let mut config = sic_bo(tumbler);
    let GameConfig::SicBo(game) = &mut config.game else {
        panic!("another game than sic-bo")
    };
    change(game);
    config
}

/// Plays a script at an open table and recovers it from its events.
fn play(tumbler: Tumbler, script: impl FnOnce(&mut Scene)) {
    play_at(sic_bo(tumbler), script);
}

fn play_at(config: TableConfig, script: impl FnOnce(&mut Scene)) {
    play_with(config, |s| {
        s.open();
        s.forget();
        script(s);
        no_rule_of_another_land(s);
    });
}

/// Whatever happens cites Queensland, or nothing at hand.
fn no_rule_of_another_land(s: &Scene) {
    for recorded in &s.events {
        let foreign = recorded.event.rules.iter().find(|rule| !rule.starts_with("Qld "));
        assert!(foreign.is_none(), "{foreign:?} behind {:?}", recorded.event);
    }
    if let Some(Err(refusal)) = &s.answer {
        assert!(!refusal.rule.starts_with("NZ"), "{refusal:?}");
    }
}

fn supervisor_resumes(s: &mut Scene) {
    s.operator(OperatorAct::Resume);
    s.expect_done();
}
