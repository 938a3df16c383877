//! Which conditions stand, and what the gateway has not been told yet. PURE.
//!
//! A condition is told once when it begins and once when it ends; one that ends before the gateway took notice is never told.
//! That an event was set aside has no end: it is told each time, and stands at the table until a person acknowledges it.

use super::Notice;
use crate::journal::Seqno;
use crate::table::alert::Name;
use crate::table::event::{EventSetAsideReason, Head, TableState};
use crate::table::input::Condition;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a broker can refuse. While any of these stands, so does [`Condition::BrokerRefuses`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// The connection itself, or its terms.
    Connection,
    /// A subscription.
    Subscription,
    /// Events.
    Events,
    /// The retained state.
    State,
    /// The retained status.
    Status,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    No,
    Yes,
}

/// What the uplink raises and clears.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    standing: BTreeMap<Condition, (String, Told)>,
    ended: BTreeSet<Condition>,
    /// What is refused by which broker, in words.
    refusals: BTreeMap<(Subject, String), String>,
    set_aside: VecDeque<(Seqno, EventSetAsideReason)>,
    rolled_back: Option<Head>,
}

/// Events that were set aside and of which the gateway has not taken notice yet. No event goes out while there are so many.
pub const MAX_UNTOLD_SET_ASIDE: usize = 16;

/// What the uplink watches: whoever is told that one of these is over can rely on it.
const WATCHED: [Condition; 7] = [
    Condition::BrokerRefuses,
    Condition::BrokerUnreachable,
    Condition::NobodyListening,
    Condition::TakenOver,
    Condition::CertificateExpires,
    Condition::CertificateRefused,
    Condition::JournalUnreadable,
];

impl Alarms {
    /// What the table knows of from an earlier run stands until it is found to be over.
    pub fn left_standing(table: &TableState) -> Self {
        let mut alarms = Alarms::default();
        for condition in WATCHED {
            let name = Name::of_condition(condition).as_str();
            if table.alerts.iter().any(|alert| alert == name) {
                alarms.standing.insert(condition, (String::new(), Told::Yes));
                if condition == Condition::BrokerRefuses {
                    // Whatever it was: that the broker takes an event ends it.
                    alarms.refusals.insert((Subject::Events, String::new()), String::new());
                }
            }
        }
        alarms
    }

    /// The condition stands, for the one cause that it has, whatever shows it: one that stands already keeps its first text.
    pub fn raise(&mut self, condition: Condition, text: impl Into<String>) {
        if self.ended.remove(&condition) {
            // It was told as standing, and its end was not told yet: nothing has changed.
            self.standing.insert(condition, (text.into(), Told::Yes));
        } else {
            self.standing
                .entry(condition)
                .or_insert_with(|| (text.into(), Told::No));
        }
    }

    /// The condition stands, and this is what is the matter now: told anew when it is something else than before.
    pub fn renew(&mut self, condition: Condition, text: impl Into<String>) {
        let text = text.into();
        let was_ending = self.ended.remove(&condition);
        match self.standing.get(&condition) {
            Some((known, _)) if *known == text && !was_ending => {}
            Some(_) | None => {
                self.standing.insert(condition, (text, Told::No));
            }
        }
    }

    /// The condition is over.
    pub fn clear(&mut self, condition: Condition) {
        match self.standing.remove(&condition) {
            Some((_, Told::Yes)) => {
                self.ended.insert(condition);
            }
            Some((_, Told::No)) | None => {}
        }
    }

    /// The broker refuses this. One alert tells of everything that is refused, so that two brokers that are tried in turn don't raise
    /// it in turn.
    pub fn refused(&mut self, subject: Subject, broker: &str, text: impl Into<String>) {
        self.refusals.insert((subject, broker.to_owned()), text.into());
        self.tell_refusals();
    }

