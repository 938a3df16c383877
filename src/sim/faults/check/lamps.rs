//! Lamps, lights, inhibit and the retained state equal what the events say, once quiet.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;

use super::story::{Mode, Stage, Story};
use crate::sim::faults::trace::{AfterRollback, Happening, Invariant, Judge, Picture, Seen, Sight, bits, is_state};
use crate::table::event::{Body, Event, TableLockedReason, TableState};
use crate::table::input::DeviceKind;

#[derive(Default)]
pub(super) struct LampsEqualState {
    story: Story,
    has_covered_tumbler: bool,
    is_running: bool,
    lit: BTreeMap<DeviceKind, BTreeSet<usize>>,
    readout: Option<(String, u32)>,
    inhibit: Option<bool>,
    broken: BTreeSet<(DeviceKind, usize)>,
    links: BTreeSet<DeviceKind>,
    retained: Option<TableState>,
    /// The journal has gone back, and no new one has told the state since.
    is_unsure: bool,
}

impl Judge for LampsEqualState {
    fn invariant(&self) -> Invariant {
        Invariant::LampsEqualState
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Began { game, style, layout } => {
                self.story.begin(game, layout);
                self.has_covered_tumbler = matches!((*game, *style), ("tai-sai", "A") | ("sic-bo", "covered"));
            }
            Seen::GatewayStarted { .. } => self.is_running = true,
            Seen::GatewayEnded { .. } => self.is_running = false,
            Seen::Appended { .. } => {
                for event in sight.events {
                    self.story.fold(event);
                    self.is_unsure &= !tells_all(event);
                }
            }
            Seen::WentBack { .. } => self.is_unsure = true,
            Seen::LinkBroken { device } => {
                self.links.insert(*device);
            }
            Seen::LinkMended { device } => {
                self.links.remove(device);
            }
            Seen::Shows { device, picture } => self.shown(*device, picture),
            Seen::Happened { device, what } => self.happened(*device, what),
            Seen::Published { topic, payload, .. } if is_state(topic) => {
                self.retained = TableState::decode(*payload).ok();
            }
            Seen::Intruded { topic, payload } if is_state(topic) => self.retained = TableState::decode(*payload).ok(),
            Seen::BrokerForgot => self.retained = None,
            Seen::Quiet if self.is_running && !self.is_unsure => return self.compare(),
            _ => {}
        }
        Ok(())
    }
}

/// A new journal begins with the whole state.
fn tells_all(event: &Event) -> bool {
    event.seqno <= 2 && matches!(event.body, Some(Body::CheckpointRecorded(_)))
}

impl LampsEqualState {
    fn shown(&mut self, device: DeviceKind, picture: &Picture<'_>) {
        match picture {
            Picture::Lamps { lit, .. } => {
                self.lit.insert(device, bits(lit).collect());
            }
            Picture::Readout { text, entry, .. } => self.readout = Some(((*text).to_owned(), *entry)),
            Picture::Inhibit { on, .. } => self.inhibit = Some(*on),
        }
    }

    fn happened(&mut self, device: DeviceKind, what: &Happening) {
        let lamp = |bit: &u32| usize::try_from(*bit).map(|bit| (device, bit));
        match what {
            Happening::LampBroke { bit } => self.broken.extend(lamp(bit)),
            Happening::LampMended { bit } => {
                if let Ok(lamp) = lamp(bit) {
                    self.broken.remove(&lamp);
                }
            }
            _ => {}
        }
    }

    fn compare(&self) -> Result<(), String> {
        self.lamps()?;
        self.tumbler()?;
        self.terminal()?;
        self.state()
    }

    fn lamps(&self) -> Result<(), String> {
        let Some(wanted) = self.story.lit() else {
            return Ok(());
        };
        for (device, lit) in self.lit.iter().filter(|(device, _)| !self.links.contains(device)) {
            let sound = |bit: &&usize| !self.broken.contains(&(*device, **bit));
            if !lit.iter().filter(sound).eq(wanted.iter().filter(sound)) {
                return Err(format!("{device:?} shows {lit:?}, and the events say {wanted:?}"));
            }
        }
        Ok(())
    }

    fn tumbler(&self) -> Result<(), String> {
        let is_whole = !self.links.contains(&DeviceKind::Tumbler) && self.has_covered_tumbler;
        let Some(inhibit) = self.inhibit.filter(|_| is_whole) else {
            return Ok(());
        };
        let wanted = self.story.running().is_some_and(|round| round.stage >= Stage::Betting);
        if inhibit == wanted {
            return Ok(());
        }
        Err(format!(
            "the tumbler's inhibit is {inhibit}, and the events say {wanted}"
        ))
    }

