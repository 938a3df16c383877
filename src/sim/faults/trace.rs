//! What an onlooker outside the gateway sees, in order, with virtual time; and the trace that carries it to the judges.
//!
//! The world says [`Seen`] at the moment at which the thing became true outside the gateway: storage *when the bytes are durable*, a device
//! *when a person could see it*, the broker *when it took the publish over*. A judge must never have to know how the gateway works.
//! Nothing is kept: the judges are fed as it goes, a running hash stands for the whole (each seed twice, same hash), and a printer can write
//! one readable line each.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use prost::Message;

use crate::table::event::{Body, Event, TableState};
use crate::table::input::DeviceKind;

/// One record of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stored<'a> {
    /// Its number in its journal.
    pub seqno: u64,
    /// The bytes of the event, exactly.
    pub bytes: &'a [u8],
}

/// A connection to a broker, as the world counts them: 1, 2, 3 ... over the whole simulation, restarts of the gateway included.
pub type Connection = u64;

/// A publish that a broker took over, as the world counts them over the whole simulation.
pub type Publish = u64;

/// What a device shows, as a person in front of it sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Picture<'a> {
    /// Layout lamps or result lights that are lit; bit n is byte n/8, bit n%8, as in `SetLamps`. A bulb that is broken is not lit.
    Lamps {
        /// The lit ones.
        lit: &'a [u8],
        /// They blink.
        blink: bool,
    },
    /// The readout: text or the keys of the entry, whichever is shown.
    Readout {
        /// What is shown.
        text: &'a str,
        /// It is the host's text, not the keys.
        by_host: bool,
        /// The entry number that keys are taken for; 0: none are taken.
        entry: u32,
    },
    /// A tumbler's inhibit.
    Inhibit {
        /// It refuses to spin.
        on: bool,
        /// A reader may report.
        dice_allowed: bool,
    },
}

/// What really happened at a device, whether or not anybody was told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Happening {
    /// A key was taken by the terminal, for this entry. The number is the protocol's.
    Key {
        /// Which.
        key: u32,
        /// The entry it was taken for.
        entry: u32,
    },
    /// ENTER was taken by the terminal, with these keys shown (0: none), oldest first.
    Entry {
        /// The keys.
        shown: [u32; 3],
        /// The entry it was taken for.
        entry: u32,
    },
    /// The bell was rung.
    Bell,
    /// The NO_SPIN button was pressed.
    NoSpinButton,
    /// The supervisor's key was turned on.
    KeyOn,
    /// The supervisor's key was turned off.
    KeyOff,
    /// The cabinet door was opened.
    DoorOpened,
    /// The cabinet door was closed.
    DoorClosed,
    /// A spin began.
    SpinBegan,
    /// A spin ended; the dice lie.
    SpinEnded {
        /// Their faces.
        faces: [u8; 3],
    },
    /// The cover was put on.
    CoverOn,
    /// The cover was taken off.
    CoverOff,
    /// The device lost its power, or restarted by itself.
    Restarted,
    /// A lamp broke, or lights though it must not.
    LampBroke {
        /// Its bit.
        bit: u32,
    },
    /// A lamp was mended.
    LampMended {
        /// Its bit.
        bit: u32,
    },
}

/// What the broker answered to a publish.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// Taken.
    Success,
    /// Taken; nobody subscribes.
    NobodyListens,
    /// Not taken, and it is the broker's fault or wish (authority, quota, unspecified).
    Refused,
    /// Not taken: the payload is no good (`PayloadFormatInvalid`), or it is too large.
    Unfit,
}

/// Who acts at the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Who {
    /// At terminal, tumbler and cup.
    Dealer,
    /// With the key, or by commands.
    Supervisor,
    /// By commands.
    Technician,
}

/// How a run of the gateway ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// Killed between two steps; what was not durable is lost.
    Crashed,
    /// It was told to stop, and stopped.
    Stopped,
    /// It ended by itself, which it never may; or a task of it panicked.
    Died,
}

