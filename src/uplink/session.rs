//! One connection, from CONNECT to its end: subscribe, look at the retained picture, birth, deliver, stop.
//!
//! The only place that waits is [`Session::next`]; everything else looks and hands over. What comes from the broker is understood in
//! [`heard`](super::heard), what goes out is chosen in [`flow`](super::flow).

use super::alarms::Subject;
use super::credentials::Certificates;
use super::delivery::{Entry, Window};
use super::desk::Desk;
use super::exchange::{Connected, Loss, Signal, Stuck, Terms};
use super::farewell::{DRAIN_WITHIN, Farewell};
use super::keeper::Keeper;
use super::reading::{Coming, JournalIndex, answer};
use super::requests::ReplyTo;
use super::source::{Extent, Page, SourceError};
use super::waiting::{asked_to_stop, at, changed, tell};
use super::{NotVerified, UplinkState, Verifying};
use crate::journal::{Record, Seqno};
use crate::table::event::{Head, SoftwareVerified};
use crate::table::input::Condition;
use prost::bytes::Bytes;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::time::Duration;
use tokio::time::Instant;

/// The oldest publish in flight was not acknowledged for so long: the connection is of no use. With the pings' limit, every
/// kind of dead peer is noticed within twice the keep-alive.
pub const STALLED_AFTER: Duration = Duration::from_secs(15);
/// `Status` is published this often without a reason.
pub const STATUS_EVERY: Duration = Duration::from_secs(60);
/// A status that is not its own is corrected at most this often: two gateways must not fight over the topic at full speed.
pub const CORRECT_EVERY: Duration = Duration::from_secs(10);
/// The retained state is published at most this often; the latest wins.
pub const STATE_EVERY: Duration = Duration::from_millis(200);
/// A DISCONNECT is sent within this, or the peer doesn't read.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);
/// A connection that has stood for so long is there.
const STEADY_AFTER: Duration = Duration::from_secs(5);
/// A connection that took over, or was taken over, is undisputed after so long.
const UNDISPUTED_AFTER: Duration = super::pace::GOOD_AFTER_TAKE_OVER;
/// A broker that tells its sizes late is tried one packet at a time until so many events have passed.
const NARROW_FOR: u64 = 16;

/// How a connection ended.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ended {
    /// Cleanly, as asked.
    Stopped,
    /// It could not be made, or broke.
    Lost(Loss),
    /// The broker does not take events, for this reason.
    EventRefused(&'static str),
    /// Another connection's status, not older than this one.
    Foreign {
        /// Its number.
        connection: u64,
    },
    /// The retained state is ahead of the journal.
    RolledBack(Head),
    /// Certificates were renewed: the next connection is made with them.
    Renewed,
}

impl From<Stuck> for Ended {
    fn from(stuck: Stuck) -> Self {
        Ended::Lost(Loss::Broken(stuck.to_string()))
    }
}

/// One connection.
pub(super) struct Session<'a> {
    pub(super) keeper: &'a mut Keeper,
    pub(super) connection: Box<dyn Connected>,
    /// `Status.connection`.
    pub(super) number: u64,
    pub(super) terms: Terms,
    pub(super) window: Window,
    pub(super) desk: Desk,
    pub(super) farewell: Farewell,
    /// Read from the journal and not handed over yet.
    pub(super) events: VecDeque<Record>,
    pub(super) events_coming: Option<Coming<Page>>,
    /// Where reading goes on.
    pub(super) unread_from: Seqno,
    pub(super) replayed: VecDeque<Record>,
    pub(super) replay_coming: Option<Coming<Page>>,
    pub(super) find_coming: Option<Coming<Option<(JournalIndex, Extent)>>>,
    pub(super) replay_from: Option<JournalIndex>,
    /// Digests that are made for somebody.
    pub(super) verifying: Option<(ReplyTo, Verifying)>,
    pub(super) read_again_at: Option<Instant>,
    /// In flight, for the record of what is set aside.
    pub(super) recent: VecDeque<(Seqno, Bytes)>,
    pub(super) status_at: Instant,
    pub(super) corrected_at: Option<Instant>,
    /// The state that was published last.
    pub(super) state_said: Option<Bytes>,
    pub(super) state_dirty: bool,
    pub(super) state_at: Instant,
    /// What went out last was an answer: an event has precedence.
    pub(super) answered_last: bool,
    pub(super) progress_at: Instant,
    pub(super) narrow_left: u64,
}

