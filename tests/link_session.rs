//! Both sides of a TLP/1 session over a virtual clock and a line that loses, repeats, delays, flips and reorders.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;
use tablegate::time::Uptime;
use tablegate::wire::frame::{self, Decoder, Kind, Received, Side};
use tablegate::wire::message::{
    DeviceKind, DigestRequest, Key, KeyPressed, Readout, TerminalStatus, from_device, to_device,
};
use tablegate::wire::session::{
    Device, DeviceConfig, DeviceEvent, Host, HostConfig, HostEvent, LinkState, TumblerBuild, Wish,
};

/// splitmix64: small, seeded, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// How bad the line is, in percent of frames, and most delay.
#[derive(Clone, Copy, Debug)]
struct Faults {
    lost: u64,
    repeated: u64,
    late: u64,
    flipped: u64,
    delay_ms: u64,
    noise: u64,
}

const GOOD: Faults = Faults {
    lost: 0,
    repeated: 0,
    late: 0,
    flipped: 0,
    delay_ms: 2,
    noise: 0,
};

/// One direction. A serial line keeps order. To be harsher than a wire, frames of one session overtake each other here (`late`); but none
/// overtakes a greeting, which has to part what was before from what comes after.
#[derive(Default)]
struct Line {
    bytes: VecDeque<(Uptime, Vec<u8>)>,
    late: Vec<(Uptime, Vec<u8>)>,
    newest: Uptime,
}

impl Line {
    fn send(&mut self, now: Uptime, frame: &[u8], faults: Faults, dice: &mut Dice) {
        if dice.chance(faults.lost) {
            return;
        }
        let mut copies = vec![frame.to_vec()];
        if dice.chance(faults.repeated) {
            copies.push(frame.to_vec());
        }
        if dice.chance(faults.noise) {
            copies.push((0..dice.below(30)).map(|_| dice.roll().to_le_bytes()[0]).collect());
        }
        for mut copy in copies {
            if dice.chance(faults.flipped) && !copy.is_empty() {
                let at = usize::try_from(dice.below(copy.len() as u64)).unwrap();
                copy[at] ^= 1 << dice.below(8);
            }
            let delay = Duration::from_millis(dice.below(faults.delay_ms));
            if dice.chance(faults.late) && !is_greeting(frame) {
                self.late
                    .push((now + delay + Duration::from_millis(dice.below(1500)), copy));
                continue;
            }
            self.newest = self.newest.max(now + delay);
            // In pieces, as a port gives them.
            let cut = usize::try_from(dice.below(copy.len() as u64 + 1)).unwrap();
            self.bytes.push_back((self.newest, copy[..cut].to_vec()));
            self.bytes.push_back((self.newest, copy[cut..].to_vec()));
        }
    }

    fn next(&self) -> Option<Uptime> {
        let late = self.late.iter().map(|(at, _)| *at).min();
        self.bytes.front().map(|(at, _)| *at).into_iter().chain(late).min()
    }

    fn arrived(&mut self, now: Uptime) -> Vec<u8> {
        let mut all = Vec::new();
        while self.bytes.front().is_some_and(|(at, _)| *at <= now) {
            all.extend(self.bytes.pop_front().unwrap().1);
        }
        while let Some(index) = self.late.iter().position(|(at, _)| *at <= now) {
            all.extend(self.late.remove(index).1);
        }
        all
    }
}

fn host(seed: u64) -> Host {
    let config = HostConfig {
        kind: Some(DeviceKind::Terminal),
        lamp_count: 0,
        table: "TS-07".to_owned(),
        hold_ms: 10_000,
        baud: 115_200,
        tumbler: TumblerBuild::Covered,
    };
    Host::new(config, seed)
}

fn device(boot_id: u32, now: Uptime) -> Device {
    let config = DeviceConfig {
        kind: DeviceKind::Terminal,
        serial_number: "T-1".to_owned(),
        firmware: "1.0".to_owned(),
        boot_id,
        lamp_count: 0,
        firmware_digest: Vec::new(),
        baud: 115_200,
        // Wraps soon after the start.
        uptime_ms: u32::MAX - 20_000,
    };
    Device::new(config, now)
}

