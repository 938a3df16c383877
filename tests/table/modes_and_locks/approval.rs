//! What is approved: a digest that differs freezes, a device that isn't approved holds the next round.

use super::*;
use tablegate::table::event::{ActorKind, AlertRaised, SoftwareVerified};
use tablegate::table::input::Asker;
use tablegate::table::{Approval, ApprovedDevice};

/// The devices of every scene.
pub const DEVICES: [(DeviceKind, &str); 3] = [
    (DeviceKind::Tumbler, "T-0042"),
    (DeviceKind::Terminal, "E-0007"),
    (DeviceKind::LayoutLamps, "L-0003"),
];

const DIFFERS: &str = "The program is not the approved one.";
const DIGEST: (TableLockedReason, TableLockedKind) = (TableLockedReason::Digest, FREEZE);
const NOT_APPROVED: (TableLockedReason, TableLockedKind) = (TableLockedReason::DeviceNotApproved, HOLD);

/// These are approved, with the firmware that they have.
pub fn approved(devices: &[(DeviceKind, &str)]) -> Approval {
    let device = |(kind, serial): &(DeviceKind, &str)| ApprovedDevice {
        kind: *kind,
        serial_number: (*serial).to_owned(),
        firmware: "1.4".to_owned(),
        firmware_sha256: Some(vec![0xAB; 32]),
    };
    Approval::Enforced {
        devices: devices.iter().map(device).collect(),
        differs: None,
    }
}

fn differing(text: Option<&str>) -> Approval {
    match approved(&DEVICES) {
        Approval::Enforced { devices, .. } => Approval::Enforced {
            devices,
            differs: text.map(str::to_owned),
        },
        Approval::NotEnforced => unreachable!("it is enforced"),
    }
}

/// The texts of this alert, each time that it was raised.
fn told(s: &Scene, alert: &str) -> Vec<String> {
    let bodies = s.events.iter().map(|recorded| &recorded.event.body);
    let raised = bodies.filter_map(|body| match body {
        Some(Body::AlertRaised(AlertRaised { alert: name, text })) if name == alert => Some(text.clone()),
        _ => None,
    });
    raised.collect()
}

fn times_locked(s: &Scene) -> usize {
    let locked = |event: &&tablegate::table::event::Event| matches!(event.body, Some(Body::TableLocked(_)));
    s.events.iter().map(|recorded| &recorded.event).filter(locked).count()
}

#[test]
fn what_is_as_approved_holds_nothing() {
    let mut config = config();
    config.approval = approved(&DEVICES);
    play_with(config, |s| {
        s.expect_locks(&[]);
        s.open();
        s.reach_betting();
        s.restart();
        s.expect_locks(&[]);
        s.expect_phase("betting");
    });
}

#[test]
fn a_digest_that_differs_freezes_the_round_until_a_supervisors_word() {
    for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
        play(|s| {
            to(s);
            let phase = s.phase();
            s.config.approval = differing(Some(DIFFERS));
            s.restart();
            s.expect_locks(&[DIGEST]);
            assert_eq!(told(s, "digest_differs"), [DIFFERS]);
            s.expect_phase(&phase);
            s.key_in(&[1, 3, 6]);
            s.bell();
            s.expect_phase(&phase);
            s.act_as(technician(), OperatorAct::Resume);
            s.expect_refused();
            s.operator(OperatorAct::Resume);
            s.expect_done();
            s.expect_locks(&[]);
            assert!(!s.table.state().alerts.contains(&"digest_differs".to_owned()));
        });
    }
}

#[test]
fn it_is_judged_anew_at_each_start() {
    play(|s| {
        s.reach_betting();
        s.config.approval = differing(Some(DIFFERS));
        s.restart();
        unlock(s);
        s.expect_locks(&[]);
        s.restart();
        s.expect_locks(&[DIGEST]);
        let locked = times_locked(s);
        s.restart();
        s.expect_locks(&[DIGEST]);
        assert_eq!(times_locked(s), locked, "a lock that stands is not set again");
        s.config.approval = differing(Some("The configuration is not the approved one."));
        s.restart();
        s.expect_locks(&[DIGEST]);
        assert_eq!(
            told(s, "digest_differs"),
            [DIFFERS, DIFFERS, "The configuration is not the approved one."],
            "the alert names what differs now"
        );
        s.config.approval = differing(None);
        s.restart();
        s.expect_locks(&[]);
        s.expect_phase("betting");
    });
}

#[test]
fn a_void_ends_the_freeze_as_well() {
    play(|s| {
        s.reach_betting();
        s.config.approval = differing(Some(DIFFERS));
        s.restart();
        s.operator(OperatorAct::Void { reason: None });
        s.expect_done();
        s.expect_locks(&[]);
    });
}