/// Everything that can be seen from outside the gateway.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Seen<'a> {
    /// The simulation begins. Said first, once.
    Began {
        /// `"tai-sai"`, `"sic-bo"`, `"two-up-dice"` or `"triple-penny-two-up"`.
        game: &'a str,
        /// As `GatewayStarted.style`.
        style: &'a str,
        /// As `GatewayStarted.layout`.
        layout: &'a str,
    },

    /// A process of the gateway started: 1, 2, 3 ...
    GatewayStarted {
        /// Which.
        run: u32,
    },
    /// It ended.
    GatewayEnded {
        /// How.
        how: Ending,
    },
    /// What the loop gives away as the table's state (the slot that uplink, display and control read) changed.
    Stated {
        /// The state.
        state: &'a TableState,
    },

    /// A transaction is durable: from here on no crash loses it. Said before the gateway is told.
    Appended {
        /// UUID of the journal.
        journal: &'a str,
        /// What it wrote; may be empty only where a transaction may be.
        records: &'a [Stored<'a>],
    },
    /// Storage answered that a transaction was not written; nothing of it is there.
    AppendFailed {
        /// UUID of the journal.
        journal: &'a str,
        /// The first number that it would have used.
        first: u64,
        /// How many records.
        count: u64,
    },
    /// The gateway gave up waiting for a transaction (it took more than 5 s), or crashed while it was under way. Storage may still have
    /// written it: then `Appended` is said as well, earlier or later.
    AppendGivenUp {
        /// UUID of the journal.
        journal: &'a str,
        /// The first number that it would have used.
        first: u64,
        /// How many records.
        count: u64,
    },
    /// Events were deleted up to this one.
    Expired {
        /// UUID of the journal.
        journal: &'a str,
        /// The last that is gone.
        through: u64,
    },
    /// The cursor is durable.
    CursorWritten {
        /// UUID of the journal.
        journal: &'a str,
        /// Everything up to it is acknowledged, says the gateway.
        cursor: u64,
    },

    /// The number of a connection was not kept: the disk failed when it was counted.
    CountLost {
        /// The number, which is used all the same.
        number: u64,
    },

    /// A device shows something else than before.
    Shows {
        /// Which.
        device: DeviceKind,
        /// What.
        picture: Picture<'a>,
    },
    /// Something happened at a device.
    Happened {
        /// Which.
        device: DeviceKind,
        /// What.
        what: Happening,
    },
    /// From here on bytes can be lost, changed or late on a device's line, or the device is away (cable, power, noise).
    LinkBroken {
        /// Whose.
        device: DeviceKind,
    },
    /// The line is as good as new, and the device has its power. The session may still have to be made.
    LinkMended {
        /// Whose.
        device: DeviceKind,
    },

    /// A connection to a broker was accepted.
    Connected {
        /// Which.
        connection: Connection,
    },
    /// It is over, for either side's reason.
    Disconnected {
        /// Which.
        connection: Connection,
    },
    /// The broker took a publish over (its subscribers get it); wills included.
    Published {
        /// On which connection.
        connection: Connection,
        /// Counted over the whole simulation.
        publish: Publish,
        /// The topic.
        topic: &'a str,
        /// Its bytes.
        payload: &'a [u8],
        /// It stays on the topic.
        retained: bool,
    },
    /// The broker threw a publish away: it was refused, or came on a connection that was cut. Nobody got it.
    ThrownAway {
        /// On which connection.
        connection: Connection,
        /// Counted as `Published` does.
        publish: Publish,
        /// The topic.
        topic: &'a str,
        /// Its bytes.
        payload: &'a [u8],
    },
    /// The broker sent its acknowledgement. It may get lost or be late.
    Acknowledged {
        /// On which connection.
        connection: Connection,
        /// Which publish.
        publish: Publish,
        /// What it said.
        answer: Answer,
    },
    /// The broker restarted without its memory: retained messages and sessions are gone.
    BrokerForgot,

    /// A person asks for something by a command, or is about to do something at a device.
    Asked {
        /// Who.
        who: Who,
        /// For a reader.
        act: &'a str,
    },
    /// What a command was answered.
    Told {
        /// Who.
        who: Who,
        /// It was done.
        done: bool,
        /// For a reader.
        text: &'a str,
    },

    /// A fault of the plan begins.
    FaultBegan {
        /// Its number in the plan.
        fault: usize,
        /// For a reader.
        text: &'a str,
    },
    /// It is over.
    FaultOver {
        /// Its number in the plan.
        fault: usize,
    },
    /// No fault stands, nobody has done anything for long enough that everything has settled: what should be, must be now. May be said
    /// several times.
    Quiet,
    /// People have done what can be done to let play go on (locks and holds ended, the table opened), and play one more round to its end. Said once,
    /// after the first `Quiet`; another `Quiet` follows when the round is over or they gave up.
    LastRound,
    /// Nothing more comes.
    End,
}

