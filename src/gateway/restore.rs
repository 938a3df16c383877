//! From what the journal holds to a running table: checkpoint and tail by the same `apply` as live, then the first events of
//! this run, in one append.

use super::GatewayConfig;
use super::clock::Synchronisation;
use super::recorder::{Batch, Recorder, TooLarge, gateway_fact};
use super::rounds::Rounds;
use super::table_loop::condition_input;
use crate::journal::{Carried, Journal, MovedAside, Opened, ReadError, Reader, Seqno, decode};
use crate::rules::RULES_VERSION;
use crate::table::event::{
    Body, CheckpointRecorded, Event, Fact, GatewayStarted, JournalStarted, JournalStartedReason, Predecessor,
    SelfTestFailed,
};
use crate::table::input::Condition;
use crate::table::{GameConfig, Table, TableConfig};
use crate::time::{Clock, Timestamp};
use crate::uplink::Ancestry;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;

/// A table that is ready to run: the self-test has passed, and the journal says so.
pub(super) struct Begun {
    pub(super) table: Table,
    pub(super) recorder: Recorder,
    pub(super) journal: Journal,
    /// Events since the newest checkpoint.
    pub(super) tail: u64,
    pub(super) cursor: Seqno,
    pub(super) undelivered: Vec<MovedAside>,
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
pub(super) async fn begin(config: &GatewayConfig, run: &Run, opened: Opened) -> Result<Begun, String> {
    let Opened {
        journal,
        journal_id: _,
        fresh,
        head,
        checkpoint,
        tail,
        cursor,
        undelivered,
        last_connection: _,
    } = opened;
    let (fresh, carried) = match fresh {
        Some(fresh) => (Some((fresh.reason, fresh.predecessor, fresh.text)), fresh.carried),
        None => (None, None),
    };
    let rounds = recent_rounds(journal.path(), head.seqno);
    let source = carried.unwrap_or(Carried { checkpoint, tail });
    let names = (config.site.as_str(), config.table.as_str());
    let mut recorder = Recorder::new(names, &run.run_id, head, run.clock.clone(), run.synchronisation.clone());
    let Restored {
        mut table,
        tail,
        newest,
    } = match restore(&config.game, source.checkpoint, source.tail) {
        Ok(restored) => restored,
        Err(error) => return Err(fail(&recorder, journal, run, told(&error)).await),
    };
    let mut batch = match first_events(config, run, &recorder, &table, fresh, newest) {
        Ok(batch) => batch,
        Err(error) => return Err(fail(&recorder, journal, run, error.to_string()).await),
    };
    if let Err(error) = journal.append(std::mem::take(&mut batch.records)).await {
        close(journal).await;
        return Err(told(&error));
    }
    recorder.committed(&batch);
    for event in &batch.events {
        table.apply(event);
    }
    Ok(Begun {
        table,
        recorder,
        journal,
        tail,
        cursor,
        undelivered,
        rounds,
    })
}

/// Events that are read again to show the last rounds: some forty rounds, a millisecond or two.
const READ_AGAIN: u64 = 600;

/// The last rounds, as far as a few pages of the journal tell them. What can't be read isn't shown.
fn recent_rounds(path: &Path, newest: Seqno) -> Rounds {
    let mut rounds = Rounds::default();
    let from = newest.saturating_sub(READ_AGAIN) + 1;
    let records = Reader::open(path).and_then(|mut reader| reader.page(from, newest, usize::MAX));
    for record in records.unwrap_or_default() {
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
    fresh: Option<(JournalStartedReason, Option<Predecessor>, String)>,
    newest: Option<Newest>,
) -> Result<Batch, TooLarge> {
    let now = run.clock.uptime();
    let mut batch = recorder.begin();
    let mut condition = None;
    if let Some((reason, predecessor, text)) = fresh {
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
            let carried = checkpoint_after(batch.head(), table);
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
fn restore(
    config: &TableConfig,
    checkpoint: Option<Event>,
    tail: impl Iterator<Item = Result<Event, ReadError>>,
) -> Result<Restored, ReadError> {
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
            ended_run: match event.body {
                Some(Body::GatewayStopped(_)) => Ended::Cleanly,
                _ => Ended::Otherwise,
            },
        });
    }
    Ok(restored)
}

/// A `CheckpointRecorded` of `table`'s state after the event that `head` names.
pub(super) fn checkpoint_after(head: &crate::table::event::Head, table: &Table) -> Fact {
    gateway_fact(Body::CheckpointRecorded(CheckpointRecorded {
        through_seqno: head.seqno,
        sha256: head.sha256.clone(),
        state: Some(table.checkpoint()),
        key_id: String::new(),
        signature: Vec::new(),
    }))
}

fn started(config: &GatewayConfig, run: &Run, clean_stop: bool) -> GatewayStarted {
    let (game, style, layout) = game_words(&config.game);
    GatewayStarted {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build_sha256: run.build_sha256.to_vec(),
        config_sha256: config.config_sha256.to_vec(),
        rules_version: RULES_VERSION.to_owned(),
        clean_stop,
        approval_enforced: config.game.approved_serials.is_some(),
        game: game.to_owned(),
        style: style.to_owned(),
        layout: layout.to_owned(),
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

/// Which journals came before the one at `path`, as far as it knows.
pub(super) fn ancestry(path: &Path) -> Ancestry {
    let Ok(mut reader) = Reader::open(path) else {
        return Ancestry::Unreadable;
    };
    let mut known: Vec<String> = match reader.infos() {
        Ok(infos) => infos.moved_aside.into_iter().map(|aside| aside.journal_id).collect(),
        Err(_) => return Ancestry::Unreadable,
    };
    // The first event may have expired; then so has everything that a predecessor published.
    let first = reader.page(1, 1, 1).unwrap_or_default();
    let started = first.first().and_then(|record| decode(record).ok());
    if let Some(Body::JournalStarted(started)) = started.and_then(|event| event.body)
        && let Some(predecessor) = started.predecessor
    {
        known.push(predecessor.journal_id);
    }
    if known.iter().any(String::is_empty) {
        return Ancestry::Unreadable;
    }
    Ancestry::Known(known)
}

/// Records that the self-test failed, where the journal still takes it, and closes the journal.
async fn fail(recorder: &Recorder, journal: Journal, run: &Run, text: String) -> String {
    let fact = gateway_fact(Body::SelfTestFailed(SelfTestFailed { text: text.clone() }));
    if let Ok(batch) = recorder.seal(run.clock.uptime(), vec![fact])
        && let Err(error) = journal.append(batch.records).await
    {
        tracing::error!(error = told(&error), "the failed self-test could not be recorded");
    }
    close(journal).await;
    text
}

/// Closes the journal without blocking the runtime.
pub(super) async fn close(journal: Journal) {
    if let Err(error) = tokio::task::spawn_blocking(move || journal.close()).await {
        tracing::error!(%error, "closing the journal ended by a defect");
    }
}

/// An error with its causes, for a person.
pub(super) fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text.push_str(": ");
        text.push_str(&deeper.to_string());
        cause = deeper.source();
    }
    text
}
