//! What is in flight on one connection, and how far a broker has acknowledged everything. PURE.
//!
//! Every QoS 1 publish gets an ordinal. Ordinal n may go out only while n < lowest unacknowledged + width, so two publishes
//! in flight are never further apart than the client has packet ids: however late an acknowledgement comes, its packet id
//! is not in use twice. Publishes wait in one queue from the hand-over to the client until the client says under which
//! packet id each was sent; the client keeps their order. Any doubt ends the connection: the next one begins from the cursor.

use crate::journal::Seqno;
use std::collections::VecDeque;

/// More in flight gains nothing on a floor's network, and what is in flight is repeated after a lost connection.
pub const MAX_WIDTH: u16 = 16;
/// Answers must not crowd out events: a quarter of the window.
pub const MAX_RESPONSES: usize = 4;

/// What a publish carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The event with this number.
    Event(Seqno),
    /// The retained state.
    State,
    /// The retained status.
    Status,
    /// An answer to a request.
    Response,
}

/// The connection's bookkeeping and ours differ: it must not be used any longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Broken {
    /// Nothing in flight has this packet id.
    #[error("acknowledgement of packet {pkid}, which is not in flight")]
    UnknownAcknowledgement {
        /// The packet id.
        pkid: u16,
    },
    /// The client sent something that was not handed to it.
    #[error("packet {pkid} was sent, and nothing was waiting to be")]
    UnexpectedSend {
        /// The packet id.
        pkid: u16,
    },
    /// The client gave one packet id to two publishes.
    #[error("packet id {pkid} was given out twice")]
    PacketIdInUse {
        /// The packet id.
        pkid: u16,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// Handed to the client.
    Waiting,
    /// Sent under this packet id.
    Sent(u16),
    /// Acknowledged, or passed over.
    Settled,
    /// The same, and of a journal before this one: it only keeps its place.
    Past,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    entry: Entry,
    progress: Progress,
}

/// The window of one connection.
#[derive(Clone, Debug)]
pub struct Window {
    width: usize,
    /// By ordinal, the lowest unacknowledged first.
    slots: VecDeque<Slot>,
    /// The ordinal of the first of them.
    lowest: u64,
    cursor: Seqno,
    next_event: Seqno,
}

/// How many publishes may be apart: two fewer than the broker takes, so that the packet ids of the client, which it takes
/// round robin below the broker's Receive Maximum, never meet; at least 1, at most [`MAX_WIDTH`].
#[must_use]
pub fn width(receive_maximum: u16) -> u16 {
    receive_maximum.saturating_sub(2).clamp(1, MAX_WIDTH)
}

impl Window {
    /// An empty window; everything up to `cursor` is acknowledged.
    #[must_use]
    pub fn new(width: u16, cursor: Seqno) -> Self {
        Window {
            width: usize::from(width.clamp(1, MAX_WIDTH)),
            slots: VecDeque::with_capacity(usize::from(MAX_WIDTH)),
            lowest: 1,
            cursor,
            next_event: cursor.saturating_add(1),
        }
    }

    /// Lets more out from now on.
    pub fn widen(&mut self, width: u16) {
        self.width = self.width.max(usize::from(width.clamp(1, MAX_WIDTH)));
    }

