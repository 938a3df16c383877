//! What tests of the views share: tables in every game with everything wrong that can be, and a terminal to draw them on.

use crate::device::{
    Counts, Identity, Kind, LastFault, LinkReport, LinkState, LongestSilence, Poor, RoundTrip, RoundTripEver,
};
use crate::gateway::{RoundEnd, RoundView, View, testing};
use crate::table::event::TableLockedReason;
use crate::table::view::{AlertLine, DeadlineLine, LockLine, Possible, TwoUpView};
use crate::uplink::UplinkReport;
use ratatui::backend::TestBackend;
use ratatui::{Frame, Terminal};

/// The widths of terminals that people have; the view says that it needs more, or shows all.
pub const WIDTHS: std::ops::RangeInclusive<u16> = 60..=200;

/// The rows of a terminal after something is drawn on it.
pub fn shown(width: u16, height: u16, paint: impl FnOnce(&mut Frame<'_>)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(paint).unwrap();
    let cells = terminal.backend().buffer().content();
    let rows = cells.chunks(usize::from(width));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect()).collect()
}

/// All words in one line.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every game, with its style and layout.
pub const GAMES: [(&str, Option<&str>, &str); 7] = [
    ("tai-sai", Some("A"), "appendix-1"),
    ("tai-sai", Some("A"), "appendix-2"),
    ("tai-sai", Some("B"), "appendix-2"),
    ("sic-bo", Some("covered"), ""),
    ("sic-bo", Some("open"), ""),
    ("two-up-dice", None, ""),
    ("triple-penny-two-up", Some("B"), ""),
];

/// A table of this game in a round, with results, much to do, and nothing wrong.
pub fn view((game, style, layout): (&str, Option<&str>, &str)) -> View {
    let mut table = testing::view();
    table.game = game.into();
    table.style = style.map(Into::into);
    table.layout = layout.into();
    table.uptime_ms = 7_385_000;
    table.clock = crate::table::event::ClockQuality::Synchronised;
    table.state.mode = "open".into();
    table.state.phase = "ready".into();
    table.state.round_id = 123_456;
    table.journal.seqno = 1_234_567;
    table.journal.free_mb = Some(1_234_567);
    table.situation.lamps_read_back = Some(true);
    table.situation.lamps = Some("fault_declared".into());
    let is_two_up = game.contains("two-up");
    let kinds: &[Kind] = match (game, style) {
        _ if is_two_up => &[Kind::Terminal, Kind::Lights],
        ("tai-sai", Some("B")) => &[Kind::Terminal, Kind::Lamps],
        _ => &[Kind::Tumbler, Kind::Terminal, Kind::Lamps],
    };
    let (lit, rounds) = match is_two_up {
        true => (
            ["heads_1", "tails_2"],
            vec![two_up_round(RoundEnd::SpinnerWon), two_up_round(RoundEnd::Abandoned)],
        ),
        false => (
            ["big", "double_6"],
            vec![round(RoundEnd::Settled), round(RoundEnd::Void("a_not_flat".into()))],
        ),
    };
    table.state.lit = lit.map(Into::into).into();
    table.rounds.ended = rounds.into_iter().cycle().take(20).collect();
    table.situation.two_up = is_two_up.then(|| TwoUpView {
        spinner: Some("dealer_for_player".into()),
        wager: Some("heads".into()),
        outcome: Some("triple_tails".into()),
        heads: 2,
        tails: 3,
        odds_run: 4,
        invalid_run: 2,
        missing: 1,
        cards: vec!["heads_2".into(), "tails_1".into(), "odds_5".into()],
    });
    table.situation.deadlines = [
        "bets open",
        "the uncovered dice are judged",
        "the supervisor key's authority ends",
    ]
    .map(|what| DeadlineLine {
        what: what.into(),
        at_uptime_ms: 7_400_000,
    })
    .into();
    table.situation.possible = POSSIBLE
        .map(|(command, text)| Possible {
            command: command.into(),
            text: text.into(),
        })
        .into();
    View {
        table,
        links: kinds.iter().map(|kind| sound(*kind)).collect(),
        uplink: Some(UplinkReport {
            backlog: 1_234_567,
            in_flight: 1234,
            ..UplinkReport::default()
        }),
    }
}

/// As tables say it, the longest among them.
const POSSIBLE: [(&str, &str); 6] = [
    (
        "round settle",
        "Collect losing wagers, pay winning ones, then press ENTER.",
    ),
    (
        "round result",
        "The terminal can't: a supervisor enters the result with a reason.",
    ),
    (
        "round void",
        "Void the round that was begun with another game, and close the table.",
    ),
    ("round offer", "Record to which seat the dice are offered."),
    ("unlock", "End the locks: rectified, or what is done instead."),
    ("round incident", "Record an incident."),
];

fn round(end: RoundEnd) -> RoundView {
    RoundView {
        round_id: 123_455,
        faces: vec![6, 6, 6],
        amended: true,
        end: Some(end),
        ..RoundView::default()
    }
}

