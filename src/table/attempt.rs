//! What an act would do now, tried on a copy: the table itself says what it would record and what would be seen afterwards. PURE.

use crate::table::Table;
use crate::table::event::Event;
use crate::table::input::{Input, OperatorAct, Person};
use crate::table::rejection::Rejection;
use crate::time::Uptime;

/// An act as it would go.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// What the person would be told.
    pub answer: String,
    /// What would be recorded, in order. Nothing of it is numbered, chained or stamped: it has not happened.
    pub events: Vec<Event>,
    /// The table afterwards.
    pub after: Table,
}

impl Table {
    /// What `act` would do, if `person` asked for it at `now`. Changes nothing; what is tried has a table of its own.
    ///
    /// # Errors
    /// It would be refused, and why.
    pub fn attempt(&self, now: Uptime, person: &Person, act: &OperatorAct) -> Result<Attempt, Rejection> {
        let input = Input::Operator {
            person: person.clone(),
            act: act.clone(),
        };
        let decision = self.decide(now, &input);
        let answer = decision.answer.unwrap_or_else(|| Ok(String::new()))?;
        let mut after = self.clone();
        let events: Vec<Event> = decision
            .facts
            .into_iter()
            .map(|fact| Event {
                uptime_us: now.as_micros(),
                round_id: fact.round_id,
                actor: fact.actor,
                device: fact.device,
                rules: fact.rules,
                body: Some(fact.body),
                ..Event::default()
            })
            .collect();
        for event in &events {
            after.apply(event);
        }
        after.note(decision.seen);
        Ok(Attempt { answer, events, after })
    }
}