/// Which rule was broken. One judge each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Invariant {
    /// What was shown or published is in the journal.
    ShownIsJournalled,
    /// Nothing is published twice with different bytes, nor with other bytes than journalled.
    SameBytes,
    /// Every event reaches the broker, in order.
    NoGap,
    /// No two results for a round.
    OneResult,
    /// Lamps, lights and the published state equal what the events say, once quiet.
    LampsEqualState,
    /// No round is voided by the gateway while a link was broken.
    NoVoidWhileBroken,
    /// Every round ends, and the table is never stuck.
    RoundsEnd,
    /// Numbers, chain and round ids run on across restarts.
    Contiguous,
    /// The cursor is never ahead of what the broker acknowledged.
    CursorBehind,
    /// The state after a restart is the state before it.
    StateSurvives,
    /// An alert is raised once, until it is cleared.
    AlertsOnce,
    /// What is recorded of people and devices happened: keys, ENTER, bell, spins, cover.
    NothingInvented,
    /// The connection's number only rises, and the retained status is its own.
    StatusTrue,
    /// What the gateway writes can be read, and it never dies.
    Sound,
}

impl Invariant {
    /// As reports name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Invariant::ShownIsJournalled => "shown-is-journalled",
            Invariant::SameBytes => "same-bytes",
            Invariant::NoGap => "no-gap",
            Invariant::OneResult => "one-result",
            Invariant::LampsEqualState => "lamps-equal-state",
            Invariant::NoVoidWhileBroken => "no-void-while-broken",
            Invariant::RoundsEnd => "rounds-end",
            Invariant::Contiguous => "contiguous",
            Invariant::CursorBehind => "cursor-behind",
            Invariant::StateSurvives => "state-survives",
            Invariant::AlertsOnce => "alerts-once",
            Invariant::NothingInvented => "nothing-invented",
            Invariant::StatusTrue => "status-true",
            Invariant::Sound => "sound",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// One thing seen, and when. What the judges get.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// Virtual time since the simulation began.
    pub at: Duration,
    /// What.
    pub seen: &'a Seen<'a>,
    /// The events that it carries, decoded: of `Appended` each, of `Published` on the events topic the one.
    pub events: &'a [Event],
}

/// Judges one invariant.
pub trait Judge: Send {
    /// Which.
    fn invariant(&self) -> Invariant;

    /// Looks at the next thing.
    ///
    /// # Errors
    ///
    /// What is wrong, for a person. A judge goes on looking after it.
    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String>;
}

/// An invariant was broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Which.
    pub invariant: Invariant,
    /// When.
    pub at: Duration,
    /// How, for a person.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}: {}", self.invariant, Clock(self.at), self.text)
    }
}

/// How many findings are kept: a world gone wrong breaks the same rule without end.
const MOST_FINDINGS: usize = 16;

/// Gets one line for each thing seen.
pub type Printer = Box<dyn FnMut(&str) + Send>;