/// Two machines, a line, and the rules that must hold whatever happens.
struct World {
    now: Uptime,
    dice: Dice,
    faults: Faults,
    host: Host,
    device: Device,
    to_device: Line,
    to_host: Line,
    boots: u32,
    keys: u32,
    wishes: u32,
    digests: u32,
    /// Numbers of keys in the order in which they came out of the host, and what the device knows to be received.
    delivered: Vec<u32>,
    acknowledged: Vec<u32>,
    /// The same for readouts and digest requests, on their way to the device.
    shown: Vec<u32>,
    asked: Vec<u32>,
    asked_acknowledged: Vec<u32>,
    shown_acknowledged: Vec<u32>,
    ups: u32,
    deaf_until: Uptime,
}

impl World {
    fn new(seed: u64, faults: Faults) -> World {
        let mut host = host(seed);
        host.handle_opened(Uptime::ZERO);
        let mut world = World {
            now: Uptime::ZERO,
            dice: Dice(seed),
            faults,
            host,
            device: device(1, Uptime::ZERO),
            to_device: Line::default(),
            to_host: Line::default(),
            boots: 1,
            keys: 0,
            wishes: 0,
            digests: 0,
            delivered: Vec::new(),
            acknowledged: Vec::new(),
            shown: Vec::new(),
            asked: Vec::new(),
            asked_acknowledged: Vec::new(),
            shown_acknowledged: Vec::new(),
            ups: 0,
            deaf_until: Uptime::ZERO,
        };
        world.settle();
        world
    }

    fn wish(&mut self) {
        self.wishes += 1;
        let readout = Readout {
            text: "---".to_owned(),
            blink: false,
            entry: self.wishes + 1_000_000,
            for_ms: 0,
        };
        self.host.set_wish(self.now, Wish::Terminal(readout));
    }

    fn press(&mut self) {
        self.keys += 1;
        let key = KeyPressed {
            key: Key::Key1.into(),
            entry: self.keys,
        };
        self.device.report(self.now, self.now, from_device::Body::Key(key));
        self.settle();
    }

    fn ask_digest(&mut self) {
        self.digests += 1;
        let seed = self.digests.to_le_bytes().to_vec();
        // Refused while the link isn't up, or too many wait: then it was never taken.
        let _ = self
            .host
            .command(self.now, to_device::Body::Digest(DigestRequest { seed }));
    }

    fn take_host_events(&mut self) {
        while let Some(event) = self.host.poll_event() {
            match event {
                HostEvent::Up { hello, .. } => {
                    assert_eq!(hello.serial_number, "T-1");
                    self.ups += 1;
                    self.wish();
                }
                HostEvent::Message {
                    body: from_device::Body::Key(key),
                    ..
                } => {
                    assert!(
                        self.delivered.last().is_none_or(|last| *last < key.entry),
                        "{key:?} twice or out of order"
                    );
                    self.delivered.push(key.entry);
                }
                HostEvent::Acknowledged(to_device::Body::Readout(readout)) => {
                    self.shown_acknowledged.push(readout.entry - 1_000_000);
                }
                HostEvent::Acknowledged(to_device::Body::Digest(digest)) => {
                    self.asked_acknowledged.push(number(&digest.seed));
                }
                HostEvent::WrongDevice { .. } | HostEvent::ReadUnderCover => panic!("{event:?}"),
                HostEvent::Message { .. }
                | HostEvent::Acknowledged(_)
                | HostEvent::Down(_)
                | HostEvent::OddityBegan(_)
                | HostEvent::OddityEnded(_) => {}
            }
        }
    }

