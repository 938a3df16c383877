//! What brokers and networks have done to systems like this one, through a real mosquitto. Where each fault is shown:
//!
//! | fault | test |
//! | --- | --- |
//! | session lost while the window is full | here; `uplink_mosquitto::mosquitto_killed_ten_times_while_events_flow_loses_nothing`; `uplink_daemon::mosquitto_killed_ten_times_in_play_and_every_event_arrives_in_order` |
//! | acknowledgements out of order, then the session is lost | `uplink_delivery::a_session_lost_with_acknowledgements_out_of_order_loses_nothing` |
//! | acknowledgements of an old connection, and unsolicited ones | `uplink_delivery::acknowledgements_of_an_old_connection_acknowledge_nothing`; `uplink_faults::an_acknowledgement_without_a_publish_ends_the_connection_and_nothing_else` |
//! | over-size messages | `uplink_faults::an_event_above_the_maximum_packet_size_is_set_aside_and_those_behind_it_flow`, `..._finds_too_large_late_is_found_one_by_one`; `uplink_mosquitto::a_message_size_limit_that_connack_does_not_tell_sets_aside_what_is_above_it`, `a_replay_through_mosquitto_is_whole_and_an_oversize_request_costs_nothing` |
//! | broker never up | `uplink_outage::a_broker_that_is_never_up_costs_neither_memory_nor_log`; every test of `gateway_round` plays without one |
//! | flapping broker | `uplink_outage::a_thousand_flaps_cost_no_memory_few_lines_and_no_pending_list`, `a_flapping_broker_is_met_with_growing_pauses_and_a_short_log` |
//! | peer stops reading, half-open TCP | here; `uplink_faults::a_peer_that_stops_reading_or_answering_is_noticed_within_the_stated_time` |
//! | slow ping answer | `uplink_faults::a_slow_but_timely_ping_answer_is_no_failure` |
//! | nobody resubscribes | here |
//! | negative acknowledgement | `uplink_faults::what_the_broker_refuses_is_not_skipped_and_the_alert_names_the_reason`, `an_event_whose_payload_the_broker_will_never_take_is_set_aside`; `uplink_mosquitto::an_acl_that_throws_events_away_is_named_and_costs_nothing` |
//! | clean stop, kill -9 | `uplink_mosquitto::a_clean_stop_leaves_one_retained_offline_after_the_last_event`; `uplink_daemon::a_daemon_that_is_killed_leaves_its_last_will_once_and_comes_back_with_a_higher_number` |
//! | late last will | here (the floor's side); `uplink_conversation::a_late_last_will_is_corrected_at_most_once_in_ten_seconds` |
//! | retained states vanish | `uplink_mosquitto::the_retained_picture_is_whole_again_after_the_broker_forgot_it` |
//! | two clients with one id | `uplink_mosquitto::a_second_gateway_of_the_same_name_is_told_and_settles`; `uplink_faults::another_client_of_the_same_name_is_an_alert_and_met_with_growing_pauses`; `gateway_round` (a second daemon is refused); `uplink_rights::nobody_takes_a_session_over_by_using_its_client_id` |
//! | backlog drains for hours | `uplink_mosquitto::a_backlog_of_50000_drains_in_the_stated_time_while_new_ones_come` |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod uplink_support;

use prost::Message;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tablegate::cli::floor::follow::{Floor, Follower, Heard};
use tablegate::table::event::{Event, Request, Response, Snapshot, Status, request, response};
use tablegate::uplink::UplinkState;
use tablegate::uplink::exchange::{Publication, Retention};
use uplink_support::memory::{Memory, PREFIX, Plan};
use uplink_support::mosquitto::Mosquitto;
use uplink_support::subscriber::{Subscriber, request as asked};
use uplink_support::{report_is, within};

