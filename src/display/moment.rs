//! From the gateway's view to a picture. What the view doesn't say can't be shown.

use super::picture::{GameEnd, Lights, Moment, Picture, Round, Shown, Spun};
use crate::gateway::{RoundEnd, RoundView, TableView};
use crate::table::input::Outcome;
use crate::table::view::TwoUpView;

impl Picture {
    /// What the display shows of this view, with at most `results` ended rounds.
    #[must_use]
    pub fn of(view: &TableView, results: usize) -> Picture {
        Picture {
            table: view.table.clone(),
            game: match view.game.as_str() {
                "tai-sai" => "Tai-sai".to_owned(),
                "sic-bo" => "Sic-bo".to_owned(),
                "two-up-dice" => "Two-up".to_owned(),
                "triple-penny-two-up" => "Triple penny two-up".to_owned(),
                other => other.to_owned(),
            },
            moment: moment(view),
            spun: view.situation.two_up.as_ref().map(|two_up| spun(two_up, &view.game)),
            rounds: view.rounds.ended.iter().filter_map(ended).take(results).collect(),
        }
    }
}

fn moment(view: &TableView) -> Moment {
    if view.fault.is_some() {
        return Moment::OutOfOrder;
    }
    let state = &view.state;
    match state.mode.as_str() {
        "closed" => return Moment::Closed,
        "opening" => return Moment::Opening,
        "test" => return Moment::Test,
        "open" => {}
        _ => return Moment::OutOfOrder,
    }
    if state.locks.iter().any(|lock| lock.kind == "freeze") {
        return Moment::Stopped;
    }
    if state.held.is_some() {
        return Moment::Held;
    }
    match state.phase.as_str() {
        "tumbling" => Moment::Tumbling,
        "select" => Moment::Offered,
        "choice" => Moment::SpinnerChooses,
        "decide" => Moment::SpinnerDecides,
        "betting" => Moment::BetsOpen,
        "closed" | "landed" => Moment::NoMoreBets,
        "entered" => match view.rounds.running.as_ref().and_then(faces) {
            Some(faces) => Moment::Result { faces },
            None => Moment::NoMoreBets,
        },
        // Between rounds the last one's end is news until the next begins.
        _ => match view.rounds.ended.iter().find_map(ended).map(|round| round.shown) {
            Some(Shown::Result { faces, .. }) => Moment::LastResult { faces },
            Some(Shown::Void) => Moment::Void,
            Some(Shown::Game { .. }) | None => Moment::Waiting,
        },
    }
}

/// A round that players may be shown; one that was abandoned had no result.
fn ended(round: &RoundView) -> Option<Round> {
    let shown = match round.end.as_ref()? {
        RoundEnd::Settled => Shown::Result {
            faces: faces(round)?,
            amended: round.amended,
        },
        RoundEnd::Void(_) => Shown::Void,
        RoundEnd::SpinnerWon => game(round, GameEnd::Won),
        RoundEnd::SpinnerLost => game(round, GameEnd::Lost),
        RoundEnd::Decided => game(round, GameEnd::House),
        RoundEnd::Abandoned | RoundEnd::Returned => return None,
    };
    Some(Round {
        round_id: round.round_id,
        shown,
    })
}

fn game(round: &RoundView, end: GameEnd) -> Shown {
    let spins = round.two_up.as_ref().map_or(&[][..], |game| &game.spins);
    let last = spins.last().and_then(|name| Outcome::from_name(name));
    Shown::Game { end, last }
}

fn spun(two_up: &TwoUpView, game: &str) -> Spun {
    let row = |name, of, on| Lights { name, of, on };
    let rows = match game {
        "two-up-dice" => vec![
            row("Heads", 3, two_up.heads),
            row("Tails", 3, two_up.tails),
            row("Odds", 5, two_up.odds_run),
        ],
        // With coins the result of the last spin is all that has to be shown.
        _ => Vec::new(),
    };
    Spun {
        outcome: two_up.outcome.as_deref().and_then(Outcome::from_name),
        rows,
        cards: two_up.cards.clone(),
    }
}

