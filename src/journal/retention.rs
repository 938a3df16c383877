//! What may be deleted: acknowledged, before the last but one checkpoint, older than the retention time, a day's worth once a day.
//!
//! Age is told by events whose clock was synchronised: an event was recorded before every later one, so one that carries a wrong date is as
//! old as the synchronised events around it say.

use super::reader::{ReadError, Reader};
use super::store::View;
use super::tail::PAGE;
use super::{Record, Seqno};
use crate::table::event::{ClockQuality, Event};
use crate::time::Timestamp;
use prost::Message;
use std::path::Path;
use std::time::Duration;

/// Deletion comes once in this time, and takes at most the events of this time: a clock that jumps ahead by years, synchronised to a wrong
/// source, costs a day's events a day, and somebody has time to notice.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Events deleted at once: several times what a busy table records in a day, and a transaction of a fraction of a second. More only where no
/// event between carries a synchronised time.
const AT_ONCE: usize = 50_000;

/// Up to which event may be deleted now, with its hash.
pub(super) fn expirable(
    path: &Path,
    retention: Duration,
    now: Timestamp,
) -> Result<Option<(Seqno, [u8; 32])>, ReadError> {
    let mut reader = Reader::open(path)?;
    let last = reader.read(View::expired)?;
    if last.is_some_and(|last| is_too_early(Timestamp::from_unix_micros(last.at_us), now)) {
        return Ok(None);
    }
    let bound = reader.read(last_deletable)?;
    let mut age = Age::at(now, retention);
    let mut from = reader.oldest()?;
    let mut seen = 0;
    while from <= bound && (seen < AT_ONCE || age.through.is_none()) {
        let page = reader.page(from, bound, PAGE)?;
        let Some(last) = page.last() else { break };
        from = last.seqno.saturating_add(1);
        seen += page.len();
        if page.iter().any(|record| !age.take(record)) {
            break;
        }
    }
    Ok(age.through())
}

/// Whether events were deleted less than a day ago.
pub(crate) fn is_too_early(last: Timestamp, now: Timestamp) -> bool {
    now.as_unix_micros() < last.as_unix_micros().saturating_add(micros(DAY))
}

/// The youngest event that is acknowledged and before the last but one checkpoint; 0: none.
fn last_deletable(view: &View) -> Result<Seqno, super::StoreError> {
    let Some(last) = view.checkpoint_below(Seqno::MAX)? else {
        return Ok(0);
    };
    let Some(last_but_one) = view.checkpoint_below(last)? else {
        return Ok(0);
    };
    Ok(view.cursor()?.seqno.min(last_but_one.saturating_sub(1)))
}

/// Walks from the oldest event on.
pub(crate) struct Age {
    /// Microseconds since 1970; younger events stay.
    cutoff: i64,
    /// The newest synchronised event that is old enough.
    through: Option<(Seqno, [u8; 32])>,
    day_is_set: bool,
}

impl Age {
    /// By a clock that shows `now`.
    pub(crate) fn at(now: Timestamp, retention: Duration) -> Self {
        Age {
            cutoff: now.as_unix_micros().saturating_sub(micros(retention)),
            through: None,
            day_is_set: false,
        }
    }

    /// Up to where events are old enough, with the hash of the last of them.
    pub(crate) fn through(&self) -> Option<(Seqno, [u8; 32])> {
        self.through
    }

    /// False: this event stays, and so does everything after it.
    pub(crate) fn take(&mut self, record: &Record) -> bool {
        let Ok(event) = Event::decode(&*record.bytes) else {
            return false;
        };
        if event.clock() != ClockQuality::Synchronised {
            return true;
        }
        let Some(recorded_at) = event.recorded_at else {
            return true;
        };
        let recorded_at = Timestamp::from(&recorded_at).as_unix_micros();
        if !self.day_is_set {
            self.cutoff = self.cutoff.min(recorded_at.saturating_add(micros(DAY)));
            self.day_is_set = true;
        }
        if recorded_at >= self.cutoff {
            return false;
        }
        self.through = Some((record.seqno, record.sha256));
        true
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