/// Carries what is seen to the judges.
pub struct Trace {
    hash: DefaultHasher,
    seen: u64,
    rounds: u64,
    judges: Vec<Box<dyn Judge>>,
    findings: Vec<Finding>,
    printer: Option<Printer>,
    /// Kept between uses, so that a sight costs no allocation.
    events: Vec<Event>,
    last: Duration,
}

impl fmt::Debug for Trace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Trace")
            .field("seen", &self.seen)
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

impl Trace {
    /// A trace that these judges look at.
    #[must_use]
    pub fn new(judges: Vec<Box<dyn Judge>>) -> Self {
        Trace {
            hash: DefaultHasher::new(),
            seen: 0,
            rounds: 0,
            judges,
            findings: Vec::new(),
            printer: None,
            events: Vec::new(),
            last: Duration::ZERO,
        }
    }

    /// The same, and one line for each thing seen.
    #[must_use]
    pub fn printed(mut self, printer: Printer) -> Self {
        self.printer = Some(printer);
        self
    }

    /// Something was seen at this virtual time since the simulation began.
    pub fn see(&mut self, at: Duration, seen: &Seen<'_>) {
        self.seen += 1;
        at.hash(&mut self.hash);
        hash_of(seen, &mut self.hash);
        let mut events = std::mem::take(&mut self.events);
        if let Err(text) = decode(seen, &mut events) {
            self.find(at, Invariant::Sound, text);
        }
        if at < self.last {
            self.find(at, Invariant::Sound, "the virtual clock went back".to_owned());
        }
        self.last = at;
        if let Seen::Appended { .. } = seen {
            let ended = events.iter().filter(|event| ends_a_round(event)).count();
            self.rounds += u64::try_from(ended).unwrap_or(0);
        }
        if let Seen::GatewayEnded { how: Ending::Died } = seen {
            self.find(at, Invariant::Sound, "the gateway ended by itself".to_owned());
        }
        if let Some(printer) = &mut self.printer {
            printer(&format!("{} {}", Clock(at), Line { seen, events: &events }));
        }
        let sight = Sight {
            at,
            seen,
            events: &events,
        };
        let mut judges = std::mem::take(&mut self.judges);
        for judge in &mut judges {
            if let Err(text) = judge.look(&sight) {
                self.find(at, judge.invariant(), text);
            }
        }
        self.judges = judges;
        events.clear();
        self.events = events;
    }

    fn find(&mut self, at: Duration, invariant: Invariant, text: String) {
        let finding = Finding { invariant, at, text };
        if let Some(printer) = &mut self.printer {
            printer(&format!("{} BROKEN {finding}", Clock(at)));
        }
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// What was found so far, oldest first; the first 16 at most.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What came of it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome {
            hash: self.hash.finish(),
            seen: self.seen,
            rounds: self.rounds,
            lasted: self.last,
            findings: self.findings.clone(),
        }
    }
}

/// What came of one simulation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Of everything seen, with its times. Equal seeds give equal hashes in one build of the program.
    pub hash: u64,
    /// How many things were seen.
    pub seen: u64,
    /// How many rounds ended, settled, void or otherwise.
    pub rounds: u64,
    /// Virtual time.
    pub lasted: Duration,
    /// What was broken; empty: nothing.
    pub findings: Vec<Finding>,
}

/// Whether a round ends with this event.
fn ends_a_round(event: &Event) -> bool {
    matches!(
        event.body,
        Some(Body::RoundSettled(_) | Body::RoundVoided(_) | Body::RoundAbandoned(_) | Body::SpinnerWagerDecided(_))
    )
}

