//! A device's side of a TLP/1 session, sentence by sentence, against a host played by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use prost::Message;
use std::time::Duration;
use tablegate::time::Uptime;
use tablegate::wire::frame::{self, Decoder, Frame, Kind, Received, Side};
use tablegate::wire::message::*;
use tablegate::wire::session::{Device, DeviceConfig, DeviceEvent};

struct Bench {
    ms: u64,
    device: Device,
    ear: Decoder,
    heard: Vec<(u64, Frame)>,
    number: u8,
}

impl Bench {
    fn new() -> Bench {
        let config = DeviceConfig {
            kind: DeviceKind::Terminal,
            serial_number: "T-1".to_owned(),
            firmware: "1.0".to_owned(),
            boot_id: 7,
            lamp_count: 0,
            firmware_digest: Vec::new(),
            baud: 115_200,
            uptime_ms: u32::MAX - 999,
        };
        let mut bench = Bench {
            ms: 0,
            device: Device::new(config, Uptime::ZERO),
            ear: Decoder::new(Side::Host),
            heard: Vec::new(),
            number: 0,
        };
        bench.listen();
        bench
    }

    /// In session, the status given and acknowledged, a readout accepted.
    fn up() -> Bench {
        let mut bench = Bench::new();
        bench.hello(5, 10_000);
        bench.command(to_device::Body::Status(StatusRequest {}));
        bench.answer();
        bench.say(Kind::Ack, 0, &[]);
        bench.command(to_device::Body::Readout(Readout::default()));
        bench.events();
        bench.heard.clear();
        bench
    }

    fn now(&self) -> Uptime {
        Uptime::from_millis(self.ms)
    }

    fn listen(&mut self) {
        let mut line = Vec::new();
        self.device.poll_transmit(&mut line);
        let mut bytes = line.as_slice();
        while let Some(received) = self.ear.next(&mut bytes) {
            let Received::Frame(frame) = received else {
                panic!("the device sent {received:?}");
            };
            self.heard.push((self.ms, frame));
        }
    }

    fn say(&mut self, kind: Kind, sequence: u8, payload: &[u8]) {
        let mut line = Vec::new();
        frame::encode(kind, sequence, payload, &mut line).unwrap();
        self.device.handle_bytes(self.now(), &line);
        self.listen();
    }

    fn hello(&mut self, session: u32, hold_ms: u32) {
        let hello = HostHello {
            session,
            hold_ms,
            table: "TS-07".to_owned(),
        };
        self.number = 0;
        self.say(Kind::Hello, 0, &hello.encode_to_vec());
    }

    fn command(&mut self, body: to_device::Body) {
        let payload = ToDevice { body: Some(body) }.encode_to_vec();
        self.say(Kind::Data, self.number, &payload);
        self.number = self.number.wrapping_add(1);
    }

    fn report(&mut self, body: from_device::Body) {
        self.device.report(self.now(), self.now(), body);
        self.listen();
    }

    fn answer(&mut self) {
        let status = from_device::Body::Terminal(TerminalStatus::default());
        let fault = DeviceFault {
            code: 3,
            ..DeviceFault::default()
        };
        self.device.answer_status(self.now(), status, vec![fault]);
        self.listen();
    }

    fn pass(&mut self, span: u64) {
        let end = self.ms + span;
        while let Some(due) = self
            .device
            .deadline()
            .map(|at| at.as_micros().div_ceil(1000))
            .filter(|due| *due <= end)
        {
            self.ms = self.ms.max(due);
            self.device.handle_deadline(self.now());
            self.listen();
        }
        self.ms = end;
    }

    fn times_of(&self, kind: Kind) -> Vec<u64> {
        self.heard
            .iter()
            .filter(|(_, frame)| frame.kind == kind)
            .map(|(ms, _)| *ms)
            .collect()
    }

    fn bodies(&self) -> Vec<from_device::Body> {
        self.heard
            .iter()
            .filter(|(_, frame)| frame.kind == Kind::Data)
            .map(|(_, frame)| FromDevice::decode(frame.payload.as_slice()).unwrap().body.unwrap())
            .collect()
    }

    fn events(&mut self) -> Vec<DeviceEvent> {
        std::iter::from_fn(|| self.device.poll_event()).collect()
    }
}

fn key(entry: u32) -> from_device::Body {
    from_device::Body::Key(KeyPressed { key: 1, entry })
}

