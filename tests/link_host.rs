//! The host's side of a TLP/1 session, sentence by sentence, against a device played by hand.

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
use tablegate::wire::session::{
    Age, Disclosure, DownReason, Host, HostConfig, HostEvent, LinkState, Oddity, Status, TumblerBuild, Wish, retry_unit,
};

struct Bench {
    ms: u64,
    host: Host,
    ear: Decoder,
    /// Frames that the host sent, with the time.
    heard: Vec<(u64, Frame)>,
    session: u32,
    number: u8,
}

fn config(kind: DeviceKind) -> HostConfig {
    HostConfig {
        kind: Some(kind),
        lamp_count: 0,
        table: "TS-07".to_owned(),
        hold_ms: 10_000,
        baud: 115_200,
        tumbler: TumblerBuild::Covered,
    }
}

impl Bench {
    fn new(config: HostConfig) -> Bench {
        let mut bench = Bench {
            ms: 0,
            host: Host::new(config, 42),
            ear: Decoder::new(Side::Device),
            heard: Vec::new(),
            session: 0,
            number: 0,
        };
        bench.host.handle_opened(Uptime::ZERO);
        bench.listen();
        bench
    }

    /// A link that is up, with the greeting's frames and event taken.
    fn up(kind: DeviceKind) -> Bench {
        Bench::up_with(config(kind))
    }

    fn up_with(config: HostConfig) -> Bench {
        let kind = config.kind.unwrap();
        let mut bench = Bench::new(config);
        bench.come_up(kind);
        bench
    }

    fn come_up(&mut self, kind: DeviceKind) {
        self.heard.clear();
        self.welcome(kind, 7);
        let request = self.heard_of(Kind::Data);
        assert_eq!(request.len(), 1);
        self.say(Kind::Ack, 0, &[]);
        self.data(self.ms_clock(), status(kind));
        assert!(matches!(self.host.poll_event(), Some(HostEvent::Up { .. })));
        assert_eq!(self.host.poll_event(), None);
        self.heard.clear();
    }

    fn now(&self) -> Uptime {
        Uptime::from_millis(self.ms)
    }

    /// The device's clock runs as the host's.
    fn ms_clock(&self) -> u32 {
        u32::try_from(self.ms).unwrap()
    }

    fn listen(&mut self) {
        let mut line = Vec::new();
        self.host.poll_transmit(&mut line);
        let mut bytes = line.as_slice();
        while let Some(received) = self.ear.next(&mut bytes) {
            let Received::Frame(frame) = received else {
                panic!("the host sent {received:?}");
            };
            if frame.kind == Kind::Hello {
                self.session = HostHello::decode(frame.payload.as_slice()).unwrap().session;
                self.number = 0;
            }
            self.heard.push((self.ms, frame));
        }
    }

    fn heard_of(&self, kind: Kind) -> Vec<&Frame> {
        self.heard
            .iter()
            .map(|(_, frame)| frame)
            .filter(|frame| frame.kind == kind)
            .collect()
    }

    fn times_of(&self, kind: Kind) -> Vec<u64> {
        self.heard
            .iter()
            .filter(|(_, frame)| frame.kind == kind)
            .map(|(ms, _)| *ms)
            .collect()
    }

    /// Bodies of DATA that the host sent, repeats included.
    fn bodies(&self) -> Vec<to_device::Body> {
        let read = |frame: &&Frame| ToDevice::decode(frame.payload.as_slice()).unwrap().body.unwrap();
        self.heard_of(Kind::Data).iter().map(read).collect()
    }

    fn say(&mut self, kind: Kind, sequence: u8, payload: &[u8]) {
        let mut line = Vec::new();
        frame::encode(kind, sequence, payload, &mut line).unwrap();
        self.host.handle_bytes(self.now(), &line);
        self.listen();
    }

    fn welcome(&mut self, kind: DeviceKind, boot_id: u32) {
        let hello = DeviceHello {
            session: self.session,
            kind: kind.into(),
            serial_number: "D-1".to_owned(),
            boot_id,
            lamp_count: 50,
            ..DeviceHello::default()
        };
        self.say(Kind::Welcome, 0, &hello.encode_to_vec());
    }

    /// The device's next DATA.
    fn data(&mut self, uptime_ms: u32, body: from_device::Body) {
        let payload = FromDevice {
            uptime_ms,
            body: Some(body),
        }
        .encode_to_vec();
        self.say(Kind::Data, self.number, &payload);
        self.number = self.number.wrapping_add(1);
    }