/// Decodes the events that this carries.
fn decode(seen: &Seen<'_>, events: &mut Vec<Event>) -> Result<(), String> {
    match seen {
        Seen::Appended { records, .. } => {
            for record in *records {
                let event = Event::decode(record.bytes)
                    .map_err(|error| format!("event {} can't be read: {error}", record.seqno))?;
                events.push(event);
            }
            Ok(())
        }
        Seen::Published { topic, payload, .. } if is_events(topic) => {
            let event = Event::decode(*payload).map_err(|error| format!("a published event can't be read: {error}"))?;
            events.push(event);
            Ok(())
        }
        Seen::Published { .. }
        | Seen::Began { .. }
        | Seen::GatewayStarted { .. }
        | Seen::GatewayEnded { .. }
        | Seen::Stated { .. }
        | Seen::AppendFailed { .. }
        | Seen::AppendGivenUp { .. }
        | Seen::Expired { .. }
        | Seen::CursorWritten { .. }
        | Seen::CountLost { .. }
        | Seen::Shows { .. }
        | Seen::Happened { .. }
        | Seen::LinkBroken { .. }
        | Seen::LinkMended { .. }
        | Seen::Connected { .. }
        | Seen::Disconnected { .. }
        | Seen::ThrownAway { .. }
        | Seen::Acknowledged { .. }
        | Seen::BrokerForgot
        | Seen::Asked { .. }
        | Seen::Told { .. }
        | Seen::FaultBegan { .. }
        | Seen::FaultOver { .. }
        | Seen::Quiet
        | Seen::LastRound
        | Seen::End => Ok(()),
    }
}

/// Whether this is the topic of the events.
#[must_use]
pub fn is_events(topic: &str) -> bool {
    topic.ends_with("/events")
}

/// Whether this is the topic of the retained state.
#[must_use]
pub fn is_state(topic: &str) -> bool {
    topic.ends_with("/state")
}

/// Whether this is the topic of the retained status.
#[must_use]
pub fn is_status(topic: &str) -> bool {
    topic.ends_with("/status")
}

/// Folds this into the hash. The state is a message and has no hash of its own: its bytes stand for it.
fn hash_of(seen: &Seen<'_>, hasher: &mut DefaultHasher) {
    std::mem::discriminant(seen).hash(hasher);
    match seen {
        Seen::Began { game, style, layout } => (game, style, layout).hash(hasher),
        Seen::GatewayStarted { run } => run.hash(hasher),
        Seen::GatewayEnded { how } => how.hash(hasher),
        Seen::Stated { state } => state.encode_to_vec().hash(hasher),
        Seen::Appended { journal, records } => (journal, records).hash(hasher),
        Seen::AppendFailed { journal, first, count } | Seen::AppendGivenUp { journal, first, count } => {
            (journal, first, count).hash(hasher);
        }
        Seen::Expired { journal, through } => (journal, through).hash(hasher),
        Seen::CursorWritten { journal, cursor } => (journal, cursor).hash(hasher),
        Seen::CountLost { number } => number.hash(hasher),
        Seen::Shows { device, picture } => (device, picture).hash(hasher),
        Seen::Happened { device, what } => (device, what).hash(hasher),
        Seen::LinkBroken { device } | Seen::LinkMended { device } => device.hash(hasher),
        Seen::Connected { connection } | Seen::Disconnected { connection } => connection.hash(hasher),
        Seen::Published {
            connection,
            publish,
            topic,
            payload,
            retained,
        } => (connection, publish, topic, payload, retained).hash(hasher),
        Seen::ThrownAway {
            connection,
            publish,
            topic,
            payload,
        } => (connection, publish, topic, payload).hash(hasher),
        Seen::Acknowledged {
            connection,
            publish,
            answer,
        } => (connection, publish, answer).hash(hasher),
        Seen::Asked { who, act } => (who, act).hash(hasher),
        Seen::Told { who, done, text } => (who, done, text).hash(hasher),
        Seen::FaultBegan { fault, text } => (fault, text).hash(hasher),
        Seen::FaultOver { fault } => fault.hash(hasher),
        Seen::BrokerForgot | Seen::Quiet | Seen::LastRound | Seen::End => {}
    }
}

/// Virtual time in seconds, to the microsecond.
struct Clock(Duration);

impl fmt::Display for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:>5}.{:06}", self.0.as_secs(), self.0.subsec_micros())
    }
}