    fn take_device_events(&mut self) {
        while let Some(event) = self.device.poll_event() {
            match event {
                DeviceEvent::Accepted(to_device::Body::Status(_)) => {
                    let status = TerminalStatus {
                        shown: Vec::new(),
                        entry: 0,
                        contacts: Vec::new(),
                    };
                    self.device
                        .answer_status(self.now, from_device::Body::Terminal(status), Vec::new());
                }
                DeviceEvent::Accepted(to_device::Body::Readout(readout)) => {
                    let wish = readout.entry - 1_000_000;
                    assert!(
                        self.shown.last().is_none_or(|last| *last < wish),
                        "wish {wish} twice or out of order"
                    );
                    self.shown.push(wish);
                }
                DeviceEvent::Accepted(to_device::Body::Digest(digest)) => {
                    let asked = number(&digest.seed);
                    assert!(
                        self.asked.last().is_none_or(|last| *last < asked),
                        "digest {asked} twice or out of order"
                    );
                    self.asked.push(asked);
                }
                DeviceEvent::Acknowledged(from_device::Body::Key(key)) => self.acknowledged.push(key.entry),
                DeviceEvent::Accepted(_)
                | DeviceEvent::Acknowledged(_)
                | DeviceEvent::Greeted { .. }
                | DeviceEvent::SessionEnded
                | DeviceEvent::HostGone => {}
            }
        }
    }

    /// Moves bytes and events until both machines are quiet at this moment.
    fn settle(&mut self) {
        loop {
            if self.now >= self.deaf_until {
                self.take_host_events();
            }
            self.take_device_events();
            let mut from_host = Vec::new();
            let mut from_device = Vec::new();
            let sent = [
                self.host.poll_transmit(&mut from_host),
                self.device.poll_transmit(&mut from_device),
            ];
            for frame in split_frames(&from_host) {
                if frame.get(2).is_some_and(|head| *head == 0x10) {
                    // A greeting: what overtook and is still under way would be of the session before.
                    self.to_device.late.clear();
                    self.to_host.late.clear();
                }
                self.to_device.send(self.now, &frame, self.faults, &mut self.dice);
            }
            for frame in split_frames(&from_device) {
                if frame.get(2).is_some_and(|head| *head == 0x11) {
                    // What the device said before it heard of the new session can't come after its WELCOME.
                    self.to_host.late.clear();
                }
                self.to_host.send(self.now, &frame, self.faults, &mut self.dice);
            }
            if sent == [false, false] {
                return;
            }
        }
    }

    /// To the next moment at which something happens, not beyond `end`.
    fn step(&mut self, end: Uptime) {
        let next = [
            self.host.deadline(),
            self.device.deadline(),
            self.to_device.next(),
            self.to_host.next(),
            (self.now < self.deaf_until).then_some(self.deaf_until),
            Some(end),
        ];
        self.now = next.into_iter().flatten().min().unwrap().max(self.now);
        let bytes = self.to_device.arrived(self.now);
        self.device.handle_bytes(self.now, &bytes);
        self.settle();
        let bytes = self.to_host.arrived(self.now);
        self.host.handle_bytes(self.now, &bytes);
        self.settle();
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.step(end);
        }
    }

    fn restart_host(&mut self) {
        self.take_host_events();
        self.host = host(self.dice.roll());
        self.host.handle_opened(self.now);
        self.settle();
    }

    fn restart_device(&mut self) {
        self.take_device_events();
        self.boots += 1;
        self.device = device(self.boots, self.now);
        self.settle();
    }

    /// One thing that people, machines or power do.
    fn incident(&mut self) {
        match self.dice.below(20) {
            0 => self.restart_host(),
            1 => self.restart_device(),
            2 => self.device.drop_session(self.now),
            3 => self.deaf_until = self.now + Duration::from_millis(self.dice.below(3000)),
            4..=6 => self.ask_digest(),
            7..=9 => self.wish(),
            10 => self.host.request_status(self.now),
            _ => self.press(),
        }
        self.settle();
    }

    /// The line is good from here on: everything works again, and nothing was lost.
    fn recover(&mut self) {
        self.faults = GOOD;
        self.deaf_until = self.now;
        self.run_for(Duration::from_secs(25));
        assert_eq!(
            self.host.state(),
            LinkState::Up,
            "the line is good, and the link isn't up"
        );
        let before = self.keys;
        self.press();
        self.wish();
        self.run_for(Duration::from_secs(1));
        assert_eq!(self.delivered.last(), Some(&(before + 1)));
        assert_eq!(self.shown.last(), Some(&self.wishes), "the wish isn't shown");
        contained(&self.acknowledged, &self.delivered, "key");
        contained(&self.asked_acknowledged, &self.asked, "digest request");
        contained(&self.shown_acknowledged, &self.shown, "readout");
    }
}