/// The digests that are made for somebody; never, when none are.
async fn verified(verifying: &mut Option<(ReplyTo, Verifying)>) -> (ReplyTo, Result<SoftwareVerified, NotVerified>) {
    let Some((to, digests)) = verifying else {
        return std::future::pending().await;
    };
    let verified = digests.await;
    let to = to.clone();
    *verifying = None;
    (to, verified)
}

/// What ended a wait.
enum Woken {
    Signal(Signal),
    Events(Result<Page, SourceError>),
    Replay(Result<Page, SourceError>),
    Found(Result<Option<(JournalIndex, Extent)>, SourceError>),
    Verified(ReplyTo, Result<SoftwareVerified, NotVerified>),
    HeadMoved,
    StateChanged,
    StatusChanged,
    StopAsked,
    /// The certificate files are others, or one expires.
    Certificates,
    /// A notice was told, or a time came: whatever is due is looked at anyway.
    Look,
}

impl<'a> Session<'a> {
    pub(super) fn new(keeper: &'a mut Keeper, connection: Box<dyn Connected>, number: u64) -> Self {
        let now = Instant::now();
        let cursor = keeper.leg().map_or(0, |leg| leg.cursor);
        let state_dirty = keeper.tells_state();
        Session {
            window: Window::new(1, cursor),
            narrow_left: if keeper.one_at_a_time { NARROW_FOR } else { 0 },
            keeper,
            connection,
            number,
            terms: Terms {
                receive_maximum: 1,
                max_packet: None,
                retains: true,
                takes_qos1: true,
            },
            desk: Desk::default(),
            farewell: Farewell::NotYet,
            events: VecDeque::new(),
            events_coming: None,
            unread_from: cursor.saturating_add(1),
            replayed: VecDeque::new(),
            replay_coming: None,
            find_coming: None,
            replay_from: None,
            verifying: None,
            read_again_at: None,
            recent: VecDeque::new(),
            status_at: now,
            corrected_at: None,
            state_said: None,
            state_dirty,
            state_at: now,
            answered_last: false,
            progress_at: now,
        }
    }

    /// From CONNECT to the end.
    pub(super) async fn run(mut self) -> Ended {
        let ended = match self.greet().await {
            Ok(()) => self.deliver().await,
            Err(ended) => ended,
        };
        self.learn_from(&ended);
        let unanswered = self.events_in_flight();
        let report = &mut self.keeper.report;
        report.unanswered = report.unanswered.saturating_add(unanswered);
        report.in_flight = 0;
        ended
    }

    /// A packet that was too large and alone is the one that was too large.
    fn learn_from(&mut self, ended: &Ended) {
        if !matches!(ended, Ended::Lost(Loss::TooLarge(_))) {
            return;
        }
        match self.window.alone_in_flight() {
            Some(Entry::Event(seqno)) => {
                self.keeper.too_large.insert(seqno);
            }
            Some(Entry::State) => self.keeper.state_too_large = self.state_said.take(),
            Some(Entry::Status | Entry::Response) | None => {}
        }
    }

    /// Birth, state, backlog, and everything after, to the end.
    async fn deliver(&mut self) -> Ended {
        self.keeper.online_since = Some(Instant::now());
        self.keeper.was_online = true;
        self.keeper.set_state(UplinkState::Online);
        loop {
            let stepped = self.step().await;
            if let Err(ended) = stepped {
                return ended;
            }
        }
    }

    async fn step(&mut self) -> Result<(), Ended> {
        let now = Instant::now();
        self.mind_time(now)?;
        self.fill(now)?;
        self.say_farewell(now)?;
        let woken = self.next(now).await;
        if matches!(woken, Woken::Certificates) {
            return match self.keeper.heed_certificates() {
                Certificates::Renewed if self.farewell == Farewell::NotYet => Err(self.leave_to_renew().await),
                Certificates::Renewed | Certificates::InUse => Ok(()),
            };
        }
        self.take(woken)
    }

    /// Ends the connection with a DISCONNECT, so that no last will is published. What is in flight is sent again on the next.
    async fn leave_to_renew(&mut self) -> Ended {
        if let Err(stuck) = self.connection.disconnect() {
            return stuck.into();
        }
        let left = async {
            while !matches!(
                poll_fn(|cx| self.connection.poll_next(cx)).await,
                Signal::Disconnected | Signal::Lost(_)
            ) {}
        };
        // A peer that doesn't read is left without a word.
        let _in_time = tokio::time::timeout(LEAVE_WITHIN, left).await;
        Ended::Renewed
    }

