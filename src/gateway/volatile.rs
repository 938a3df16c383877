//! The journal can't be written: nothing may happen, and nothing is forgotten about that.
//!
//! The tumbler is inhibited, the readout shows E90, lamps stay as they are, nothing is published, inputs are dropped and
//! counted, people are told. An append that failed used up no number (the journal removes what a late one left behind), so
//! the chain goes on where it was.

use super::Refusal;
use super::inputs::Wake;
use super::recorder::Batch;
use super::recorder::gateway_fact;
use super::store::Pending;
use super::table_loop::{Ended, TableLoop, Trouble, condition_input};
use crate::table::Seen;
use crate::table::event::{Body, JournalFailed};
use crate::table::input::{Condition, DeviceKind, DeviceStatus, Input};
use crate::time::Timestamp;
use crate::uplink::Notice;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often an append is tried while nothing can be recorded. A disk that was full for a moment must not stop play for
/// long; a broken one isn't hammered.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The entry number to show E90 under after an input that took it off the readout: a key hides it, and a greeted terminal has a number
/// that it takes no readout for.
fn next_entry(input: &Input, shown: u32) -> Option<u32> {
    let after = |entry: u32| entry.checked_add(1).unwrap_or(1);
    match input {
        Input::Key { .. } | Input::Entry { .. } => Some(after(shown)),
        Input::DeviceUp {
            status: DeviceStatus::Terminal(report),
            ..
        } => Some(after(report.entry)),
        Input::DeviceUp { .. }
        | Input::Started
        | Input::Stopping
        | Input::DeviceDown { .. }
        | Input::Tumbler { .. }
        | Input::Terminal(_)
        | Input::Contact(_)
        | Input::Lamps(_)
        | Input::LampsAcknowledged { .. }
        | Input::DeviceFault { .. }
        | Input::ReadUnderCover
        | Input::Condition { .. }
        | Input::Operator { .. }
        | Input::ActForbidden { .. }
        | Input::SoftwareVerified { .. }
        | Input::OperatorGone { .. }
        | Input::Deadline => None,
    }
}

/// What was missed, and the newest of what tells states: those aren't lost, they are looked at when recording works again.
struct Missed {
    since: Timestamp,
    dropped: u64,
    error: String,
    /// The newest coming or going of each device.
    links: BTreeMap<DeviceKind, Input>,
    conditions: BTreeMap<Condition, Input>,
    /// The run's first input.
    started: Option<Input>,
    /// Bounded: the uplink sets aside one event at a time and waits for room.
    set_aside: Vec<Notice>,
    rolled_back: Option<Notice>,
    /// Connections that ended.
    gone: BTreeSet<u64>,
}

/// Notices of events set aside that are kept while nothing can be recorded; nothing is published then, so few can come.
const SET_ASIDE_KEPT: usize = 16;

/// Ended connections that are kept. Only those that acted are told of; one of them opens or tests at a time.
const GONE_KEPT: usize = 64;