    /// Time passes; the host is called at each of its deadlines, and PINGs are answered when `answer` says so.
    fn pass(&mut self, span: u64, answer: Answer) {
        let end = self.ms + span;
        loop {
            let due = self
                .host
                .deadline()
                .map_or(u64::MAX, |at| at.as_micros().div_ceil(1000));
            if due > end {
                break;
            }
            self.ms = self.ms.max(due);
            self.host.handle_deadline(self.now());
            let known = self.heard.len();
            self.listen();
            if let Answer::Pings = answer {
                let pings: Vec<u8> = self.heard[known..]
                    .iter()
                    .filter(|(_, frame)| frame.kind == Kind::Ping)
                    .map(|(_, frame)| frame.sequence)
                    .collect();
                for ping in pings {
                    let clock = self.ms_clock().to_le_bytes();
                    self.say(Kind::Pong, ping, &clock);
                }
            }
        }
        self.ms = end;
    }

    fn events(&mut self) -> Vec<HostEvent> {
        std::iter::from_fn(|| self.host.poll_event()).collect()
    }
}

#[derive(Clone, Copy)]
enum Answer {
    Pings,
    Nothing,
}

fn status(kind: DeviceKind) -> from_device::Body {
    match kind {
        DeviceKind::Tumbler => from_device::Body::Tumbler(tumbler(Cover::On, None)),
        DeviceKind::Terminal => from_device::Body::Terminal(TerminalStatus {
            entry: 41,
            ..TerminalStatus::default()
        }),
        DeviceKind::LayoutLamps | DeviceKind::ResultLights => from_device::Body::Lamps(LampStatus::default()),
        DeviceKind::Unspecified => panic!("no such device"),
    }
}

fn tumbler(cover: Cover, dice: Option<[u32; 3]>) -> TumblerStatus {
    TumblerStatus {
        motion: Motion::AtRest.into(),
        cover: cover.into(),
        dice: dice.map(|faces| DiceReading {
            flatness: Flatness::Flat.into(),
            faces: faces.to_vec(),
        }),
        ..TumblerStatus::default()
    }
}

fn key(entry: u32) -> from_device::Body {
    from_device::Body::Key(KeyPressed { key: 1, entry })
}

fn lamps(lit: u8) -> Wish {
    Wish::Lamps(SetLamps {
        lit: vec![lit],
        blink: false,
    })
}

fn readout(entry: u32) -> Wish {
    Wish::Terminal(Readout {
        entry,
        ..Readout::default()
    })
}

#[test]
fn greeting_repeats_the_same_hello_at_its_times() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    bench.pass(5000, Answer::Nothing);
    assert_eq!(bench.times_of(Kind::Hello), [0, 250, 750, 1750, 2750, 3750, 4750]);
    let hellos = bench.heard_of(Kind::Hello);
    assert!(hellos.iter().all(|hello| *hello == hellos[0]));
    let hello = HostHello::decode(hellos[0].payload.as_slice()).unwrap();
    assert_ne!(hello.session, 0);
    assert_eq!((hello.hold_ms, hello.table.as_str()), (10_000, "TS-07"));
}

#[test]
fn a_stalled_host_sends_one_hello_not_all_it_missed() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    bench.ms = 60_100;
    bench.host.handle_deadline(bench.now());
    bench.listen();
    assert_eq!(bench.times_of(Kind::Hello), [0, 60_100]);
    assert_eq!(bench.host.deadline(), Some(Uptime::from_millis(60_750)));
}

#[test]
fn a_reset_while_greeting_gets_the_same_hello_at_most_once_in_250_ms() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    for ms in [100, 110, 340, 350, 360] {
        bench.pass(ms - bench.ms, Answer::Nothing);
        bench.say(Kind::Reset, 0, &[]);
    }
    assert_eq!(bench.times_of(Kind::Hello), [0, 100, 250, 350]);
    assert_eq!(bench.host.state(), LinkState::Greeting);
}

#[test]
fn only_a_welcome_of_its_session_ends_the_greeting() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    let right = bench.session;
    bench.session = right ^ 1;
    bench.welcome(DeviceKind::Terminal, 7);
    bench.data(0, key(1));
    bench.say(Kind::Pong, 0, &[0; 4]);
    bench.say(Kind::Welcome, 0, &[0xff; 9]);
    assert_eq!(bench.host.state(), LinkState::Greeting);
    assert!(bench.heard_of(Kind::Ack).is_empty());
    bench.session = right;
    bench.welcome(DeviceKind::Terminal, 7);
    assert_eq!(bench.host.state(), LinkState::Welcomed);
}

