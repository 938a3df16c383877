//! What starts and stops whom: self-test, devices, uplink, loop; and what stays up when the self-test has failed.

use super::capture::Line;
use super::counts::Counts;
use super::inputs::Inputs;
use super::notify::{self, Watchdog};
use super::outlets::{Device, Outlets};
use super::outside::{Machine, Outside};
use super::restore::{self, Begun, Run};
use super::rounds::Rounds;
use super::self_test::AfterFailure;
use super::store::{BYTES_IN_MB, Found, Shelf};
use super::table_loop::{Ended, TableLoop};
use super::upkeep::{LOOK_EVERY, Upkeep};
use super::verify::{self, DigestLink, Digester};
use super::view::{JournalView, StateView, TableView};
use super::{ClockSource, GatewayConfig, Handle, Reports, Rooms, Software};
use crate::causes::told;
use crate::device;
use crate::journal::{self, Begin, JournalConfig, LockError, OpenError, Owner};
use crate::rules::RULES_VERSION;
use crate::table::event::{ClockQuality, Head, TableState};
use crate::table::input::{Arrival, Condition, DeviceKind, Input};
use crate::uplink::{self, Ancestry, EventFeed, Feed, Notice, UplinkHandle};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Inputs of devices that wait. A device whose input finds no room gets no acknowledgement and sends it again.
const DEVICE_INPUTS: usize = 64;

/// Acts of people that wait: one for each connection.
const PEOPLES_INPUTS: usize = 16;

/// Notices of the uplink that wait; it waits for room.
const NOTICES: usize = 16;

/// The floor gets what is left for at most this long at a stop: ten seconds of delivery, five for the word that the table is away. A broker
/// that then doesn't close the connection is left.
const DRAIN: Duration = Duration::from_secs(15);

/// A bug of our own ended the table.
#[derive(Debug, thiserror::Error)]
#[error("the table's task ended by a defect; start it again: the journal has everything that happened")]
pub struct Defect {
    /// The panic.
    #[source]
    source: tokio::task::JoinError,
}

/// A table that runs.
pub struct Running {
    handle: Handle,
    task: JoinHandle<()>,
}

impl Running {
    /// What it can be asked.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Tells the service manager that the daemon is up.
    pub fn tell_ready(&self) {
        let view = self.handle.look();
        match &view.table.fault {
            Some(fault) => notify::ready(&format!("the self-test failed: {fault}")),
            None => notify::ready(&format!("{} is {}", view.table.table, view.table.state.mode)),
        }
    }

    /// Waits until it has stopped; everything that it owned is closed then. Not to be asked again after it said so.
    ///
    /// # Errors
    /// It panicked: its state can't be trusted, and a restart recovers it from the journal.
    pub async fn ended(&mut self) -> Result<(), Defect> {
        (&mut self.task).await.map_err(|source| Defect { source })
    }
}

/// Starts the table: self-test, the first events, devices, uplink. Must be called within the daemon's runtime.
///
/// A self-test that fails for a cause that may go away is no error: the daemon stays up and says so.
///
/// # Errors
/// A journal in use by another daemon, of another table, or of a newer program.
pub async fn start(config: GatewayConfig, rooms: Rooms) -> Result<Running, OpenError> {
    start_in(Arc::new(Machine), config, rooms).await
}

/// The same, in this world.
///
/// # Errors
/// A journal in use by another daemon, of another table, or of a newer program.
pub async fn start_in(
    outside: Arc<dyn Outside>,
    mut config: GatewayConfig,
    rooms: Rooms,
) -> Result<Running, OpenError> {
    let digest = outside.program_digest(&[]);
    let mut run = Run {
        run_id: outside.run_id(),
        clock: outside.clock(),
        synchronisation: outside.synchronisation(config.clock),
        build_sha256: [0; 32],
        machine: outside.machine(),
    };
    let found = match open(outside.as_ref(), &config, &rooms.journal, &run, Begin::Continue) {
        Ok(found) => Ok(found),
        Err(
            error
            @ (OpenError::Locked(LockError::Held { .. }) | OpenError::OtherOwner { .. } | OpenError::Newer { .. }),
        ) => {
            return Err(error);
        }
        Err(
            error @ (OpenError::Locked(LockError::Io { .. }) | OpenError::Directory { .. } | OpenError::Store { .. }),
        ) => Err(told(&error)),
    };
    run.build_sha256 = digest.await;
    let software = software(&config, &run);
    config.approval.log(&software);
    config.game.approval = config.approval.judge(&software);
    let begun = match found {
        Ok(found) => restore::begin(&config, &run, found).await,
        Err(text) => Err(text),
    };
    let (handle, mut house) = House::build(Arc::clone(&outside), config, rooms, run);
    if let Err(text) = &begun {
        house.show_failure(text);
    }
    let task = outside.run(Box::pin(async move { house.live(begun).await }));
    Ok(Running { handle, task })
}