/// Twice the keep-alive, and a little for the machine that runs the tests.
const NOTICED_WITHIN: Duration = Duration::from_secs(25);

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_broker_that_hangs_with_a_full_window_is_noticed_and_what_it_had_arrives_at_the_next() {
    let mut broker = Mosquitto::start("max_queued_messages 1000000");
    let rig = Plan::new(Memory::with_events("j", 10), &broker.url()).start();
    let mut report = rig.uplink.report.clone();
    report_is(&mut report, "delivered", |report| report.cursor == 10).await;
    // It still accepts bytes: to the kernel, and to whoever looks at connections, all is well.
    broker.hang();
    let hangs_since = Instant::now();
    for _ in 0..500 {
        rig.memory.append();
    }
    let full = report_is(&mut report, "a full window", |report| report.in_flight >= 16).await;
    assert_eq!(full.cursor, 10, "nothing was acknowledged");
    let left = NOTICED_WITHIN.saturating_sub(hangs_since.elapsed());
    let noticed = tokio::time::timeout(left, report_is(&mut report, "noticed", |report| report.failures > 0));
    let noticed = noticed.await.expect("noticed within the stated time");
    assert!(
        noticed.last_error.contains("without acknowledgement for 15 s"),
        "{noticed:?}"
    );
    broker.kill();
    // The pauses have grown: the floor is there before the table is.
    report_is(&mut report, "some attempts", |report| report.failures >= 4).await;
    broker.restart();
    let events = format!("{PREFIX}/events");
    let mut floor = Subscriber::new(&broker.url(), "floor", &[&events]).await;
    let mut arrived = BTreeSet::new();
    while arrived.len() < 500 {
        let message = floor.message().await.expect("the new broker stays");
        let event = Event::decode(&message.payload[..]).unwrap();
        assert_eq!(message.payload, rig.memory.record(event.seqno).bytes);
        arrived.insert(event.seqno);
    }
    assert_eq!(
        arrived,
        (11..=510).collect(),
        "all that the old one had not acknowledged"
    );
    let report = report_is(&mut report, "acknowledged", |report| report.cursor == 510).await;
    assert_eq!(report.unheard, 10, "only those from before the floor was there");
}

async fn snapshot(broker: &Mosquitto, id: &str) {
    let inbox = format!("{PREFIX}/responses/{id}");
    let mut floor = Subscriber::new(&broker.url(), id, &[&inbox]).await;
    let request = Request {
        request_id: id.to_owned(),
        request: Some(request::Request::Snapshot(Snapshot {})),
    };
    floor.send(asked(PREFIX, &inbox, b"", request.encode_to_vec()));
    let message = floor.message_on(id).await.expect("an answer");
    let response = Response::decode(&message.payload[..]).unwrap();
    assert_eq!(response.request_id, id);
    assert!(matches!(response.response, Some(response::Response::Snapshot(_))));
}

#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn requests_are_answered_after_a_restart_of_the_broker_with_and_without_its_sessions() {
    let kept = tempfile::tempdir().unwrap();
    let persistent = format!(
        "allow_anonymous true\npersistence true\npersistence_location {}/\nlistener {{port}} 127.0.0.1\n",
        kept.path().display()
    );
    for mut broker in [
        Mosquitto::start("max_queued_messages 1000000"),
        Mosquitto::start_as_it_is(&persistent),
    ] {
        let rig = Plan::new(Memory::with_events("j", 3), &broker.url()).start();
        let mut report = rig.uplink.report.clone();
        report_is(&mut report, "delivered", |report| report.cursor == 3).await;
        snapshot(&broker, "before").await;
        let before = report.borrow().connection;
        broker.terminate();
        report_is(&mut report, "lost", |report| report.state != UplinkState::Online).await;
        broker.restart();
        report_is(&mut report, "back", |report| {
            report.connection > before && report.state == UplinkState::Online
        })
        .await;
        snapshot(&broker, "after").await;
        rig.uplink.stop().await;
    }
}

fn status(connection: u64, online: bool, fault: &str) -> Publication {
    Publication {
        topic: format!("{PREFIX}/status"),
        retained: Retention::Kept,
        payload: Status {
            connection,
            online,
            fault: fault.to_owned(),
            ..Status::default()
        }
        .encode_to_vec()
        .into(),
        response_topic: None,
        correlation: None,
    }
}

/// What a consumer that follows the documentation takes for true: the last one for each order in which the broker tells it.
#[tokio::test]
#[ignore = "needs mosquitto: tests/all runs it"]
async fn a_late_last_will_marks_nobody_dead_in_either_order() {
    for (order, end, is_online) in [
        (&[(4, true), (5, true), (4, false)][..], 5, true),
        (&[(4, true), (4, false), (5, true)], 5, true),
        (&[(5, true), (4, false), (5, false)], 5, false),
    ] {
        let broker = Mosquitto::start("max_queued_messages 1000000");
        let floor = Floor {
            broker: broker.url().parse().unwrap(),
            prefix: PREFIX.to_owned(),
            tls: None,
            login: None,
            reader: "floor".to_owned(),
        };
        let mut follower = Follower::start(floor, None);
        while !matches!(within("connected", follower.next()).await, Heard::Connected) {}
        let mut table = Subscriber::new(&broker.url(), "table", &[]).await;
        for (connection, online) in order {
            table.publish(status(*connection, *online, "")).await;
        }
        // The same connection says that it is the last.
        table.publish(status(end, is_online, "the end")).await;
        let mut told = Vec::new();
        loop {
            if let Heard::Status { online, fault, .. } = within("a status", follower.next()).await {
                if fault == "the end" {
                    assert_eq!(online, is_online, "{order:?}");
                    break;
                }
                told.push(online);
            }
        }
        assert_eq!(told.last().copied().unwrap_or(false), is_online, "{order:?}: {told:?}");
    }
}
