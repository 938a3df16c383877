//! The judges: one invariant a file, each a small machine over what was [`Seen`](super::trace::Seen), sharing no code with what it judges. They
//! decode events with the message types and know the law by themselves.
//!
//! | file | what may never be |
//! | --- | --- |
//! | `shown` | something shown or published that is not durable |
//! | `bytes` | the same event with other bytes |
//! | `gap` | an event that the broker never gets, or out of order |
//! | `result` | two results for a round, or a result where the law has none |
//! | `lamps` | lamps, lights, inhibit or retained state that differ from the events, once quiet |
//! | `void` | a void by the gateway while a link was broken, or though the bell had rung |
//! | `ends` | a round that doesn't end, a table that is stuck |
//! | `chain` | a gap, a broken chain, a number used again |
//! | `cursor` | a cursor ahead of what the broker acknowledged |
//! | `survives` | a state that a restart changes |
//! | `alerts` | an alert raised twice, or cleared without standing |
//! | `invented` | a fact of something that didn't happen |
//! | `status` | a retained status that is wrong |
//! | `kept` | an event that is deleted before its time, or without a word |
//! | `rolled` | a journal that went back in time, gone on with though the floor knows better |
//! | `answered` | a request of the floor's that is not answered, or wrongly |
//!
//! When the disk is set back to an older copy, what the events said after it did not happen any more: judges that fold the story of the table
//! retire then ([`AfterRollback`](super::trace::AfterRollback)), the others go on.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a judge looks at what its invariant names; what it doesn't name can't break it"
)]

mod alerts;
mod answered;
mod areas;
mod bytes;
mod chain;
mod cursor;
mod dead;
mod decided;
mod ends;
mod gap;
mod invented;
mod kept;
mod lamps;
mod result;
mod rolled;
mod shown;
mod status;
mod story;
mod survives;
#[cfg(test)]
mod testing;
mod void;

use super::trace::Judge;

/// Every judge, fresh.
#[must_use]
pub fn all() -> Vec<Box<dyn Judge>> {
    vec![
        Box::new(shown::Shown::default()),
        Box::new(bytes::SameBytes::default()),
        Box::new(gap::NoGap::default()),
        Box::new(result::OneResult::default()),
        Box::new(lamps::LampsEqualState::default()),
        Box::new(void::NoVoid::default()),
        Box::new(ends::RoundsEnd::default()),
        Box::new(chain::Contiguous::default()),
        Box::new(cursor::CursorBehind::default()),
        Box::new(survives::StateSurvives::default()),
        Box::new(alerts::AlertsOnce::default()),
        Box::new(invented::NothingInvented::default()),
        Box::new(status::StatusTrue::default()),
        Box::new(kept::KeptLongEnough::default()),
        Box::new(rolled::RollbackTold::default()),
        Box::new(answered::Answered::default()),
    ]
}
