//! The loop that owns the table: decide, append, apply, act. It awaits the next input and the journal, and nothing else;
//! no reader, no device and no broker can hold it up.

use super::Refusal;
use super::inputs::{Asked, Inputs, Wake};
use super::notify::Watchdog;
use super::outlets::Outlets;
use super::recorder::{Batch, Recorder, gateway_fact};
use super::restore::checkpoint_after;
use super::store::{Pending, Store};
use super::upkeep::{TIDY_AFTER, TIDY_AT_LATEST, Upkeep};
use crate::failpoint::{Point, pass};
use crate::signing::Signer;
use crate::table::Table;
use crate::table::event::{Body, Event, EventSetAside, Fact, GatewayStopped};
use crate::table::input::{Arrival, Condition, Input};
use crate::time::{Clock, Uptime};
use crate::uplink::Notice;
use std::sync::Arc;
use std::time::Duration;

/// An append that takes longer is an alert: a disk this slow will fail, and dealers notice the lamps.
pub(super) const APPEND_SLOW: Duration = Duration::from_millis(500);

/// One task, one table.
pub(super) struct TableLoop<'a> {
    pub(super) table: Table,
    pub(super) recorder: Recorder,
    pub(super) store: Arc<dyn Store>,
    pub(super) inputs: &'a mut Inputs,
    pub(super) outlets: Outlets,
    pub(super) upkeep: Upkeep,
    pub(super) watchdog: Watchdog,
    pub(super) clock: Arc<dyn Clock>,
    /// Time never runs backwards for the table, whatever queue an input came through.
    pub(super) now: Uptime,
    /// Durable events that people who look haven't been shown yet: lamps come first.
    pub(super) unseen: Vec<Event>,
    /// The table's deadline is not heeded before this.
    pub(super) not_before: Option<Uptime>,
    /// Signs checkpoints.
    pub(super) signer: Option<Arc<Signer>>,
}

/// Why the loop ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// It was asked to stop, and the journal's last event says so.
    Stopped,
    /// It was asked to stop while nothing could be recorded.
    StoppedUnrecorded,
    /// The floor knows more than the journal: a new journal must be begun.
    RolledBack(crate::table::event::Head),
}

/// What happened could not be recorded, so it did not happen.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) text: String,
}

