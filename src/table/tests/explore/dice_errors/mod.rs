//! Errors planted in dice tables, by what they break.

mod keeping;
mod others;
mod play;

use super::{dice, planted};
use crate::table::Table;
use crate::table::dice::phase::{Entered, Phase};
use crate::table::game::Play;
use crate::table::input::{Contact, DeviceKind, Input, OperatorAct};
use crate::table::mode::Mode;
use keeping::{ENDS, LIMITS, RECOVERY};
use others::{IN_SIGHT, SILENT, THROWN};
use play::{ACCEPTED, LAMPS, RESULTS};

fn phase(table: &Table) -> Option<&Phase> {
    table.state.phase()
}

fn phase_mut(table: &mut Table) -> Option<&mut Phase> {
    match &mut table.state.mode {
        Mode::Open(Play::Dice(phase)) => Some(phase),
        _ => None,
    }
}

fn entered(table: &Table) -> Option<&Entered> {
    match phase(table) {
        Some(Phase::Entered(entered)) => Some(entered),
        _ => None,
    }
}

fn entered_mut(table: &mut Table) -> Option<&mut Entered> {
    match phase_mut(table) {
        Some(Phase::Entered(entered)) => Some(entered),
        _ => None,
    }
}

fn online(table: &mut Table, kind: DeviceKind, online: bool) {
    table
        .state
        .devices
        .entry(kind)
        .and_modify(|known| known.online = online);
}

fn is_bell(input: &Input) -> bool {
    matches!(input, Input::Contact(report) if report.contact == Contact::Bell)
}

fn asks(input: &Input, act: &OperatorAct) -> bool {
    matches!(input, Input::Operator { act: asked, .. } if asked == act)
}

fn without_locks(table: &mut Table) {
    table.state.locks.clear();
}

#[test]
fn errors_at_other_dice_tables_are_found() {
    planted::are_found(&dice::STYLE_B, THROWN);
    planted::are_found(&dice::COVERED, SILENT);
    planted::are_found(&dice::OPEN, IN_SIGHT);
}

#[test]
fn wrong_lamps_are_found() {
    planted::are_found(&dice::STYLE_A, LAMPS);
}

#[test]
fn wrong_results_are_found() {
    planted::are_found(&dice::STYLE_A, RESULTS);
}

#[test]
fn what_must_not_be_accepted_is_found() {
    planted::are_found(&dice::STYLE_A, ACCEPTED);
}

#[test]
fn what_is_not_recovered_is_found() {
    planted::are_found(&dice::STYLE_A, RECOVERY);
}

#[test]
fn rounds_without_an_end_are_found() {
    planted::are_found(&dice::STYLE_A, ENDS);
}

#[test]
fn broken_limits_are_found() {
    planted::are_found(&dice::STYLE_A, LIMITS);
}
