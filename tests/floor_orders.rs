//! The consumer's rule against every order of delivery: all sequences of the messages of small tables, each message left out, once or
//! twice, in any order, with restarts, lost connections and replays between them. What must come out is said by oracles that don't
//! follow the consumer's steps: they look at all that was delivered, at once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    missing_docs
)]

mod floor_support;

use floor_support::{Floor, Journal, event, sha256};
use prost::Message as _;
use std::collections::{BTreeMap, BTreeSet};
use tablegate::floor::{Begin, Consumer, Finding};
use tablegate::table::event::{AlertRaised, Body, Event, Head, JournalStartedReason, Response};

/// What can happen to a consumer.
#[derive(Clone, Debug)]
enum Message {
    Event(Vec<u8>),
    Head(Head),
    /// It asks, if it wants to, and is answered at once, in order.
    Replay,
    /// The same, and the answer comes back to front.
    ReplayBackwards,
    Restart,
    Disconnect,
}

/// A table, what a consumer may see of it, and how often each message at most.
struct World {
    name: &'static str,
    /// As its gateway answers.
    journals: Vec<Journal>,
    messages: Vec<(Message, u8)>,
    /// Says what is wrong with what came out.
    oracle: fn(&World, &Floor, &[Message]),
}

impl World {
    fn events(journal: &Journal, copies: u8) -> Vec<(Message, u8)> {
        journal
            .events
            .iter()
            .map(|bytes| (Message::Event(bytes.clone()), copies))
            .collect()
    }

    fn asked(&self, floor: &mut Floor) -> Vec<Response> {
        let Some(ask) = floor.consumer.ask(floor.now) else {
            return Vec::new();
        };
        let journal = self.journals.iter().find(|journal| journal.id == ask.journal_id);
        journal.unwrap_or(&self.journals[0]).answer(&ask)
    }

    fn deliver(&self, floor: &mut Floor, message: &Message) {
        match message {
            Message::Event(bytes) => floor.take(bytes),
            Message::Head(head) => floor.head(head),
            Message::Replay => {
                let answers = self.asked(floor);
                floor.answer(&answers);
            }
            Message::ReplayBackwards => {
                let mut answers = self.asked(floor);
                answers.reverse();
                floor.answer(&answers);
            }
            Message::Restart => {
                let known: Vec<_> = floor.consumer.known().cloned().collect();
                floor.consumer = Consumer::resume(known, floor.now);
            }
            Message::Disconnect => floor.consumer.disconnected(),
        }
    }

    /// Every sequence; returns how many there were.
    fn try_all(&self) -> u64 {
        let mut left: Vec<u8> = self.messages.iter().map(|(_, copies)| *copies).collect();
        let mut sequences = 0;
        self.go_on(&Floor::new(Begin::AtFirst), &mut left, &mut Vec::new(), &mut sequences);
        println!("{}: {sequences} sequences", self.name);
        sequences
    }

    fn go_on(&self, floor: &Floor, left: &mut [u8], so_far: &mut Vec<Message>, sequences: &mut u64) {
        *sequences += 1;
        let mut ended = floor.clone();
        // At the end the connection is new, the table's retained head is looked at, and what is asked is answered.
        ended.consumer.disconnected();
        ended.head(&self.journals.last().unwrap().head());
        let journals: Vec<&Journal> = self.journals.iter().collect();
        ended.settle(&journals);
        (self.oracle)(self, &ended, so_far);
        for at in 0..left.len() {
            if left[at] == 0 {
                continue;
            }
            left[at] -= 1;
            let message = &self.messages[at].0;
            let mut next = floor.clone();
            self.deliver(&mut next, message);
            so_far.push(message.clone());
            self.go_on(&next, left, so_far, sequences);
            so_far.pop();
            left[at] += 1;
        }
    }
}

fn told(so_far: &[Message]) -> String {
    let words: Vec<String> = so_far
        .iter()
        .map(|message| match message {
            Message::Event(bytes) => {
                let event = Event::decode(&bytes[..]).unwrap();
                format!("{}{}", event.journal_id, event.seqno)
            }
            Message::Head(head) => format!("head of {} at {}", head.journal_id, head.seqno),
            other => format!("{other:?}"),
        })
        .collect();
    words.join(", ")
}

