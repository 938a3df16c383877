//! Connects again and again, and keeps between connections what outlives them: cursors, pauses, conditions, the report.

use super::alarms::{Alarms, Subject};
use super::exchange::{Brokers, Loss};
use super::pace::{Cause, Pace};
use super::reading::{JournalIndex, Reading, Reads};
use super::renewal;
use super::session::{Ended, Session};
use super::topic::Topics;
use super::unread::Unread;
use super::waiting::{asked_to_stop, at, changed, tell};
use super::{
    Ancestry, BrokerAddress, EventFeed, Feed, Ledger, Notice, Stopping, UplinkConfig, UplinkReport, UplinkState,
    Verifier,
};
use crate::journal::{Newest, Seqno};
use crate::table::event::{Head, Status, TableState};
use crate::table::input::Condition;
use crate::time::Clock;
use prost::Message;
use prost::bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// A broker that restarts is no alarm; one that is away for so long is.
const AWAY_AFTER: Duration = Duration::from_secs(10);
/// The same failure again is one line in the log only after so long.
pub(super) const LOG_AGAIN_AFTER: Duration = Duration::from_secs(600);
/// The journal's thread answers in milliseconds; when its disk hangs, the wall clock numbers the connection.
const COUNTER_WITHIN: Duration = Duration::from_secs(2);
/// Counters of the report change with every event; people look a few times a second.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// One journal on the way to the floor.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    pub(super) journal: JournalIndex,
    pub(super) journal_id: String,
    /// Everything up to this is acknowledged.
    pub(super) cursor: Seqno,
    /// Its newest event; of the journal in use it is what the head says.
    pub(super) newest: Seqno,
}

/// What outlives a connection.
pub(super) struct Keeper {
    brokers: Arc<dyn Brokers>,
    pub(super) config: UplinkConfig,
    pub(super) topics: Topics,
    pub(super) version: String,
    pub(super) verifier: Arc<dyn Verifier>,
    pub(super) state: watch::Receiver<TableState>,
    pub(super) fault: watch::Receiver<String>,
    pub(super) head: watch::Receiver<Head>,
    pub(super) notices: mpsc::Sender<Notice>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stopping: watch::Receiver<Stopping>,
    pub(super) journal: Option<JournalAccess>,
    pub(super) unread: Unread,
    pub(super) alarms: Alarms,
    pub(super) report: UplinkReport,
    pub(super) pace: Pace,
    /// Since when the table is online on this connection.
    pub(super) online_since: Option<Instant>,
    /// The table was online on some connection of this run.
    pub(super) was_online: bool,
    /// One thing at a time, to find out which one is too large for the broker.
    pub(super) one_at_a_time: bool,
    /// Events of the leg under way that the broker finds too large.
    pub(super) too_large: BTreeSet<Seqno>,
    /// The state that the broker finds too large: not published again until it changes.
    pub(super) state_too_large: Option<Bytes>,
    /// What the certificate files hold now; never changes without any.
    pub(super) certificates: watch::Receiver<Option<renewal::Looked>>,
    /// Digest of those that the connection was made with.
    pub(super) certificates_used: Option<[u8; 32]>,
    /// What is wrong with a certificate, by broker.
    pub(super) not_taken: BTreeMap<String, String>,
    /// Why each broker could not be reached, since the connection was lost.
    away: BTreeMap<String, String>,
    say: watch::Sender<UplinkReport>,
    /// When the report may be said again, once it has changed.
    say_at: Option<Instant>,
    said_at: Instant,
    at_least: u64,
    /// The next connection's number, when it was counted already.
    counted: Option<u64>,
    next_broker: usize,
    away_since: Option<Instant>,
    /// What was logged last of each broker: no more than are configured.
    logged: BTreeMap<String, (String, Instant)>,
}

/// The journal, when it could be opened.
pub(super) struct JournalAccess {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) reading: Reading,
    pub(super) ancestry: Ancestry,
    /// Journals moved aside, oldest first, then the one in use. Never empty.
    pub(super) legs: VecDeque<Leg>,
    /// The journal in use.
    pub(super) in_use: JournalIndex,
    /// What its newest append wrote.
    pub(super) newest: Newest,
}

