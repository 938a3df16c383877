//! What can be seen from outside the gateway: the words in which the world speaks to the judges.

use crate::table::event::TableState;
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

/// What comes of a request of the floor's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wants {
    /// An answer.
    Answer,
    /// None: it was kept by the broker from long ago, or names nowhere to answer to.
    Silence,
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
    /// A journal was to be opened, and could not be read: the gateway's self-test fails, or stands as failed from here on.
    OpenedUnread,
    /// The cursor is durable.
    CursorWritten {
        /// UUID of the journal.
        journal: &'a str,
        /// Everything up to it is acknowledged, says the gateway.
        cursor: u64,
    },

    /// The disk was set back to an older copy while no gateway ran: of this journal events up to `to` are left, and of the disk nothing that came later.
    WentBack {
        /// UUID of the journal in use.
        journal: &'a str,
        /// Its newest event now.
        to: u64,
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
    /// A second gateway of the same name published this, and the broker keeps it.
    Intruded {
        /// The topic.
        topic: &'a str,
        /// Its bytes.
        payload: &'a [u8],
    },
    /// A request of the floor's has reached the gateway's connection. It may still be lost with it.
    FloorAsked {
        /// Which.
        connection: Connection,
        /// The request.
        payload: &'a [u8],
        /// Whether it names somewhere to answer to, and is meant now.
        wants: Wants,
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

/// The bits that are set, in order: bit n is byte n/8, bit n%8.
pub fn bits(picture: &[u8]) -> impl Iterator<Item = usize> + '_ {
    picture.iter().enumerate().flat_map(|(byte, value)| {
        (0..8)
            .filter(move |bit| value >> bit & 1 == 1)
            .map(move |bit| byte * 8 + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_as_the_protocol_counts_them() {
        assert_eq!(bits(&[0b1000_0001, 0b10]).collect::<Vec<_>>(), [0, 7, 9]);
    }
}