#[test]
fn status_is_asked_first_and_the_whole_wish_follows_it() {
    let mut bench = Bench::new(config(DeviceKind::LayoutLamps));
    bench.host.set_wish(bench.now(), lamps(1));
    bench.host.set_wish(bench.now(), lamps(5));
    bench.welcome(DeviceKind::LayoutLamps, 7);
    assert_eq!(bench.bodies(), [to_device::Body::Status(StatusRequest {})]);
    assert_eq!(bench.times_of(Kind::Ping), [0], "the first PING at once");
    bench.say(Kind::Ack, 0, &[]);
    assert_eq!(bench.bodies().len(), 1, "nothing before the status");
    bench.data(0, status(DeviceKind::LayoutLamps));
    assert_eq!(bench.bodies()[1..], [lamps(5).into()]);
    bench.say(Kind::Ack, 1, &[]);
    let events = bench.events();
    assert!(matches!(
        events[..],
        [HostEvent::Up { .. }, HostEvent::Acknowledged(to_device::Body::Lamps(_))]
    ));
    // After a new greeting the same wish goes out again.
    bench.say(Kind::Reset, 0, &[]);
    bench.heard.clear();
    bench.welcome(DeviceKind::LayoutLamps, 8);
    bench.say(Kind::Ack, 0, &[]);
    bench.data(0, status(DeviceKind::LayoutLamps));
    assert_eq!(bench.bodies()[1..], [lamps(5).into()]);
}

#[test]
fn a_terminal_gets_another_entry_number_than_was_found() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    bench.host.set_wish(bench.now(), readout(77));
    bench.say(Kind::Reset, 0, &[]);
    bench.come_up(DeviceKind::Terminal);
    bench.heard.clear();
    for refused in [0, 41] {
        bench.host.set_wish(bench.now(), readout(refused));
        bench.listen();
        assert!(bench.bodies().is_empty(), "{refused}");
    }
    bench.host.set_wish(bench.now(), readout(42));
    bench.listen();
    assert_eq!(bench.bodies(), [readout(42).into()]);
    // The session before is over: its readout isn't sent in the next.
    bench.say(Kind::Reset, 0, &[]);
    assert_eq!(bench.events(), [HostEvent::Down(DownReason::Restarted)]);
    bench.come_up(DeviceKind::Terminal);
    assert!(bench.bodies().is_empty());
}

#[test]
fn a_readout_goes_out_each_time_it_is_set_lamps_only_when_they_differ() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    bench.host.set_wish(bench.now(), readout(42));
    bench.listen();
    bench.say(Kind::Ack, 1, &[]);
    bench.host.set_wish(bench.now(), readout(42));
    bench.listen();
    assert_eq!(bench.bodies().len(), 2);

    let mut bench = Bench::up(DeviceKind::LayoutLamps);
    bench.host.set_wish(bench.now(), lamps(1));
    bench.listen();
    bench.say(Kind::Ack, 1, &[]);
    bench.host.set_wish(bench.now(), lamps(1));
    bench.listen();
    assert_eq!(bench.bodies().len(), 1);
}

#[test]
fn retries_come_after_t_t_2t_4t_and_a_new_session_after_3_s() {
    for (baud, unit, times) in [
        (115_200, 100, vec![0, 100, 200, 400, 800, 1600]),
        (9_600, 500, vec![0, 500, 1000, 2000]),
    ] {
        assert_eq!(retry_unit(baud), Duration::from_millis(unit));
        let mut bench = Bench::up_with(HostConfig {
            baud,
            ..config(DeviceKind::LayoutLamps)
        });
        bench.host.set_wish(bench.now(), lamps(1));
        bench.listen();
        bench.host.set_wish(bench.now(), lamps(2));
        bench.pass(2999, Answer::Pings);
        assert_eq!(bench.times_of(Kind::Data), times);
        assert!(
            bench.bodies().iter().all(|body| *body == lamps(1).into()),
            "the same bytes again"
        );
        let old = bench.session;
        bench.pass(1, Answer::Pings);
        assert_ne!(bench.session, old);
        assert_eq!(bench.events(), [HostEvent::Down(DownReason::Unacknowledged)]);
        assert_eq!(bench.host.state(), LinkState::Greeting);
    }
}

#[test]
fn an_ack_of_another_number_changes_nothing() {
    let mut bench = Bench::up(DeviceKind::LayoutLamps);
    bench.host.set_wish(bench.now(), lamps(1));
    bench.host.set_wish(bench.now(), lamps(2));
    bench.listen();
    for number in [0, 2, 255] {
        bench.say(Kind::Ack, number, &[]);
    }
    assert_eq!(bench.bodies().len(), 1);
    bench.say(Kind::Ack, 1, &[]);
    assert_eq!(bench.bodies()[1..], [lamps(2).into()]);
}

