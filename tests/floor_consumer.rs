//! The consumer's rule, held to every wrong order of delivery.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    missing_docs
)]

mod floor_support;

use floor_support::{Floor, Journal, event};
use proptest::prelude::*;
use prost::Message;
use std::time::Duration;
use tablegate::floor::{Begin, Consumer, Finding, Hashes, MAX_EVENT_BYTES, MAX_HELD, MAX_JOURNALS, Succession, TRIES};
use tablegate::table::event::{
    AlertRaised, Body, Error, ErrorCode, Event, Head, JournalStartedReason, Response, response,
};
use tablegate::time::Uptime;

#[test]
fn events_in_order_are_stored_and_repeats_dropped() {
    let journal = Journal::new("j", 5, None);
    let mut floor = Floor::new(Begin::AtFirst);
    for seqno in [1, 2, 2, 1, 3, 4, 4, 5, 1] {
        floor.take(journal.at(seqno));
    }
    assert_eq!(floor.numbers("j"), [1, 2, 3, 4, 5]);
    assert_eq!(floor.others, []);
}

#[test]
fn a_gap_is_asked_for_and_filled_in_order() {
    let journal = Journal::new("j", 9, None);
    let mut floor = Floor::new(Begin::AtFirst);
    for seqno in [1, 2, 7, 9, 8] {
        floor.take(journal.at(seqno));
    }
    let ask = floor.consumer.ask(floor.now).unwrap();
    assert_eq!((ask.journal_id.as_str(), ask.from_seqno, ask.to_seqno), ("j", 3, 6));
    assert_eq!(floor.consumer.ask(floor.now), None, "one ask at a time");
    floor.answer(&journal.answer(&ask));
    assert_eq!(floor.numbers("j"), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(floor.consumer.looks_at(), None);
}

#[test]
fn other_bytes_of_the_same_identity_are_a_fork() {
    let journal = Journal::new("j", 4, None);
    let forged = |seqno| event("j", seqno, None, Body::AlertRaised(AlertRaised::default()));
    let mut floor = Floor::new(Begin::AtFirst);
    for bytes in [
        journal.at(1),
        journal.at(2),
        &forged(1),
        &forged(2),
        journal.at(4),
        &forged(4),
    ] {
        floor.take(bytes);
    }
    let forks: Vec<u64> = floor
        .others
        .iter()
        .map(|finding| match finding {
            Finding::Fork(stores) => {
                assert_eq!(stores.bytes, forged(stores.seqno));
                stores.seqno
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(forks, [1, 2, 4]);
    assert_eq!(floor.numbers("j"), [1, 2]);
}

#[test]
fn a_chain_that_does_not_match_is_an_alarm() {
    let journal = Journal::new("j", 2, None);
    let wrong = event("j", 3, Some(journal.at(1)), Body::AlertRaised(AlertRaised::default()));
    let mut floor = Floor::new(Begin::AtFirst);
    for bytes in [journal.at(1), journal.at(2), &wrong] {
        floor.take(bytes);
    }
    assert!(matches!(&floor.others[..], [Finding::ChainBroken(stores)] if stores.seqno == 3));
    assert!(floor.others[0].is_alarm());
}

#[test]
fn what_the_gateway_no_longer_has_is_a_permanent_gap() {
    let mut journal = Journal::new("j", 20, None);
    let mut floor = Floor::new(Begin::AtFirst);
    floor.take(journal.at(1));
    floor.take(journal.at(15));
    journal.oldest = 11;
    floor.settle(&[&journal]);
    assert_eq!(
        floor.others,
        [Finding::Gap {
            journal_id: "j".to_owned(),
            from: 2,
            to: 10
        }]
    );
    assert_eq!(floor.numbers("j"), [1, 11, 12, 13, 14, 15]);
}

#[test]
fn a_journal_that_is_no_longer_there_is_a_permanent_gap() {
    let (journal, other) = (Journal::new("j", 9, None), Journal::new("other", 1, None));
    let mut floor = Floor::new(Begin::AtFirst);
    floor.take(journal.at(1));
    floor.take(journal.at(8));
    floor.settle(&[&other]);
    assert!(matches!(floor.others[..], [Finding::Gap { from: 2, to: 7, .. }]));
    assert_eq!(floor.numbers("j"), [1, 8]);
}

#[test]
fn an_event_that_no_replay_brings_is_given_up() {
    let journal = Journal::new("j", 5, None);
    let mut floor = Floor::new(Begin::AtFirst);
    floor.take(journal.at(1));
    floor.take(journal.at(4));
    for _ in 0..TRIES {
        assert_eq!(floor.others, []);
        let ask = floor.consumer.ask(floor.now).unwrap();
        let mut answers = journal.answer(&ask);
        answers.drain(..answers.len() - 1);
        floor.answer(&answers);
    }
    assert!(matches!(floor.others[..], [Finding::Gap { from: 2, to: 3, .. }]));
    assert_eq!(floor.numbers("j"), [1, 4]);
}

#[test]
fn a_retained_head_shows_a_gap_once_it_is_quiet() {
    let journal = Journal::new("j", 6, None);
    let mut floor = Floor::new(Begin::AtFirst);
    floor.take(journal.at(1));
    floor.head(&journal.head());
    assert_eq!(floor.consumer.ask(floor.now), None, "they may be on their way");
    floor.now = Uptime::from_millis(3000);
    floor.take(journal.at(2));
    floor.now = Uptime::from_millis(7000);
    assert_eq!(floor.consumer.ask(floor.now), None);
    floor.now = Uptime::from_millis(8000);
    let ask = floor.consumer.ask(floor.now).unwrap();
    assert_eq!((ask.from_seqno, ask.to_seqno), (3, 0));
    floor.answer(&journal.answer(&ask));
    assert_eq!(floor.numbers("j"), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_head_with_another_hash_is_an_alarm() {
    let journal = Journal::new("j", 3, None);
    let mut floor = Floor::new(Begin::AtFirst);
    for seqno in 1..=3 {
        floor.take(journal.at(seqno));
    }
    floor.head(&journal.head());
    assert_eq!(floor.others, []);
    let wrong = Head {
        sha256: vec![7; 32],
        ..journal.head()
    };
    floor.head(&wrong);
    assert!(matches!(floor.others[..], [Finding::HeadDiffers { seqno: 3, .. }]));
}

#[test]
fn a_journal_that_names_a_known_predecessor_is_no_alarm_and_the_rest_of_that_is_asked_for() {
    let old = Journal::new("old", 5, None);
    let new = Journal::new("new", 3, Some(&old));
    let mut floor = Floor::new(Begin::AtFirst);
    for seqno in 1..=3 {
        floor.take(old.at(seqno));
    }
    for seqno in 1..=3 {
        floor.take(new.at(seqno));
    }
    floor.settle(&[&old, &new]);
    assert_eq!(floor.numbers("old"), [1, 2, 3, 4, 5]);
    assert_eq!(floor.numbers("new"), [1, 2, 3]);
    assert_eq!(floor.others, []);
}

#[test]
fn a_journal_that_nothing_announces_is_an_alarm() {
    let (old, stranger) = (Journal::new("old", 2, None), Journal::new("stranger", 2, None));
    let mut floor = Floor::new(Begin::AtFirst);
    for bytes in [old.at(1), old.at(2), stranger.at(1), stranger.at(2)] {
        floor.take(bytes);
    }
    assert!(matches!(&floor.others[..], [Finding::Unannounced { journal_id }] if journal_id == "stranger"));
}

#[test]
fn one_who_begins_at_the_next_event_asks_for_nothing_before_it() {
    let journal = Journal::new("j", 9, None);
    let mut floor = Floor::new(Begin::AtNext);
    floor.head(&journal.head());
    for seqno in 6..=9 {
        floor.take(journal.at(seqno));
    }
    assert_eq!(floor.consumer.looks_at(), None);
    assert_eq!(floor.numbers("j"), [6, 7, 8, 9]);
    assert_eq!(floor.others, []);
}

#[test]
fn what_is_held_is_bounded_and_comes_in_the_end() {
    let journal = Journal::new("j", 2500, None);
    let mut floor = Floor::new(Begin::AtFirst);
    for seqno in 2..=2500 {
        floor.take(journal.at(seqno));
        assert!(floor.consumer.held() <= MAX_HELD);
    }
    floor.settle(&[&journal]);
    assert_eq!(floor.numbers("j"), (1..=2500).collect::<Vec<_>>());
}

#[test]
fn a_busy_gateway_is_asked_again_later() {
    let journal = Journal::new("j", 3, None);
    let mut floor = Floor::new(Begin::AtFirst);
    floor.take(journal.at(1));
    floor.take(journal.at(3));
    let ask = floor.consumer.ask(floor.now).unwrap();
    let error = Error {
        code: ErrorCode::Busy.into(),
        text: String::new(),
    };
    floor.answer(&[Response {
        request_id: ask.request_id,
        response: Some(response::Response::Error(error)),
    }]);
    assert_eq!(floor.consumer.ask(floor.now), None);
    floor.now = floor.now + Duration::from_secs(10);
    assert!(floor.consumer.ask(floor.now).is_some());
}

#[test]
fn a_head_that_the_table_does_not_keep_is_an_alarm_and_costs_no_event() {
    let mut journal = Journal::new("j", 3, None);
    let mut floor = Floor::new(Begin::AtFirst);
    let lie = Head {
        seqno: u64::MAX,
        ..journal.head()
    };
    floor.head(&lie);
    floor.settle(&[&journal]);
    assert!(matches!(
        floor.others[..],
        [Finding::NotThere {
            from: 4,
            to: u64::MAX,
            ..
        }]
    ));
    // It is not believed again, and what is recorded later is stored as ever.
    floor.head(&lie);
    assert_eq!(floor.consumer.looks_at(), None);
    journal.more(2);
    floor.take(journal.at(5));
    floor.settle(&[&journal]);
    assert_eq!(floor.numbers("j"), [1, 2, 3, 4, 5]);
    assert_eq!(floor.others.len(), 1, "{:?}", floor.others);
}

#[test]
fn an_event_that_the_table_does_not_have_is_an_alarm_and_costs_no_other() {
    let mut journal = Journal::new("j", 3, None);
    let mut floor = Floor::new(Begin::AtFirst);
    let forged = event("j", u64::MAX, None, Body::AlertRaised(AlertRaised::default()));
    floor.take(&forged);
    floor.settle(&[&journal]);
    assert!(matches!(&floor.others[..], [Finding::Beyond(stores)] if stores.bytes == forged));
    journal.more(2);
    floor.take(journal.at(5));
    floor.settle(&[&journal]);
    assert_eq!(floor.numbers("j"), [1, 2, 3, 4, 5]);
}

#[test]
fn a_table_whose_disk_went_back_in_time_is_an_alarm_and_what_it_lost_is_kept() {
    let old = Journal::new("old", 5, None);
    let new = Journal::after("new", 2, Some(&old), JournalStartedReason::RolledBack, 3);
    let mut floor = Floor::new(Begin::AtFirst);
    for seqno in 1..=5 {
        floor.take(old.at(seqno));
    }
    for seqno in 1..=2 {
        floor.take(new.at(seqno));
    }
    let expected = Finding::Succeeded {
        journal_id: "new".to_owned(),
        predecessor: "old".to_owned(),
        succession: Succession::RolledBack,
        last_seqno: 3,
        stored_through: Some(5),
    };
    assert_eq!(floor.others, [expected]);
    assert_eq!(floor.numbers("old"), [1, 2, 3, 4, 5]);
    // A predecessor that ends otherwise than the one that is stored is another.
    let forged = Journal::new("old", 3, Some(&new));
    let other = Journal::after("other", 1, Some(&forged), JournalStartedReason::MovedAside, 3);
    floor.take(other.at(1));
    assert!(matches!(floor.others[1], Finding::HeadDiffers { seqno: 3, .. }));
}

#[test]
fn whatever_comes_memory_is_bounded() {
    let mut consumer = Consumer::new(Begin::AtFirst);
    let hashes = Hashes::default();
    let mut too_many = 0;
    for seqno in 2..200 {
        for journal in 0..100 {
            let bytes = event(
                &format!("journal-{journal}"),
                seqno,
                None,
                Body::AlertRaised(AlertRaised::default()),
            );
            let findings = consumer.take(Uptime::ZERO, &bytes, &hashes);
            too_many += usize::from(matches!(findings[..], [Finding::TooManyJournals { .. }]));
            assert!(consumer.held() <= MAX_HELD);
        }
    }
    assert_eq!(consumer.known().count(), MAX_JOURNALS);
    assert_eq!(too_many, 198 * (100 - MAX_JOURNALS));
    let large = AlertRaised {
        text: "x".repeat(MAX_EVENT_BYTES),
        ..AlertRaised::default()
    };
    for bytes in [
        event("j", 1, None, Body::AlertRaised(large)),
        event(&"j".repeat(65), 1, None, Body::AlertRaised(AlertRaised::default())),
    ] {
        assert_eq!(consumer.take(Uptime::ZERO, &bytes, &hashes), [Finding::Malformed]);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Deliver(usize),
    Forge(usize),
    Noise(Vec<u8>),
    Ask,
    LoseConnection,
    Restart,
    Head(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => any::<usize>().prop_map(Step::Deliver),
        1 => any::<usize>().prop_map(Step::Forge),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Step::Noise),
        2 => Just(Step::Ask),
        1 => Just(Step::LoseConnection),
        1 => Just(Step::Restart),
        1 => any::<usize>().prop_map(Step::Head),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Journals, one after the other, delivered in any order, with repeats, losses, forgeries, noise, lost connections and restarts: what
    /// is stored is each journal's events, each once, in order; every forgery of something stored is an alarm, and nothing else is.
    #[test]
    fn whatever_the_order_each_event_is_stored_once_and_in_order(
        lengths in prop::collection::vec(1u64..30, 1..5),
        steps in prop::collection::vec(step(), 0..150),
    ) {
        let mut journals: Vec<Journal> = Vec::new();
        for (number, length) in lengths.into_iter().enumerate() {
            let id = ["j0", "j1", "j2", "j3"][number];
            journals.push(Journal::after(
                id,
                length,
                journals.last(),
                JournalStartedReason::MovedAside,
                journals.last().map_or(0, Journal::newest),
            ));
        }
        let all: Vec<(usize, u64)> = journals.iter().enumerate()
            .flat_map(|(number, journal)| (1..=journal.newest()).map(move |seqno| (number, seqno))).collect();
        let mut floor = Floor::new(Begin::AtFirst);
        let mut forged = 0;
        // What is before the first one that is seen at all isn't wanted.
        let mut eldest = journals.len() - 1;
        for step in steps {
            match step {
                Step::Deliver(pick) => {
                    let (number, seqno) = all[pick % all.len()];
                    eldest = eldest.min(number);
                    floor.take(journals[number].at(seqno));
                }
                Step::Forge(pick) => {
                    let (number, seqno) = all[pick % all.len()];
                    let journal = &journals[number];
                    let is_stored = floor.numbers(journal.id).contains(&seqno);
                    let bytes = event(journal.id, seqno, None, Body::AlertRaised(AlertRaised::default()));
                    // A forgery that comes first can't be told; it is one that comes later that must be.
                    if is_stored {
                        floor.take(&bytes);
                        forged += 1;
                    }
                }
                Step::Noise(bytes) => if Event::decode(&bytes[..]).is_err() {
                    floor.take(&bytes);
                },
                Step::Ask => if let Some(ask) = floor.consumer.ask(floor.now) {
                    let journal = journals.iter().find(|journal| journal.id == ask.journal_id).unwrap();
                    floor.answer(&journal.answer(&ask));
                },
                Step::LoseConnection => floor.consumer.disconnected(),
                Step::Restart => {
                    let known: Vec<_> = floor.consumer.known().cloned().collect();
                    floor.consumer = Consumer::resume(known, floor.now);
                }
                Step::Head(pick) => {
                    let number = pick % journals.len();
                    eldest = eldest.min(number);
                    floor.head(&journals[number].head());
                }
            }
            for journal in &journals {
                let numbers = floor.numbers(journal.id);
                prop_assert_eq!(&numbers, &(1..=u64::try_from(numbers.len()).unwrap()).collect::<Vec<_>>());
            }
        }
        floor.consumer.disconnected();
        floor.head(&journals.last().unwrap().head());
        floor.settle(&journals.iter().collect::<Vec<_>>());
        for journal in &journals[eldest..] {
            let stored = floor.stored.iter().filter(|stores| stores.journal_id == journal.id).map(|stores| &stores.bytes);
            prop_assert!(stored.eq(journal.events.iter()), "{} is not whole", journal.id);
        }
        let forks = floor.others.iter().filter(|finding| matches!(finding, Finding::Fork(_))).count();
        prop_assert_eq!(forks, forged);
        let alarms = floor.others.iter().filter(|finding| finding.is_alarm()).count();
        prop_assert_eq!(alarms, forks, "{:?}", floor.others);
    }
}
