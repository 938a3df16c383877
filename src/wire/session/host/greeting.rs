//! HELLO and its repeats, and where session numbers come from. PURE.

use super::HostConfig;
use crate::time::Uptime;
use crate::wire::frame::{self, Kind};
use crate::wire::message::HostHello;
use crate::wire::session::{Out, RESET_PAUSE};
use prost::Message;
use std::time::Duration;

/// HELLO goes out at these times after the greeting begins, then every second.
const HELLOS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_millis(750),
    Duration::from_millis(1750),
];
const HELLO_EVERY: Duration = Duration::from_secs(1);

/// Draws session numbers: splitmix64, which never gives a short cycle, whatever the seed.
#[derive(Debug)]
pub(super) struct SessionNumbers {
    state: u64,
    last: u32,
}

impl SessionNumbers {
    pub(super) fn new(seed: u64) -> Self {
        SessionNumbers { state: seed, last: 0 }
    }

    /// A number from 1 to 2^32-1 that isn't the last one.
    pub(super) fn draw(&mut self) -> u32 {
        loop {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let number = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0);
            if number != 0 && number != self.last {
                self.last = number;
                return number;
            }
        }
    }
}

/// A greeting: the same HELLO until a WELCOME of its session comes.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) session: u32,
    pub(super) next: Uptime,
    hello: Vec<u8>,
    began: Uptime,
    reset_answered: Option<Uptime>,
}

impl Greeting {
    pub(super) fn new(now: Uptime, session: u32, config: &HostConfig) -> Self {
        let payload = HostHello {
            session,
            hold_ms: config.hold_ms,
            table: config.table.clone(),
        };
        let mut hello = Vec::new();
        let encoded = frame::encode(Kind::Hello, 0, &payload.encode_to_vec(), &mut hello);
        assert!(
            encoded.is_ok(),
            "a table's name that doesn't fit into a frame: {encoded:?}"
        );
        Greeting {
            session,
            next: now,
            hello,
            began: now,
            reset_answered: None,
        }
    }

    /// Sends what is due. After a stall one HELLO goes out, not all that were missed.
    pub(super) fn run(&mut self, now: Uptime, out: &mut Out) {
        if now < self.next {
            return;
        }
        out.raw(&self.hello);
        let elapsed = now.since(self.began);
        let planned = HELLOS.iter().copied().find(|time| *time > elapsed);
        self.next = match planned {
            Some(time) => self.began + time,
            None => {
                let [.., last] = HELLOS;
                let rounds = (elapsed - last).as_secs() + 1;
                self.began + last + HELLO_EVERY.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
            }
        };
    }

    /// A device without a session called: greet it at once, at most once in 250 ms.
    pub(super) fn answer_reset(&mut self, now: Uptime, out: &mut Out) {
        if self.reset_answered.is_some_and(|last| now < last + RESET_PAUSE) {
            return;
        }
        self.reset_answered = Some(now);
        out.raw(&self.hello);
    }
}