#[test]
fn repeats_are_acknowledged_and_not_delivered_foreign_numbers_ignored() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    bench.data(0, key(1));
    for number in [1, 0, 3, 200] {
        bench.number = number;
        bench.data(0, key(2));
    }
    let acks: Vec<u8> = bench.heard_of(Kind::Ack).iter().map(|ack| ack.sequence).collect();
    assert_eq!(acks, [1, 1]);
    assert_eq!(bench.events().len(), 1);
    let counters = bench.host.counters();
    assert_eq!((counters.repeats_in, counters.foreign_numbers), (1, 3));
}

#[test]
fn no_ack_for_what_there_is_no_room_for() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    for entry in 1..20 {
        let known = bench.heard_of(Kind::Ack).len();
        bench.data(0, key(entry));
        if bench.heard_of(Kind::Ack).len() == known {
            bench.number -= 1;
        }
    }
    assert_eq!(bench.heard_of(Kind::Ack).len(), 8);
    assert!(bench.host.poll_event().is_some());
    bench.data(0, key(99));
    assert_eq!(bench.heard_of(Kind::Ack).len(), 9);
    let events = bench.events();
    assert!(
        matches!(&events[7], HostEvent::Message { body, .. } if *body == key(99)),
        "the repeat is delivered once there is room: {events:?}"
    );
}

#[test]
fn what_is_no_message_is_acknowledged_counted_and_dropped() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    let payloads: [&[u8]; 4] = [&[0xff; 5], &[], &[0x0d, 1, 2, 3, 4], &[0xfa, 0x01, 0x00]];
    for (payload, number) in payloads.into_iter().zip(1..) {
        bench.say(Kind::Data, number, payload);
    }
    bench.number = 5;
    bench.data(0, status(DeviceKind::Tumbler));
    bench.data(0, key(3));
    assert_eq!(bench.heard_of(Kind::Ack).len(), 6);
    assert_eq!(bench.events().len(), 1);
    let counters = bench.host.counters();
    assert_eq!((counters.no_message, counters.out_of_place), (4, 1));
}

#[test]
fn no_status_within_2_s_of_welcome_is_a_new_session() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    bench.welcome(DeviceKind::Terminal, 7);
    bench.say(Kind::Ack, 0, &[]);
    let old = bench.session;
    bench.pass(1999, Answer::Pings);
    assert_eq!(bench.session, old);
    bench.pass(1, Answer::Pings);
    assert_ne!(bench.session, old);
    assert_eq!(bench.events(), [], "it was never up");
}

#[test]
fn silence_of_3_s_takes_the_link_down_and_pings_go_out_every_second() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    bench.pass(10_000, Answer::Pings);
    assert_eq!(
        bench.times_of(Kind::Ping),
        [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000]
    );
    let old = bench.session;
    bench.pass(2999, Answer::Nothing);
    assert_eq!(bench.session, old);
    // An echo is no sign of life.
    bench.say(Kind::Ping, 0, &[]);
    bench.pass(1, Answer::Nothing);
    assert_ne!(bench.session, old);
    let events = bench.events();
    assert_eq!(events[0], HostEvent::Down(DownReason::Silent));
    assert_eq!(events[1], HostEvent::OddityBegan(Oddity::Echo));
}

#[test]
fn bytes_that_came_before_the_silence_ended_count_even_when_read_late() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    bench.ms = 3500;
    bench.say(Kind::Pong, 200, &[0; 4]);
    assert_eq!(
        bench.host.state(),
        LinkState::Up,
        "a host that was stalled must not blame the device"
    );
}

#[test]
fn reset_or_a_foreign_welcome_begins_again_a_repeated_one_does_not() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    let first = bench.session;
    bench.welcome(DeviceKind::Terminal, 7);
    assert_eq!(bench.host.state(), LinkState::Up);
    bench.session = first ^ 1;
    bench.welcome(DeviceKind::Terminal, 7);
    assert_eq!(bench.events(), [HostEvent::Down(DownReason::Restarted)]);
    bench.come_up(DeviceKind::Terminal);
    bench.say(Kind::Reset, 0, &[]);
    assert_eq!(bench.events(), [HostEvent::Down(DownReason::Restarted)]);
    bench.come_up(DeviceKind::Terminal);
    // Same session, another boot: the device has forgotten what was delivered.
    bench.welcome(DeviceKind::Terminal, 8);
    assert_eq!(bench.events(), [HostEvent::Down(DownReason::Restarted)]);
}

