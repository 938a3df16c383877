//! Alerts of conditions outside the table: what they tell, and when they go.

use super::*;
use tablegate::table::alert;
use tablegate::table::input::Flatness;
use tablegate::table::view::AlertLine;

fn odd(s: &mut Scene, kind: DeviceKind, text: &str, standing: bool) {
    s.feed(Input::Condition {
        condition: Condition::LinkOdd(kind),
        text: text.into(),
        standing,
    });
}

/// What the alert of this name says; `None` when it doesn't stand.
fn says(s: &Scene, name: &str) -> Option<String> {
    let stands = s.table.state().alerts.iter().any(|alert| alert == name);
    assert_eq!(
        shown(s, name).is_some_and(|alert| !alert.over),
        stands,
        "the floor and people agree"
    );
    shown(s, name).filter(|_| stands).map(|alert| alert.text)
}

/// The alert of this name as people see it.
fn shown(s: &Scene, name: &str) -> Option<AlertLine> {
    let alerts = s.table.situation().alerts;
    alerts.into_iter().find(|alert| alert.alert == name)
}

fn acknowledge(s: &mut Scene, name: &str) {
    s.operator(OperatorAct::AcknowledgeAlert { alert: name.into() });
    s.expect_done();
}

#[test]
fn one_alert_tells_of_every_link_that_is_odd_and_of_no_other() {
    play(|s| {
        odd(s, DeviceKind::LayoutLamps, "lamps: baud or noise?", true);
        assert_eq!(says(s, "link_odd").as_deref(), Some("lamps: baud or noise?"));
        s.forget();
        odd(s, DeviceKind::LayoutLamps, "lamps: baud or noise?", true);
        s.expect_no_events();
        odd(s, DeviceKind::Terminal, "terminal: a loop?", true);
        s.expect_events(&["AlertRaised"]);
        assert_eq!(
            says(s, "link_odd").as_deref(),
            Some("terminal: a loop?; lamps: baud or noise?")
        );
        s.forget();
        odd(s, DeviceKind::LayoutLamps, "in order", false);
        s.expect_events(&["AlertRaised"]);
        assert_eq!(says(s, "link_odd").as_deref(), Some("terminal: a loop?"));
        s.forget();
        odd(s, DeviceKind::Terminal, "in order", false);
        s.expect_events(&["AlertCleared"]);
        assert_eq!(says(s, "link_odd"), None);
    });
}

#[test]
fn a_condition_goes_on_standing_through_a_restart_until_it_is_found_to_be_over() {
    for (standing, name) in [
        (Condition::BrokerUnreachable, "broker_unreachable"),
        (Condition::BrokerRefuses, "broker_refuses"),
        (Condition::NobodyListening, "nobody_listening"),
        (Condition::TakenOver, "taken_over"),
        (Condition::JournalSlow, "journal_slow"),
        (Condition::JournalUnreadable, "journal_unreadable"),
        (Condition::DiskLow, "disk_low"),
        (Condition::DiskFilling, "disk_filling"),
        (Condition::ClockUnsynchronised, "clock_unsynchronised"),
        (Condition::DeviceOffline, "device_offline"),
    ] {
        play(|s| {
            condition(s, standing, true);
            assert!(says(s, name).is_some(), "{name}");
            acknowledge(s, name);
            s.restart();
            assert!(says(s, name).is_some(), "{name} stands");
            assert!(shown(s, name).unwrap().acknowledged, "{name}: a restart is no news");
            condition(s, standing, true);
            assert!(shown(s, name).unwrap().acknowledged, "{name}: raised once");
            condition(s, standing, false);
            assert_eq!(shown(s, name), None, "{name}: it was acknowledged, and is over");
            condition(s, standing, true);
            assert!(
                !shown(s, name).unwrap().acknowledged,
                "{name}: raised again, it is news"
            );
        });
    }
}