fn contained(acknowledged: &[u32], delivered: &[u32], what: &str) {
    for one in acknowledged {
        assert!(
            delivered.contains(one),
            "{what} {one} was acknowledged and never delivered"
        );
    }
}

fn number(seed: &[u8]) -> u32 {
    u32::from_le_bytes(seed.try_into().unwrap())
}

/// HELLO or WELCOME.
fn is_greeting(frame: &[u8]) -> bool {
    frame.get(2).is_some_and(|head| matches!(head, 0x10 | 0x11))
}

fn split_frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Some(end) = bytes.iter().skip(1).position(|byte| *byte == 0) {
        let (frame, rest) = bytes.split_at(end + 2);
        frames.push(frame.to_vec());
        bytes = rest;
    }
    assert!(bytes.is_empty(), "a machine sent half a frame");
    frames
}

fn any_faults() -> impl Strategy<Value = Faults> {
    (0_u64..60, 0_u64..40, 0_u64..40, 0_u64..30, 1_u64..400, 0_u64..30).prop_map(
        |(lost, repeated, late, flipped, delay_ms, noise)| Faults {
            lost,
            repeated,
            late,
            flipped,
            delay_ms,
            noise,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_line_does_nothing_is_lost_repeated_or_reordered(
        seed in any::<u64>(),
        faults in any_faults(),
        pauses in prop::collection::vec(0_u64..2500, 1..80),
    ) {
        let mut world = World::new(seed, faults);
        for pause in pauses {
            world.run_for(Duration::from_millis(pause));
            world.incident();
        }
        world.recover();
    }

    #[test]
    fn a_restart_at_any_moment_of_a_greeting_heals(seed in any::<u64>(), delay_ms in 1_u64..400, moments in prop::collection::vec((0_u64..900, any::<bool>()), 1..12)) {
        let mut world = World::new(seed, Faults { delay_ms, ..GOOD });
        for (pause, is_host) in moments {
            world.run_for(Duration::from_millis(pause));
            if is_host { world.restart_host() } else { world.restart_device() }
            world.press();
        }
        world.recover();
    }
}

#[test]
fn a_good_line_comes_up_at_once_and_stays_up() {
    let mut world = World::new(7, GOOD);
    world.run_for(Duration::from_millis(50));
    assert_eq!(world.host.state(), LinkState::Up);
    for _ in 0..600 {
        world.run_for(Duration::from_millis(100));
        world.press();
    }
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.ups, 1);
    assert_eq!(world.delivered.len(), 600);
    assert_eq!(world.host.counters().sessions_lost, 0);
    assert!(world.host.round_trips().percentile(99).unwrap() < Duration::from_millis(10));
}

#[test]
fn garbage_for_a_minute_then_a_device_comes_up() {
    let mut host = host(1);
    host.handle_opened(Uptime::ZERO);
    let mut dice = Dice(3);
    for ms in (0..60_000).step_by(10) {
        let noise: Vec<u8> = (0..100).map(|_| dice.roll().to_le_bytes()[0]).collect();
        host.handle_bytes(Uptime::from_millis(ms), &noise);
    }
    assert_eq!(host.state(), LinkState::Greeting);
    let mut line = Vec::new();
    host.poll_transmit(&mut line);
    assert!(
        line.len() <= 4096,
        "what waits for a line that takes nothing is bounded"
    );
    let mut decoder = Decoder::new(Side::Device);
    let mut bytes = line.as_slice();
    let hello = decoder.next(&mut bytes);
    assert!(matches!(hello, Some(Received::Frame(ref frame)) if frame.kind == Kind::Hello));
    let mut reset = Vec::new();
    frame::encode(Kind::Reset, 0, &[], &mut reset).unwrap();
    host.handle_bytes(Uptime::from_millis(60_001), &reset);
    assert_eq!(host.counters().resets, 1);
}