impl TableLoop<'_> {
    /// Runs until it is asked to stop.
    pub(super) async fn run(&mut self) -> Ended {
        loop {
            let outcome = match self.inputs.next(self.due()).await {
                Wake::Input(asked) => self.hear(asked).await,
                Wake::Notice(at, notice) => match self.heed(at, notice).await {
                    Ok(None) => Ok(()),
                    Ok(Some(ended)) => return ended,
                    Err(trouble) => Err(trouble),
                },
                Wake::Peek(peek) => {
                    peek.answer(Ok(self.table.clone()));
                    Ok(())
                }
                Wake::Idle(now) => self.keep_house(now).await,
                Wake::Stop => return self.finish().await,
            };
            if let Err(trouble) = outcome
                && let Some(ended) = self.ride_out(trouble).await
            {
                return ended;
            }
            self.watchdog.progress(self.clock.uptime());
        }
    }

    /// When the table wants to be asked next.
    fn due(&self) -> Option<Uptime> {
        let due = self.table.deadline()?;
        Some(self.not_before.map_or(due, |at| due.max(at)))
    }

    /// What devices and people say goes to the table as it is; a condition only when it doesn't come and go too often.
    async fn hear(&mut self, asked: Asked) -> Result<(), Trouble> {
        let at = asked.arrival.at;
        if let Input::Condition {
            condition,
            text,
            standing,
        } = asked.arrival.input
        {
            return self.tell_of(at, condition, text, standing).await;
        }
        self.take(asked).await
    }

    /// Time goes on for the table, as far as nothing that arrived earlier still waits: what is due by then might be due no more.
    pub(super) fn advance(&mut self, at: Uptime) {
        self.now = self.now.max(self.inputs.not_past_what_waits(at));
    }

    /// Decide, append, apply, act. A failed append means that the input did not happen.
    pub(super) async fn take(&mut self, asked: Asked) -> Result<(), Trouble> {
        self.outlets.count(|counts| counts.inputs += 1);
        self.advance(asked.arrival.at);
        let decision = self.table.decide(self.now, &asked.arrival.input);
        let recorded = !decision.facts.is_empty();
        if recorded && let Err(trouble) = self.record(decision.facts).await {
            // What tells a state that lasts must not be lost with it.
            self.inputs
                .keep(std::iter::once(asked.arrival.input.clone()), std::iter::empty());
            self.outlets.count(|counts| {
                counts.lost += 1;
                counts.acts_refused += u64::from(asked.reply.is_some());
            });
            let text = trouble.text.clone();
            asked.answer(Err(Refusal::JournalFailed { text }));
            return Err(trouble);
        }
        self.outlets.count(|counts| {
            counts.recorded += u64::from(recorded);
            counts.unrecorded += u64::from(!recorded);
            match (&asked.reply, &decision.answer) {
                (Some(_), Some(Ok(_))) => counts.acts_done += 1,
                (Some(_), Some(Err(_))) => counts.acts_refused += 1,
                (Some(_), None) | (None, _) => {}
            }
        });
        self.table.note(decision.seen);
        self.not_before = None;
        if !recorded && asked.arrival.input == Input::Deadline {
            self.mind_a_deadline_that_stays();
        }
        self.outlets.show(self.table.indicators());
        self.outlets.command(decision.commands);
        pass(Point::Shown);
        if let Some(answer) = decision.answer {
            asked.answer(answer.map_err(Refusal::Rejected));
        }
        if recorded {
            self.publish();
            pass(Point::Told);
            self.checkpoint_when_due().await?;
        } else {
            // A cover that goes off, a test entry: no fact, and people who look must see it all the same.
            self.outlets.show_situation(self.table.situation());
        }
        Ok(())
    }

    /// A deadline that was reached, meant nothing and still stands would keep this loop from everything else.
    fn mind_a_deadline_that_stays(&mut self) {
        if self.table.deadline().is_some_and(|at| at <= self.now) {
            debug_assert!(false, "a deadline stays after it was reached");
            tracing::error!("a deadline stays after it was reached: it waits a second");
            self.not_before = Some(self.clock.uptime() + Duration::from_secs(1));
        }
    }

    /// Makes `facts` durable, then folds them into the table. An error changed nothing.
    pub(super) async fn record(&mut self, facts: Vec<Fact>) -> Result<(), Trouble> {
        let mut batch = self.recorder.seal(self.now, facts).map_err(|error| Trouble {
            text: error.to_string(),
        })?;
        if batch.events.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(&mut batch.records);
        self.append(self.store.append(records), batch).await
    }

    /// Waits for an append; the journal answers within five seconds, and an error means that nothing was written.
    pub(super) async fn append(&mut self, pending: Pending, batch: Batch) -> Result<(), Trouble> {
        let began = self.clock.uptime();
        if let Err(text) = pending.await {
            self.outlets.count(|counts| counts.appends_failed += 1);
            return Err(Trouble { text });
        }
        pass(Point::Recorded);
        self.fold(batch);
        let now = self.clock.uptime();
        let took = now.since(began);
        self.outlets.count(|counts| counts.appended(took));
        self.upkeep.appended(now, took);
        Ok(())
    }

    /// What is durable has happened.
    pub(super) fn fold(&mut self, batch: Batch) {
        self.recorder.committed(&batch);
        for event in &batch.events {
            self.table.apply(event);
        }
        self.upkeep.recorded(&batch.events);
        self.outlets
            .count(|counts| batch.events.iter().for_each(|event| counts.note(event)));
        self.unseen.extend(batch.events);
    }

    /// Everybody who looks, and the floor, learn of the state after the newest event.
    pub(super) fn publish(&mut self) {
        self.outlets.note(&std::mem::take(&mut self.unseen));
        let (state, situation) = (self.table.state(), self.table.situation());
        self.outlets
            .publish(state, situation, self.recorder.head(), Some(self.now));
    }

    /// An input of the gateway's own.
    pub(super) async fn tell_table(&mut self, input: Input) -> Result<(), Trouble> {
        let at = self.clock.uptime();
        let arrival = Arrival { at, input };
        self.take(Asked { arrival, reply: None }).await
    }

    /// What the uplink wants of the journal's owner.
    async fn heed(&mut self, at: Uptime, notice: Notice) -> Result<Option<Ended>, Trouble> {
        self.advance(at);
        match notice {
            Notice::Condition {
                condition,
                text,
                standing,
            } => self.tell_of(at, condition, text, standing).await?,
            Notice::SetAside { seqno, reason } => {
                let mut body = EventSetAside { seqno, reason: 0 };
                body.set_reason(reason);
                if let Err(trouble) = self.record(vec![gateway_fact(Body::EventSetAside(body))]).await {
                    let notice = Notice::SetAside { seqno, reason };
                    self.inputs.keep(std::iter::empty(), std::iter::once(notice));
                    return Err(trouble);
                }
                // Its alert may stand already, and then nothing else tells of it.
                self.publish();
                let text = format!(
                    "event {seqno} is refused by every broker and was set aside; a replay still offers it. \
                     Acknowledge it: tablegate acknowledge event_set_aside"
                );
                self.tell_table(condition_input(Condition::EventSetAside, text, true))
                    .await?;
            }
            Notice::RolledBack { found } => return Ok(Some(Ended::RolledBack(found))),
        }
        Ok(None)
    }

    /// Every 10,000 events, and when the table has closed, recovery gets a new place to begin.
    async fn checkpoint_when_due(&mut self) -> Result<(), Trouble> {
        if self.upkeep.checkpoint_is_due() {
            let fact = self.checkpoint();
            if let Err(error) = self.recorder.seal(self.now, vec![fact.clone()]) {
                // Play goes on; recovery reads more events until a checkpoint fits.
                tracing::error!(%error, "no checkpoint could be made");
                self.upkeep.checkpoint_given_up();
                return Ok(());
            }
            self.record(vec![fact]).await?;
            self.publish();
        }
        let worth_it = if self.table.is_between_rounds() {
            TIDY_AFTER
        } else {
            TIDY_AT_LATEST
        };
        if self.upkeep.take_tidy(worth_it) {
            self.store.tidy();
        }
        Ok(())
    }

    /// A `CheckpointRecorded` of the state after the newest event.
    pub(super) fn checkpoint(&self) -> Fact {
        checkpoint_after(self.recorder.head(), &self.table, self.signer.as_deref())
    }

    /// What was only counted is written, then the run's last event.
    async fn finish(&mut self) -> Ended {
        super::notify::stopping();
        let counted = self.tell_table(Input::Stopping).await;
        let last = match counted {
            Ok(()) => {
                self.record(vec![gateway_fact(Body::GatewayStopped(GatewayStopped {}))])
                    .await
            }
            Err(trouble) => Err(trouble),
        };
        match last {
            Ok(()) => {
                self.publish();
                Ended::Stopped
            }
            Err(trouble) => {
                tracing::error!(error = %trouble.text, "the end of this run could not be recorded");
                Ended::StoppedUnrecorded
            }
        }
    }
}

/// A condition as the table's input.
pub(super) fn condition_input(condition: Condition, text: String, standing: bool) -> Input {
    Input::Condition {
        condition,
        text,
        standing,
    }
}
