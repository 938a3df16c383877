//! From what the journal holds to a running table: checkpoint and tail by the same `apply` as live, then the first events of
//! this run, in one append.

use super::clock::Synchronisation;
use super::recorder::{Batch, Recorder, TooLarge, gateway_fact};
use super::rounds::Rounds;
use super::start::software;
use super::store::{Events, Found, Fresh, Shelf};
use super::table_loop::condition_input;
use super::{GatewayConfig, Said};
use crate::causes::told;
use crate::journal::{ReadError, Seqno, decode};
use crate::rules::RULES_VERSION;
use crate::signing::Signer;
use crate::table::event::{
    Body, CheckpointRecorded, Event, Fact, GatewayStarted, Head, JournalStarted, JournalStartedReason, SelfTestFailed,
};
use crate::table::input::Condition;
use crate::table::{GameConfig, Table, TableConfig};
use crate::time::{Clock, Timestamp};
use crate::uplink::Undelivered;
use std::sync::Arc;
use tokio::sync::watch;

/// A table that is ready to run: the self-test has passed, and the journal says so.
pub(super) struct Begun {
    pub(super) table: Table,
    pub(super) recorder: Recorder,
    pub(super) shelf: Arc<dyn Shelf>,
    /// Events since the newest checkpoint.
    pub(super) tail: u64,
    pub(super) cursor: Seqno,
    pub(super) undelivered: Vec<Undelivered>,
    /// For people who look.
    pub(super) rounds: Rounds,
}

/// Everything that a start needs to know of this program and this run.
pub(super) struct Run {
    pub(super) run_id: String,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) synchronisation: watch::Receiver<Synchronisation>,
    pub(super) build_sha256: [u8; 32],
    pub(super) machine: String,
}

/// The state that the events leave.
struct Restored {
    table: Table,
    tail: u64,
    newest: Option<Newest>,
}

/// What matters of the newest event of the run before.
#[derive(Clone, Copy)]
struct Newest {
    recorded_at: Timestamp,
    ended_run: Ended,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Cleanly,
    Otherwise,
}

/// Restores the table and appends the first events of this run.
///
/// An error is a failed self-test: it is recorded where that is possible, and the journal is closed.
pub(super) async fn begin(config: &GatewayConfig, run: &Run, found: Found) -> Result<Begun, String> {
    let Found {
        shelf,
        fresh,
        head,
        checkpoint,
        tail,
        cursor,
        undelivered,
    } = found;
    let rounds = recent_rounds(shelf.as_ref(), head.seqno);
    let names = (config.site.as_str(), config.table.as_str());
    let mut recorder = Recorder::new(names, &run.run_id, head, run.clock.clone(), run.synchronisation.clone());
    let Restored {
        mut table,
        tail,
        newest,
    } = match restore(&config.game, checkpoint, tail) {
        Ok(restored) => restored,
        Err(error) => return Err(fail(&recorder, shelf.as_ref(), run, told(&error)).await),
    };
    let mut batch = match first_events(config, run, &recorder, &table, fresh, newest) {
        Ok(batch) => batch,
        Err(error) => return Err(fail(&recorder, shelf.as_ref(), run, error.to_string()).await),
    };
    if let Err(text) = shelf.append(std::mem::take(&mut batch.records)).await {
        shelf.close().await;
        return Err(text);
    }
    recorder.committed(&batch);
    for event in &batch.events {
        table.apply(event);
    }
    Ok(Begun {
        table,
        recorder,
        shelf,
        tail,
        cursor,
        undelivered,
        rounds,
    })
}

/// Events that are read again to show the last rounds: some forty rounds, a millisecond or two.
const READ_AGAIN: u64 = 600;

/// The last rounds, as far as a few pages of the journal tell them. What can't be read isn't shown.
fn recent_rounds(shelf: &dyn Shelf, newest: Seqno) -> Rounds {
    let mut rounds = Rounds::default();
    let from = newest.saturating_sub(READ_AGAIN) + 1;
    for record in shelf.read(from, newest) {
        if let Ok(event) = decode(&record) {
            rounds.note(&event);
        }
    }
    rounds
}

/// The first append of this run.
fn first_events(
    config: &GatewayConfig,
    run: &Run,
    recorder: &Recorder,
    table: &Table,
    fresh: Option<Fresh>,
    newest: Option<Newest>,
) -> Result<Batch, TooLarge> {
    let now = run.clock.uptime();
    let mut batch = recorder.begin();
    let mut condition = None;
    if let Some(Fresh {
        reason,
        predecessor,
        text,
    }) = fresh
    {
        if condition_of(reason).is_some() {
            tracing::error!("a new journal is begun: {text}");
        }
        let started = JournalStarted {
            reason: reason.into(),
            predecessor,
            site: config.site.clone(),
            table: config.table.clone(),
            machine: run.machine.clone(),
        };
        recorder.extend(&mut batch, now, vec![gateway_fact(Body::JournalStarted(started))])?;
        if newest.is_some() {
            let carried = checkpoint_after(batch.head(), table, config.signer.as_deref());
            recorder.extend(&mut batch, now, vec![carried])?;
        }
        condition = condition_of(reason).map(|condition| condition_input(condition, text, true));
    }
    let clean_stop = newest.is_none_or(|newest| newest.ended_run == Ended::Cleanly);
    let started = gateway_fact(Body::GatewayStarted(started(config, run, clean_stop)));
    recorder.extend(&mut batch, now, vec![started])?;
    if let Some(newest) = newest {
        recorder.expect_no_earlier_than(&mut batch, newest.recorded_at);
    }
    let facts = condition.map(|input| table.decide(now, &input).facts);
    recorder.extend(&mut batch, now, facts.unwrap_or_default())?;
    Ok(batch)
}