/// Journals that something was delivered of, in the order in which they were first named; the end looks at the last of the world.
fn touched(world: &World, so_far: &[Message]) -> Vec<String> {
    let mut touched: Vec<String> = Vec::new();
    let last = Message::Head(world.journals.last().unwrap().head());
    for message in so_far.iter().chain([&last]) {
        let journal_id = match message {
            Message::Event(bytes) => Event::decode(&bytes[..]).unwrap().journal_id,
            Message::Head(head) => head.journal_id.clone(),
            _ => continue,
        };
        if !touched.contains(&journal_id) {
            touched.push(journal_id);
        }
    }
    touched
}

/// Each journal that a consumer should know is whole: those of which something came, and those between them.
fn whole(floor: &Floor, journal: &Journal, so_far: &[Message]) {
    let mut stored: BTreeMap<u64, &Vec<u8>> = BTreeMap::new();
    for stores in floor.stored.iter().filter(|stores| stores.journal_id == journal.id) {
        let before = stored.insert(stores.seqno, &stores.bytes);
        assert_eq!(before, None, "stored twice: {}", told(so_far));
    }
    assert!(
        stored.values().copied().eq(journal.events.iter()),
        "{} is not whole after: {}",
        journal.id,
        told(so_far)
    );
}

/// A table at which nothing went wrong: everything is stored, and nothing is an alarm.
fn nothing_is_wrong(world: &World, floor: &Floor, so_far: &[Message]) {
    let touched = touched(world, so_far);
    let of = |id: &str| world.journals.iter().position(|journal| journal.id == id).unwrap();
    // A line of journals: between any two that are known, all are. What is before the first one that was seen isn't wanted.
    let first = touched.iter().map(|id| of(id)).min().unwrap();
    for journal in &world.journals[first..] {
        whole(floor, journal, so_far);
    }
    let alarms: Vec<_> = floor.others.iter().filter(|finding| finding.is_alarm()).collect();
    assert!(alarms.is_empty(), "{alarms:?} after: {}", told(so_far));
}

/// Beside the table's journal there is one that nothing leads to.
fn a_stranger_is_an_alarm(world: &World, floor: &Floor, so_far: &[Message]) {
    let touched = touched(world, so_far);
    let strangers: Vec<Finding> = touched
        .iter()
        .skip(1)
        .map(|journal_id| Finding::Unannounced {
            journal_id: journal_id.clone(),
        })
        .collect();
    assert_eq!(floor.others, strangers, "{}", told(so_far));
    // Nobody says how many events the first one has: what came says it.
    let [first, stranger] = &world.journals[..] else {
        panic!("two journals")
    };
    whole(floor, stranger, so_far);
    let newest = so_far.iter().filter_map(|message| match message {
        Message::Event(bytes) => Event::decode(&bytes[..])
            .ok()
            .filter(|event| event.journal_id == first.id),
        _ => None,
    });
    let newest = newest.map(|event| event.seqno).max().unwrap_or(0);
    assert_eq!(
        floor.numbers(first.id),
        (1..=newest).collect::<Vec<_>>(),
        "{}",
        told(so_far)
    );
}

/// Two events with the same number, both following the one before them.
fn a_fork_is_an_alarm(world: &World, floor: &Floor, so_far: &[Message]) {
    let journal = &world.journals[0];
    // Whichever variant of a number came first is the one that is stored; what the replays bring is the table's.
    let mut first: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut forks = Vec::new();
    for message in so_far {
        let Message::Event(bytes) = message else { continue };
        let seqno = Event::decode(&bytes[..]).unwrap().seqno;
        let known = first.entry(seqno).or_insert_with(|| bytes.clone());
        if known != bytes {
            forks.push(bytes.clone());
        }
    }
    for seqno in 1..=journal.newest() {
        first.entry(seqno).or_insert_with(|| journal.at(seqno).clone());
    }
    let broken = (2..=journal.newest())
        .filter(|seqno| Event::decode(&first[seqno][..]).unwrap().previous_sha256 != sha256(&first[&(seqno - 1)]))
        .collect::<Vec<_>>();
    let found_forks: Vec<Vec<u8>> = floor
        .others
        .iter()
        .filter_map(|finding| match finding {
            Finding::Fork(stores) => Some(stores.bytes.clone()),
            _ => None,
        })
        .collect();
    let found_broken: Vec<u64> = floor
        .others
        .iter()
        .filter_map(|finding| match finding {
            Finding::ChainBroken(stores) => Some(stores.seqno),
            _ => None,
        })
        .collect();
    assert_eq!(found_forks, forks, "{}", told(so_far));
    assert_eq!(found_broken, broken, "{}", told(so_far));
    assert_eq!(floor.others.len(), forks.len() + broken.len(), "{:?}", floor.others);
    assert!(
        floor.stored.iter().map(|stores| &stores.bytes).eq(first.values()),
        "{}",
        told(so_far)
    );
}