fn two_up_round(end: RoundEnd) -> RoundView {
    let mut round = RoundView {
        round_id: 123_455,
        end: Some(end),
        ..RoundView::default()
    };
    let spins = [
        "heads",
        "odds",
        "triple_tails",
        "triple_heads",
        "tails",
        "odds",
        "odds",
        "triple_heads",
    ];
    round.two_up = Some(crate::gateway::TwoUpRound {
        spins: spins.map(Into::into).into(),
        ..Default::default()
    });
    round
}

/// A line that works and has much behind it.
pub fn sound(kind: Kind) -> LinkReport {
    let mut link = LinkReport::new(
        kind,
        format!(
            "/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-{}-if00-port0",
            kind.word()
        ),
    );
    link.resolved = Some("/dev/ttyUSB12".into());
    link.state = LinkState::Up;
    link.at_us = 7_385_000_000;
    link.identity = Some(Identity {
        serial_number: "SN-2026-00042".into(),
        firmware: "12.34.56-rc1".into(),
        boot_id: 7,
        lamp_count: 0,
        firmware_sha256: String::new(),
    });
    link.round_trip = Some(RoundTrip {
        p50_us: 123_456,
        p99_us: 1_599_900,
        max_us: 1_700_000,
    });
    link.round_trip_ever = Some(RoundTripEver {
        count: 7384,
        p50_us: 1280,
        p99_us: 16_384,
        max_us: 4_500_000,
    });
    link.drift = Some(crate::device::Drift {
        ppm: -1234,
        over_s: 987_654,
    });
    link.heard_us = Some(7_384_600_000);
    link.longest_silence = Some(LongestSilence {
        lasted_us: 104_000_000,
        ended_us: 7_000_000,
    });
    link.counts = Counts {
        crc_errors: 123_456,
        noise: 7890,
        ..Counts::default()
    };
    link
}

/// The same in `state`, with every fault that a line can have.
pub fn poor(kind: Kind, state: LinkState) -> LinkReport {
    let mut link = sound(kind);
    link.state = state;
    link.text = format!("{} is held by a-program-with-a-long-name (pid 1234567)", link.port);
    link.poor = Some(Poor {
        since_us: 0,
        damaged: 12_345,
        repeats: 6789,
        lost: 12,
    });
    link.last_fault = Some(LastFault {
        what: "1203 CRC errors, 17 pieces of noise, 12 resets of the device, 3 frames sent again, unanswered".into(),
        at_us: 7_380_000_000,
    });
    link.counts = Counts {
        crc_errors: 1_234_567,
        noise: 234_567,
        resets: 1234,
        repeats_in: 4567,
        repeats_out: 5678,
        out_dropped: 789,
        opened: 1234,
        ..Counts::default()
    };
    link
}

/// A text as long as alerts and locks have them at most.
fn long() -> String {
    "area small (bit 0, output 1) stays dark: settle by the dice; have the lamps rectified. ".repeat(2)
}

/// One of every lock, alert and link that isn't in order; by name.
pub fn worries(sound: &View) -> Vec<(String, View)> {
    let mut all = Vec::new();
    let mut add = |name: String, change: &dyn Fn(&mut View)| {
        let mut view = sound.clone();
        change(&mut view);
        all.push((name, view));
    };
    for reason in (1..100).filter_map(|number| TableLockedReason::try_from(number).ok()) {
        let name = reason
            .as_str_name()
            .trim_start_matches("TABLE_LOCKED_REASON_")
            .to_ascii_lowercase();
        for kind in ["freeze", "hold_next"] {
            let lock = LockLine {
                reason: name.clone(),
                kind: kind.into(),
                text: long(),
            };
            add(format!("lock {name} {kind}"), &|view| {
                view.table.situation.locks.push(lock.clone())
            });
        }
    }
    for name in crate::table::alert::Name::ALL {
        for (over, acknowledged) in [(false, false), (false, true), (true, false)] {
            let alert = AlertLine {
                alert: name.as_str().into(),
                text: long(),
                acknowledged,
                over,
                since_unix_ms: 1_700_000_000_000,
                times: 12,
            };
            add(format!("alert {}", alert.alert), &|view| {
                view.table.situation.alerts.push(alert.clone())
            });
        }
    }
    for held in ["exposed_early", "tumbler_short", "no_spin", "dice_differ"] {
        add(format!("held {held}"), &|view| {
            view.table.state.held = Some(held.into())
        });
    }
    add("fault".into(), &|view| view.table.fault = Some(long()));
    for state in [LinkState::Up, LinkState::Greeting, LinkState::Silent, LinkState::Down] {
        add(format!("links {}", state.word()), &|view| {
            view.links = view.links.iter().map(|link| poor(link.kind, state)).collect();
        });
    }
    add("lamps away".into(), &|view| view.table.situation.lamps_read_back = None);
    let mut together = sound.clone();
    for (_, view) in &all {
        together
            .table
            .situation
            .locks
            .extend(view.table.situation.locks.iter().cloned());
        let raised = view
            .table
            .situation
            .alerts
            .iter()
            .filter(|alert| !alert.over && !alert.acknowledged);
        together.table.situation.alerts.extend(raised.cloned());
    }
    all.push(("everything".into(), together));
    all
}