/// Folds a checkpoint and the events after it.
fn restore(config: &TableConfig, checkpoint: Option<Event>, tail: Events) -> Result<Restored, ReadError> {
    let mut restored = Restored {
        table: Table::new(config.clone()),
        tail: 0,
        newest: None,
    };
    for event in checkpoint.map(Ok).into_iter().chain(tail) {
        let event = event?;
        restored.table.apply(&event);
        restored.tail += 1;
        restored.newest = Some(Newest {
            recorded_at: event.recorded_at.as_ref().map(Timestamp::from).unwrap_or_default(),
            ended_run: match (&event.body, restored.newest) {
                (Some(Body::GatewayStopped(_)), _) => Ended::Cleanly,
                // A run that could not begin plays nothing: how the one before it ended still counts.
                (Some(Body::SelfTestFailed(_)), Some(before)) => before.ended_run,
                (_, _) => Ended::Otherwise,
            },
        });
    }
    Ok(restored)
}

/// A `CheckpointRecorded` of `table`'s state after the event that `head` names, signed where there is a key.
pub(super) fn checkpoint_after(head: &Head, table: &Table, signer: Option<&Signer>) -> Fact {
    let mut checkpoint = CheckpointRecorded {
        through_seqno: head.seqno,
        sha256: head.sha256.clone(),
        state: Some(table.checkpoint()),
        key_id: String::new(),
        signature: Vec::new(),
    };
    if let Some(signer) = signer {
        signer.sign(&head.journal_id, &mut checkpoint);
    }
    gateway_fact(Body::CheckpointRecorded(checkpoint))
}

fn started(config: &GatewayConfig, run: &Run, clean_stop: bool) -> GatewayStarted {
    let (game, style, layout) = game_words(&config.game);
    let software = software(config, run);
    let (approved_by, approval_sha256) = match &config.approval.said {
        Said::Approved(approved) => (approved.by.clone(), approved.file_sha256.to_vec()),
        Said::Nothing | Said::Unusable { .. } => (String::new(), Vec::new()),
    };
    GatewayStarted {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build_sha256: run.build_sha256.to_vec(),
        config_sha256: config.config_sha256.to_vec(),
        rules_version: RULES_VERSION.to_owned(),
        clean_stop,
        approval_enforced: config.game.approval.is_enforced(),
        differs: config.approval.differs(&software).into_iter().map(Into::into).collect(),
        approved_by,
        approval_sha256,
        game: game.to_owned(),
        style: style.to_owned(),
        layout: layout.to_owned(),
        machine: run.machine.clone(),
    }
}

/// Game, style and layout as the configuration writes them.
pub(super) fn game_words(config: &TableConfig) -> (&'static str, &'static str, &'static str) {
    match &config.game {
        GameConfig::TaiSai(tai_sai) => ("tai-sai", tai_sai.style.name(), tai_sai.layout.name()),
        GameConfig::TwoUpDice(_) => ("two-up-dice", "", ""),
        GameConfig::TriplePenny(_) => ("triple-penny-two-up", "", ""),
        GameConfig::SicBo(sic_bo) => ("sic-bo", sic_bo.tumbler.name(), ""),
    }
}

fn condition_of(reason: JournalStartedReason) -> Option<Condition> {
    match reason {
        JournalStartedReason::MovedAside => Some(Condition::JournalMovedAside),
        JournalStartedReason::RolledBack => Some(Condition::JournalRolledBack),
        JournalStartedReason::First | JournalStartedReason::Unspecified => None,
    }
}

/// Records that the self-test failed, where the journal still takes it, and closes the journal. A journal begins with `JournalStarted`: in one
/// that has nothing yet nothing is recorded, so that the next try still finds it new.
async fn fail(recorder: &Recorder, shelf: &dyn Shelf, run: &Run, text: String) -> String {
    let fact = gateway_fact(Body::SelfTestFailed(SelfTestFailed { text: text.clone() }));
    if recorder.head().seqno > 0
        && let Ok(batch) = recorder.seal(run.clock.uptime(), vec![fact])
        && let Err(error) = shelf.append(batch.records).await
    {
        tracing::error!(error, "the failed self-test could not be recorded");
    }
    shelf.close().await;
    text
}

#[cfg(test)]
mod tests {
    use super::super::loop_tests::config;
    use super::*;
    use crate::table::event::GatewayStopped;

    #[test]
    fn a_run_that_could_not_begin_says_nothing_of_how_the_one_before_ended() {
        let stopped = || Body::GatewayStopped(GatewayStopped::default());
        let failed = || Body::SelfTestFailed(SelfTestFailed::default());
        let started = || Body::GatewayStarted(GatewayStarted::default());
        for (bodies, is_clean) in [
            (vec![stopped()], true),
            (vec![stopped(), failed(), failed()], true),
            (vec![started(), failed()], false),
            (vec![stopped(), failed(), started()], false),
        ] {
            let events = (1..).zip(bodies).map(|(seqno, body)| {
                Ok(Event {
                    seqno,
                    body: Some(body),
                    ..Event::default()
                })
            });
            let restored = restore(&config(), None, Box::new(events.collect::<Vec<_>>().into_iter())).unwrap();
            let newest = restored.newest.unwrap();
            assert_eq!(newest.ended_run == Ended::Cleanly, is_clean);
        }
    }
}
