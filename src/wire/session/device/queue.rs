//! What waits behind an unacknowledged DATA of a device: states replace each other, keys don't. PURE.

use crate::wire::message::from_device::Body;
use std::collections::VecDeque;

/// Keys and entries that may wait. A person doesn't press more while a line is slow.
const MAX_KEYS: usize = 16;
/// Fault codes that may wait, each with its newest state. A device has fewer; more end the session, too.
const MAX_FAULTS: usize = 32;

/// A report that waits, with the device's clock when it happened.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Waiting {
    pub(super) uptime_ms: u32,
    pub(super) body: Body,
}

/// More waits than may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Overflow;

/// Reports in the order in which they go out.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
}

impl Queue {
    /// Adds a report; a state takes the place of an older one that it makes meaningless.
    pub(super) fn push(&mut self, new: Waiting) -> Result<(), Overflow> {
        self.waiting.retain(|old| !replaces(&new.body, &old.body));
        let alike =
            |old: &&Waiting| is_key(&old.body) == is_key(&new.body) && is_fault(&old.body) == is_fault(&new.body);
        let most = match new.body {
            Body::Key(_) | Body::Entry(_) => MAX_KEYS,
            Body::Fault(_) => MAX_FAULTS,
            // At most one of each: the newest.
            Body::Tumbler(_) | Body::Contact(_) | Body::Lamps(_) | Body::Terminal(_) | Body::Digest(_) => usize::MAX,
        };
        if self.waiting.iter().filter(alike).count() >= most {
            return Err(Overflow);
        }
        self.waiting.push_back(new);
        Ok(())
    }

    /// The status goes before everything.
    pub(super) fn push_first(&mut self, status: Waiting) {
        self.waiting.retain(|old| !replaces(&status.body, &old.body));
        self.waiting.push_front(status);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }
}

fn is_key(body: &Body) -> bool {
    matches!(body, Body::Key(_) | Body::Entry(_))
}

fn is_fault(body: &Body) -> bool {
    matches!(body, Body::Fault(_))
}

fn replaces(new: &Body, old: &Body) -> bool {
    match (new, old) {
        (Body::Contact(new), Body::Contact(old)) => new.contact == old.contact,
        (Body::Fault(new), Body::Fault(old)) => new.code == old.code,
        (Body::Key(_) | Body::Entry(_), _) | (_, Body::Key(_) | Body::Entry(_)) => false,
        (new, old) => std::mem::discriminant(new) == std::mem::discriminant(old),
    }
}