    /// One more ordinal may go out.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.slots.len() < self.width
    }

    /// One more of this kind may go out: at most 1 state, 1 status and [`MAX_RESPONSES`] answers are in flight.
    #[must_use]
    pub fn has_room_for(&self, entry: Entry) -> bool {
        let limit = match entry {
            Entry::Event(_) => self.width,
            Entry::State | Entry::Status => 1,
            Entry::Response => MAX_RESPONSES,
        };
        let is_same_kind = |slot: &&Slot| std::mem::discriminant(&slot.entry) == std::mem::discriminant(&entry);
        self.has_room() && self.unsettled().filter(is_same_kind).count() < limit
    }

    /// `entry` was handed to the client. Only while there is room for it.
    pub fn hand_over(&mut self, entry: Entry) {
        self.add(entry, Progress::Waiting);
    }

    /// The event is passed over: it goes to no broker, and the cursor passes it. Takes a place like any other.
    pub fn pass_over(&mut self, seqno: Seqno) {
        self.add(Entry::Event(seqno), Progress::Settled);
        self.settle();
    }

    fn add(&mut self, entry: Entry, progress: Progress) {
        assert!(self.has_room(), "nothing goes out beyond the window");
        if let Entry::Event(seqno) = entry {
            assert!(seqno >= self.next_event, "events go out in order");
            self.next_event = seqno.saturating_add(1);
        }
        self.slots.push_back(Slot { entry, progress });
    }

    /// The client sent the oldest publish that waited, under `pkid`.
    ///
    /// # Errors
    ///
    /// When nothing waited, or the packet id is in flight already.
    pub fn sent(&mut self, pkid: u16) -> Result<Entry, Broken> {
        if self.slots.iter().any(|slot| slot.progress == Progress::Sent(pkid)) {
            return Err(Broken::PacketIdInUse { pkid });
        }
        let waiting = self.slots.iter_mut().find(|slot| slot.progress == Progress::Waiting);
        let slot = waiting.ok_or(Broken::UnexpectedSend { pkid })?;
        slot.progress = Progress::Sent(pkid);
        Ok(slot.entry)
    }

    /// The broker answered for `pkid`, and that publish is done with.
    ///
    /// # Errors
    ///
    /// When it is not in flight.
    pub fn acknowledged(&mut self, pkid: u16) -> Result<Entry, Broken> {
        let sent = self.slots.iter_mut().find(|slot| slot.progress == Progress::Sent(pkid));
        let slot = sent.ok_or(Broken::UnknownAcknowledgement { pkid })?;
        slot.progress = Progress::Settled;
        let entry = slot.entry;
        self.settle();
        Ok(entry)
    }

    /// What is in flight under `pkid`.
    #[must_use]
    pub fn in_flight_as(&self, pkid: u16) -> Option<Entry> {
        let sent = self.slots.iter().find(|slot| slot.progress == Progress::Sent(pkid));
        sent.map(|slot| slot.entry)
    }

    fn settle(&mut self) {
        for slot in &self.slots {
            match (slot.entry, slot.progress) {
                (Entry::Event(seqno), Progress::Settled) => self.cursor = seqno,
                (Entry::Event(_), Progress::Waiting | Progress::Sent(_)) => break,
                (Entry::Event(_), Progress::Past) | (Entry::State | Entry::Status | Entry::Response, _) => {}
            }
        }
        while self
            .slots
            .front()
            .is_some_and(|slot| matches!(slot.progress, Progress::Settled | Progress::Past))
        {
            self.slots.pop_front();
            self.lowest = self.lowest.saturating_add(1);
        }
    }

    /// Ordinal of the oldest publish that isn't acknowledged, or of the next one. A connection on which it stays while something is
    /// in flight gets nowhere, whatever else is acknowledged on it.
    #[must_use]
    pub fn lowest(&self) -> u64 {
        self.lowest
    }

    /// Highest seqno up to which everything is acknowledged or passed over.
    #[must_use]
    pub fn cursor(&self) -> Seqno {
        self.cursor
    }

    /// Goes on with another journal, behind `cursor`. Only when no event is in flight.
    pub fn turn_to_journal(&mut self, cursor: Seqno) {
        assert_eq!(
            self.events_in_flight(),
            0,
            "one journal is delivered to its end before the next"
        );
        // Behind a status or a state that nobody has acknowledged they still wait, and say nothing of this journal.
        for slot in &mut self.slots {
            if matches!(slot.entry, Entry::Event(_)) {
                slot.progress = Progress::Past;
            }
        }
        self.cursor = cursor;
        self.next_event = cursor.saturating_add(1);
    }

    /// Handed over and not yet acknowledged.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.unsettled().count()
    }

    /// Events handed over and not yet acknowledged.
    #[must_use]
    pub fn events_in_flight(&self) -> usize {
        self.unsettled()
            .filter(|slot| matches!(slot.entry, Entry::Event(_)))
            .count()
    }

    /// The one thing in flight, when it is one.
    #[must_use]
    pub fn alone_in_flight(&self) -> Option<Entry> {
        let mut unsettled = self.unsettled();
        let first = unsettled.next()?;
        unsettled.next().is_none().then_some(first.entry)
    }

    fn unsettled(&self) -> impl Iterator<Item = &Slot> {
        self.slots
            .iter()
            .filter(|slot| matches!(slot.progress, Progress::Waiting | Progress::Sent(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_journal_that_was_delivered_moves_no_cursor_of_the_next() {
        let mut window = Window::new(16, 20);
        window.hand_over(Entry::State);
        window.sent(1).unwrap();
        window.hand_over(Entry::Event(21));
        window.sent(2).unwrap();
        window.acknowledged(2).unwrap();
        assert_eq!(window.cursor(), 21);
        window.turn_to_journal(0);
        window.hand_over(Entry::Event(1));
        window.sent(3).unwrap();
        window.acknowledged(1).unwrap();
        assert_eq!(window.cursor(), 0, "nothing of this journal is acknowledged");
        window.acknowledged(3).unwrap();
        assert_eq!(window.cursor(), 1);
    }

    #[test]
    fn the_width_stays_below_what_the_broker_takes() {
        for (receive_maximum, expected) in [
            (0, 1),
            (1, 1),
            (2, 1),
            (3, 1),
            (4, 2),
            (17, 15),
            (18, 16),
            (20, 16),
            (65535, 16),
        ] {
            assert_eq!(width(receive_maximum), expected, "receive maximum {receive_maximum}");
        }
    }

    #[test]
    fn the_cursor_waits_for_the_lowest_event_and_for_nothing_else() {
        let mut window = Window::new(8, 10);
        for entry in [
            Entry::Status,
            Entry::Event(11),
            Entry::State,
            Entry::Event(12),
            Entry::Event(13),
        ] {
            window.hand_over(entry);
        }
        for pkid in 2..=6 {
            window.sent(pkid).unwrap();
        }
        assert_eq!(window.acknowledged(5), Ok(Entry::Event(12)));
        assert_eq!(window.cursor(), 10);
        assert_eq!(window.acknowledged(3), Ok(Entry::Event(11)));
        assert_eq!(
            window.cursor(),
            12,
            "the status and the state are still in flight, and don't matter"
        );
        assert_eq!(window.acknowledged(3), Err(Broken::UnknownAcknowledgement { pkid: 3 }));
        assert_eq!(window.cursor(), 12);
        assert_eq!(window.acknowledged(6), Ok(Entry::Event(13)));
        assert_eq!(window.cursor(), 13);
        assert_eq!(window.in_flight(), 2);
    }

    #[test]
    fn what_is_not_known_is_broken_and_changes_nothing() {
        let mut window = Window::new(4, 0);
        assert_eq!(window.sent(1), Err(Broken::UnexpectedSend { pkid: 1 }));
        window.hand_over(Entry::Event(1));
        window.hand_over(Entry::Event(2));
        assert_eq!(
            window.acknowledged(1),
            Err(Broken::UnknownAcknowledgement { pkid: 1 }),
            "not sent yet"
        );
        assert_eq!(window.sent(1), Ok(Entry::Event(1)));
        assert_eq!(window.sent(1), Err(Broken::PacketIdInUse { pkid: 1 }));
        assert_eq!(window.acknowledged(0), Err(Broken::UnknownAcknowledgement { pkid: 0 }));
        assert_eq!((window.cursor(), window.in_flight()), (0, 2));
    }

    #[test]
    fn kinds_have_limits_of_their_own() {
        let mut window = Window::new(16, 0);
        for (entry, limit) in [(Entry::State, 1), (Entry::Status, 1), (Entry::Response, MAX_RESPONSES)] {
            for _ in 0..limit {
                assert!(window.has_room_for(entry));
                window.hand_over(entry);
            }
            assert!(!window.has_room_for(entry), "{entry:?}");
        }
        assert!(window.has_room_for(Entry::Event(1)));
    }

    #[test]
    fn an_event_that_is_passed_over_lets_the_cursor_by_in_its_turn() {
        let mut window = Window::new(3, 0);
        window.hand_over(Entry::Event(1));
        window.pass_over(2);
        assert_eq!(window.cursor(), 0);
        window.sent(7).unwrap();
        window.acknowledged(7).unwrap();
        assert_eq!(window.cursor(), 2);
        window.pass_over(3);
        assert_eq!((window.cursor(), window.in_flight()), (3, 0));
    }

    #[test]
    fn the_one_thing_in_flight_is_known() {
        let mut window = Window::new(3, 0);
        assert_eq!(window.alone_in_flight(), None);
        window.hand_over(Entry::Event(1));
        assert_eq!(window.alone_in_flight(), Some(Entry::Event(1)));
        window.hand_over(Entry::State);
        assert_eq!(window.alone_in_flight(), None);
    }

    /// Packet ids as the client takes them: round robin from 1 to the smaller of 64 and the Receive Maximum.
    struct Ids {
        last: u16,
        max: u16,
    }

    impl Ids {
        fn take(&mut self) -> u16 {
            let next = self.last + 1;
            self.last = if next == self.max { 0 } else { next };
            next
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        HandOver(u8),
        PassOver,
        Send,
        Acknowledge(usize),
        Repeat(usize),
        Reconnect,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u8..10).prop_map(Step::HandOver),
            1 => Just(Step::PassOver),
            6 => Just(Step::Send),
            6 => any::<usize>().prop_map(Step::Acknowledge),
            1 => any::<usize>().prop_map(Step::Repeat),
            1 => Just(Step::Reconnect),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Acknowledgements in every order, repeated ones, lost connections: nothing counts as acknowledged that a broker
        /// did not acknowledge, packet ids never meet, and once all is acknowledged the cursor is at the end.
        #[test]
        fn the_cursor_is_never_ahead_and_nothing_is_left_behind(
            receive_maximum in 1u16..70,
            subscriptions in 1u16..3,
            steps in prop::collection::vec(step(), 1..200),
        ) {
            let ids_for = |max: u16| Ids { last: subscriptions % max.clamp(1, 64), max: max.clamp(1, 64) };
            let mut window = Window::new(width(receive_maximum), 0);
            let mut ids = ids_for(receive_maximum);
            let mut on_wire: Vec<(u16, Entry)> = Vec::new();
            let mut waiting: VecDeque<Entry> = VecDeque::new();
            let mut done: BTreeSet<Seqno> = BTreeSet::new();
            for step in steps {
                match step {
                    Step::HandOver(kind) => {
                        let entry = match kind {
                            0 => Entry::State,
                            1 => Entry::Status,
                            2 => Entry::Response,
                            _ => Entry::Event(window.next_event),
                        };
                        if window.has_room_for(entry) {
                            window.hand_over(entry);
                            waiting.push_back(entry);
                        }
                    }
                    Step::PassOver => if window.has_room() {
                        done.insert(window.next_event);
                        window.pass_over(window.next_event);
                    },
                    Step::Send => if let Some(entry) = waiting.pop_front() {
                        let pkid = ids.take();
                        prop_assert!(on_wire.iter().all(|(other, _)| *other != pkid), "packet ids meet at {pkid}");
                        prop_assert_eq!(window.sent(pkid), Ok(entry));
                        on_wire.push((pkid, entry));
                    },
                    Step::Acknowledge(pick) => if !on_wire.is_empty() {
                        let (pkid, entry) = on_wire.remove(pick % on_wire.len());
                        prop_assert_eq!(window.in_flight_as(pkid), Some(entry));
                        prop_assert_eq!(window.acknowledged(pkid), Ok(entry));
                        if let Entry::Event(seqno) = entry {
                            done.insert(seqno);
                        }
                    },
                    Step::Repeat(pick) => {
                        let pkid = u16::try_from(pick % 70).unwrap();
                        if on_wire.iter().all(|(other, _)| *other != pkid) {
                            let before = window.cursor();
                            prop_assert_eq!(window.acknowledged(pkid), Err(Broken::UnknownAcknowledgement { pkid }));
                            prop_assert_eq!(window.cursor(), before);
                        }
                    }
                    Step::Reconnect => {
                        let cursor = window.cursor();
                        // What was acknowledged out of order before is sent again, and must be acknowledged again.
                        done.retain(|seqno| *seqno <= cursor);
                        window = Window::new(width(receive_maximum), cursor);
                        ids = ids_for(receive_maximum);
                        on_wire.clear();
                        waiting.clear();
                    }
                }
                let contiguous = (1..).take_while(|seqno| done.contains(seqno)).last().unwrap_or(0);
                prop_assert_eq!(window.cursor(), contiguous);
                prop_assert!(window.in_flight() <= usize::from(width(receive_maximum)));
            }
            for entry in waiting {
                let pkid = ids.take();
                prop_assert_eq!(window.sent(pkid), Ok(entry));
                on_wire.push((pkid, entry));
            }
            for (pkid, _) in on_wire {
                window.acknowledged(pkid).unwrap();
            }
            prop_assert_eq!(window.cursor() + 1, window.next_event);
            prop_assert_eq!(window.in_flight(), 0);
        }
    }
}