impl TableLoop<'_> {
    /// Stays here until an append works again; `Some` when it was asked to stop before.
    pub(super) async fn ride_out(&mut self, trouble: Trouble) -> Option<Ended> {
        tracing::error!(error = %trouble.text, "the journal can't be written: the table stands still");
        let mut missed = Missed {
            since: self.recorder.wall(),
            // The input that could not be recorded comes first.
            dropped: 0,
            error: trouble.text,
            links: BTreeMap::new(),
            conditions: BTreeMap::new(),
            started: None,
            set_aside: Vec::new(),
            rolled_back: None,
            gone: BTreeSet::new(),
        };
        let mut entry = self.table.indicators().readout.entry;
        self.outlets.show_journal_failed(self.table.indicators(), entry);
        self.outlets.show_fault(&missed.error);
        super::notify::status("the journal can't be written: the table stands still");
        let mut attempt: Option<Attempt> = None;
        let mut try_at = self.clock.uptime() + TRY_AGAIN;
        loop {
            let resting = attempt.is_none();
            // An attempt settles once, and the next is a second away: inputs that come without end can't hide it, nor it them.
            tokio::select! {
                biased;
                outcome = settled(attempt.as_mut()) => {
                    try_at = self.clock.uptime() + TRY_AGAIN;
                    match (attempt.take(), outcome) {
                        (Some(made), Ok(())) => {
                            self.resume(made, missed);
                            return None;
                        }
                        (_, Ok(())) => {}
                        (_, Err(text)) => {
                            self.outlets.count(|counts| counts.appends_failed += 1);
                            missed.error = text;
                        }
                    }
                }
                wake = self.inputs.next(resting.then_some(try_at)) => match wake {
                    Wake::Input(asked) if asked.arrival.input == Input::Deadline => {
                        try_at = self.clock.uptime() + TRY_AGAIN;
                        attempt = self.attempt(&missed, entry);
                    }
                    Wake::Input(asked) => {
                        self.outlets.count(|counts| {
                            counts.inputs += 1;
                            counts.lost += 1;
                            counts.acts_refused += u64::from(asked.reply.is_some());
                        });
                        if let Some(next) = next_entry(&asked.arrival.input, entry) {
                            entry = next;
                            self.outlets.show_journal_failed(self.table.indicators(), entry);
                        }
                        let text = missed.error.clone();
                        missed.keep_state(&asked.arrival.input);
                        asked.answer(Err(Refusal::JournalFailed { text }));
                    }
                    Wake::Notice(_, notice) => missed.keep_notice(notice),
                    Wake::Peek(peek) => {
                        let text = missed.error.clone();
                        peek.answer(Err(Refusal::JournalFailed { text }));
                    }
                    Wake::Idle(_) => {}
                    Wake::Stop => return Some(Ended::StoppedUnrecorded),
                },
            }
            self.watchdog.progress(self.clock.uptime());
        }
    }

    /// Tries to say what was missed; the terminal shows this entry number. `None` when even that can't be put into an event.
    fn attempt(&mut self, missed: &Missed, entry: u32) -> Option<Attempt> {
        self.advance(self.clock.uptime());
        self.table.drop_keys(entry);
        let text = format!("the journal could not be written ({})", missed.error);
        let decision = self
            .table
            .decide(self.now, &condition_input(Condition::JournalFailed, text, true));
        let failed = JournalFailed {
            from: Some(missed.since.into()),
            to: Some(self.recorder.wall().into()),
            dropped_inputs: missed.dropped,
            error: missed.error.chars().take(ERROR_KEPT).collect(),
        };
        let mut facts = vec![gateway_fact(Body::JournalFailed(failed))];
        facts.extend(decision.facts);
        match self.recorder.seal(self.now, facts) {
            Ok(mut batch) => {
                let records = std::mem::take(&mut batch.records);
                Some(Attempt {
                    pending: self.store.append(records),
                    batch,
                    seen: decision.seen,
                })
            }
            Err(error) => {
                tracing::error!(%error, "what was missed can't be recorded");
                None
            }
        }
    }

    /// Recording works again: devices are asked as after a restart, and what tells states is looked at now.
    fn resume(&mut self, recorded: Attempt, missed: Missed) {
        tracing::warn!(
            dropped = missed.dropped,
            "the journal can be written again; the table waits for a supervisor"
        );
        super::notify::status("the journal can be written again: a supervisor must unlock the table");
        self.fold(recorded.batch);
        self.table.note(recorded.seen);
        self.upkeep.journal_recovered(self.clock.uptime());
        self.outlets.show(self.table.indicators());
        self.publish();
        let gone = missed
            .gone
            .into_iter()
            .map(|connection| Input::OperatorGone { connection });
        self.inputs.keep(
            missed
                .started
                .into_iter()
                .chain(missed.links.into_values())
                .chain(missed.conditions.into_values())
                .chain(gone),
            missed.set_aside.into_iter().chain(missed.rolled_back),
        );
        self.outlets.ask_every_status();
    }
}

/// Characters of an error that an event keeps.
const ERROR_KEPT: usize = 200;

impl Missed {
    /// The input did not happen; what it says of a state that lasts is looked at later.
    fn keep_state(&mut self, input: &Input) {
        if *input != Input::Started {
            self.dropped = self.dropped.saturating_add(1);
        }
        match input {
            Input::DeviceUp { identity, .. } => {
                self.links.insert(identity.kind, input.clone());
            }
            Input::DeviceDown { kind, .. } => {
                self.links.insert(*kind, input.clone());
            }
            Input::Condition { condition, .. } => {
                self.conditions.insert(*condition, input.clone());
            }
            // Bounded: a connection that opened or tests acted before, and only few can be open at a time.
            Input::OperatorGone { connection } => {
                if self.gone.len() < GONE_KEPT {
                    self.gone.insert(*connection);
                }
            }
            Input::Started => self.started = Some(Input::Started),
            Input::Tumbler { .. }
            | Input::Terminal(_)
            | Input::Key { .. }
            | Input::Entry { .. }
            | Input::Contact(_)
            | Input::Lamps(_)
            | Input::LampsAcknowledged { .. }
            | Input::DeviceFault { .. }
            | Input::ReadUnderCover
            | Input::Operator { .. }
            | Input::ActForbidden { .. }
            | Input::SoftwareVerified { .. }
            | Input::Deadline
            | Input::Stopping => {}
        }
    }

    fn keep_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Condition {
                condition,
                text,
                standing,
            } => {
                let input = condition_input(condition, text, standing);
                self.conditions.insert(condition, input);
            }
            Notice::SetAside { .. } if self.set_aside.len() < SET_ASIDE_KEPT => self.set_aside.push(notice),
            Notice::SetAside { seqno, .. } => {
                tracing::error!(
                    seqno,
                    "an event set aside can't be recorded as such: the journal can't be written"
                );
            }
            Notice::RolledBack { .. } => self.rolled_back = Some(notice),
        }
    }
}

/// An append that says what was missed, on its way.
struct Attempt {
    pending: Pending,
    batch: Batch,
    seen: Seen,
}

/// The attempt's outcome; never, when none is made.
async fn settled(attempt: Option<&mut Attempt>) -> Result<(), String> {
    match attempt {
        Some(attempt) => (&mut attempt.pending).await,
        None => std::future::pending().await,
    }
}