fn contact(contact: Contact, closings: u32) -> from_device::Body {
    from_device::Body::Contact(ContactState {
        contact: contact.into(),
        closings,
        ..ContactState::default()
    })
}

#[test]
fn it_sends_one_reset_when_it_starts_and_answers_strays_with_reset() {
    let mut bench = Bench::new();
    assert_eq!(bench.times_of(Kind::Reset), [0]);
    for ms in [100, 249, 250, 300, 500] {
        bench.pass(ms - bench.ms);
        bench.say(Kind::Ping, 0, &[]);
    }
    assert_eq!(bench.times_of(Kind::Reset), [0, 250, 500]);
    assert!(bench.times_of(Kind::Pong).is_empty());
}

#[test]
fn the_same_hello_gets_the_same_welcome_and_changes_nothing() {
    let mut bench = Bench::up();
    bench.report(key(1));
    bench.pass(50);
    bench.hello(5, 3000);
    bench.pass(10);
    bench.hello(5, 10_000);
    let welcomes: Vec<&Frame> = bench
        .heard
        .iter()
        .map(|(_, f)| f)
        .filter(|f| f.kind == Kind::Welcome)
        .collect();
    assert_eq!(welcomes.len(), 2);
    assert_eq!(welcomes[0], welcomes[1]);
    let welcome = DeviceHello::decode(welcomes[0].payload.as_slice()).unwrap();
    assert_eq!(
        (welcome.session, welcome.uptime_ms),
        (5, u32::MAX - 999),
        "the clock of the first answer"
    );
    bench.say(Kind::Ack, 1, &[]);
    bench.say(Kind::Ack, 2, &[]);
    let acknowledged = bench.events();
    assert_eq!(
        acknowledged.last(),
        Some(&DeviceEvent::Acknowledged(key(1))),
        "numbers went on: {acknowledged:?}"
    );
}

#[test]
fn another_hello_drops_what_was_unsent_and_counts_anew() {
    let mut bench = Bench::up();
    bench.say(Kind::Ack, 1, &[]);
    for entry in 1..=5 {
        bench.report(key(entry));
    }
    bench.hello(6, 10_000);
    bench.heard.clear();
    bench.command(to_device::Body::Status(StatusRequest {}));
    assert!(bench.bodies().is_empty());
    bench.answer();
    bench.say(Kind::Ack, 0, &[]);
    bench.say(Kind::Ack, 1, &[]);
    let numbers: Vec<u8> = bench
        .heard
        .iter()
        .filter(|(_, f)| f.kind == Kind::Data)
        .map(|(_, f)| f.sequence)
        .collect();
    assert_eq!(numbers, [0, 1], "the status and its fault; no key of before");
}

#[test]
fn nothing_is_sent_before_the_status_was_asked_for_and_the_status_goes_first() {
    let mut bench = Bench::new();
    bench.hello(5, 10_000);
    bench.report(key(1));
    assert!(bench.bodies().is_empty());
    bench.command(to_device::Body::Status(StatusRequest {}));
    assert!(bench.bodies().is_empty());
    bench.answer();
    for number in 0..3 {
        bench.say(Kind::Ack, number, &[]);
    }
    let bodies = bench.bodies();
    assert!(matches!(bodies[0], from_device::Body::Terminal(_)));
    assert_eq!(bodies[1], key(1));
    assert!(matches!(bodies[2], from_device::Body::Fault(_)));
}

#[test]
fn three_seconds_without_ack_drop_the_session_with_a_reset() {
    let mut bench = Bench::up();
    bench.say(Kind::Ack, 1, &[]);
    bench.heard.clear();
    bench.report(key(1));
    bench.pass(2999);
    assert_eq!(bench.times_of(Kind::Data), [0, 100, 200, 400, 800, 1600]);
    assert!(bench.device.has_session());
    bench.pass(1);
    assert!(!bench.device.has_session());
    assert_eq!(bench.times_of(Kind::Reset), [3000]);
    bench.report(key(2));
    assert_eq!(bench.device.counters().unsent, 1);
}