/// Three faces, or nothing: half a result is none.
fn faces(round: &RoundView) -> Option<[u8; 3]> {
    let face = |face: &u32| u8::try_from(*face).ok().filter(|face| (1..=6).contains(face));
    let faces: Option<Vec<u8>> = round.faces.iter().map(face).collect();
    faces?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{LockView, testing};

    fn round(round_id: u64, faces: &[u32], end: Option<RoundEnd>) -> RoundView {
        RoundView {
            round_id,
            faces: faces.to_vec(),
            end,
            ..RoundView::default()
        }
    }

    fn check(change: impl FnOnce(&mut TableView), expected: &Moment) {
        let mut view = testing::view();
        view.state.mode = "open".into();
        change(&mut view);
        assert_eq!(Picture::of(&view, 20).moment, *expected);
    }

    #[test]
    fn every_state_has_its_moment() {
        check(|view| view.state.phase = "betting".into(), &Moment::BetsOpen);
        check(|view| view.state.phase = "landed".into(), &Moment::NoMoreBets);
        check(|view| view.state.mode = "closed".into(), &Moment::Closed);
        check(|view| view.fault = Some("disk".into()), &Moment::OutOfOrder);
        check(|view| view.state.mode = "self_test".into(), &Moment::OutOfOrder);
        check(|view| view.state.held = Some("not_flat".into()), &Moment::Held);
        check(
            |view| {
                view.state.locks.push(LockView {
                    kind: "freeze".into(),
                    reason: "seal".into(),
                });
            },
            &Moment::Stopped,
        );
        check(
            |view| {
                view.state.phase = "entered".into();
                view.rounds.running = Some(round(1, &[1, 3, 6], None));
            },
            &Moment::Result { faces: [1, 3, 6] },
        );
        check(
            |view| view.rounds.ended = vec![round(1, &[], Some(RoundEnd::Void("not_stated".into())))],
            &Moment::Void,
        );
        check(
            |view| view.rounds.ended = vec![round(1, &[2, 2, 5], Some(RoundEnd::Settled))],
            &Moment::LastResult { faces: [2, 2, 5] },
        );
        check(
            |view| {
                view.state.phase = "entered".into();
                view.rounds.running = Some(round(1, &[1, 3, 7], None));
            },
            &Moment::NoMoreBets,
        );
        check(|view| view.state.phase = "ready".into(), &Moment::Waiting);
    }

    #[test]
    fn a_two_up_table_shows_its_last_result_and_its_lights_in_every_moment() {
        let mut view = testing::view();
        view.game = "two-up-dice".into();
        view.state.mode = "open".into();
        view.situation.two_up = Some(TwoUpView {
            outcome: Some("odds".into()),
            heads: 1,
            odds_run: 2,
            cards: vec!["odds_2".into()],
            ..TwoUpView::default()
        });
        for (phase, moment) in [
            ("select", Moment::Offered),
            ("betting", Moment::BetsOpen),
            ("closed", Moment::NoMoreBets),
            ("decide", Moment::SpinnerDecides),
        ] {
            view.state.phase = phase.into();
            let picture = Picture::of(&view, 20);
            assert_eq!(picture.moment, moment);
            let spun = picture.spun.unwrap();
            assert_eq!(spun.outcome, Some(Outcome::Odds));
            let on: Vec<_> = spun.rows.iter().map(|row| (row.on, row.of)).collect();
            assert_eq!(on, [(1, 3), (0, 3), (2, 5)]);
        }
        view.game = "triple-penny-two-up".into();
        assert_eq!(Picture::of(&view, 20).spun.unwrap().rows, []);
        let mut won = round(7, &[], Some(RoundEnd::SpinnerWon));
        won.two_up.get_or_insert_default().spins = vec!["tails".into(), "triple_heads".into()];
        view.rounds.ended = vec![round(8, &[], Some(RoundEnd::Returned)), won];
        let rounds = Picture::of(&view, 20).rounds;
        let last = Some(Outcome::TripleHeads);
        let end = GameEnd::Won;
        assert_eq!(
            rounds,
            [Round {
                round_id: 7,
                shown: Shown::Game { end, last }
            }]
        );
    }

    #[test]
    fn ended_rounds_are_shown_as_they_ended_and_abandoned_ones_are_not() {
        let mut view = testing::view();
        view.rounds.ended = vec![
            round(3, &[], Some(RoundEnd::Abandoned)),
            round(2, &[], Some(RoundEnd::Void("a_not_flat".into()))),
            round(1, &[2, 2, 5], Some(RoundEnd::Settled)),
        ];
        let shown = Picture::of(&view, 20).rounds;
        let amended = false;
        let faces = [2, 2, 5];
        assert_eq!(
            shown,
            [
                Round {
                    round_id: 2,
                    shown: Shown::Void
                },
                Round {
                    round_id: 1,
                    shown: Shown::Result { faces, amended }
                },
            ]
        );
        assert_eq!(Picture::of(&view, 1).rounds.len(), 1);
    }
}
