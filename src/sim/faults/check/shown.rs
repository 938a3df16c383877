//! What was shown or published is in the journal: durable before anybody saw it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use prost::Message;
use sha2::{Digest, Sha256};

use super::story::{Mode, Stage, Story};
use crate::sim::faults::trace::{Happening, Invariant, Judge, Picture, Seen, Sight, bits, is_state, is_status};
use crate::table::event::event::Body;
use crate::table::event::{Head, Status, TableState};
use crate::table::input::DeviceKind;

/// A picture that was right this long ago may still arrive at a device: the link repeats for 3 s, is greeted anew, and bytes may be late.
const ON_ITS_WAY: Duration = Duration::from_secs(15);

/// Refusals of entries, which are recorded with their code; the other codes aren't.
const RECORDED_CODES: std::ops::RangeInclusive<u32> = 1..=6;

#[derive(Default)]
pub(super) struct Shown {
    story: Story,
    /// SHA-256 of each durable event.
    durable: BTreeMap<String, BTreeMap<u64, [u8; 32]>>,
    /// Pictures of lamps and numbers of the readout that were wanted, and until when; the last one still is.
    wanted: VecDeque<Wanted>,
    /// Codes of refusals that were recorded.
    refused: BTreeSet<u32>,
    /// Lamps that broke, lit or dark.
    broken: BTreeSet<(DeviceKind, u32)>,
}

#[derive(Clone, PartialEq, Debug, Default)]
struct Wanted {
    /// `None`: any.
    lit: Option<BTreeSet<usize>>,
    numbers: Option<String>,
    bets_closed: bool,
    until: Option<Duration>,
}