#[test]
fn a_wrong_device_is_told_once_and_greeted_every_10_s() {
    let mut bench = Bench::new(config(DeviceKind::Tumbler));
    bench.welcome(DeviceKind::Terminal, 7);
    assert_eq!(bench.host.state(), LinkState::WrongDevice);
    let events = bench.events();
    let [HostEvent::WrongDevice { text, .. }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        text,
        "a terminal (serial number D-1) answers on the port that is configured for a tumbler"
    );
    bench.heard.clear();
    bench.pass(10_000, Answer::Nothing);
    assert_eq!(bench.times_of(Kind::Hello), [10_000]);
    assert!(bench.times_of(Kind::Ping).is_empty());
    bench.welcome(DeviceKind::Terminal, 7);
    assert_eq!(bench.events(), [], "told once");
    bench.pass(10_000, Answer::Nothing);
    bench.come_up(DeviceKind::Tumbler);

    let mut bench = Bench::new(HostConfig {
        lamp_count: 106,
        ..config(DeviceKind::LayoutLamps)
    });
    bench.welcome(DeviceKind::LayoutLamps, 7);
    let events = bench.events();
    assert!(
        matches!(&events[..], [HostEvent::WrongDevice { text, .. }] if text.contains("50 lamps") && text.contains("106")),
        "{events:?}"
    );
}

#[test]
fn more_than_100_messages_in_2_s_is_a_noisy_link() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    let mut down = None;
    for entry in 1..=300 {
        bench.pass(15, Answer::Pings);
        bench.data(0, key(entry));
        if let Some(HostEvent::Down(reason)) = bench.events().pop() {
            down = Some((reason, entry));
            break;
        }
    }
    // The status was the first of the 100.
    assert_eq!(down, Some((DownReason::Noisy, 100)));
    assert_eq!(bench.host.state(), LinkState::Noisy);
    bench.heard.clear();
    bench.pass(9_999, Answer::Nothing);
    bench.say(Kind::Reset, 0, &[]);
    assert!(bench.heard.is_empty(), "not listened to for 10 s");
    bench.pass(1, Answer::Nothing);
    assert_eq!(bench.heard_of(Kind::Hello).len(), 1);
}

#[test]
fn one_message_every_20_ms_is_not_noise() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    for entry in 1..=300 {
        bench.pass(20, Answer::Pings);
        bench.data(0, key(entry));
        assert_eq!(bench.events().len(), 1);
    }
}

fn aged_key(bench: &mut Bench, age_ms: u32) -> (Option<Uptime>, Age) {
    let then = bench.ms_clock().wrapping_sub(age_ms);
    bench.data(then, key(1));
    match bench.events().pop() {
        Some(HostEvent::Message { happened, age, .. }) => (happened, age),
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_older_than_2_s_are_stale_when_the_clocks_can_be_related() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    assert_eq!(aged_key(&mut bench, 0), (None, Age::Fresh), "no PONG yet");
    bench.pass(20_000, Answer::Pings);
    let now = bench.ms;
    assert_eq!(aged_key(&mut bench, 0), (Some(Uptime::from_millis(now)), Age::Fresh));
    assert_eq!(
        aged_key(&mut bench, 2000),
        (Some(Uptime::from_millis(now - 2000)), Age::Fresh)
    );
    assert_eq!(
        aged_key(&mut bench, 2001),
        (Some(Uptime::from_millis(now - 2001)), Age::Stale)
    );
    assert_eq!(aged_key(&mut bench, 15_000).1, Age::Stale);
    // A clock that is a little ahead doesn't make things happen in the future.
    assert_eq!(
        aged_key(&mut bench, 0_u32.wrapping_sub(30)),
        (Some(Uptime::from_millis(now)), Age::Fresh)
    );
    assert_eq!(bench.host.counters().stale, 2);
}

#[test]
fn a_key_from_before_the_hosts_start_is_stale() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    bench.pass(1000, Answer::Pings);
    let (happened, age) = aged_key(&mut bench, 60_000);
    assert_eq!((happened, age), (Some(Uptime::ZERO), Age::Stale));
}