impl Keeper {
    pub(super) fn new(
        brokers: Arc<dyn Brokers>,
        config: UplinkConfig,
        feed: Feed,
        say: watch::Sender<UplinkReport>,
        stopping: watch::Receiver<Stopping>,
    ) -> Result<Self, std::io::Error> {
        let feed_cursor = feed.events.as_ref().map_or(0, |events| events.cursor);
        let (journal, head) = match feed.events {
            Some(events) => {
                let head = events.head.clone();
                (Some(access(events, brokers.reads())?), head)
            }
            None => (None, watch::channel(Head::default()).1),
        };
        let alarms = Alarms::left_standing(&feed.state.borrow());
        let mut keeper = Keeper {
            brokers,
            topics: Topics::new(&config.prefix, &config.response_prefixes),
            config,
            version: feed.version,
            verifier: feed.verifier,
            state: feed.state,
            fault: feed.fault,
            head,
            notices: feed.notices,
            clock: feed.clock,
            stopping,
            journal,
            unread: Unread::default(),
            alarms,
            report: UplinkReport {
                cursor: feed_cursor,
                ..UplinkReport::default()
            },
            pace: Pace::default(),
            online_since: None,
            was_online: false,
            one_at_a_time: false,
            too_large: BTreeSet::new(),
            state_too_large: None,
            certificates: watch::channel(None).1,
            certificates_used: None,
            not_taken: BTreeMap::new(),
            away: BTreeMap::new(),
            say,
            say_at: None,
            said_at: Instant::now(),
            at_least: feed.at_least,
            counted: None,
            next_broker: 0,
            away_since: Some(Instant::now()),
            logged: BTreeMap::new(),
        };
        keeper.report.backlog_at_start = keeper.backlog();
        Ok(keeper)
    }

    /// Without a journal there is no state to tell, and the one that the broker has kept must stay: by it a table whose journal went back in time
    /// learns of that when the journal can be read again.
    pub(super) fn tells_state(&self) -> bool {
        self.journal.is_some()
    }

    /// Connects until it is asked to stop.
    pub(super) async fn run(mut self) {
        if let Some(files) = &self.config.tls {
            self.certificates = renewal::watch(files.clone(), self.clock.clone());
        } else {
            // What an earlier run told of them is over.
            self.alarms.clear(Condition::CertificateExpires);
            self.alarms.clear(Condition::CertificateRefused);
        }
        loop {
            self.online_since = None;
            let ended = self.connect_once().await;
            let lasted = self.online_since.map_or(Duration::ZERO, |since| since.elapsed());
            if let Ended::Foreign { connection } = ended {
                // Counted before the pause: a run that ends meanwhile would know nothing of a number that only the broker had kept.
                self.at_least = self.at_least.max(connection.saturating_add(1));
                self.counted = Some(self.number().await);
            }
            let Some(pause) = self.after(ended, lasted) else { break };
            self.set_state(UplinkState::Waiting);
            if self.wait(pause).await == Stopping::Asked {
                break;
            }
        }
        self.set_state(UplinkState::Stopped);
        self.say_now();
    }

    async fn connect_once(&mut self) -> Ended {
        let Some(address) = self.take_turn() else {
            return Ended::Lost(Loss::Broken("no broker is configured".to_owned()));
        };
        self.report.broker = address.to_string();
        self.report.connects = self.report.connects.saturating_add(1);
        let connection = match self.counted.take() {
            Some(counted) => counted,
            None => self.number().await,
        };
        self.report.connection = connection;
        self.set_state(UplinkState::Connecting);
        let _used_from_now_on = self.heed_certificates();
        let options = match self.options(address, connection).await {
            Ok(options) => options,
            Err(error) => return Ended::Lost(error.into()),
        };
        self.certificates_used = options.tls.as_ref().map(renewal::digest);
        match self.brokers.connect(&options) {
            Ok(opened) => Session::new(self, opened, connection).run().await,
            Err(error) => Ended::Lost(error.into()),
        }
    }

    fn take_turn(&mut self) -> Option<BrokerAddress> {
        let count = self.config.brokers.len();
        let index = self.next_broker.checked_rem(count)?;
        self.next_broker = index;
        self.config.brokers.get(index).cloned()
    }

    /// The number of the next connection.
    async fn number(&mut self) -> u64 {
        let wall_ms = u64::try_from(self.clock.wall().as_unix_micros() / 1000).unwrap_or(0);
        let at_least = self.at_least;
        let number = match &self.journal {
            Some(journal) => {
                let counted = journal.ledger.next_connection(at_least);
                tokio::time::timeout(COUNTER_WITHIN, counted)
                    .await
                    .unwrap_or(wall_ms)
                    .max(at_least)
            }
            // The gateway has counted it.
            None => at_least,
        };
        self.at_least = number.saturating_add(1);
        number
    }