/// One readable line.
struct Line<'a> {
    seen: &'a Seen<'a>,
    events: &'a [Event],
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seen {
            Seen::Appended { journal, records } => {
                write!(out, "journal  {} append of {}:", short(journal), records.len())?;
                for event in self.events {
                    write!(out, " {}={}", event.seqno, name_of(event))?;
                    if event.round_id != 0 {
                        write!(out, "(round {})", event.round_id)?;
                    }
                }
                Ok(())
            }
            Seen::AppendFailed { journal, first, count } => {
                write!(out, "journal  {} append of {count} from {first} failed", short(journal))
            }
            Seen::AppendGivenUp { journal, first, count } => {
                write!(
                    out,
                    "journal  {} append of {count} from {first} given up",
                    short(journal)
                )
            }
            Seen::Expired { journal, through } => write!(out, "journal  {} expired through {through}", short(journal)),
            Seen::CursorWritten { journal, cursor } => write!(out, "journal  {} cursor {cursor}", short(journal)),
            Seen::CountLost { number } => write!(out, "journal  connection number {number} not kept"),
            Seen::Shows { device, picture } => write!(out, "shows    {device:?} {}", Shown(picture)),
            Seen::Happened { device, what } => write!(out, "happens  {device:?} {what:?}"),
            Seen::LinkBroken { device } => write!(out, "link     {device:?} broken"),
            Seen::LinkMended { device } => write!(out, "link     {device:?} mended"),
            Seen::Published {
                connection,
                publish,
                topic,
                payload,
                retained,
            } => {
                write!(out, "broker   #{connection} publish {publish} ")?;
                match self.events.first() {
                    Some(event) => write!(out, "{} {}={}", short(&event.journal_id), event.seqno, name_of(event)),
                    None => write!(
                        out,
                        "{} ({} bytes{})",
                        topic.rsplit('/').next().unwrap_or(topic),
                        payload.len(),
                        if *retained { ", retained" } else { "" }
                    ),
                }
            }
            Seen::ThrownAway {
                connection,
                publish,
                topic,
                ..
            } => write!(out, "broker   #{connection} publish {publish} on {topic} thrown away"),
            Seen::Acknowledged {
                connection,
                publish,
                answer,
            } => write!(out, "broker   #{connection} acknowledges {publish} {answer:?}"),
            Seen::Connected { connection } => write!(out, "broker   #{connection} connected"),
            Seen::Disconnected { connection } => write!(out, "broker   #{connection} disconnected"),
            Seen::BrokerForgot => write!(out, "broker   forgot everything"),
            Seen::Began { game, style, layout } => write!(out, "begins   {game} {style} {layout}"),
            Seen::GatewayStarted { run } => write!(out, "gateway  run {run} starts"),
            Seen::GatewayEnded { how } => write!(out, "gateway  {how:?}"),
            Seen::Stated { state } => write!(
                out,
                "state    {} mode {:?} phase {:?} round {} held {:?} locks {}",
                state.head.as_ref().map_or(0, |head| head.seqno),
                state.mode(),
                state.phase,
                state.round_id,
                state.held(),
                state.locks.len()
            ),
            Seen::Asked { who, act } => write!(out, "people   {who:?}: {act}"),
            Seen::Told { who, done, text } => {
                write!(
                    out,
                    "people   {who:?} is told {}: {text}",
                    if *done { "yes" } else { "no" }
                )
            }
            Seen::FaultBegan { fault, text } => write!(out, "FAULT    {fault} begins: {text}"),
            Seen::FaultOver { fault } => write!(out, "FAULT    {fault} over"),
            Seen::Quiet => write!(out, "world    quiet"),
            Seen::LastRound => write!(out, "world    last round"),
            Seen::End => write!(out, "world    end"),
        }
    }
}

