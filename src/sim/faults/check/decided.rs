//! When the gateway decided what it records. An event is seen when it is durable, and a slow or hanging disk makes that seconds after: what devices
//! did meanwhile is no part of the decision, and is taken afterwards.

use std::time::Duration;

use crate::sim::faults::trace::{Seen, Sight};
use crate::table::event::Event;

/// The stamp of an event, as virtual time, within what can be seen: no later than the event was durable, and no earlier than the append before it
/// was, because the gateway decides upon what is durable. So a stamp that is wrong can't excuse much.
#[derive(Default)]
pub(super) struct Decided {
    /// When this run of the gateway started.
    started: Duration,
    /// When the append before was durable.
    appended: Duration,
}

impl Decided {
    /// When it was decided; asked before [`Decided::look`] is shown the same sight.
    pub(super) fn at(&self, sight: &Sight<'_>, event: &Event) -> Duration {
        let stamped = self.started + Duration::from_micros(event.uptime_us);
        stamped.max(self.appended).min(sight.at)
    }

    /// The next thing that is seen.
    pub(super) fn look(&mut self, sight: &Sight<'_>) {
        match sight.seen {
            Seen::GatewayStarted { .. } => self.started = sight.at,
            Seen::Appended { .. } => self.appended = sight.at,
            _ => {}
        }
    }
}