    /// The encoded `Status` of a connection.
    pub(super) fn status(&self, connection: u64, presence: Presence) -> Vec<u8> {
        let head = self.head.borrow().clone();
        Status {
            connection,
            online: presence == Presence::Online,
            fault: match presence {
                Presence::Online => self.fault.borrow().clone(),
                Presence::Offline => String::new(),
            },
            head: (head.seqno > 0).then_some(head),
            version: self.version.clone(),
        }
        .encode_to_vec()
    }

    /// What the end of a connection means for the next: how long to wait, or `None` for never.
    fn after(&mut self, ended: Ended, lasted: Duration) -> Option<Duration> {
        let cause = match ended {
            Ended::Stopped => return None,
            Ended::RolledBack(found) => {
                self.alarms_rolled_back(found);
                return Some(Duration::MAX);
            }
            Ended::Lost(Loss::Broken(text)) => {
                self.failed(&text);
                Cause::Lost
            }
            Ended::Lost(Loss::Certificate(text)) => {
                self.certificate_not_taken(&text);
                self.failed(&text);
                Cause::Lost
            }
            Ended::Lost(Loss::HungUp(text)) => {
                // What a broker has said in words it needn't say again.
                if !self.not_taken.contains_key(&self.report.broker) {
                    self.certificate_not_taken(&text);
                }
                self.failed(&text);
                Cause::Lost
            }
            Ended::Renewed => {
                tracing::info!("certificates were renewed: connecting with the new ones");
                return Some(Duration::ZERO);
            }
            Ended::Lost(Loss::TooLarge(text)) => {
                self.failed(&text);
                self.one_at_a_time = true;
                Cause::Lost
            }
            Ended::Lost(Loss::Refused(text)) => {
                let told = format!("{}: {text}", self.report.broker);
                self.alarms.refused(Subject::Connection, &self.report.broker, told);
                self.failed(&text);
                Cause::Refused
            }
            Ended::EventRefused(name) => {
                self.failed(&format!("the broker refuses events: {name}"));
                Cause::Refused
            }
            Ended::Lost(Loss::TakenOver(text)) => {
                self.alarms.raise(
                    Condition::TakenOver,
                    format!(
                        "a second gateway uses this table's name: another client connects to {} as {}",
                        self.report.broker, self.config.client_id
                    ),
                );
                self.failed(&text);
                Cause::TakenOver
            }
            Ended::Foreign { connection } => {
                self.failed(&format!(
                    "connection {connection} of another gateway, or of an earlier run, stands as this table's newest: connecting as a later one"
                ));
                Cause::TakenOver
            }
        };
        match cause {
            Cause::Lost | Cause::Refused => self.next_broker = self.next_broker.saturating_add(1),
            Cause::TakenOver => {}
        }
        let pause = self.pace.next(cause, lasted, self.brokers.chance());
        let now = Instant::now();
        let away_since = *self.away_since.get_or_insert(now);
        self.away
            .insert(self.report.broker.clone(), self.report.last_error.clone());
        if now.duration_since(away_since) >= AWAY_AFTER {
            self.alarms.renew(Condition::BrokerUnreachable, of_each(&self.away));
        }
        Some(pause)
    }

    fn failed(&mut self, text: &str) {
        self.report.failures = self.report.failures.saturating_add(1);
        self.report.last_error = text.to_owned();
        let is_known = |(before, at): &(String, Instant)| before == text && at.elapsed() < LOG_AGAIN_AFTER;
        let broker = &self.report.broker;
        if !self.logged.get(broker).is_some_and(is_known) {
            tracing::warn!(%broker, error = text, "no broker connection");
            self.logged.insert(broker.clone(), (text.to_owned(), Instant::now()));
        }
    }

    fn alarms_rolled_back(&mut self, found: Head) {
        tracing::error!(
            journal_id = %found.journal_id,
            seqno = found.seqno,
            "the floor knows more than this journal: the disk went back in time"
        );
        self.report.last_error = "the floor knows more than this journal".to_owned();
        self.set_state(UplinkState::RolledBack);
        self.alarms.rolled_back(found);
    }

    /// Somebody else says that he is this table.
    pub(super) fn foreign_status(&mut self, connection: u64) {
        let text = format!(
            "a second gateway uses this table's name: {} has a status of another connection than this one",
            self.topics.status
        );
        tracing::warn!(connection, "a second gateway uses this table's name");
        self.alarms.raise(Condition::TakenOver, text);
    }