impl Judge for Shown {
    fn invariant(&self) -> Invariant {
        Invariant::ShownIsJournalled
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Began { game, layout, .. } => {
                self.story.begin(game, layout);
                self.want(sight.at);
                Ok(())
            }
            Seen::Appended { journal, records } => {
                let hashes = self.durable.entry((*journal).to_owned()).or_default();
                for record in *records {
                    hashes.insert(record.seqno, Sha256::digest(record.bytes).into());
                }
                for event in sight.events {
                    self.story.fold(event);
                    if let Some(Body::EntryRejected(rejected)) = &event.body {
                        self.refused.insert(rejected.code);
                    }
                }
                self.want(sight.at);
                Ok(())
            }
            Seen::Stated { state } => self.is_durable(state.head.as_ref(), "the state that the loop gives away"),
            Seen::Published { topic, payload, .. } => self.published(sight, topic, payload),
            Seen::Shows { device, picture } => self.shows(sight.at, *device, picture),
            Seen::Happened { device, what } => {
                match what {
                    Happening::LampBroke { bit } => self.broken.insert((*device, *bit)),
                    Happening::LampMended { bit } => self.broken.remove(&(*device, *bit)),
                    _ => false,
                };
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Shown {
    /// What the events now want to be shown.
    fn want(&mut self, at: Duration) {
        let round = self.story.running();
        let now = Wanted {
            lit: self.story.lit(),
            numbers: match (self.story.mode, round) {
                (Mode::Opening | Mode::Test | Mode::TestFromOpen, _) => None,
                (_, Some(round)) if round.stage == Stage::Entered => Some(round.numbers.clone()),
                _ => Some(String::new()),
            },
            bets_closed: round.is_some_and(|round| round.stage >= Stage::Closed),
            until: None,
        };
        match self.wanted.back_mut() {
            Some(last) if last.lit == now.lit && last.numbers == now.numbers && last.bets_closed == now.bets_closed => {
                return;
            }
            Some(last) => last.until = Some(at),
            None => {}
        }
        self.wanted.push_back(now);
        while self
            .wanted
            .front()
            .and_then(|first| first.until)
            .is_some_and(|until| until + ON_ITS_WAY < at)
        {
            self.wanted.pop_front();
        }
    }

    /// Any picture that is wanted, or was so lately that it may still be on its way.
    fn is_wanted(&self, at: Duration, fits: impl Fn(&Wanted) -> bool) -> bool {
        let timely = |wanted: &&Wanted| wanted.until.is_none_or(|until| until + ON_ITS_WAY >= at);
        self.wanted.iter().filter(timely).any(fits)
    }

    fn is_durable(&self, head: Option<&Head>, what: &str) -> Result<(), String> {
        let Some(head) = head.filter(|head| head.seqno > 0) else {
            return Ok(());
        };
        let durable = self
            .durable
            .get(&head.journal_id)
            .and_then(|journal| journal.get(&head.seqno));
        match durable {
            None => Err(format!("{what} names event {}, which is not durable", head.seqno)),
            Some(sha256) if head.sha256 != sha256 => Err(format!(
                "{what} names event {} with another hash than journalled",
                head.seqno
            )),
            Some(_) => Ok(()),
        }
    }

    fn published(&self, sight: &Sight<'_>, topic: &str, payload: &[u8]) -> Result<(), String> {
        if let Some(event) = sight.events.first() {
            let journal = self.durable.get(&event.journal_id);
            return match journal.and_then(|journal| journal.get(&event.seqno)) {
                Some(_) => Ok(()),
                None => Err(format!("event {} was published and is not durable", event.seqno)),
            };
        }
        if is_state(topic) {
            let state =
                TableState::decode(payload).map_err(|error| format!("a retained state can't be read: {error}"))?;
            return self.is_durable(state.head.as_ref(), "the retained state");
        }
        if is_status(topic) {
            let status = Status::decode(payload).map_err(|error| format!("a status can't be read: {error}"))?;
            return self.is_durable(status.head.as_ref(), "the status");
        }
        Ok(())
    }

    fn shows(&self, at: Duration, device: DeviceKind, picture: &Picture<'_>) -> Result<(), String> {
        match picture {
            Picture::Lamps { lit, .. } => {
                let sound = |bit: &usize| !u32::try_from(*bit).is_ok_and(|bit| self.broken.contains(&(device, bit)));
                let lit: BTreeSet<usize> = bits(lit).filter(sound).collect();
                let fits = |wanted: &Wanted| match &wanted.lit {
                    Some(bits) => bits.iter().copied().filter(sound).eq(lit.iter().copied()),
                    None => true,
                };
                if lit.is_empty() || self.is_wanted(at, fits) {
                    return Ok(());
                }
                Err(format!("{device:?} shows {lit:?}, which no durable event calls for"))
            }
            Picture::Readout { text, by_host, .. } => self.reads(at, text, *by_host),
            Picture::Inhibit { dice_allowed, .. } => {
                if !dice_allowed || self.is_wanted(at, |wanted| wanted.bets_closed) {
                    return Ok(());
                }
                Err("a reader may report dice before bets are closed".to_owned())
            }
        }
    }

    fn reads(&self, at: Duration, text: &str, by_host: bool) -> Result<(), String> {
        if !by_host {
            return Ok(());
        }
        if text.len() == 3 && text.bytes().all(|digit| digit.is_ascii_digit()) {
            let fits = |wanted: &Wanted| wanted.numbers.as_ref().is_none_or(|numbers| numbers == text);
            if self.is_wanted(at, fits) {
                return Ok(());
            }
            return Err(format!("the readout shows {text}, which no durable event calls for"));
        }
        let code = text.strip_prefix('E').and_then(|code| code.parse::<u32>().ok());
        match code {
            Some(code) if RECORDED_CODES.contains(&code) && !self.refused.contains(&code) => {
                Err(format!("the readout refuses with {text}, and no durable event does"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, dice};
    use super::*;
    use crate::sim::faults::trace::Stored;

    const LIT_113: [u8; 6] = [0x01, 0x01, 0x01, 0x40, 0, 0x50];

    fn lamps(lit: &[u8]) -> Seen<'_> {
        Seen::Shows {
            device: DeviceKind::LayoutLamps,
            picture: Picture::Lamps { lit, blink: false },
        }
    }

    fn readout(text: &str) -> Seen<'_> {
        Seen::Shows {
            device: DeviceKind::Terminal,
            picture: Picture::Readout {
                text,
                by_host: true,
                entry: 3,
            },
        }
    }

    fn bench() -> Bench {
        Bench::dice(Shown::default())
    }

    #[test]
    fn a_result_may_be_shown_once_it_is_durable_and_while_it_stands() {
        let mut bench = bench();
        bench.append(dice::to_landed(1));
        bench.append(vec![dice::entered(1, [1, 3, 1])]);
        bench.see(&lamps(&LIT_113));
        bench.see(&readout("131"));
        bench.append(vec![dice::settled(1)]);
        bench.see(&lamps(&LIT_113));
        bench.see(&lamps(&[]));
        bench.expect_nothing();
        bench.wait(60);
        bench.see(&lamps(&LIT_113));
        bench.expect("shows {0, 8, 16, 30, 44, 46}, which no durable event calls for");
    }

    #[test]
    fn a_result_may_not_be_shown_before() {
        let mut bench = bench();
        bench.append(dice::to_landed(1));
        bench.see(&lamps(&LIT_113));
        bench.expect("no durable event calls for");
        let mut bench = self::bench();
        bench.append(dice::to_landed(1));
        bench.see(&readout("131"));
        bench.expect("the readout shows 131");
        let mut bench = self::bench();
        bench.see(&readout("E04"));
        bench.expect("refuses with E04");
    }

    #[test]
    fn a_broken_lamp_is_not_held_against_the_gateway() {
        let mut bench = bench();
        bench.append(dice::to_landed(1));
        bench.append(vec![dice::entered(1, [1, 3, 1])]);
        let device = DeviceKind::LayoutLamps;
        for bit in [0, 49] {
            let what = Happening::LampBroke { bit };
            bench.see(&Seen::Happened { device, what });
        }
        bench.see(&lamps(&[0x00, 0x01, 0x01, 0x40, 0, 0x50, 0x02]));
        bench.expect_nothing();
        bench.see(&lamps(&[0x02, 0x01, 0x01, 0x40, 0, 0x50]));
        bench.expect("which no durable event calls for");
    }

    #[test]
    fn an_event_and_a_head_are_published_when_durable() {
        let mut bench = bench();
        let records = bench.append(dice::to_landed(1));
        bench.publish(1, &records[0]);
        bench.expect_nothing();
        let mut ahead = bench.record(vec![dice::entered(1, [1, 3, 1])]);
        let ahead = ahead.remove(0);
        bench.publish(1, &ahead);
        bench.expect("was published and is not durable");
        let state = TableState {
            head: Some(Head {
                journal_id: bench.journal().to_owned(),
                seqno: ahead.0,
                sha256: vec![0; 32],
            }),
            ..TableState::default()
        };
        bench.see(&Seen::Stated { state: &state });
        bench.expect("the state that the loop gives away names event");
        let journal = bench.journal().to_owned();
        let records = [Stored {
            seqno: ahead.0,
            bytes: &ahead.1,
        }];
        bench.see(&Seen::Appended {
            journal: &journal,
            records: &records,
        });
        bench.see(&Seen::Stated { state: &state });
        bench.expect("with another hash than journalled");
    }
}