/// A run finds again one by one what the run before it told of together.
#[test]
fn causes_that_are_found_again_one_by_one_after_a_restart_are_no_news() {
    for which in [
        Condition::BrokerRefuses,
        Condition::BrokerUnreachable,
        Condition::CertificateRefused,
    ] {
        play(|s| {
            let name = alert::Name::of_condition(which).as_str();
            let tell = |s: &mut Scene, text: &str| {
                s.feed(Input::Condition {
                    condition: which,
                    text: text.into(),
                    standing: true,
                });
            };
            tell(s, "a: events; a: state; a: status");
            acknowledge(s, name);
            s.restart();
            s.forget();
            for text in ["a: status", "a: state; a: status", "a: events; a: state; a: status"] {
                tell(s, text);
                s.expect_no_events();
                assert!(shown(s, name).unwrap().acknowledged, "{name}: {text}");
            }
            // What is part of it once all was found, or is no part of it, is news.
            tell(s, "a: status");
            s.expect_events(&["AlertRaised"]);
            acknowledge(s, name);
            s.restart();
            s.forget();
            tell(s, "b: status");
            s.expect_events(&["AlertRaised"]);
        });
    }
}

#[test]
fn what_is_known_of_links_is_known_anew_after_a_restart() {
    play(|s| {
        odd(s, DeviceKind::Tumbler, "tumbler: an echo", true);
        s.restart();
        assert_eq!(says(s, "link_odd"), None);
        assert!(shown(s, "link_odd").unwrap().over, "and nobody has acknowledged it");
        odd(s, DeviceKind::Tumbler, "tumbler: an echo", true);
        assert!(says(s, "link_odd").is_some());
    });
}

#[test]
fn what_is_over_before_anybody_acknowledged_it_is_shown_until_somebody_does() {
    play(|s| {
        for times in 1..=3 {
            condition(s, Condition::BrokerUnreachable, true);
            assert!(says(s, "broker_unreachable").is_some());
            condition(s, Condition::BrokerUnreachable, false);
            let over = shown(s, "broker_unreachable").unwrap();
            assert!(over.over && !over.acknowledged, "{over:?}");
            assert_eq!(over.times, times);
        }
        s.restart();
        s.forget();
        condition(s, Condition::BrokerUnreachable, false);
        s.expect_no_events();
        assert_eq!(
            shown(s, "broker_unreachable").unwrap().times,
            3,
            "a restart loses nothing"
        );
        acknowledge(s, "broker_unreachable");
        s.expect_events(&["AlertAcknowledged"]);
        assert_eq!(shown(s, "broker_unreachable"), None);
        s.operator(OperatorAct::AcknowledgeAlert {
            alert: "broker_unreachable".into(),
        });
        s.expect_refused();
    });
}

#[test]
fn whoever_unlocks_by_a_procedure_has_seen_what_locked() {
    play(|s| {
        condition(s, Condition::JournalDamaged, true);
        assert!(says(s, "journal_damaged").is_some());
        s.operator(OperatorAct::Unlock {
            procedure: "the disk was replaced".into(),
        });
        s.expect_done();
        assert_eq!(shown(s, "journal_damaged"), None);
    });
}

#[test]
fn what_nobody_need_know_afterwards_goes_without_a_word() {
    play(|s| {
        s.reach_closed();
        s.tumbler.reading = Some((Flatness::NotFlat, None));
        s.uncover();
        s.wait(500);
        assert!(says(s, "round_held").is_some());
        s.operator(OperatorAct::Resume);
        s.expect_done();
        assert_eq!(shown(s, "round_held"), None);
    });
}

#[test]
fn the_devices_that_are_away_are_named_anew_when_they_change() {
    let away = |s: &mut Scene, text: &str, standing| {
        s.feed(Input::Condition {
            condition: Condition::DeviceOffline,
            text: text.into(),
            standing,
        });
    };
    play(|s| {
        away(s, "away: tumbler", true);
        s.forget();
        away(s, "away: tumbler", true);
        s.expect_no_events();
        away(s, "away: terminal, tumbler", true);
        s.expect_events(&["AlertRaised"]);
        assert_eq!(says(s, "device_offline").as_deref(), Some("away: terminal, tumbler"));
        away(s, "all there", false);
        assert_eq!(says(s, "device_offline"), None);
    });
}

#[test]
fn what_was_over_at_once_stands_until_somebody_acknowledges_it_through_a_restart() {
    play(|s| {
        condition(s, Condition::EventSetAside, true);
        s.restart();
        assert!(says(s, "event_set_aside").is_some());
        s.operator(OperatorAct::AcknowledgeAlert {
            alert: "event_set_aside".into(),
        });
        s.expect_done();
        assert_eq!(says(s, "event_set_aside"), None);
        condition(s, Condition::EventSetAside, true);
        assert!(says(s, "event_set_aside").is_some(), "the next one is told again");
    });
}