    fn terminal(&self) -> Result<(), String> {
        let Some((text, entry)) = self
            .readout
            .as_ref()
            .filter(|_| !self.links.contains(&DeviceKind::Terminal))
        else {
            return Ok(());
        };
        // Room on the disk is looked at from time to time: until then its lock stands.
        let disk = (self.story.locks.iter()).any(|(reason, _)| *reason == TableLockedReason::Disk as i32);
        if text == "E90" && !disk {
            return Err("the readout says E90 though the journal works".to_owned());
        }
        if *entry == 0 {
            return Err("the terminal takes no keys".to_owned());
        }
        let has_quiet_text = matches!(text.as_str(), "CLO" | "TST");
        if has_quiet_text && self.story.mode == Mode::Open {
            return Err(format!("the readout says {text} at an open table"));
        }
        Ok(())
    }

    fn state(&self) -> Result<(), String> {
        let Some(state) = &self.retained else {
            return Err("there is no retained state".to_owned());
        };
        let head = state.head.clone().unwrap_or_default();
        if (head.journal_id.as_str(), head.seqno) != (self.story.journal.as_str(), self.story.seqno) {
            return Err(format!(
                "the retained state is of event {}, and the newest is {}",
                head.seqno, self.story.seqno
            ));
        }
        if let (Some(wanted), false) = (self.story.lit(), self.story.mode == Mode::Closed)
            && !self.story.is_two_up
            && wanted.len() != state.lit.len()
        {
            return Err(format!(
                "the retained state names {} areas, and {wanted:?} are lit",
                state.lit.len()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice};
    use super::*;
    use crate::table::event::{Area, Head};

    fn lamps(lit: &[u8]) -> Seen<'_> {
        Seen::Shows {
            device: DeviceKind::LayoutLamps,
            picture: Picture::Lamps { lit, blink: false },
        }
    }

    fn inhibit(on: bool) -> Seen<'static> {
        Seen::Shows {
            device: DeviceKind::Tumbler,
            picture: Picture::Inhibit {
                on,
                dice_allowed: false,
            },
        }
    }

    fn readout(text: &str, entry: u32) -> Seen<'_> {
        Seen::Shows {
            device: DeviceKind::Terminal,
            picture: Picture::Readout {
                text,
                by_host: true,
                entry,
            },
        }
    }

    const LIT_113: [u8; 6] = [0x01, 0x01, 0x01, 0x40, 0, 0x50];

    /// A round is entered, and everything is as it should be.
    fn bench() -> Bench {
        let mut bench = Bench::dice(LampsEqualState::default());
        bench.append(dice::to_landed(1));
        let head = bench.append(vec![dice::entered(1, [1, 3, 1])]).remove(0).0;
        bench.see(&lamps(&LIT_113));
        bench.see(&inhibit(true));
        bench.see(&readout("131", 4));
        retain(&mut bench, head, 6);
        bench
    }

    fn retain(bench: &mut Bench, seqno: u64, areas: usize) {
        let state = TableState {
            head: Some(Head {
                journal_id: bench.journal().to_owned(),
                seqno,
                ..Head::default()
            }),
            lit: vec![Area::default(); areas],
            ..TableState::default()
        };
        bench.publish_on(1, "p/state", &state.encode_to_vec());
    }

    #[test]
    fn all_is_as_the_events_say() {
        let mut bench = bench();
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
    }

    #[test]
    fn each_difference_is_found_once_quiet() {
        let cases: [(Seen<'_>, &str); 5] = [
            (lamps(&[]), "LayoutLamps shows {}"),
            (lamps(&[0xff]), "and the events say"),
            (inhibit(false), "inhibit is false"),
            (readout("E90", 4), "says E90"),
            (readout("", 0), "takes no keys"),
        ];
        for (seen, words) in cases {
            let mut bench = bench();
            bench.see(&seen);
            bench.expect_nothing();
            bench.see(&Seen::Quiet);
            bench.expect(words);
        }
        let mut bench = bench();
        retain(&mut bench, 3, 6);
        bench.see(&Seen::Quiet);
        bench.expect("the retained state is of event 3");
        bench.see(&Seen::BrokerForgot);
        bench.see(&Seen::Quiet);
        bench.expect("no retained state");
    }

    #[test]
    fn a_broken_link_or_lamp_excuses() {
        let mut bench = bench();
        let device = DeviceKind::LayoutLamps;
        bench.see(&Seen::LinkBroken { device });
        bench.see(&lamps(&[]));
        bench.see(&Seen::Quiet);
        bench.see(&Seen::LinkMended { device });
        let what = Happening::LampBroke { bit: 0 };
        bench.see(&Seen::Happened { device, what });
        bench.see(&lamps(&[0x00, 0x01, 0x01, 0x40, 0, 0x50]));
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
    }
}
