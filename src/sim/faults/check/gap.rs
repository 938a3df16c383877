//! No gap: on each connection events go out in order and none is left out, and once all is quiet the broker has got every event of every journal.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::faults::trace::{AfterRollback, Answer, Connection, Invariant, Judge, Publish, Seen, Sight, is_events};
use crate::table::event::Event;
use crate::table::event::event::Body;
use prost::Message;

#[derive(Default)]
pub(super) struct NoGap {
    journals: BTreeMap<String, Leg>,
    connections: BTreeMap<Connection, BTreeMap<String, u64>>,
    publishes: BTreeMap<Publish, (String, u64)>,
}

/// A journal on its way to the floor.
#[derive(Default)]
struct Leg {
    /// The newest durable event.
    head: u64,
    /// The broker got everything up to this.
    taken: u64,
    /// Beyond it.
    ahead: BTreeSet<u64>,
    /// What no broker takes.
    unfit: BTreeSet<u64>,
}

impl Leg {
    fn take(&mut self, seqno: u64) {
        if seqno > self.taken {
            self.ahead.insert(seqno);
        }
        while self.ahead.remove(&(self.taken + 1)) || self.unfit.contains(&(self.taken + 1)) {
            self.taken += 1;
        }
    }

    /// The next event after this one that has to be published.
    fn after(&self, seqno: u64) -> u64 {
        let mut next = seqno + 1;
        while self.unfit.contains(&next) {
            next += 1;
        }
        next
    }
}

impl Judge for NoGap {
    fn invariant(&self) -> Invariant {
        Invariant::NoGap
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Appended { journal, .. } => {
                let leg = self.journals.entry((*journal).to_owned()).or_default();
                for event in sight.events {
                    leg.head = leg.head.max(event.seqno);
                    if let Some(Body::EventSetAside(aside)) = &event.body {
                        leg.unfit.insert(aside.seqno);
                        leg.take(0);
                    }
                }
                Ok(())
            }
            Seen::Connected { connection } => {
                self.connections.insert(*connection, BTreeMap::new());
                Ok(())
            }
            Seen::Disconnected { connection } => {
                self.connections.remove(connection);
                Ok(())
            }
            Seen::Published {
                connection, publish, ..
            } => match sight.events.first() {
                Some(event) => {
                    let order = self.in_order(*connection, *publish, event);
                    self.journals
                        .entry(event.journal_id.clone())
                        .or_default()
                        .take(event.seqno);
                    order
                }
                None => Ok(()),
            },
            Seen::ThrownAway {
                connection,
                publish,
                topic,
                payload,
            } if is_events(topic) => match Event::decode(*payload) {
                Ok(event) => self.in_order(*connection, *publish, &event),
                Err(error) => Err(format!("a published event can't be read: {error}")),
            },
            Seen::Acknowledged {
                publish,
                answer: Answer::Unfit,
                ..
            } => {
                if let Some((journal, seqno)) = self.publishes.get(publish) {
                    let leg = self.journals.entry(journal.clone()).or_default();
                    leg.unfit.insert(*seqno);
                    leg.take(0);
                }
                Ok(())
            }
            Seen::WentBack { journal, to } => {
                let leg = self.journals.entry((*journal).to_owned()).or_default();
                leg.head = *to;
                leg.taken = leg.taken.min(*to);
                leg.ahead.clear();
                leg.unfit.retain(|seqno| seqno <= to);
                Ok(())
            }
            Seen::Expired { journal, through } => match self.journals.get(*journal) {
                Some(leg) if leg.taken >= *through => Ok(()),
                _ => Err(format!(
                    "events up to {through} were deleted before the broker had them"
                )),
            },
            Seen::Quiet => self.complete(),
            _ => Ok(()),
        }
    }
}