    /// The connection has stood for a while: the broker is there.
    pub(super) fn steady(&mut self) {
        self.away_since = None;
        self.away.clear();
        self.alarms.clear(Condition::BrokerUnreachable);
        if !std::mem::take(&mut self.logged).is_empty() {
            tracing::info!(broker = %self.report.broker, "connected");
        }
    }

    /// Waits, telling the gateway what there is to tell meanwhile.
    async fn wait(&mut self, pause: Duration) -> Stopping {
        let until = Instant::now().checked_add(pause);
        loop {
            let say_at = self.say_at;
            if say_at.is_some_and(|at| at <= Instant::now()) {
                self.say_now();
                continue;
            }
            // The head moves at the disk's pace, so it can't hide what stands after it; the pause's end goes first all the same.
            let waited = tokio::select! {
                biased;
                () = at(until) => return Stopping::No,
                () = asked_to_stop(&mut self.stopping) => return Stopping::Asked,
                () = changed(&mut self.certificates) => Waited::Certificates,
                permit = self.notices.reserve(), if self.alarms.has_news() => {
                    tell(permit, &mut self.alarms);
                    Waited::Told
                }
                () = changed(&mut self.head) => Waited::HeadMoved,
                () = at(say_at), if say_at.is_some() => Waited::Told,
            };
            match waited {
                Waited::HeadMoved => self.say_soon(),
                Waited::Certificates => {
                    let _used_at_the_next_connect = self.heed_certificates();
                }
                Waited::Told => {}
            }
        }
    }

    pub(super) fn set_state(&mut self, state: UplinkState) {
        // A rolled-back uplink waits to be replaced, and keeps saying so.
        if self.report.state != state
            && !(self.report.state == UplinkState::RolledBack && state == UplinkState::Waiting)
        {
            self.report.state = state;
            self.report.since_us = self.clock.uptime().as_micros();
        }
        self.report.away_since_us = match self.report.state {
            UplinkState::Online => None,
            UplinkState::Stopped
            | UplinkState::Connecting
            | UplinkState::Greeting
            | UplinkState::Waiting
            | UplinkState::RolledBack => self.report.away_since_us.or(Some(self.clock.uptime().as_micros())),
        };
        self.say_now();
    }

    /// The report has changed: it is said soon.
    pub(super) fn say_soon(&mut self) {
        if self.say_at.is_none() {
            self.say_at = Some(self.said_at + REPORT_EVERY);
        }
    }

    /// Events that no broker has acknowledged, of all journals.
    fn backlog(&self) -> u64 {
        let legs = self.journal.iter().flat_map(|journal| &journal.legs);
        let left = legs.map(|leg| self.newest_of(leg).saturating_sub(leg.cursor));
        left.fold(0, u64::saturating_add)
    }

    pub(super) fn say_at(&self) -> Option<Instant> {
        self.say_at
    }

    pub(super) fn say_now(&mut self) {
        self.say_at = None;
        self.said_at = Instant::now();
        self.report.head = self.head.borrow().seqno;
        self.report.backlog = self.backlog();
        self.say.send_replace(self.report.clone());
    }
}

/// What ended a wait between two connections.
enum Waited {
    HeadMoved,
    Certificates,
    Told,
}

/// What a `Status` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Presence {
    Online,
    Offline,
}

fn access(events: EventFeed, reads: Reads) -> Result<JournalAccess, std::io::Error> {
    let mut legs = VecDeque::new();
    let mut openers = Vec::new();
    for (index, moved) in events.undelivered.into_iter().enumerate() {
        openers.push(moved.source);
        legs.push_back(Leg {
            journal: JournalIndex::Delivered(index),
            journal_id: moved.journal_id,
            cursor: moved.cursor,
            newest: moved.through,
        });
    }
    let in_use = JournalIndex::Delivered(legs.len());
    openers.push(events.source);
    legs.push_back(Leg {
        journal: in_use,
        journal_id: events.journal_id,
        cursor: events.cursor,
        newest: events.head.borrow().seqno,
    });
    Ok(JournalAccess {
        ledger: events.ledger,
        reading: Reading::start(openers, reads)?,
        ancestry: events.ancestry,
        legs,
        in_use,
        newest: events.newest,
    })
}

/// What is the matter with each broker, in one text: two that are tried in turn don't tell it in turn.
pub(super) fn of_each(brokers: &BTreeMap<String, String>) -> String {
    let texts = brokers.iter().map(|(broker, text)| format!("{broker}: {text}"));
    texts.collect::<Vec<_>>().join("; ")
}
