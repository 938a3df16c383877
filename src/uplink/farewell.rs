//! The end of a session that was asked for: drain, say offline, leave.

use super::delivery::Entry;
use super::session::{Ended, Session};
use std::time::Duration;
use tokio::time::Instant;

/// A clean stop delivers what is durable for at most this long.
pub const DRAIN_WITHIN: Duration = Duration::from_secs(10);
/// The offline `Status` of a clean stop is acknowledged within this, or the last will says it.
const FAREWELL_WITHIN: Duration = Duration::from_secs(5);

/// Where a clean stop stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Farewell {
    /// Nobody asked to stop.
    NotYet,
    /// What is durable is delivered, until then.
    Draining(Instant),
    /// The offline status is on its way, until then.
    SayingOffline(Instant),
    /// DISCONNECT is on its way, until then.
    Leaving(Instant),
}

impl Session<'_> {
    /// A clean stop: drain, say offline, leave.
    pub(super) fn say_farewell(&mut self, now: Instant) -> Result<(), Ended> {
        match self.farewell {
            Farewell::NotYet => Ok(()),
            Farewell::Draining(until) => {
                let is_drained = self.is_delivered() && self.window.in_flight() == 0 && !self.state_dirty;
                if !is_drained && now < until {
                    return Ok(());
                }
                if !self.window.has_room_for(Entry::Status) {
                    // The broker takes nothing: cut off, and the last will says it.
                    return Err(Ended::Stopped);
                }
                self.publish_offline()?;
                self.farewell = Farewell::SayingOffline(now + FAREWELL_WITHIN);
                Ok(())
            }
            Farewell::SayingOffline(until) => {
                if self.window.in_flight() == 0 {
                    self.connection.disconnect()?;
                    self.farewell = Farewell::Leaving(now + FAREWELL_WITHIN);
                    Ok(())
                } else if now >= until {
                    Err(Ended::Stopped)
                } else {
                    Ok(())
                }
            }
            Farewell::Leaving(until) if now >= until => Err(Ended::Stopped),
            Farewell::Leaving(_) => Ok(()),
        }
    }
}