impl NoGap {
    fn in_order(&mut self, connection: Connection, publish: Publish, event: &Event) -> Result<(), String> {
        self.publishes.insert(publish, (event.journal_id.clone(), event.seqno));
        let leg = self.journals.entry(event.journal_id.clone()).or_default();
        let sent = self.connections.entry(connection).or_default();
        let last = sent.insert(event.journal_id.clone(), event.seqno);
        let seqno = event.seqno;
        match last {
            None if seqno <= leg.after(leg.taken) => Ok(()),
            None => Err(format!(
                "connection {connection} begins with event {seqno}, and the broker has got only what is up to {}",
                leg.taken
            )),
            Some(last) if seqno == leg.after(last) || (seqno == last + 1) => Ok(()),
            Some(last) => Err(format!("on connection {connection} event {seqno} follows event {last}")),
        }
    }

    fn complete(&self) -> Result<(), String> {
        if self.connections.is_empty() {
            return Err("all is quiet, and the table is not connected to the broker".to_owned());
        }
        for (journal, leg) in &self.journals {
            if leg.taken < leg.head {
                return Err(format!(
                    "all is quiet, and of journal {journal} the broker has got everything only up to {} of {}",
                    leg.taken, leg.head
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice, fact};
    use super::*;
    use crate::table::event::EventSetAside;

    fn bench() -> (Bench, Vec<(u64, Vec<u8>)>) {
        let mut bench = Bench::bare(NoGap::default());
        let records = bench.append(dice::to_landed(1));
        bench.see(&Seen::Connected { connection: 1 });
        (bench, records)
    }

    #[test]
    fn every_event_in_order_with_repeats_on_a_new_connection() {
        let (mut bench, records) = bench();
        for record in &records[..3] {
            bench.publish(1, record);
        }
        bench.see(&Seen::Disconnected { connection: 1 });
        bench.see(&Seen::Connected { connection: 2 });
        for record in &records[1..] {
            bench.publish(2, record);
        }
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
    }

    #[test]
    fn what_is_missing_when_quiet_is_a_gap() {
        let (mut bench, records) = bench();
        for record in &records[..4] {
            bench.publish(1, record);
        }
        bench.see(&Seen::Quiet);
        bench.expect("only up to 4 of 5");
        bench.see(&Seen::Disconnected { connection: 1 });
        bench.see(&Seen::Quiet);
        bench.expect("not connected");
    }

    #[test]
    fn order_matters_on_each_connection() {
        let (mut bench, records) = bench();
        bench.publish(1, &records[0]);
        bench.publish(1, &records[2]);
        bench.expect("event 3 follows event 1");
        bench.publish(1, &records[1]);
        bench.expect("event 2 follows event 3");
        bench.see(&Seen::Connected { connection: 2 });
        bench.publish(2, &records[4]);
        bench.expect("begins with event 5");
    }

    #[test]
    fn what_no_broker_takes_is_left_out() {
        let (mut bench, records) = bench();
        bench.publish(1, &records[0]);
        bench.see(&Seen::ThrownAway {
            connection: 1,
            publish: 77,
            topic: "p/events",
            payload: &records[1].1,
        });
        bench.see(&Seen::Acknowledged {
            connection: 1,
            publish: 77,
            answer: Answer::Unfit,
        });
        bench.publish(1, &records[2]);
        let aside = EventSetAside {
            seqno: 4,
            ..EventSetAside::default()
        };
        let told = bench.append(vec![fact(0, Body::EventSetAside(aside))]);
        bench.publish(1, &records[4]);
        bench.publish(1, &told[0]);
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
    }

    #[test]
    fn only_what_the_broker_has_may_be_deleted() {
        let (mut bench, records) = bench();
        let journal = bench.journal().to_owned();
        bench.publish(1, &records[0]);
        bench.see(&Seen::Expired {
            journal: &journal,
            through: 1,
        });
        bench.expect_nothing();
        bench.see(&Seen::Expired {
            journal: &journal,
            through: 2,
        });
        bench.expect("were deleted before");
    }
}
