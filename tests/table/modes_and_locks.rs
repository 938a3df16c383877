//! "Modes and locks": what a table may do at all, what holds it, and what ends that.

use crate::oracle;
use crate::scene::{Scene, config, config_with, play, play_with, supervisor, technician};
use tablegate::rules::chip_and_throw::{ChipCause, CrapsThrow, Incident};
use tablegate::table::event::{Body, Mode, TableLockedKind, TableLockedReason};
use tablegate::table::incident::IncidentCause;
use tablegate::table::input::{Condition, Contact, DeviceKind, Input, Key, Motion, OperatorAct, Seal};

mod alerts;
mod approval;
mod device_codes;
mod freeze;
mod hold_next;
mod modes;

const HOLD: TableLockedKind = TableLockedKind::HoldNext;
const FREEZE: TableLockedKind = TableLockedKind::Freeze;

fn unlock(s: &mut Scene) {
    s.operator(OperatorAct::Unlock {
        procedure: "looked at, in order".into(),
    });
    s.expect_done();
}

fn condition(s: &mut Scene, condition: Condition, standing: bool) {
    s.feed(Input::Condition {
        condition,
        text: "from outside".into(),
        standing,
    });
}

#[test]
fn a_device_says_who_it_is_and_when_it_goes() {
    play_with(config(), |s| {
        s.offline(DeviceKind::Terminal);
        s.expect_events(&["DeviceOffline SILENT TERMINAL"]);
        s.online(DeviceKind::Terminal);
        s.expect_events(&["DeviceOnline TERMINAL"]);
        let serial = s
            .events
            .last()
            .and_then(|r| r.event.device.clone())
            .unwrap()
            .serial_number;
        assert_eq!(serial, "E-0007");
    });
}

#[test]
fn a_fault_of_a_devices_own_is_recorded_once_and_cleared() {
    play(|s| {
        let fault = |raised| Input::DeviceFault {
            kind: DeviceKind::Tumbler,
            code: 7,
            text: "fan".into(),
            raised,
        };
        s.feed(fault(true));
        s.feed(fault(true));
        s.feed(fault(false));
        s.expect_events(&["DeviceFaulted code:7 TUMBLER", "DeviceFaultCleared code:7 TUMBLER"]);
    });
}

#[test]
fn an_alert_is_acknowledged_by_a_person() {
    play(|s| {
        condition(s, Condition::BrokerUnreachable, true);
        let alert = s.state().alerts[0].clone();
        s.forget();
        s.operator(OperatorAct::AcknowledgeAlert { alert: alert.clone() });
        s.expect_done();
        s.expect_events(&["AlertAcknowledged"]);
        s.operator(OperatorAct::AcknowledgeAlert {
            alert: "no_such_alert".into(),
        });
        s.expect_refused();
    });
}

#[test]
fn an_incident_is_recorded_by_a_person_with_what_the_law_allows() {
    play(|s| {
        s.whole_round(&[1, 3, 6]);
        s.forget();
        s.operator(OperatorAct::RecordIncident {
            cause: IncidentCause::Listed(Incident::Chip(ChipCause::MovedByAnother)),
            note: Some("seat 4".into()),
        });
        s.expect_done();
        let answer = format!("{:?}", s.answer);
        assert!(
            answer.contains("may settle it as if it lay in place (NZ Div 9 r4.9)"),
            "{answer}"
        );
        let (recorded, rules) = {
            let event = &s.events.last().unwrap().event;
            let Some(Body::IncidentRecorded(recorded)) = &event.body else {
                panic!("{event:?}");
            };
            (recorded.clone(), event.rules.clone())
        };
        assert_eq!(rules, ["NZ Div 9 r4.9"]);
        assert_eq!((recorded.of_round, recorded.note.as_str()), (1, "seat 4"));
        assert!(recorded.allows.starts_with("if it is apparent"), "{recorded:?}");
        s.expect_events(&["IncidentRecorded chip_moved_by_another by:supervisor"]);
    });
}

#[test]
fn a_throw_at_craps_is_recorded_by_the_rules_of_craps() {
    play(|s| {
        s.operator(OperatorAct::RecordIncident {
            cause: IncidentCause::Listed(Incident::CrapsThrow(CrapsThrow::MissedFarEnd)),
            note: None,
        });
        s.expect_done();
        assert_eq!(
            s.events.last().unwrap().event.rules,
            ["Qld 2004 sch 4 s21(1)(b), s22(2)(b)"]
        );
        s.expect_events(&["IncidentRecorded craps_missed_far_end"]);
    });
}

#[test]
fn what_the_law_does_not_list_needs_a_note() {
    play(|s| {
        for note in [None, Some(String::new()), Some("x".repeat(201))] {
            s.operator(OperatorAct::RecordIncident {
                cause: IncidentCause::Other,
                note,
            });
            s.expect_refused();
        }
        s.operator(OperatorAct::RecordIncident {
            cause: IncidentCause::Other,
            note: Some("a wrong result was paid".into()),
        });
        s.expect_events(&["IncidentRecorded other by:supervisor"]);
    });
}

#[test]
fn a_key_that_the_game_does_not_know_is_not_lost_on_a_closed_table() {
    play_with(config_with(|_| ()), |s| {
        s.press_key(Key::Other(16));
        s.enter();
        s.expect_readout("CLO");
        s.expect_no_events();
    });
}