#[test]
fn a_device_clock_that_wraps_is_related() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    bench.pass(999, Answer::Nothing);
    bench.pass(1, Answer::Nothing);
    let ping = bench.heard_of(Kind::Ping).last().unwrap().sequence;
    bench.say(Kind::Pong, ping, &(u32::MAX - 10).to_le_bytes());
    bench.data(5, key(1));
    let events = bench.events();
    assert!(matches!(
        events[..],
        [HostEvent::Message {
            happened: Some(_),
            age: Age::Fresh,
            ..
        }]
    ));
    assert_eq!(
        bench.host.relate(bench.now(), u32::MAX - 510),
        Some(Uptime::from_millis(500))
    );
    assert_eq!(bench.host.relate(bench.now(), u32::MAX - 5_000_000), Some(Uptime::ZERO));
}

#[test]
fn slow_old_and_foreign_pongs_relate_nothing_and_a_link_without_is_reported() {
    let mut bench = Bench::up(DeviceKind::Terminal);
    for second in 1..=10 {
        let next_ping = 1000 - bench.ms % 1000;
        bench.pass(next_ping, Answer::Nothing);
        let ping = bench.heard_of(Kind::Ping).last().unwrap().sequence;
        bench.say(Kind::Pong, ping.wrapping_sub(1), &[0; 4]);
        bench.pass(200, Answer::Nothing);
        bench.say(Kind::Pong, ping, &[0; 4]);
        assert_eq!(bench.host.relate(bench.now(), 0), None, "{second}");
        let reported = bench.events() == [HostEvent::OddityBegan(Oddity::ClocksUnrelated)];
        assert_eq!(reported, second == 10, "reported after 10 s");
    }
    bench.pass(1000, Answer::Pings);
    assert_eq!(bench.events(), [HostEvent::OddityEnded(Oddity::ClocksUnrelated)]);
    // Not older than 10 s.
    let related = bench.ms;
    assert!(bench.host.relate(Uptime::from_millis(related + 9_000), 0).is_some());
    assert!(bench.host.relate(Uptime::from_millis(related + 10_001), 0).is_none());
}

#[test]
fn a_late_state_is_asked_for_anew_and_the_answer_happens_now() {
    let mut bench = Bench::up(DeviceKind::Tumbler);
    bench.pass(10_000, Answer::Pings);
    bench.heard.clear();
    let old = bench.ms_clock() - 5000;
    bench.data(old, from_device::Body::Tumbler(tumbler(Cover::Off, None)));
    assert_eq!(bench.events(), [], "it isn't taken for what is");
    assert_eq!(bench.bodies(), [to_device::Body::Status(StatusRequest {})]);
    bench.say(Kind::Ack, 1, &[]);
    // The answer says when it became so, long ago: it counts as happening now, and asks for nothing.
    bench.data(old, from_device::Body::Tumbler(tumbler(Cover::On, None)));
    let events = bench.events();
    assert!(
        matches!(
            events[..],
            [HostEvent::Message {
                happened: None,
                age: Age::Fresh,
                ..
            }]
        ),
        "{events:?}"
    );
    assert_eq!(bench.bodies().len(), 1);
    // Faults are never late.
    bench.data(
        old,
        from_device::Body::Fault(DeviceFault {
            code: 3,
            ..DeviceFault::default()
        }),
    );
    assert_eq!(bench.events().len(), 1);
    assert_eq!(bench.bodies().len(), 1);
}

#[test]
fn the_answer_is_known_even_when_the_acknowledgement_of_the_question_was_lost() {
    let mut bench = Bench::up(DeviceKind::Tumbler);
    bench.pass(10_000, Answer::Pings);
    let old = bench.ms_clock() - 5000;
    bench.data(old, from_device::Body::Tumbler(tumbler(Cover::Off, None)));
    bench.data(old, from_device::Body::Tumbler(tumbler(Cover::On, None)));
    assert_eq!(bench.events().len(), 1);
}