#[test]
fn states_replace_each_other_and_keys_are_at_most_16() {
    let mut bench = Bench::up();
    // The fault is unacknowledged: everything waits behind it.
    for closings in 1..=50 {
        bench.report(contact(Contact::Bell, closings));
        bench.report(contact(Contact::CabinetDoor, closings));
    }
    for entry in 1..=16 {
        bench.report(key(entry));
    }
    assert!(bench.device.has_session());
    for number in 1..=18 {
        bench.say(Kind::Ack, number, &[]);
    }
    let bodies = bench.bodies();
    assert_eq!(
        bodies[..2],
        [contact(Contact::Bell, 50), contact(Contact::CabinetDoor, 50)]
    );
    assert_eq!(bodies[2..], (1..=16).map(key).collect::<Vec<_>>());
    // The newest of the sixteen is unacknowledged; sixteen more may wait.
    for entry in 17..=32 {
        bench.report(key(entry));
    }
    assert!(bench.device.has_session());
    bench.pass(300);
    bench.report(key(33));
    assert!(!bench.device.has_session());
    assert_eq!(bench.times_of(Kind::Reset).len(), 1);
}

#[test]
fn it_goes_quiet_when_the_host_is_gone_for_the_hold_time() {
    for (asked, hold) in [(0, 10_000), (500, 2000), (2000, 2000), (60_001, 60_000)] {
        let mut bench = Bench::new();
        bench.hello(5, asked);
        bench.command(to_device::Body::Readout(Readout::default()));
        bench.events();
        bench.pass(hold - 1);
        // A HELLO is no sign of life.
        bench.hello(5, asked);
        assert_eq!(bench.events(), []);
        bench.pass(1);
        assert_eq!(
            bench.events(),
            [DeviceEvent::SessionEnded, DeviceEvent::HostGone],
            "hold_ms {asked}"
        );
        let clamped = u64::from(asked == 500 || asked == 60_001);
        assert_eq!(bench.device.counters().clamped_holds, clamped);
    }
}

#[test]
fn without_a_session_the_hold_time_runs_from_the_last_valid_frame() {
    let mut bench = Bench::up();
    bench.device.drop_session(bench.now());
    assert_eq!(bench.events(), [DeviceEvent::SessionEnded]);
    bench.pass(6000);
    bench.say(Kind::Ping, 0, &[]);
    bench.pass(9999);
    assert_eq!(bench.events(), [], "lamps and inhibit stay");
    bench.pass(1);
    assert_eq!(bench.events(), [DeviceEvent::HostGone]);
    bench.pass(60_000);
    assert_eq!(bench.events(), [], "told once");
}

#[test]
fn a_host_that_never_says_what_to_show_counts_as_gone() {
    let mut bench = Bench::new();
    bench.hello(5, 10_000);
    bench.command(to_device::Body::Status(StatusRequest {}));
    bench.answer();
    bench.say(Kind::Ack, 0, &[]);
    bench.say(Kind::Ack, 1, &[]);
    bench.events();
    for ping in 0..10 {
        bench.pass(950);
        bench.say(Kind::Ping, ping, &[]);
    }
    assert!(bench.device.has_session());
    bench.pass(500);
    assert_eq!(bench.events(), [DeviceEvent::SessionEnded, DeviceEvent::HostGone]);
    bench.heard.clear();
    bench.say(Kind::Ping, 11, &[]);
    assert_eq!(bench.times_of(Kind::Reset).len(), 1);
}

#[test]
fn pong_carries_the_clock_which_wraps() {
    let mut bench = Bench::up();
    bench.pass(1500);
    bench.say(Kind::Ping, 9, &[]);
    let (_, pong) = bench.heard.last().unwrap();
    assert_eq!(
        (pong.kind, pong.sequence, pong.payload.as_slice()),
        (Kind::Pong, 9, &500_u32.to_le_bytes()[..])
    );
    assert_eq!(bench.device.uptime_ms(Uptime::from_millis(400)), u32::MAX - 599);
}

#[test]
fn bad_hellos_and_unknown_messages_do_no_harm() {
    let mut bench = Bench::new();
    bench.hello(0, 10_000);
    bench.say(Kind::Hello, 0, &[0xff, 1]);
    assert!(!bench.device.has_session());
    assert_eq!(bench.device.counters().bad_hellos, 2);
    bench.hello(9, 10_000);
    bench.say(Kind::Data, 0, &[0xff, 1]);
    bench.say(Kind::Data, 1, &[0x3a, 0]);
    bench.say(Kind::Data, 1, &[0x3a, 0]);
    bench.say(Kind::Data, 7, &[0x0a, 0]);
    assert_eq!(bench.times_of(Kind::Ack).len(), 3);
    assert_eq!(bench.device.counters().no_message, 2);
    assert_eq!(
        bench.events(),
        [DeviceEvent::Greeted {
            table: "TS-07".to_owned(),
            hold: Duration::from_secs(10)
        }]
    );
}
