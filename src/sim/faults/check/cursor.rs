//! The cursor is never ahead of what the broker acknowledged, and never goes back.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::faults::trace::{AfterRollback, Answer, Invariant, Judge, Publish, Seen, Sight, is_events};
use crate::table::event::Event;
use prost::Message;

#[derive(Default)]
pub(super) struct CursorBehind {
    /// Events that were given to a broker and are not acknowledged.
    given: BTreeMap<Publish, (String, u64)>,
    journals: BTreeMap<String, Acknowledged>,
}

#[derive(Default)]
struct Acknowledged {
    /// Everything up to this.
    through: u64,
    beyond: BTreeSet<u64>,
    cursor: u64,
}

impl Judge for CursorBehind {
    fn invariant(&self) -> Invariant {
        Invariant::CursorBehind
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Published { publish, .. } => {
                if let Some(event) = sight.events.first() {
                    self.given.insert(*publish, (event.journal_id.clone(), event.seqno));
                }
            }
            Seen::ThrownAway {
                publish,
                topic,
                payload,
                ..
            } if is_events(topic) => {
                if let Ok(event) = Event::decode(*payload) {
                    self.given.insert(*publish, (event.journal_id, event.seqno));
                }
            }
            Seen::Acknowledged { publish, answer, .. } => {
                let event = self.given.remove(publish);
                if let (Some((journal, seqno)), Answer::Success | Answer::NobodyListens | Answer::Unfit) =
                    (event, answer)
                {
                    self.journals.entry(journal).or_default().take(seqno);
                }
            }
            Seen::CursorWritten { journal, cursor } => {
                let journal = self.journals.entry((*journal).to_owned()).or_default();
                let before = std::mem::replace(&mut journal.cursor, *cursor);
                if *cursor > journal.through {
                    return Err(format!(
                        "the cursor is {cursor}, and the broker has acknowledged up to {}",
                        journal.through
                    ));
                }
                if *cursor < before {
                    return Err(format!("the cursor goes back from {before} to {cursor}"));
                }
            }
            Seen::WentBack { journal, to } => {
                let journal = self.journals.entry((*journal).to_owned()).or_default();
                journal.through = journal.through.min(*to);
                journal.beyond.clear();
                // The image holds an older one, which nobody has told of.
                journal.cursor = 0;
                self.given.retain(|_, (_, seqno)| *seqno <= *to);
            }
            Seen::Expired { journal, through } => {
                let cursor = self.journals.get(*journal).map_or(0, |journal| journal.cursor);
                if *through > cursor {
                    return Err(format!(
                        "events up to {through} were deleted, and the cursor is {cursor}"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Acknowledged {
    fn take(&mut self, seqno: u64) {
        if seqno > self.through {
            self.beyond.insert(seqno);
        }
        while self.beyond.remove(&(self.through + 1)) {
            self.through += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice};
    use super::*;

    fn acknowledged(publish: Publish, answer: Answer) -> Seen<'static> {
        Seen::Acknowledged {
            connection: 1,
            publish,
            answer,
        }
    }

    fn cursor(bench: &mut Bench, cursor: u64) {
        let journal = bench.journal().to_owned();
        bench.see(&Seen::CursorWritten {
            journal: &journal,
            cursor,
        });
    }

    fn bench() -> Bench {
        let mut bench = Bench::bare(CursorBehind::default());
        let records = bench.append(dice::to_landed(1));
        for record in &records {
            bench.publish(1, record);
        }
        bench
    }

    #[test]
    fn it_follows_the_acknowledgements_in_whatever_order_they_come() {
        let mut bench = bench();
        for publish in [2, 1, 3] {
            bench.see(&acknowledged(publish, Answer::Success));
        }
        cursor(&mut bench, 2);
        cursor(&mut bench, 3);
        bench.see(&acknowledged(4, Answer::Unfit));
        cursor(&mut bench, 4);
        bench.expect_nothing();
    }

    #[test]
    fn one_ahead_one_refused_and_one_back_are_found() {
        let mut bench = bench();
        bench.see(&acknowledged(1, Answer::Success));
        bench.see(&acknowledged(3, Answer::Success));
        cursor(&mut bench, 2);
        bench.expect("the cursor is 2, and the broker has acknowledged up to 1");
        bench.see(&acknowledged(2, Answer::Refused));
        cursor(&mut bench, 3);
        bench.expect("acknowledged up to 1");
        cursor(&mut bench, 1);
        bench.expect("goes back from 3 to 1");
        let journal = bench.journal().to_owned();
        bench.see(&Seen::Expired {
            journal: &journal,
            through: 2,
        });
        bench.expect("were deleted, and the cursor is 1");
    }
}
