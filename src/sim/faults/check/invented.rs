//! What is recorded of people and devices happened: no more entries are judged than ENTER was pressed, and with the keys that were shown; no bell,
//! spin or uncover is recorded that nobody made.

use std::collections::VecDeque;
use std::time::Duration;

use super::decided::Decided;
use crate::sim::faults::trace::{Happening, Invariant, Judge, Seen, Sight};
use crate::table::event::event::Body;
use crate::table::event::{ActorKind, DeviceKind, Event, ResultSource, RoundHeldCause};
use crate::table::input;

/// A terminal waits for the host before it takes the next ENTER, so few are on their way at a time.
const MOST_ON_THEIR_WAY: usize = 64;

/// After this long without a disturbance no key is lost any more.
const SETTLED_AGAIN: Duration = Duration::from_secs(15);

/// E01: the keys that were heard are not those that are shown.
const KEYS_DIFFER: u32 = 1;

/// A spin that began so shortly before bets opened may not have been known then.
const NOT_KNOWN_YET: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(super) struct NothingInvented {
    /// Entries that may still lead to a result, oldest first.
    entries: VecDeque<Vec<u32>>,
    enters: u64,
    judged: u64,
    bells: u64,
    bells_recorded: u64,
    spins: u64,
    spins_recorded: u64,
    /// Spins of the round, as recorded so far.
    round: (u64, u64),
    uncovers: u64,
    uncovers_recorded: u64,
    /// The keys that were taken for the newest entry number.
    keys: (u32, Vec<u32>),
    /// Until when a key may have been lost on its way.
    disturbed: Option<Duration>,
    is_terminal_broken: bool,
    /// When the tumbler spun, or lost its counters, last.
    moved: Option<Duration>,
    /// When bets opened last, by the gateway's decision: what the tumbler did while that was being written is not in it.
    opened: Duration,
    decided: Decided,
}

impl Judge for NothingInvented {
    fn invariant(&self) -> Invariant {
        Invariant::NothingInvented
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        self.disturb(sight);
        let judged = self.judge(sight);
        self.decided.look(sight);
        judged
    }
}

