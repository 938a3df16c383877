//! No round is voided by the gateway while a link was broken since bets opened, nor though the bell had rung in time.
//!
//! A link is broken when nothing valid has come over it for 3 s, and the journal says so. What a shorter disturbance holds up arrives later, and
//! a void that was declared for want of it is taken back: that is the second half.

use std::collections::BTreeSet;
use std::time::Duration;

use super::decided::Decided;
use crate::sim::faults::trace::{Happening, Invariant, Judge, Seen, Sight};
use crate::table::event::event::Body;
use crate::table::event::{ActorKind, Event, RoundVoidedReason};
use crate::table::input::DeviceKind;

/// A bell so long after the cover went off is as good as before it: two clocks.
const TWO_CLOCKS: Duration = Duration::from_millis(300);

#[derive(Default)]
pub(super) struct NoVoid {
    broken: BTreeSet<DeviceKind>,
    round: Option<Bets>,
    /// When the bell rang last.
    bell: Option<Duration>,
    /// When the cover went off last.
    off: Option<Duration>,
    /// A void that the gateway declared though the bell had rung: it has to take it back, or say that it can't.
    owed: Option<u64>,
    /// When each spin since the last round ended was over.
    spins: Vec<Duration>,
    /// When the bell rang or the cover went off: what can end a round that never began. It may be heard long after, and spins after it
    /// are the next round's.
    ends: Vec<Duration>,
    decided: Decided,
}

/// A round whose bets have opened.
struct Bets {
    id: u64,
    opened: Duration,
    /// Whatever the gateway needs to hear bell and cover was broken meanwhile.
    was_broken: bool,
}

impl Judge for NoVoid {
    fn invariant(&self) -> Invariant {
        Invariant::NoVoidWhileBroken
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let judged = self.judge(sight);
        self.decided.look(sight);
        judged
    }
}

/// Bell and cover are told by these.
fn hears(device: DeviceKind) -> bool {
    matches!(device, DeviceKind::Tumbler | DeviceKind::Terminal)
}