fn open(
    outside: &dyn Outside,
    config: &GatewayConfig,
    journal: &JournalConfig,
    run: &Run,
    begin: Begin,
) -> Result<Found, OpenError> {
    let owner = Owner {
        site: config.site.clone(),
        table: config.table.clone(),
    };
    outside.open(journal, &owner, &run.machine, run.clock.wall(), begin)
}

/// What outlives a new journal and a failed self-test.
pub(super) struct House {
    pub(super) outside: Arc<dyn Outside>,
    pub(super) config: GatewayConfig,
    pub(super) rooms: Rooms,
    pub(super) run: Run,
    pub(super) inputs: Inputs,
    pub(super) to_table: mpsc::Sender<Arrival>,
    pub(super) notices: mpsc::Sender<Notice>,
    pub(super) view: watch::Sender<Arc<TableView>>,
    pub(super) state: watch::Sender<TableState>,
    pub(super) head: watch::Sender<Head>,
    pub(super) fault: watch::Sender<String>,
    pub(super) reports: watch::Sender<Reports>,
    pub(super) counts: watch::Sender<Counts>,
    /// Devices that can be asked for their digests.
    digest_links: watch::Sender<Vec<DigestLink>>,
    verifier: verify::Desk,
    /// Journals that the floor was told of and that made this run begin anew: until the floor is told of the new journal, it
    /// says the same again, and must not be believed twice.
    outbid: Vec<String>,
    /// The next connection's number is not lower: one that was made while the journal could not be read is numbered by the wall clock, and
    /// the count that the journal's folder keeps knows nothing of it.
    pub(super) next_connection: u64,
}

/// What follows.
enum Then {
    Stop,
    /// A journal is begun, or the self-test tried again.
    Begin(Begin),
}

impl House {
    fn build(outside: Arc<dyn Outside>, config: GatewayConfig, rooms: Rooms, run: Run) -> (Handle, House) {
        let (to_table, from_devices) = mpsc::channel(DEVICE_INPUTS);
        let (people, from_people) = mpsc::channel(PEOPLES_INPUTS);
        let (notices, from_uplink) = mpsc::channel(NOTICES);
        let (stop, stopped) = watch::channel(false);
        let (view, seen_view) = watch::channel(Arc::new(first_view(&config, &rooms.journal, &run)));
        let (state, seen_state) = watch::channel(TableState::default());
        let (reports, seen_reports) = watch::channel(Reports::default());
        let (counts, seen_counts) = watch::channel(Counts::default());
        let clock = run.clock.clone();
        let idle = Watchdog::from_environment()
            .longest_sleep()
            .map_or(LOOK_EVERY, |limit| limit.min(LOOK_EVERY));
        let (peeks, to_peek) = mpsc::channel(PEOPLES_INPUTS);
        let inputs =
            Inputs::new(clock.clone(), from_devices, from_people, from_uplink, stopped, idle).with_peeks(to_peek);
        let (verifier, questions) = verify::Desk::new();
        let (digest_links, links) = watch::channel(Vec::new());
        let digester = Digester {
            outside: Arc::clone(&outside),
            clock: clock.clone(),
            config_text: config.config_text.clone(),
            rules_text: config.game.game.rules_text(),
            links,
            to_loop: people.clone(),
        };
        // It ends when nobody can ask any more.
        let _detached = outside.run(Box::pin(digester.run(questions)));
        let handle = Handle {
            clock,
            people,
            peeks,
            table: seen_view,
            state: seen_state,
            reports: seen_reports,
            counts: seen_counts,
            stop: Arc::new(stop),
            verifier: verifier.clone(),
        };
        let house = House {
            outside,
            config,
            rooms,
            run,
            inputs,
            to_table,
            notices,
            view,
            state,
            head: watch::channel(Head::default()).0,
            fault: watch::channel(String::new()).0,
            reports,
            counts,
            digest_links,
            verifier,
            outbid: Vec::new(),
            next_connection: 0,
        };
        (handle, house)
    }