impl NothingInvented {
    fn judge(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Happened { device, what } => {
                self.happened(*what);
                match what {
                    Happening::SpinBegan | Happening::SpinEnded { .. } => self.moved = Some(sight.at),
                    Happening::Restarted if *device == input::DeviceKind::Tumbler => self.moved = Some(sight.at),
                    _ => {}
                }
                Ok(())
            }
            Seen::Appended { .. } => {
                let mut judged = Ok(());
                for event in sight.events {
                    judged = judged
                        .and(self.event(event))
                        .and(self.held(sight, event))
                        .and(self.lost_key(sight.at, event));
                }
                judged
            }
            _ => Ok(()),
        }
    }

    fn happened(&mut self, what: Happening) {
        match what {
            Happening::Entry { shown, .. } => {
                self.enters += 1;
                self.entries
                    .push_back(shown.into_iter().filter(|key| *key != 0).collect());
                if self.entries.len() > MOST_ON_THEIR_WAY {
                    self.entries.pop_front();
                }
            }
            Happening::Key { key, entry } => {
                if self.keys.0 != entry {
                    self.keys = (entry, Vec::new());
                }
                self.keys.1.push(key);
            }
            Happening::Bell => self.bells += 1,
            Happening::SpinEnded { .. } => self.spins += 1,
            Happening::CoverOff => self.uncovers += 1,
            _ => {}
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        let by_terminal = event
            .device
            .as_ref()
            .is_some_and(|device| device.kind() == DeviceKind::Terminal);
        let by_tumbler = event
            .device
            .as_ref()
            .is_some_and(|device| device.kind() == DeviceKind::Tumbler);
        match &event.body {
            // One that a supervisor confirmed was refused at first, and has been counted.
            Some(Body::ResultEntered(entered)) if entered.confirmed => Ok(()),
            Some(Body::ResultEntered(entered)) if entered.source() == ResultSource::Terminal => {
                self.keyed(event, &entered.pressed)
            }
            Some(Body::ResultAmended(amended)) if amended.source() == ResultSource::Terminal => {
                self.keyed(event, &amended.pressed)
            }
            Some(Body::SpinResulted(resulted)) if resulted.source() == ResultSource::Terminal => {
                self.keyed(event, &resulted.pressed)
            }
            Some(Body::EntryRejected(rejected)) => {
                self.judged += u64::from(rejected.count);
                self.enough(event, "entries are judged", self.judged, self.enters)
            }
            Some(Body::RoundSettled(settled)) if !settled.implied && by_terminal => {
                self.judged += 1;
                self.enough(event, "entries are judged", self.judged, self.enters)
            }
            Some(Body::BetsClosed(closed)) if !closed.implied && by_terminal => {
                self.bells_recorded += 1;
                self.enough(event, "bells are recorded", self.bells_recorded, self.bells)
            }
            Some(Body::TumblerSpun(spun)) => {
                let (round, recorded) = self.round;
                let before = if round == event.round_id { recorded } else { 0 };
                let now = u64::from(spun.spins);
                self.round = (event.round_id, now);
                self.spins_recorded += now.saturating_sub(before);
                self.enough(event, "spins are recorded", self.spins_recorded, self.spins)
            }
            Some(Body::DiceUncovered(uncovered)) if !uncovered.implied && !uncovered.at_rest && by_tumbler => {
                self.uncovers_recorded += 1;
                self.enough(event, "uncovers are recorded", self.uncovers_recorded, self.uncovers)
            }
            _ => Ok(()),
        }
    }

    /// Keys can be lost on a line that is broken, and by a gateway that is away or can't record.
    fn disturb(&mut self, sight: &Sight<'_>) {
        let terminal = input::DeviceKind::Terminal;
        match sight.seen {
            Seen::LinkBroken { device } if *device == terminal => self.is_terminal_broken = true,
            Seen::LinkMended { device } if *device == terminal => self.is_terminal_broken = false,
            Seen::GatewayStarted { .. }
            | Seen::GatewayEnded { .. }
            | Seen::AppendFailed { .. }
            | Seen::AppendGivenUp { .. } => {}
            _ => return,
        }
        self.disturbed = Some(sight.at + SETTLED_AGAIN);
    }

    /// An entry is refused because a key was lost: it could have been.
    fn lost_key(&self, at: Duration, event: &Event) -> Result<(), String> {
        let Some(Body::EntryRejected(rejected)) = &event.body else {
            return Ok(());
        };
        let excused = self.is_terminal_broken || self.disturbed.is_some_and(|until| at <= until);
        if rejected.code != KEYS_DIFFER || rejected.count != 1 || excused {
            return Ok(());
        }
        if self.keys.1.ends_with(&rejected.shown) {
            return Err(format!("event {}: a key is said to be lost, and none was", event.seqno));
        }
        Ok(())
    }

    /// A round is held for what a tumbler did while it was away: it did something.
    fn held(&mut self, sight: &Sight<'_>, event: &Event) -> Result<(), String> {
        match &event.body {
            Some(Body::BetsOpened(_)) => self.opened = self.decided.at(sight, event),
            Some(Body::RoundHeld(held))
                if matches!(
                    held.cause(),
                    RoundHeldCause::ActivityWhileAway | RoundHeldCause::CountersLost
                ) && self.moved.is_none_or(|moved| moved + NOT_KNOWN_YET < self.opened) =>
            {
                let cause = held.cause();
                return Err(format!(
                    "event {}: held ({cause:?}), and the tumbler did nothing",
                    event.seqno
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// An entry became a result: it was made, with these keys, and only once.
    fn keyed(&mut self, event: &Event, pressed: &[u32]) -> Result<(), String> {
        self.judged += 1;
        let by_gateway = event
            .actor
            .as_ref()
            .is_some_and(|actor| actor.kind() == ActorKind::Gateway);
        if by_gateway {
            return Err(format!("event {}: the gateway enters a result", event.seqno));
        }
        match self.entries.iter().position(|keys| keys == pressed) {
            Some(place) => {
                self.entries.drain(..=place);
                self.enough(event, "entries are judged", self.judged, self.enters)
            }
            None => Err(format!("event {}: {pressed:?} was not entered", event.seqno)),
        }
    }

    fn enough(&self, event: &Event, what: &str, recorded: u64, happened: u64) -> Result<(), String> {
        if recorded <= happened {
            return Ok(());
        }
        Err(format!(
            "event {}: {recorded} {what}, and there were {happened}",
            event.seqno
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice, fact};
    use super::*;
    use crate::sim::faults::trace::Ending;
    use crate::table::event::{EntryRejected, RoundHeld};

    fn happens(bench: &mut Bench, what: Happening) {
        bench.see(&Seen::Happened {
            device: input::DeviceKind::Terminal,
            what,
        });
    }

    fn enter(bench: &mut Bench, shown: [u32; 3]) {
        happens(bench, Happening::Entry { shown, entry: 3 });
    }

    /// A round whose dice have been spun and uncovered.
    fn bench() -> Bench {
        let mut bench = Bench::dice(NothingInvented::default());
        for _ in 0..3 {
            happens(&mut bench, Happening::SpinEnded { faces: [1, 1, 3] });
        }
        bench.append(dice::to_landed(1));
        bench.expect_nothing();
        bench
    }

    #[test]
    fn what_was_entered_becomes_a_result_once() {
        let mut bench = bench();
        enter(&mut bench, [1, 3, 1]);
        bench.append(vec![dice::entered(1, [1, 3, 1])]);
        bench.expect_nothing();
        bench.append(vec![dice::entered(1, [1, 3, 1])]);
        bench.expect("[1, 3, 1] was not entered");
        enter(&mut bench, [1, 3, 0]);
        bench.append(vec![dice::entered(1, [1, 3, 2])]);
        bench.expect("[1, 3, 2] was not entered");
    }

    #[test]
    fn more_is_judged_than_was_entered() {
        let mut bench = bench();
        enter(&mut bench, [1, 3, 0]);
        let rejected = |count| {
            let rejected = EntryRejected {
                code: 2,
                count,
                ..EntryRejected::default()
            };
            fact(1, Body::EntryRejected(rejected))
        };
        bench.append(vec![rejected(1)]);
        bench.expect_nothing();
        bench.append(vec![rejected(2)]);
        bench.expect("3 entries are judged, and there were 1");
    }

    #[test]
    fn a_key_that_was_not_lost_is_not_called_lost() {
        let refused = || {
            let rejected = EntryRejected {
                shown: vec![1, 3, 1],
                code: KEYS_DIFFER,
                count: 1,
                ..EntryRejected::default()
            };
            fact(1, Body::EntryRejected(rejected))
        };
        let device = input::DeviceKind::Terminal;
        let keyed = || {
            let mut bench = bench();
            bench.wait(60);
            for key in [1, 3, 1] {
                happens(&mut bench, Happening::Key { key, entry: 3 });
            }
            enter(&mut bench, [1, 3, 1]);
            bench
        };
        let mut bench = keyed();
        bench.append(vec![refused()]);
        bench.expect("a key is said to be lost");
        let mut bench = keyed();
        bench.see(&Seen::LinkBroken { device });
        bench.append(vec![refused()]);
        bench.expect_nothing();
    }

    #[test]
    fn a_hold_for_nothing_is_found() {
        let held = || {
            let held = RoundHeld {
                cause: RoundHeldCause::ActivityWhileAway as i32,
                ..RoundHeld::default()
            };
            fact(1, Body::RoundHeld(held))
        };
        let mut bench = Bench::dice(NothingInvented::default());
        for _ in 0..3 {
            happens(&mut bench, Happening::SpinEnded { faces: [1, 1, 3] });
        }
        bench.wait(4);
        bench.append(dice::to_closed(1));
        bench.append(vec![held()]);
        bench.expect("the tumbler did nothing");
        happens(&mut bench, Happening::SpinBegan);
        bench.append(vec![held()]);
        bench.expect_nothing();
    }

    #[test]
    fn a_tumbler_that_spun_while_bets_opened_is_held_for_something() {
        let mut bench = Bench::dice(NothingInvented::default());
        for _ in 0..3 {
            happens(&mut bench, Happening::SpinEnded { faces: [1, 1, 3] });
        }
        bench.wait(3);
        let opened = bench.record(dice::to_betting(1));
        bench.wait(2);
        happens(&mut bench, Happening::SpinBegan);
        bench.wait(4);
        // The disk hung, the gateway gave up and was killed; what it had given up is there all the same.
        bench.store(&opened);
        bench.see(&Seen::GatewayEnded { how: Ending::Crashed });
        bench.start();
        let held = RoundHeld {
            cause: RoundHeldCause::ActivityWhileAway as i32,
            ..RoundHeld::default()
        };
        bench.append(vec![fact(1, Body::RoundHeld(held))]);
        bench.expect_nothing();
    }

    #[test]
    fn spins_that_nobody_made_are_found() {
        let mut bench = bench();
        bench.append(dice::to_betting(2));
        bench.expect("6 spins are recorded, and there were 3");
    }
}