/// The oldest events have expired at the table: what didn't come is a gap, each event of it once.
fn what_expired_is_a_gap(world: &World, floor: &Floor, so_far: &[Message]) {
    let journal = &world.journals[0];
    let stored: BTreeSet<u64> = floor.stored.iter().map(|stores| stores.seqno).collect();
    let mut gone = BTreeSet::new();
    let mut late = BTreeSet::new();
    for finding in &floor.others {
        match finding {
            Finding::Gap { from, to, .. } => {
                for seqno in *from..=*to {
                    assert!(gone.insert(seqno), "event {seqno} is gone twice: {}", told(so_far));
                }
            }
            Finding::Unverifiable(stores) => _ = late.insert(stores.seqno),
            other => panic!("{other:?} after: {}", told(so_far)),
        }
    }
    assert_eq!(stored.len(), floor.stored.len(), "{}", told(so_far));
    assert!(stored.is_disjoint(&gone) && late.is_subset(&gone), "{}", told(so_far));
    let all: BTreeSet<u64> = stored.union(&gone).copied().collect();
    assert_eq!(all, (1..=journal.newest()).collect(), "{}", told(so_far));
    // Nothing is gone that the table has, and nothing that came is lost.
    assert!(gone.iter().all(|seqno| *seqno < journal.oldest), "{}", told(so_far));
    for message in so_far {
        let Message::Event(bytes) = message else { continue };
        let seqno = Event::decode(&bytes[..]).unwrap().seqno;
        assert!(stored.contains(&seqno) || late.contains(&seqno), "{}", told(so_far));
    }
}

/// The table's disk went back in time after it had published three events of its journal: it has one of them, and a new journal.
fn a_rolled_back_journal_is_an_alarm(world: &World, floor: &Floor, so_far: &[Message]) {
    let (old, new) = (&world.journals[0], &world.journals[1]);
    whole(floor, new, so_far);
    let mut delivered = BTreeSet::new();
    let mut promised = 0;
    for message in so_far {
        match message {
            Message::Event(bytes) => {
                let event = Event::decode(&bytes[..]).unwrap();
                if event.journal_id == old.id {
                    delivered.insert(event.seqno);
                }
            }
            Message::Head(head) if head.journal_id == old.id => promised = head.seqno,
            _ => {}
        }
    }
    let knows_old = promised > 0 || !delivered.is_empty();
    let rolled_back = |finding: &&Finding| matches!(finding, Finding::Succeeded { .. });
    assert_eq!(floor.others.iter().filter(rolled_back).count(), 1, "{}", told(so_far));
    // What the table still has, and what came right after that.
    let mut last = u64::from(knows_old);
    while delivered.contains(&(last + 1)) {
        last += 1;
    }
    let mut expected = BTreeSet::new();
    for seqno in delivered.range(last + 1..) {
        expected.insert(format!("beyond {seqno}"));
    }
    let beyond = delivered.last().copied().unwrap_or(0);
    if promised > last.max(beyond) {
        expected.insert(format!("not there {}", last + 1));
    }
    let found: BTreeSet<String> = floor
        .others
        .iter()
        .filter_map(|finding| match finding {
            Finding::Beyond(stores) => Some(format!("beyond {}", stores.seqno)),
            Finding::NotThere { from, .. } => Some(format!("not there {from}")),
            Finding::Succeeded { .. } => None,
            other => panic!("{other:?} after: {}", told(so_far)),
        })
        .collect();
    assert_eq!(found, expected, "{}", told(so_far));
    let stored: Vec<u64> = (1..=last).collect();
    assert_eq!(floor.numbers(old.id), stored, "{}", told(so_far));
}