    /// From the self-test to the stop.
    async fn live(&mut self, mut begun: Result<Begun, String>) {
        let mut again = Begin::Continue;
        loop {
            let then = match begun {
                Ok(begun) => self.play(begun).await,
                Err(text) => match self.stay_up(&text).await {
                    AfterFailure::Stop => Then::Stop,
                    AfterFailure::TestAgain => Then::Begin(again.clone()),
                },
            };
            begun = match then {
                Then::Stop => return,
                Then::Begin(how) => {
                    let journal = &self.rooms.journal;
                    match open(self.outside.as_ref(), &self.config, journal, &self.run, how.clone()) {
                        Ok(found) => {
                            again = Begin::Continue;
                            restore::begin(&self.config, &self.run, found).await
                        }
                        Err(error) => {
                            // A journal that went back in time and could not be moved aside is still to be.
                            again = how;
                            Err(told(&error))
                        }
                    }
                }
            };
        }
    }

    /// The table plays until it is asked to stop, or until its journal has to begin anew.
    async fn play(&mut self, mut begun: Begun) -> Then {
        let outlets = Outlets {
            devices: self.start_devices(),
            view: self.view.clone(),
            state: self.state.clone(),
            head: self.head.clone(),
            counts: self.counts.clone(),
        };
        let shelf = Arc::clone(&begun.shelf);
        // The uplink's report begins anew with the journal that it reads, and these belong to it.
        self.counts.send_replace(Counts {
            head: begun.recorder.head().seqno,
            ..Counts::default()
        });
        self.fault.send_replace(String::new());
        outlets.publish(
            begun.table.state(),
            begun.table.situation(),
            begun.recorder.head(),
            None,
        );
        let mut rounds = std::mem::take(&mut begun.rounds);
        rounds.count_anew();
        outlets.change_view(|view| {
            view.rounds = rounds;
            shelf.path().clone_into(&mut view.journal.path);
        });
        self.verify_rest(shelf.as_ref());
        let uplink = self.start_uplink(&mut begun);
        self.inputs.keep(std::iter::once(Input::Started), std::iter::empty());
        let watched = self.config.clock != ClockSource::None;
        let mut table_loop = TableLoop {
            signer: self.config.signer.clone(),
            table: begun.table,
            recorder: begun.recorder,
            store: begun.shelf,
            inputs: &mut self.inputs,
            outlets,
            upkeep: Upkeep::new(self.run.synchronisation.clone(), watched, begun.tail),
            watchdog: Watchdog::from_environment(),
            clock: self.run.clock.clone(),
            now: self.run.clock.uptime(),
            unseen: Vec::new(),
            not_before: None,
        };
        let ended = table_loop.run().await;
        // The ports close with the loop; the floor gets what is left meanwhile.
        drop(table_loop);
        self.reports.send_replace(Reports::default());
        self.stop_uplink(uplink).await;
        shelf.close().await;
        match ended {
            Ended::Stopped | Ended::StoppedUnrecorded => Then::Stop,
            Ended::RolledBack(found) => {
                let text = format!(
                    "the floor has event {} of journal {}, which this journal does not continue: the disk went back in time",
                    found.seqno, found.journal_id
                );
                tracing::error!("{text}");
                self.outbid.push(found.journal_id);
                Then::Begin(Begin::RolledBack { text })
            }
        }
    }

    fn start_devices(&self) -> Vec<(DeviceKind, Box<dyn Device>)> {
        let mut links = Vec::new();
        let mut lines = Vec::new();
        let mut asked = Vec::new();
        let mut devices: Vec<(DeviceKind, Box<dyn Device>)> = Vec::new();
        for port in &self.rooms.ports {
            let device = device::start_at(
                self.outside.ports(),
                port.clone(),
                self.to_table.clone(),
                self.run.clock.clone(),
            );
            links.push(device.report.clone());
            lines.push(Line::of(port.kind, &device));
            asked.push(DigestLink {
                kind: port.kind,
                report: device.report.clone(),
                asks: device.digests.clone(),
            });
            devices.push((port.kind, Box::new(device)));
        }
        self.reports.send_modify(|reports| {
            reports.links = links;
            reports.lines = lines;
        });
        self.digest_links.send_replace(asked);
        // Lamps hear of a decision first: a round waits for them.
        devices.sort_by_key(|(kind, _)| std::cmp::Reverse(*kind));
        devices
    }

