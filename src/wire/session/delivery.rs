//! Stop and wait: at most one DATA frame unacknowledged, in each direction by itself. PURE.

use super::GIVE_UP;
use crate::time::Uptime;
use std::time::Duration;

/// The sending half: what is under way, and when it goes out again.
#[derive(Clone, Debug)]
pub(super) struct Sending<T> {
    unit: Duration,
    number: u8,
    flight: Option<Flight<T>>,
}

#[derive(Clone, Debug)]
struct Flight<T> {
    what: T,
    bytes: Vec<u8>,
    first: Uptime,
    again: Uptime,
    pause: Duration,
}

/// What is due on the sending half.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Due<'a> {
    Nothing,
    /// Send these same bytes again.
    Again(&'a [u8]),
    /// No acknowledgement for [`GIVE_UP`].
    GaveUp,
}

impl<T> Sending<T> {
    pub(super) fn new(unit: Duration) -> Self {
        Sending {
            unit,
            number: 0,
            flight: None,
        }
    }

    /// Whether the next message may go out.
    pub(super) fn is_idle(&self) -> bool {
        self.flight.is_none()
    }

    /// What is unacknowledged.
    pub(super) fn under_way(&self) -> Option<&T> {
        self.flight.as_ref().map(|flight| &flight.what)
    }

    /// The number of the next message.
    pub(super) fn number(&self) -> u8 {
        self.number
    }

    /// `bytes`, a frame of number [`Self::number`], goes out now. Only while idle.
    pub(super) fn start(&mut self, now: Uptime, what: T, bytes: Vec<u8>) {
        assert!(self.flight.is_none(), "a second DATA while one is unacknowledged");
        self.flight = Some(Flight {
            what,
            bytes,
            first: now,
            again: now + self.unit,
            pause: self.unit,
        });
    }

    /// An ACK of `number` came: what it acknowledges, if it is the one under way.
    pub(super) fn acknowledge(&mut self, number: u8) -> Option<T> {
        if number != self.number {
            return None;
        }
        let flight = self.flight.take()?;
        self.number = self.number.wrapping_add(1);
        Some(flight.what)
    }

    /// What is due at `now`. Pauses are T, T, 2T, 4T, ... after the first send.
    pub(super) fn due(&mut self, now: Uptime) -> Due<'_> {
        let Some(flight) = &mut self.flight else {
            return Due::Nothing;
        };
        if now >= flight.first + GIVE_UP {
            return Due::GaveUp;
        }
        if now < flight.again {
            return Due::Nothing;
        }
        // The pauses double from the third on: sends at 0, T, 2T, 4T, 8T, ... A repeat that comes late delays the next.
        flight.again = now + flight.pause;
        flight.pause = flight.pause.saturating_mul(2);
        Due::Again(&flight.bytes)
    }

    pub(super) fn deadline(&self) -> Option<Uptime> {
        self.flight
            .as_ref()
            .map(|flight| flight.again.min(flight.first + GIVE_UP))
    }
}

/// The receiving half: the number that comes next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Receiving {
    expected: u8,
}

/// What the number of a DATA frame makes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// The expected one: [`Receiving::accept`] it, or leave it for its repeat.
    Next,
    /// The one before: its ACK was lost.
    Repeat,
    /// Neither.
    Foreign,
}

impl Receiving {
    pub(super) fn order(self, number: u8) -> Order {
        if number == self.expected {
            Order::Next
        } else if number == self.expected.wrapping_sub(1) {
            Order::Repeat
        } else {
            Order::Foreign
        }
    }

    pub(super) fn accept(&mut self) {
        self.expected = self.expected.wrapping_add(1);
    }
}