#[test]
fn a_reading_under_the_cover_never_comes_out() {
    let mut bench = Bench::up(DeviceKind::Tumbler);
    bench.host.set_wish(
        bench.now(),
        Wish::Tumbler(Inhibit {
            on: true,
            dice_allowed: true,
        }),
    );
    bench.data(0, from_device::Body::Tumbler(tumbler(Cover::On, Some([1, 3, 6]))));
    bench.data(
        0,
        from_device::Body::Tumbler(tumbler(Cover::Unspecified, Some([1, 3, 6]))),
    );
    let events = bench.events();
    assert_eq!(
        events
            .iter()
            .filter(|event| **event == HostEvent::ReadUnderCover)
            .count(),
        2
    );
    assert!(!format!("{events:?} {:?}", bench.host).contains("[1, 3, 6]"));
    bench.data(0, from_device::Body::Tumbler(tumbler(Cover::Off, Some([1, 3, 6]))));
    let events = bench.events();
    assert!(
        format!("{events:?}").contains("[1, 3, 6]"),
        "an uncovered reading passes"
    );
    // In the status of a greeting, too.
    bench.say(Kind::Reset, 0, &[]);
    bench.welcome(DeviceKind::Tumbler, 9);
    bench.events();
    bench.data(0, from_device::Body::Tumbler(tumbler(Cover::On, Some([1, 3, 6]))));
    let events = bench.events();
    let [
        HostEvent::ReadUnderCover,
        HostEvent::Up {
            status: Status::Tumbler(status),
            ..
        },
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(status.dice, None);
}

#[test]
fn an_open_tumbler_may_be_read_once_bets_are_closed() {
    let mut bench = Bench::up_with(HostConfig {
        tumbler: TumblerBuild::Open,
        ..config(DeviceKind::Tumbler)
    });
    let allow = |dice_allowed| {
        Wish::Tumbler(Inhibit {
            on: false,
            dice_allowed,
        })
    };
    let reading = from_device::Body::Tumbler(tumbler(Cover::Off, Some([1, 3, 6])));
    let passes = |bench: &mut Bench| {
        bench.data(0, reading.clone());
        !bench.events().contains(&HostEvent::ReadUnderCover)
    };
    assert!(!passes(&mut bench));
    bench.host.set_wish(bench.now(), allow(true));
    assert!(passes(&mut bench));
    bench.listen();
    bench.say(Kind::Ack, 1, &[]);
    bench.host.set_wish(bench.now(), allow(false));
    assert!(passes(&mut bench), "the device can't know yet");
    bench.listen();
    bench.say(Kind::Ack, 2, &[]);
    assert!(!passes(&mut bench));
}

#[test]
fn oddities_of_a_line_are_told_and_end() {
    let mut bench = Bench::new(config(DeviceKind::Terminal));
    let mut line = Vec::new();
    frame::encode(Kind::Hello, 0, &[], &mut line).unwrap();
    bench.host.handle_bytes(bench.now(), &line);
    assert_eq!(bench.events(), [HostEvent::OddityBegan(Oddity::Echo)]);
    bench.pass(11_000, Answer::Nothing);
    assert_eq!(bench.events(), [HostEvent::OddityEnded(Oddity::Echo)]);
    bench.host.handle_bytes(bench.now(), &[0x55; 600]);
    assert_eq!(bench.events(), [HostEvent::OddityBegan(Oddity::NoValidFrame)]);
    bench.say(Kind::Reset, 0, &[]);
    assert_eq!(bench.events(), [HostEvent::OddityEnded(Oddity::NoValidFrame)]);
}

/// While the line was looped an acknowledgement of our own may have passed for the device's, and the numbers of both sides may differ.
#[test]
fn when_an_echo_is_over_a_new_session_begins() {
    let mut bench = Bench::new(config(DeviceKind::LayoutLamps));
    bench.host.set_wish(bench.now(), lamps(5));
    bench.come_up(DeviceKind::LayoutLamps);
    bench.listen();
    bench.say(Kind::Ack, 1, &[]);
    bench.events();
    let mut line = Vec::new();
    frame::encode(Kind::Ping, 0, &[], &mut line).unwrap();
    for _ in 0..5 {
        bench.host.handle_bytes(bench.now(), &line);
        bench.pass(1000, Answer::Pings);
        assert_eq!(bench.heard_of(Kind::Hello).len(), 0, "it may go on");
    }
    assert_eq!(bench.events(), [HostEvent::OddityBegan(Oddity::Echo)]);
    bench.pass(2000, Answer::Pings);
    assert_eq!(bench.events(), [HostEvent::Down(DownReason::Looped)]);
    assert!(!bench.heard_of(Kind::Hello).is_empty());
    bench.come_up(DeviceKind::LayoutLamps);
    bench.listen();
    bench.say(Kind::Ack, 1, &[]);
    bench.events();
    bench.pass(20_000, Answer::Pings);
    assert_eq!(bench.events(), [HostEvent::OddityEnded(Oddity::Echo)], "once is enough");
}

#[test]
fn a_command_is_refused_while_the_link_is_not_up_and_goes_after_the_wish() {
    let spin = to_device::Body::Spin(Spin { times: 1 });
    let mut bench = Bench::new(config(DeviceKind::Tumbler));
    assert!(bench.host.command(bench.now(), spin.clone()).is_err());
    bench.come_up(DeviceKind::Tumbler);
    let wish = Wish::Tumbler(Inhibit::default());
    bench.host.command(bench.now(), spin.clone()).unwrap();
    bench.host.command(bench.now(), spin.clone()).unwrap();
    bench.host.set_wish(bench.now(), wish.clone());
    bench.listen();
    bench.say(Kind::Ack, 1, &[]);
    bench.say(Kind::Ack, 2, &[]);
    assert_eq!(bench.bodies(), [spin.clone(), wish.into(), spin]);
}

/// How far the link of a port has come when something comes in.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Far {
    Greeting,
    Welcomed,
    Up,
    /// A device of this kind answers at a port of another.
    Wrong(DeviceKind),
    /// It was up, and the device started anew.
    Restarted,
    /// It was up, and fell silent.
    Silent,
}