impl NoVoid {
    fn judge(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::GatewayEnded { .. } => self.broke(),
            Seen::Happened { device, what } => self.happened(sight.at, *device, *what),
            Seen::Appended { .. } => {
                for event in sight.events {
                    self.event(sight, event)?;
                }
            }
            Seen::Quiet => {
                if let Some(round) = self.owed.take() {
                    return Err(format!(
                        "round {round} stays void though the bell had rung, and nobody is told"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn broke(&mut self) {
        if let Some(round) = &mut self.round {
            round.was_broken = true;
        }
    }

    fn happened(&mut self, at: Duration, device: DeviceKind, what: Happening) {
        match what {
            Happening::Bell => {
                self.bell = Some(at);
                self.ends.push(at);
            }
            Happening::CoverOff => {
                self.off = Some(at);
                self.ends.push(at);
            }
            Happening::SpinEnded { .. } => self.spins.push(at),
            Happening::Restarted if hears(device) => self.broke(),
            _ => {}
        }
    }

    fn event(&mut self, sight: &Sight<'_>, event: &Event) -> Result<(), String> {
        let device = event
            .device
            .as_ref()
            .and_then(|device| DeviceKind::from_event(device.kind()));
        match &event.body {
            Some(Body::DeviceOffline(_)) => {
                if let Some(device) = device.filter(|device| hears(*device)) {
                    self.broken.insert(device);
                    self.broke();
                }
            }
            Some(Body::DeviceOnline(_)) => {
                if let Some(device) = device {
                    self.broken.remove(&device);
                }
            }
            Some(Body::BetsOpened(_)) => {
                self.round = Some(Bets {
                    id: event.round_id,
                    opened: sight.at,
                    was_broken: !self.broken.is_empty(),
                });
            }
            Some(Body::RoundVoided(voided)) => {
                let by_gateway = event
                    .actor
                    .as_ref()
                    .is_none_or(|actor| actor.kind() == ActorKind::Gateway);
                let decided = self.decided.at(sight, event);
                let ended = if voided.reason() == RoundVoidedReason::ANotActivated {
                    self.last_end(decided).unwrap_or(decided)
                } else {
                    decided
                };
                let spins = self.ended(ended);
                if voided.automatic || by_gateway {
                    return self.voided(event.round_id, voided.reason(), spins);
                }
            }
            Some(Body::RoundSettled(_) | Body::RoundAbandoned(_)) => {
                self.ended(self.decided.at(sight, event));
            }
            Some(Body::VoidWithdrawn(_)) => self.owed = None,
            Some(Body::AlertRaised(raised)) if raised.alert == "late_bell" => self.owed = None,
            _ => {}
        }
        Ok(())
    }

    /// The bell, or the cover that went off, before a decision.
    fn last_end(&mut self, decided: Duration) -> Option<Duration> {
        let last = self.ends.iter().copied().filter(|end| *end <= decided).max();
        self.ends.retain(|end| *end > decided);
        last
    }

    /// A round ended then: how many spins there were until then. Later ones are the next round's.
    fn ended(&mut self, decided: Duration) -> usize {
        let before = self.spins.len();
        self.spins.retain(|spun| *spun > decided);
        before - self.spins.len()
    }

    fn voided(&mut self, id: u64, reason: RoundVoidedReason, spins: usize) -> Result<(), String> {
        if reason == RoundVoidedReason::ANotActivated && spins > 0 {
            return Err(format!(
                "round {id} is void as not activated, and the dice were spun {spins} times"
            ));
        }
        let Some(round) = self.round.as_ref().filter(|round| round.id == id) else {
            return Ok(());
        };
        if round.was_broken {
            return Err(format!(
                "the gateway voids round {id} ({reason:?}), and a link was broken since its bets opened"
            ));
        }
        let in_time = |bell: &Duration| *bell >= round.opened && self.off.is_none_or(|off| *bell <= off + TWO_CLOCKS);
        if reason == RoundVoidedReason::AExposedEarly && self.bell.as_ref().is_some_and(in_time) {
            self.owed = Some(id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice, fact};
    use super::*;
    use crate::table::event::{self, AlertRaised, DeviceOffline, DeviceOnline, DeviceRef, RoundVoided, VoidWithdrawn};
    use prost::Message;

    fn happens(device: DeviceKind, what: Happening) -> Seen<'static> {
        Seen::Happened { device, what }
    }

    const BELL: Seen<'static> = Seen::Happened {
        device: DeviceKind::Terminal,
        what: Happening::Bell,
    };

    fn voided(reason: RoundVoidedReason) -> super::super::testing::Fact {
        let voided = RoundVoided {
            automatic: true,
            reason: reason as i32,
            ..RoundVoided::default()
        };
        fact(1, Body::RoundVoided(voided)).by(ActorKind::Gateway)
    }

    fn exposed() -> super::super::testing::Fact {
        voided(RoundVoidedReason::AExposedEarly)
    }

    fn bench() -> Bench {
        let mut bench = Bench::dice(NoVoid::default());
        bench.append(dice::to_betting(1));
        bench
    }

    #[test]
    fn a_cover_that_goes_off_before_the_bell_voids() {
        let mut bench = bench();
        bench.see(&happens(DeviceKind::Tumbler, Happening::CoverOff));
        bench.wait(2);
        bench.append(vec![exposed()]);
        bench.see(&BELL);
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
    }

    /// A device is gone, and may be back.
    fn away(bench: &mut Bench, kind: event::DeviceKind, body: Body) {
        let mut records = bench.record(vec![fact(0, body)]);
        let mut event = Event::decode(records[0].1.as_slice()).unwrap();
        event.device = Some(DeviceRef {
            kind: kind as i32,
            serial_number: "S-1".to_owned(),
        });
        records[0].1 = event.encode_to_vec();
        bench.store(&records);
    }

    #[test]
    fn a_link_that_was_broken_forbids_it() {
        let gone = || Body::DeviceOffline(DeviceOffline::default());
        let back = || Body::DeviceOnline(DeviceOnline::default());
        for kind in [event::DeviceKind::Terminal, event::DeviceKind::Tumbler] {
            let mut bench = bench();
            away(&mut bench, kind, gone());
            away(&mut bench, kind, back());
            bench.append(vec![exposed()]);
            bench.expect("a link was broken since its bets opened");
        }
        let mut bench = Bench::dice(NoVoid::default());
        away(&mut bench, event::DeviceKind::Terminal, gone());
        bench.append(dice::to_betting(1));
        bench.append(vec![exposed()]);
        bench.expect("a link was broken");
        let mut bench = self::bench();
        bench.see(&happens(DeviceKind::Terminal, Happening::Restarted));
        bench.append(vec![exposed()]);
        bench.expect("a link was broken");
        let mut bench = self::bench();
        away(&mut bench, event::DeviceKind::LayoutLamps, gone());
        bench.append(vec![exposed()]);
        bench.expect_nothing();
    }

    #[test]
    fn a_bell_in_time_has_to_be_made_good() {
        let rung = || {
            let mut bench = bench();
            bench.see(&BELL);
            bench.see(&happens(DeviceKind::Tumbler, Happening::CoverOff));
            bench.append(vec![exposed()]);
            bench
        };
        let mut bench = rung();
        bench.see(&Seen::Quiet);
        bench.expect("stays void though the bell had rung");
        let late = AlertRaised {
            alert: "late_bell".to_owned(),
            ..AlertRaised::default()
        };
        for good in [Body::VoidWithdrawn(VoidWithdrawn::default()), Body::AlertRaised(late)] {
            let mut bench = rung();
            bench.append(vec![fact(1, good)]);
            bench.see(&Seen::Quiet);
            bench.expect_nothing();
        }
    }

    #[test]
    fn dice_that_were_spun_were_activated() {
        let mut bench = Bench::dice(NoVoid::default());
        bench.see(&happens(DeviceKind::Tumbler, Happening::SpinEnded { faces: [1, 2, 3] }));
        bench.append(vec![dice::started(1), voided(RoundVoidedReason::ANotActivated)]);
        bench.expect("spun 1 times");
    }

    /// The bell waits behind what is being written: what it ends is what was before it.
    #[test]
    fn spins_after_the_bell_are_the_next_rounds_however_late_it_is_heard() {
        let spin = || happens(DeviceKind::Tumbler, Happening::SpinEnded { faces: [1, 2, 3] });
        let not_activated = || vec![dice::started(1), voided(RoundVoidedReason::ANotActivated)];
        for (before, after) in [(0, 3), (3, 0), (1, 2)] {
            let mut bench = Bench::dice(NoVoid::default());
            bench.wait(4);
            (0..before).for_each(|_| bench.see(&spin()));
            bench.wait(1);
            bench.see(&BELL);
            bench.wait(1);
            (0..after).for_each(|_| bench.see(&spin()));
            bench.wait(1);
            bench.append(not_activated());
            match before {
                0 => bench.expect_nothing(),
                spins => bench.expect(&format!("not activated, and the dice were spun {spins} times")),
            }
        }
    }

    #[test]
    fn spins_while_the_void_is_being_written_are_the_next_rounds() {
        let not_activated = |round| {
            let mut void = voided(RoundVoidedReason::ANotActivated);
            void.round = round;
            vec![dice::started(round), void]
        };
        let mut bench = Bench::dice(NoVoid::default());
        bench.wait(4);
        let decided = bench.record(not_activated(1));
        bench.wait(1);
        for _ in 0..3 {
            bench.see(&happens(DeviceKind::Tumbler, Happening::SpinEnded { faces: [1, 2, 3] }));
        }
        bench.wait(1);
        bench.store(&decided);
        bench.expect_nothing();
        bench.append(not_activated(2));
        bench.expect("round 2 is void as not activated, and the dice were spun 3 times");
    }
}