    fn start_uplink(&self, begun: &mut Begun) -> Option<UplinkHandle> {
        let mut ancestry = begun.shelf.ancestry();
        if let Ancestry::Known(known) = &mut ancestry {
            known.extend_from_slice(&self.outbid);
        }
        self.start_uplink_with(Some(EventFeed {
            ledger: begun.shelf.ledger(),
            source: begun.shelf.source(),
            undelivered: std::mem::take(&mut begun.undelivered),
            journal_id: begun.recorder.head().journal_id.clone(),
            ancestry,
            cursor: begun.cursor,
            head: self.head.subscribe(),
            newest: begun.shelf.newest(),
        }))
    }

    pub(super) fn start_uplink_with(&self, events: Option<EventFeed>) -> Option<UplinkHandle> {
        let feed = Feed {
            events,
            state: self.state.subscribe(),
            fault: self.fault.subscribe(),
            notices: self.notices.clone(),
            clock: self.run.clock.clone(),
            verifier: Arc::new(self.verifier.clone()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at_least: self.next_connection,
        };
        match uplink::start_at(self.outside.brokers(), self.rooms.uplink.clone(), feed) {
            Ok(uplink) => {
                let report = uplink.report.clone();
                self.reports.send_modify(|reports| reports.uplink = Some(report));
                Some(uplink)
            }
            Err(error) => {
                // The table plays on; events wait in the journal.
                tracing::error!(%error, "the floor's connection could not be started");
                None
            }
        }
    }

    /// The floor gets what is left, within limits. The next connection of this run gets a higher number than every one of this uplink's.
    pub(super) async fn stop_uplink(&mut self, uplink: Option<UplinkHandle>) {
        let Some(uplink) = uplink else { return };
        let report = uplink.report.clone();
        if tokio::time::timeout(DRAIN, uplink.stop()).await.is_err() {
            tracing::error!("the floor's connection did not end in time and was dropped");
        }
        let used = report.borrow().connection;
        self.next_connection = self.next_connection.max(used.saturating_add(1));
    }

    /// What opening did not verify is verified beside play; what it finds holds the next round.
    fn verify_rest(&self, shelf: &dyn Shelf) {
        let notices = self.notices.clone();
        shelf.verify_rest(Box::new(move |found| {
            let text = match found {
                Ok(report) => match report.bad {
                    Some(bad) => format!("the older part of the journal is damaged: {}", bad.text),
                    None => return,
                },
                Err(error) => format!("the older part of the journal can't be verified: {}", told(&error)),
            };
            let notice = Notice::Condition {
                condition: Condition::JournalDamaged,
                text,
                standing: true,
            };
            // A table that has stopped needs no telling; the next start verifies again.
            let _stopped = notices.blocking_send(notice);
        }));
    }
}

/// What people see before the first event.
fn first_view(config: &GatewayConfig, journal: &JournalConfig, run: &Run) -> TableView {
    let (game, style, layout) = restore::game_words(&config.game);
    TableView {
        site: config.site.clone(),
        table: config.table.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        run_id: run.run_id.clone(),
        started_unix_ms: run.clock.wall().as_unix_micros() / 1000,
        game: game.to_owned(),
        style: Some(style.to_owned()).filter(|style| !style.is_empty()),
        layout: layout.to_owned(),
        uptime_ms: 0,
        phase_since_ms: None,
        state: StateView {
            mode: "self_test".to_owned(),
            ..StateView::default()
        },
        situation: Default::default(),
        rounds: Rounds::default(),
        checks: Vec::new(),
        tests: Vec::new(),
        fault: None,
        approval_enforced: config.game.approval.is_enforced(),
        software: config.approval.view(&software(config, run)),
        journal: JournalView {
            path: journal::file_in(&journal.directory),
            needed_mb: journal.min_free_bytes / BYTES_IN_MB,
            signed_by: config.signer.as_ref().map(|signer| signer.key_id().to_owned()),
            ..JournalView::default()
        },
        clock: ClockQuality::Unsynchronised,
        clock_source: config.clock,
    }
}

/// What runs.
pub(super) fn software(config: &GatewayConfig, run: &Run) -> Software {
    Software {
        program_sha256: run.build_sha256,
        config_sha256: config.config_sha256,
        rules_version: RULES_VERSION,
    }
}