/// What a port lets be seen of these bytes.
fn disclosed(kind: Option<DeviceKind>, build: TumblerBuild, far: Far, line: &[u8]) -> Vec<Disclosure> {
    let mut bench = Bench::new(HostConfig {
        kind,
        tumbler: build,
        ..config(DeviceKind::Terminal)
    });
    let answers = kind.unwrap_or(DeviceKind::Terminal);
    match far {
        Far::Greeting => {}
        Far::Welcomed => bench.welcome(answers, 7),
        Far::Up => bench.come_up(answers),
        Far::Wrong(other) => bench.welcome(other, 7),
        Far::Restarted => {
            bench.come_up(answers);
            bench.say(Kind::Reset, 0, &[]);
        }
        Far::Silent => {
            bench.come_up(answers);
            bench.pass(4_000, Answer::Nothing);
        }
    }
    let mut seen = Vec::new();
    let now = bench.now();
    bench
        .host
        .handle_bytes_heard(now, line, &mut |heard| seen.push(heard.disclosure));
    seen
}

#[test]
fn what_cannot_be_read_is_shown_only_of_a_device_that_is_known_to_be_no_tumbler() {
    use DeviceKind::{LayoutLamps, ResultLights, Terminal, Tumbler};
    let reading = FromDevice {
        uptime_ms: 1,
        body: Some(from_device::Body::Tumbler(tumbler(Cover::On, Some([5, 2, 4])))),
    };
    let mut whole = Vec::new();
    frame::encode(Kind::Data, 3, &reading.encode_to_vec(), &mut whole).unwrap();
    // Its last byte but one belongs to the check, and is neither made zero nor a count of COBS.
    let mut damaged = whole.clone();
    let at = whole.len() - 2;
    damaged[at] = if damaged[at] == 0x55 { 0x2a } else { 0x55 };
    let lines: [(&str, Vec<u8>); 5] = [
        ("damaged", damaged),
        ("cut", [&whole[..whole.len() / 2], &[0]].concat()),
        ("short", vec![0, 1, 5, 0]),
        ("no encoding", vec![0, 200, 5, 2, 4, 0]),
        ("endless", [vec![7; 4096], vec![0]].concat()),
    ];
    let fars = [
        Far::Greeting,
        Far::Welcomed,
        Far::Up,
        Far::Wrong(Tumbler),
        Far::Wrong(Terminal),
        Far::Wrong(LayoutLamps),
        Far::Restarted,
        Far::Silent,
    ];
    let mut shown = 0;
    for kind in [
        None,
        Some(Tumbler),
        Some(Terminal),
        Some(LayoutLamps),
        Some(ResultLights),
    ] {
        for build in [TumblerBuild::Covered, TumblerBuild::Open] {
            for far in fars {
                if kind.is_none() && far != Far::Greeting || kind.is_some_and(|kind| far == Far::Wrong(kind)) {
                    continue;
                }
                let is_known = far == Far::Up && kind.is_some_and(|kind| kind != Tumbler);
                let expected = if is_known {
                    Disclosure::Open
                } else {
                    Disclosure::Unclear
                };
                for (what, line) in &lines {
                    let seen = disclosed(kind, build, far, line);
                    assert!(!seen.is_empty(), "{what}");
                    let is_so = seen.iter().all(|disclosure| *disclosure == expected);
                    assert!(is_so, "{what} at the port of {kind:?}, {far:?}: {seen:?}");
                    shown += usize::from(is_known);
                }
                // A whole one tells what it is, at any port.
                let seen = disclosed(kind, build, far, &whole);
                assert_eq!(seen, [Disclosure::Reading], "at the port of {kind:?}, {far:?}");
            }
        }
    }
    assert_eq!(shown, 3 * 2 * lines.len());
}
