//! Nothing of the table's page is cut without a mark, whatever the game, the fault and the terminal's size.

use super::draw::{Shown, table};
use super::worries::worries;
use crate::cli::line_advice::spoken;
use crate::cli::live::WHOLE;
use crate::cli::live::look::Look;
use crate::cli::live::testing::{self, GAMES, WIDTHS, words};
use crate::cli::status::words as table_words;
use crate::device::LinkState;
use crate::gateway::View;
use std::time::Duration;

/// Where the right side begins.
const RIGHT: usize = 57;

fn drawn(
    view: &View,
    width: u16,
    height: u16,
    chosen: Option<&str>,
    said: Option<&str>,
) -> (Vec<String>, Option<String>) {
    let shown = Shown {
        view,
        age: Duration::ZERO,
        look: Look::of_environment(),
        chosen,
        said,
    };
    let mut on_screen = None;
    let rows = testing::shown(width, height, |frame| on_screen = table(frame, &shown));
    (rows, on_screen)
}

/// What stands from one column to another in these rows, in one line.
fn part(rows: &[String], from: usize, to: usize) -> String {
    let cut = |row: &String| row.chars().skip(from).take(to - from).collect::<String>();
    words(&rows.iter().map(cut).collect::<Vec<_>>().join("\n"))
}

fn is_whole(view: &View, width: u16, height: u16, what: &str) {
    let (rows, chosen) = drawn(view, width, height, None, None);
    let page = || format!("{what} at {width}x{height}:\n{}", rows.join("\n"));
    let all = part(&rows, 0, usize::from(width));
    assert!(all.contains(table_words::play(view)), "{}", page());
    let (left, right) = (part(&rows[2..], 0, RIGHT), part(&rows[2..], RIGHT, usize::from(width)));
    let situation = &view.table.situation;
    let next = situation
        .possible
        .iter()
        .map(|possible| format!("now: {}", possible.text));
    for said in next.chain(situation.deadlines.iter().map(|deadline| deadline.what.clone())) {
        assert!(
            left.contains(&said) || left.contains("more: Enter"),
            "{said:?}, {}",
            page()
        );
    }
    for link in &view.links {
        let (kind, state) = (link.kind.word(), link.state.word());
        let said = match link.state {
            LinkState::Up => format!("{kind} up 123.4 ms"),
            LinkState::Greeting | LinkState::Silent | LinkState::Down => {
                format!("{kind} {} {}", state.to_uppercase(), spoken(link.at_us))
            }
        };
        assert!(right.contains(&said), "{said:?}, {}", page());
    }
    let bad: u64 = view
        .links
        .iter()
        .map(|link| link.counts.crc_errors + link.counts.noise)
        .max()
        .unwrap();
    let is_up = view.links.iter().all(|link| link.state == LinkState::Up);
    assert!(!is_up || right.contains(&format!("{bad} bad")), "{}", page());
    for said in [
        "backlog 1234567, 1234 in flight",
        "journal event 1234567",
        "1234567 MB free",
    ] {
        assert!(right.contains(said), "{said:?}, {}", page());
    }
    let all_worries = worries(view);
    for worry in &all_worries {
        let said = words(&worry.text);
        let start: String = said.chars().take(24).collect();
        assert!(
            all.contains(&said) || all.contains("more line") || all.contains("..."),
            "{said:?}, {}",
            page()
        );
        if chosen.as_ref() == Some(&worry.key) {
            assert!(
                all.contains(&format!("> {start}")),
                "the chosen one: {start:?}, {}",
                page()
            );
        }
    }
    assert_eq!(chosen.is_some(), !all_worries.is_empty());
}

#[test]
fn nothing_is_cut_without_a_mark_at_any_width() {
    for game in GAMES {
        let sound = testing::view(game);
        let (_, everything) = testing::worries(&sound).pop().unwrap();
        for width in WIDTHS.filter(|width| *width >= WHOLE.width) {
            is_whole(&sound, width, 24, game.0);
            is_whole(&everything, width, 24 + width % 30, game.0);
        }
        for (what, view) in testing::worries(&sound) {
            is_whole(&view, 80, 24, &format!("{} {what}", game.0));
        }
    }
}

#[test]
fn every_phase_is_whole_whenever_it_began() {
    for game in GAMES {
        for phase in [
            "ready", "tumbling", "betting", "closed", "landed", "entered", "select", "choice", "decide",
        ] {
            for since in [None, Some(0)] {
                let mut view = testing::view(game);
                view.table.state.phase = phase.into();
                view.table.phase_since_ms = since;
                let (rows, _) = drawn(&view, 80, 24, None, None);
                let all = words(&rows.join("\n"));
                let clock = match since {
                    None => "since before the daemon's start",
                    Some(_) => "2:03:05",
                };
                assert!(
                    all.contains(table_words::play(&view)) && all.contains(clock),
                    "{}",
                    rows.join("\n")
                );
            }
        }
    }
}

#[test]
fn what_a_key_would_act_on_is_in_sight_whatever_is_said_below_it() {
    let answers = [
        None,
        Some("broker_unreachable: Acknowledged."),
        Some(
            "acts need a name\nroot acts for somebody: add --by NAME, and say it again, and again, and again, and again, and again",
        ),
    ];
    for game in [GAMES[1], GAMES[2], GAMES[6]] {
        let sound = testing::view(game);
        let (_, view) = testing::worries(&sound).pop().unwrap();
        for worry in worries(&view) {
            for said in answers {
                let (rows, chosen) = drawn(&view, 80, 24, Some(&worry.key), said);
                assert_eq!(chosen.as_ref(), Some(&worry.key));
                let start: String = worry.text.chars().take(24).collect();
                let page = rows.join("\n");
                assert!(
                    page.contains(&format!("\n> {start}")),
                    "{start:?} is not in sight:\n{page}"
                );
                let told = said
                    .map(|said| said.chars().take(16).collect::<String>())
                    .unwrap_or_default();
                assert!(page.contains(&told), "{told:?} is not said:\n{page}");
            }
        }
    }
}