/// What is shown, for a reader.
struct Shown<'a>(&'a Picture<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Picture::Lamps { lit, blink } => {
                write!(out, "lit{}", if *blink { " (blinking)" } else { "" })?;
                for bit in bits(lit) {
                    write!(out, " {bit}")?;
                }
                Ok(())
            }
            Picture::Readout { text, by_host, entry } => {
                write!(out, "{text:?}{} entry {entry}", if *by_host { "" } else { " (keys)" })
            }
            Picture::Inhibit { on, dice_allowed } => write!(out, "inhibit {on}, dice allowed {dice_allowed}"),
        }
    }
}

/// The bits that are set, in order: bit n is byte n/8, bit n%8.
pub fn bits(picture: &[u8]) -> impl Iterator<Item = usize> + '_ {
    picture.iter().enumerate().flat_map(|(byte, value)| {
        (0..8)
            .filter(move |bit| value >> bit & 1 == 1)
            .map(move |bit| byte * 8 + bit)
    })
}

/// A journal's name for a reader: the first characters of its UUID.
fn short(journal: &str) -> &str {
    journal.get(..8).unwrap_or(journal)
}

/// The name of an event's body.
fn name_of(event: &Event) -> String {
    let told = format!("{:?}", event.body);
    let inner = told.strip_prefix("Some(").unwrap_or(&told);
    inner.split(['(', ' ', ')']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    struct NoBells;

    impl Judge for NoBells {
        fn invariant(&self) -> Invariant {
            Invariant::OneResult
        }

        fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
            if *sight.seen == BELL {
                return Err("a bell".to_owned());
            }
            Ok(())
        }
    }

    const BELL: Seen<'static> = Seen::Happened {
        device: DeviceKind::Terminal,
        what: Happening::Bell,
    };

    #[test]
    fn the_hash_tells_what_was_seen_and_when() {
        let hash = |sights: &[(u64, Seen<'_>)]| {
            let mut trace = Trace::new(Vec::new());
            for (at, seen) in sights {
                trace.see(Duration::from_millis(*at), seen);
            }
            trace.outcome().hash
        };
        let one = hash(&[(1, BELL), (2, Seen::Quiet)]);
        assert_eq!(one, hash(&[(1, BELL), (2, Seen::Quiet)]));
        assert_ne!(one, hash(&[(1, BELL), (3, Seen::Quiet)]));
        assert_ne!(one, hash(&[(1, BELL), (2, Seen::End)]));
        assert_ne!(one, hash(&[(2, Seen::Quiet)]));
    }

    #[test]
    fn what_a_judge_finds_is_kept_and_printed_and_bounded() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let mut trace = Trace::new(vec![Box::new(NoBells)])
            .printed(Box::new(move |line| kept.lock().unwrap().push(line.to_owned())));
        for at in 0..40 {
            trace.see(Duration::from_secs(at), &BELL);
        }
        let outcome = trace.outcome();
        assert_eq!(outcome.findings.len(), MOST_FINDINGS);
        assert_eq!(outcome.seen, 40);
        assert_eq!(outcome.findings[1].to_string(), "one-result at     1.000000: a bell");
        let lines = lines.lock().unwrap();
        assert_eq!(lines[0], "    0.000000 happens  Terminal Bell");
        assert_eq!(lines[1], "    0.000000 BROKEN one-result at     0.000000: a bell");
    }

    #[test]
    fn what_cannot_be_read_and_a_gateway_that_dies_are_found() {
        let mut trace = Trace::new(Vec::new());
        let records = [Stored {
            seqno: 1,
            bytes: &[0xff, 0xff],
        }];
        let journal = "11111111-2222";
        trace.see(
            Duration::ZERO,
            &Seen::Appended {
                journal,
                records: &records,
            },
        );
        trace.see(Duration::ZERO, &Seen::GatewayEnded { how: Ending::Died });
        let findings = trace.outcome().findings;
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings.iter().all(|finding| finding.invariant == Invariant::Sound));
    }

    #[test]
    fn bits_are_counted_as_the_protocol_counts_them() {
        assert_eq!(bits(&[0b1000_0001, 0b10]).collect::<Vec<_>>(), [0, 7, 9]);
    }
}