    /// Waits for whatever comes next.
    async fn next(&mut self, now: Instant) -> Woken {
        let wake_at = self.wake_at(now);
        let is_staying = self.farewell == Farewell::NotYet;
        let keeper = &mut *self.keeper;
        // What comes once (a stop, a page that was asked for) and what the disk's pace limits (the head) goes before signals,
        // of which a broker can send without end. Times are looked at in every step, whatever woke it.
        tokio::select! {
            biased;
            () = asked_to_stop(&mut keeper.stopping), if is_staying => Woken::StopAsked,
            read = answer(&mut self.events_coming) => Woken::Events(read),
            () = changed(&mut keeper.head) => Woken::HeadMoved,
            () = changed(&mut keeper.state) => Woken::StateChanged,
            () = changed(&mut keeper.fault) => Woken::StatusChanged,
            read = answer(&mut self.replay_coming) => Woken::Replay(read),
            read = answer(&mut self.find_coming) => Woken::Found(read),
            () = changed(&mut keeper.certificates) => Woken::Certificates,
            (to, verified) = verified(&mut self.verifying) => Woken::Verified(to, verified),
            permit = keeper.notices.reserve(), if keeper.alarms.has_news() => {
                tell(permit, &mut keeper.alarms);
                Woken::Look
            }
            signal = poll_fn(|cx| self.connection.poll_next(cx)) => Woken::Signal(signal),
            () = at(wake_at) => Woken::Look,
        }
    }

    fn take(&mut self, woken: Woken) -> Result<(), Ended> {
        match woken {
            Woken::Signal(signal) => return self.take_signal(signal),
            Woken::Events(read) => self.take_events(read),
            Woken::Replay(read) => self.take_replay(read),
            Woken::Found(read) => self.take_found(read),
            Woken::Verified(to, verified) => self.take_verified(to, verified),
            Woken::HeadMoved => self.keeper.say_soon(),
            Woken::StateChanged => self.state_dirty = self.keeper.tells_state(),
            Woken::StatusChanged => self.status_at = Instant::now(),
            Woken::StopAsked => self.farewell = Farewell::Draining(Instant::now() + DRAIN_WITHIN),
            Woken::Certificates | Woken::Look => {}
        }
        Ok(())
    }

    /// What has become due by now.
    fn mind_time(&mut self, now: Instant) -> Result<(), Ended> {
        if self.window.in_flight() == 0 {
            self.progress_at = now;
        } else if now.duration_since(self.progress_at) >= STALLED_AFTER {
            return Err(stalled());
        }
        if let Some(since) = self.keeper.online_since {
            let lasted = now.duration_since(since);
            if lasted >= STEADY_AFTER {
                self.keeper.steady();
            }
            if lasted >= UNDISPUTED_AFTER {
                self.keeper.alarms.clear(Condition::TakenOver);
            }
            if lasted >= STEADY_AFTER && self.is_delivered() {
                // Nothing waits that the broker could refuse: what it refused before it takes.
                self.keeper.alarms.taken(Subject::Connection);
            }
        }
        if self.keeper.say_at().is_some_and(|at| at <= now) {
            self.keeper.say_now();
        }
        Ok(())
    }

    /// When to look again without anything happening.
    fn wake_at(&self, now: Instant) -> Option<Instant> {
        let stalls = (self.window.in_flight() > 0).then(|| self.progress_at + STALLED_AFTER);
        // A time that nothing heeds any more would be reached again and again.
        let is_staying = self.farewell == Farewell::NotYet;
        let state = (is_staying && self.state_dirty && self.window.has_room_for(Entry::State)).then_some(self.state_at);
        let status = (is_staying && self.window.has_room_for(Entry::Status)).then_some(self.status_at);
        let read_again = match self.farewell {
            Farewell::NotYet | Farewell::Draining(_) => self.read_again_at,
            Farewell::SayingOffline(_) | Farewell::Leaving(_) => None,
        };
        let milestones = [STEADY_AFTER, UNDISPUTED_AFTER].into_iter();
        let since = self.keeper.online_since;
        let milestone = milestones
            .filter_map(|after| since.map(|since| since + after))
            .find(|at| *at > now);
        let farewell = match self.farewell {
            Farewell::NotYet => None,
            Farewell::Draining(until) | Farewell::SayingOffline(until) | Farewell::Leaving(until) => Some(until),
        };
        [
            stalls,
            state,
            status,
            milestone,
            farewell,
            read_again,
            self.keeper.say_at(),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

pub(super) fn stalled() -> Ended {
    let text = format!(
        "the broker left a publish without acknowledgement for {} s",
        STALLED_AFTER.as_secs()
    );
    Ended::Lost(Loss::Broken(text))
}