#[test]
fn the_right_serial_number_with_other_firmware_is_not_approved() {
    for (firmware, image) in [("1.5", vec![0xAB; 32]), ("1.4", vec![0xCD; 32])] {
        let mut config = config();
        config.approval = Approval::Enforced {
            devices: DEVICES
                .iter()
                .map(|(kind, serial)| ApprovedDevice {
                    kind: *kind,
                    serial_number: (*serial).to_owned(),
                    firmware: if *serial == "T-0042" { firmware } else { "1.4" }.to_owned(),
                    firmware_sha256: Some(if *serial == "T-0042" {
                        image.clone()
                    } else {
                        vec![0xAB; 32]
                    }),
                })
                .collect(),
            differs: None,
        };
        let s = Scene::new(config);
        s.expect_locks(&[NOT_APPROVED]);
        let told = told(&s, "device_not_approved");
        assert!(told[0].contains("tumbler T-0042 has firmware 1.4"), "{told:?}");
    }
}

#[test]
fn a_device_that_said_nothing_of_its_image_may_say_it_later() {
    let mut config = config();
    config.approval = Approval::Enforced {
        devices: DEVICES
            .iter()
            .map(|(kind, serial)| ApprovedDevice {
                kind: *kind,
                serial_number: (*serial).to_owned(),
                firmware: "1.4".to_owned(),
                firmware_sha256: None,
            })
            .collect(),
        differs: None,
    };
    play_with(config, |s| s.expect_locks(&[]));
}

#[test]
fn the_serial_number_of_another_kind_of_device_is_not_approved() {
    let mut config = config();
    config.approval = approved(&[
        (DeviceKind::Terminal, "T-0042"),
        (DeviceKind::Terminal, "E-0007"),
        (DeviceKind::LayoutLamps, "L-0003"),
    ]);
    Scene::new(config).expect_locks(&[NOT_APPROVED]);
}

#[test]
fn every_device_that_waits_is_named_and_each_is_accepted_by_itself() {
    let accept = |serial: &str| OperatorAct::AcceptDevice {
        serial_number: serial.into(),
    };
    let mut config = config();
    config.approval = approved(&[]);
    play_with(config, |s| {
        s.expect_locks(&[NOT_APPROVED]);
        let texts = told(s, "device_not_approved");
        for (_, serial) in DEVICES {
            assert!(texts.last().unwrap().contains(serial), "{texts:?}");
        }
        for (accepted, (_, serial)) in DEVICES.iter().enumerate() {
            s.expect_locks(&[NOT_APPROVED]);
            s.operator(accept(serial));
            s.expect_done();
            assert_eq!(s.locks().is_empty(), accepted == 2);
        }
        s.restart();
        s.expect_locks(&[]);
        // Accepted was the device with the firmware that it had.
        s.offline(DeviceKind::Terminal);
        s.restart_while(|s| s.config.approval = approved(&DEVICES[1..]));
        s.expect_locks(&[]);
    });
}

#[test]
fn a_restart_tells_nothing_anew_of_devices_that_wait() {
    let mut config = config();
    config.approval = approved(&DEVICES[1..2]);
    play_with(config, |s| {
        let times = told(s, "device_not_approved").len();
        let alert = "device_not_approved".to_owned();
        s.operator(OperatorAct::AcknowledgeAlert { alert });
        s.expect_done();
        for _ in 0..2 {
            s.restart();
            s.expect_locks(&[NOT_APPROVED]);
            let texts = told(s, "device_not_approved");
            assert_eq!(texts.len(), times, "acknowledged, and nothing is new: {texts:?}");
        }
        // Another one is.
        s.restart_while(|s| s.config.approval = approved(&[]));
        let texts = told(s, "device_not_approved");
        assert!(
            texts.len() > times && texts.last().unwrap().contains("E-0007"),
            "{texts:?}"
        );
    });
}

#[test]
fn an_approval_that_approves_nothing_and_can_not_be_read_holds_both_ways() {
    let mut config = config();
    config.approval = Approval::Enforced {
        devices: Vec::new(),
        differs: Some("The file of approved digests can't be read.".into()),
    };
    play_with(config, |s| {
        s.expect_locks(&[DIGEST, NOT_APPROVED]);
        s.operator(OperatorAct::Unlock {
            procedure: "looked at the program".into(),
        });
        s.expect_done();
        s.expect_locks(&[NOT_APPROVED]);
    });
}

#[test]
fn digests_are_recorded_whatever_the_table_does_and_change_nothing() {
    for to in [Scene::reach_betting, Scene::reach_closed, Scene::reach_landed] {
        for (by, kind) in [
            (Asker::Floor, ActorKind::Floor),
            (Asker::Person(technician()), ActorKind::Technician),
        ] {
            play(|s| {
                to(s);
                s.config.approval = differing(Some(DIFFERS));
                s.restart();
                let before = (s.table.state(), s.table.indicators());
                let events = s.events.len();
                s.feed(Input::SoftwareVerified {
                    by: by.clone(),
                    verified: SoftwareVerified {
                        seed: vec![1],
                        ..SoftwareVerified::default()
                    },
                });
                let recorded: Vec<_> = s.events[events..].iter().map(|recorded| &recorded.event).collect();
                assert_eq!(recorded.len(), 1);
                assert!(matches!(recorded[0].body, Some(Body::SoftwareVerified(_))));
                assert_eq!(recorded[0].actor.as_ref().unwrap().kind(), kind);
                assert_eq!((s.table.state(), s.table.indicators()), before);
            });
        }
    }
}
