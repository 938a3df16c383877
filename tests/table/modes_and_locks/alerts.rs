//! Alerts of conditions outside the table: what they tell, and when they go.

use super::*;

fn odd(s: &mut Scene, kind: DeviceKind, text: &str, standing: bool) {
    s.feed(Input::Condition {
        condition: Condition::LinkOdd(kind),
        text: text.into(),
        standing,
    });
}

/// What the alert of this name says; `None` when it doesn't stand.
fn says(s: &Scene, name: &str) -> Option<String> {
    let alerts = s.table.situation().alerts;
    alerts
        .into_iter()
        .find(|alert| alert.alert == name)
        .map(|alert| alert.text)
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
fn a_condition_is_judged_anew_when_a_run_begins() {
    for (standing, name) in [
        (Condition::BrokerUnreachable, "broker_unreachable"),
        (Condition::BrokerRefuses, "broker_refuses"),
        (Condition::NobodyListening, "nobody_listening"),
        (Condition::TakenOver, "taken_over"),
        (Condition::JournalSlow, "journal_slow"),
        (Condition::DiskLow, "disk_low"),
        (Condition::DiskFilling, "disk_filling"),
        (Condition::ClockUnsynchronised, "clock_unsynchronised"),
        (Condition::LinkOdd(DeviceKind::Tumbler), "link_odd"),
    ] {
        play(|s| {
            condition(s, standing, true);
            assert!(says(s, name).is_some(), "{name}");
            s.restart();
            assert_eq!(says(s, name), None, "{name}: nobody has found it in this run");
            condition(s, standing, true);
            assert!(says(s, name).is_some(), "{name} is raised again");
        });
    }
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