/// Whatever condition stands: its alert tells the newest cause, raised once for each and seen again by whoever has acknowledged another.
#[test]
fn an_alert_tells_the_newest_cause_and_is_seen_again_when_that_is_another() {
    let conditions = [
        Condition::DiskLow,
        Condition::DiskFilling,
        Condition::JournalFailed,
        Condition::JournalMovedAside,
        Condition::JournalDamaged,
        Condition::JournalRolledBack,
        Condition::JournalSlow,
        Condition::JournalUnreadable,
        Condition::BrokerRefuses,
        Condition::BrokerUnreachable,
        Condition::NobodyListening,
        Condition::TakenOver,
        Condition::DeviceOffline,
        Condition::ClockUnsynchronised,
        Condition::CertificateExpires,
        Condition::CertificateRefused,
    ];
    // The second differs from the first beyond what the state keeps of a text.
    let long = "a cause that is told at length ".repeat(8);
    let causes = [
        "one cause".to_owned(),
        long.clone(),
        format!("{long}and ends otherwise"),
    ];
    for which in conditions {
        play(|s| {
            let name = alert::Name::of_condition(which).as_str();
            let tell = |s: &mut Scene, text: &str| {
                s.feed(Input::Condition {
                    condition: which,
                    text: text.into(),
                    standing: true,
                });
            };
            for (times, text) in causes.iter().enumerate() {
                s.forget();
                tell(s, text);
                s.expect_events(match which {
                    Condition::DiskLow
                    | Condition::JournalFailed
                    | Condition::JournalMovedAside
                    | Condition::JournalDamaged
                    | Condition::JournalRolledBack
                        if times == 0 =>
                    {
                        &["TableLocked", "AlertRaised"]
                    }
                    _ => &["AlertRaised"],
                });
                let alert = shown(s, name).unwrap();
                assert!(!alert.acknowledged && !alert.over, "{name}: {alert:?}");
                assert!(
                    text.starts_with(alert.text.trim_end_matches(" ...")),
                    "{name}: {alert:?}"
                );
                s.forget();
                tell(s, text);
                s.expect_no_events();
                acknowledge(s, name);
                // What is known and told again stays acknowledged, through a restart as well.
                if times == 0 {
                    s.restart();
                    tell(s, text);
                    assert!(shown(s, name).is_some_and(|alert| alert.acknowledged), "{name}");
                }
            }
        });
    }
}

/// A lamp that fails while the lock for another stands is named by both.
#[test]
fn the_alert_of_the_lamps_names_what_fails_now() {
    play(|s| {
        s.lamps.dead = vec![oracle::bit("face_1")];
        s.whole_round(&[1, 3, 6]);
        s.wait(2000);
        assert!(says(s, "lamp_failed").unwrap().contains("face_1"));
        acknowledge(s, "lamp_failed");
        s.lamps.stuck = vec![oracle::bit("big")];
        s.lamps.show();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report));
        s.wait(2000);
        assert!(
            says(s, "lamp_failed").unwrap().contains("area big"),
            "{:?}",
            says(s, "lamp_failed")
        );
        assert!(!shown(s, "lamp_failed").unwrap().acknowledged);
        let locks = s.table.situation().locks;
        assert!(locks[0].text.contains("area big"), "{locks:?}");
        // However many they are: whoever reads the event finds each.
        acknowledge(s, "lamp_failed");
        s.forget();
        s.lamps.stuck = ["big", "face_2", "total_9", "total_10"].map(oracle::bit).to_vec();
        s.lamps.show();
        let report = s.lamps.report();
        s.feed(Input::Lamps(report));
        s.wait(2000);
        let told = s.events.iter().rev().find_map(|recorded| match &recorded.event.body {
            Some(Body::AlertRaised(raised)) => Some(raised.text.clone()),
            _ => None,
        });
        let told = told.expect("it is raised anew");
        for area in ["area big ", "area face_2 ", "area total_9 ", "area total_10 "] {
            assert!(told.contains(area), "{area}: {told}");
        }
        assert!(told.starts_with("4 areas: ") && !told.contains(" more"), "{told}");
    });
}