fn with(mut messages: Vec<(Message, u8)>, more: impl IntoIterator<Item = (Message, u8)>) -> Vec<(Message, u8)> {
    messages.extend(more);
    messages
}

#[test]
fn one_journal() {
    let journal = Journal::new("a", 3, None);
    let world = World {
        name: "each of three events up to twice, a restart, and a replay at any time",
        messages: with(
            World::events(&journal, 2),
            [(Message::Replay, 1), (Message::Restart, 1)],
        ),
        journals: vec![journal],
        oracle: nothing_is_wrong,
    };
    assert!(world.try_all() > 5_000);
    let journal = Journal::new("a", 4, None);
    let early = Head {
        seqno: 2,
        sha256: sha256(journal.at(2)).to_vec(),
        ..journal.head()
    };
    let world = World {
        name: "four events, an old and the newest head, and a replay that comes back to front",
        messages: with(
            World::events(&journal, 1),
            [
                (Message::Head(early), 1),
                (Message::Head(journal.head()), 1),
                (Message::ReplayBackwards, 1),
            ],
        ),
        journals: vec![journal],
        oracle: nothing_is_wrong,
    };
    assert!(world.try_all() > 5_000);
}

#[test]
fn journals_that_follow_each_other() {
    let first = Journal::new("a", 2, None);
    let second = Journal::after("b", 2, Some(&first), JournalStartedReason::MovedAside, 2);
    let third = Journal::after("c", 1, Some(&second), JournalStartedReason::MovedAside, 2);
    let world = World {
        name: "three journals, a head of each, a restart",
        messages: with(
            [
                World::events(&first, 1),
                World::events(&second, 1),
                World::events(&third, 1),
            ]
            .concat(),
            [(Message::Head(first.head()), 1), (Message::Restart, 1)],
        ),
        journals: vec![first, second, third],
        oracle: nothing_is_wrong,
    };
    assert!(world.try_all() > 5_000);
}

#[test]
fn journals_that_have_nothing_to_do_with_each_other() {
    let (first, stranger) = (Journal::new("a", 2, None), Journal::new("x", 2, None));
    let world = World {
        name: "two journals that name nobody, and a restart",
        messages: with(
            [World::events(&first, 1), World::events(&stranger, 2)].concat(),
            [(Message::Restart, 1)],
        ),
        journals: vec![first, stranger],
        oracle: a_stranger_is_an_alarm,
    };
    assert!(world.try_all() > 3_000);
}

#[test]
fn two_events_with_one_number() {
    let journal = Journal::new("a", 3, None);
    let other = event("a", 2, Some(journal.at(1)), Body::AlertRaised(AlertRaised::default()));
    let world = World {
        name: "three events, and another second one",
        messages: with(World::events(&journal, 2), [(Message::Event(other), 2)]),
        journals: vec![journal],
        oracle: a_fork_is_an_alarm,
    };
    assert!(world.try_all() > 5_000);
}

#[test]
fn events_that_have_expired() {
    let mut journal = Journal::new("a", 4, None);
    journal.oldest = 3;
    let world = World {
        name: "four events, of which the table has two, and replays at any time",
        messages: with(
            World::events(&journal, 1),
            [
                (Message::Replay, 2),
                (Message::Head(journal.head()), 1),
                (Message::Disconnect, 1),
            ],
        ),
        journals: vec![journal],
        oracle: what_expired_is_a_gap,
    };
    assert!(world.try_all() > 5_000);
}

#[test]
fn a_disk_that_went_back_in_time() {
    let mut old = Journal::new("a", 3, None);
    let new = Journal::after("b", 2, Some(&old), JournalStartedReason::RolledBack, 1);
    let messages = with(
        [World::events(&old, 1), World::events(&new, 1)].concat(),
        [(Message::Head(old.head()), 1), (Message::Disconnect, 1)],
    );
    old.events.truncate(1);
    let world = World {
        name: "a journal that lost two of three events, and the one after it",
        messages,
        journals: vec![old, new],
        oracle: a_rolled_back_journal_is_an_alarm,
    };
    assert!(world.try_all() > 5_000);
}