    /// The broker takes this.
    pub fn taken(&mut self, subject: Subject) {
        let before = self.refusals.len();
        self.refusals.retain(|(refused, _), _| *refused != subject);
        if self.refusals.len() == before {
            return;
        }
        match self.refusals.is_empty() {
            true => self.clear(Condition::BrokerRefuses),
            false => self.tell_refusals(),
        }
    }

    fn tell_refusals(&mut self) {
        let texts: Vec<&str> = self.refusals.values().map(String::as_str).collect();
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            let text = texts.join("; ");
            self.renew(Condition::BrokerRefuses, text);
        }
    }

    /// An event was set aside. Only while [`Alarms::may_set_aside`].
    pub fn set_aside(&mut self, seqno: Seqno, reason: EventSetAsideReason) {
        self.set_aside.push_back((seqno, reason));
    }

    /// The floor knows more than the journal.
    pub fn rolled_back(&mut self, found: Head) {
        self.rolled_back = Some(found);
    }

    /// The gateway has taken notice of nearly all that were set aside.
    #[must_use]
    pub fn may_set_aside(&self) -> bool {
        self.set_aside.len() < MAX_UNTOLD_SET_ASIDE
    }

    /// The gateway has taken notice of all that were set aside: the cursor may pass them for good.
    #[must_use]
    pub fn has_told_set_aside(&self) -> bool {
        self.set_aside.is_empty()
    }

    /// The broker refuses this at the moment.
    #[must_use]
    pub fn is_refused(&self, subject: Subject) -> bool {
        self.refusals.keys().any(|(refused, _)| *refused == subject)
    }

    /// The condition stands.
    #[must_use]
    pub fn stands(&self, condition: Condition) -> bool {
        self.standing.contains_key(&condition)
    }

    /// Something is to be told.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.rolled_back.is_some()
            || !self.set_aside.is_empty()
            || !self.ended.is_empty()
            || self.standing.values().any(|(_, told)| *told == Told::No)
    }

    /// The next thing to tell, taken as told: what was set aside, a roll-back, ends, beginnings.
    pub fn next_news(&mut self) -> Option<Notice> {
        if let Some((seqno, reason)) = self.set_aside.pop_front() {
            return Some(Notice::SetAside { seqno, reason });
        }
        if let Some(found) = self.rolled_back.take() {
            return Some(Notice::RolledBack { found });
        }
        if let Some(condition) = self.ended.pop_first() {
            return Some(Notice::Condition {
                condition,
                text: String::new(),
                standing: false,
            });
        }
        let untold = self.standing.iter_mut().find(|(_, (_, told))| *told == Told::No);
        let (condition, text) = untold.map(|(condition, (text, told))| {
            *told = Told::Yes;
            (*condition, text.clone())
        })?;
        if condition == Condition::EventSetAside {
            // It was over when it had happened: a person acknowledges it, and the next one is told again.
            self.standing.remove(&condition);
        }
        Some(Notice::Condition {
            condition,
            text,
            standing: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(alarms: &mut Alarms) -> Vec<(Condition, bool)> {
        std::iter::from_fn(|| alarms.next_news())
            .map(|notice| match notice {
                Notice::Condition {
                    condition, standing, ..
                } => (condition, standing),
                other @ (Notice::SetAside { .. } | Notice::RolledBack { .. }) => panic!("{other:?}"),
            })
            .collect()
    }

    fn texts(alarms: &mut Alarms) -> Vec<String> {
        let news = std::iter::from_fn(|| alarms.next_news());
        let text = |notice| match notice {
            Notice::Condition { text, .. } => text,
            other @ (Notice::SetAside { .. } | Notice::RolledBack { .. }) => panic!("no condition: {other:?}"),
        };
        news.map(text).collect()
    }

    #[test]
    fn a_condition_is_told_once_when_it_begins_and_once_when_it_ends() {
        let mut alarms = Alarms::default();
        alarms.raise(Condition::NobodyListening, "a");
        alarms.raise(Condition::NobodyListening, "b");
        assert_eq!(news(&mut alarms), [(Condition::NobodyListening, true)]);
        alarms.raise(Condition::NobodyListening, "c");
        assert!(!alarms.has_news());
        alarms.clear(Condition::NobodyListening);
        alarms.clear(Condition::NobodyListening);
        assert_eq!(news(&mut alarms), [(Condition::NobodyListening, false)]);
    }

    #[test]
    fn what_nobody_took_notice_of_and_is_over_is_not_told() {
        let mut alarms = Alarms::default();
        alarms.raise(Condition::TakenOver, "a");
        alarms.clear(Condition::TakenOver);
        assert_eq!(news(&mut alarms), []);
        alarms.raise(Condition::TakenOver, "a");
        assert_eq!(news(&mut alarms).len(), 1);
        alarms.clear(Condition::TakenOver);
        alarms.raise(Condition::TakenOver, "again");
        assert_eq!(news(&mut alarms), []);
        assert!(alarms.stands(Condition::TakenOver));
    }

    #[test]
    fn what_an_earlier_run_left_standing_is_told_when_it_is_over_and_not_before() {
        let table = TableState {
            alerts: vec!["broker_unreachable".into(), "broker_refuses".into(), "door_open".into()],
            ..TableState::default()
        };
        let mut alarms = Alarms::left_standing(&table);
        alarms.raise(Condition::BrokerUnreachable, "still");
        alarms.clear(Condition::NobodyListening);
        assert_eq!(news(&mut alarms), []);
        alarms.clear(Condition::BrokerUnreachable);
        alarms.taken(Subject::Events);
        assert_eq!(
            news(&mut alarms),
            [(Condition::BrokerRefuses, false), (Condition::BrokerUnreachable, false)]
        );
    }

    #[test]
    fn what_is_the_matter_now_is_told_anew_only_when_it_changes() {
        let mut alarms = Alarms::default();
        for (text, told) in [("expired", 1), ("expired", 0), ("no pair", 1), ("no pair", 0)] {
            alarms.renew(Condition::CertificateRefused, text);
            assert_eq!(
                news(&mut alarms),
                vec![(Condition::CertificateRefused, true); told],
                "{text}"
            );
        }
        alarms.clear(Condition::CertificateRefused);
        alarms.renew(Condition::CertificateRefused, "expired");
        assert_eq!(news(&mut alarms), [(Condition::CertificateRefused, true)]);
    }

    #[test]
    fn each_event_that_is_set_aside_is_told_and_none_stands() {
        let mut alarms = Alarms::default();
        for _ in 0..2 {
            alarms.raise(Condition::EventSetAside, "event 4");
            assert_eq!(news(&mut alarms), [(Condition::EventSetAside, true)]);
            assert!(!alarms.stands(Condition::EventSetAside));
        }
        alarms.clear(Condition::EventSetAside);
        assert_eq!(news(&mut alarms), []);
    }

    #[test]
    fn the_broker_refuses_while_it_refuses_anything() {
        let mut alarms = Alarms::default();
        alarms.refused(Subject::Events, "a", "a refuses events");
        assert_eq!(texts(&mut alarms), ["a refuses events"]);
        alarms.refused(Subject::State, "a", "a refuses state");
        assert_eq!(texts(&mut alarms), ["a refuses events; a refuses state"]);
        // Two brokers that are tried in turn are one cause, and none of them anew.
        alarms.refused(Subject::Events, "b", "b refuses events");
        assert_eq!(texts(&mut alarms).len(), 1);
        for broker in ["a", "b", "a", "b"] {
            alarms.refused(Subject::Events, broker, format!("{broker} refuses events"));
        }
        assert_eq!(news(&mut alarms), []);
        alarms.taken(Subject::State);
        assert_eq!(texts(&mut alarms), ["a refuses events; b refuses events"]);
        alarms.taken(Subject::Status);
        assert_eq!(news(&mut alarms), []);
        alarms.taken(Subject::Events);
        assert_eq!(news(&mut alarms), [(Condition::BrokerRefuses, false)]);
    }
}
