//! Modes: which follows which, and what each takes.

use super::*;

#[test]
fn closed_opening_open_closed() {
    let mut s = Scene::unstarted(config());
    s.start();
    assert_eq!(s.state().mode(), Mode::Closed);
    s.greet_all();
    s.operator(OperatorAct::BeginOpening);
    assert_eq!(s.state().mode(), Mode::Opening);
    s.operator(OperatorAct::AbandonOpening);
    assert_eq!(s.state().mode(), Mode::Closed);
    s.open();
    s.operator(OperatorAct::Close);
    assert_eq!(s.state().mode(), Mode::Closed);
    crate::recovery::check(&s);
}

#[test]
fn test_is_entered_from_closed() {
    play_with(config(), |s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.expect_done();
        assert_eq!(s.state().mode(), Mode::Test);
        s.expect_events(&["TestModeEntered by:technician"]);
        s.act_as(technician(), OperatorAct::LeaveTest);
        assert_eq!(s.state().mode(), Mode::Closed);
        s.expect_events(&["TestModeLeft"]);
    });
}

#[test]
fn test_is_entered_between_rounds() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.expect_done();
        s.act_as(technician(), OperatorAct::LeaveTest);
        assert_eq!(s.state().mode(), Mode::Open);
    });
}

#[test]
fn test_is_entered_at_no_other_moment() {
    play(|s| {
        for to in [
            |s: &mut Scene| s.spin(1),
            Scene::reach_betting,
            Scene::reach_closed,
            Scene::reach_landed,
            |s: &mut Scene| {
                s.reach_entered(&[1, 2, 3]);
            },
        ] {
            to(s);
            s.forget();
            s.act_as(technician(), OperatorAct::EnterTest);
            s.expect_refused();
            s.expect_no_events();
            s.operator(OperatorAct::Void { reason: None });
            s.cover();
        }
    });
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.act_as(technician(), OperatorAct::EnterTest);
        s.expect_refused();
    });
}

#[test]
fn test_ends_with_the_connection_that_asked_for_it() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.forget();
        s.feed(Input::OperatorGone {
            connection: supervisor().connection,
        });
        s.expect_no_events();
        assert_eq!(s.state().mode(), Mode::Test);
        s.feed(Input::OperatorGone {
            connection: technician().connection,
        });
        s.expect_events(&["TestModeLeft"]);
        assert_eq!(s.state().mode(), Mode::Open);
    });
}

#[test]
fn test_ends_at_every_start() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.restart();
        assert_eq!(s.state().mode(), Mode::Open);
        assert!(
            s.events
                .iter()
                .any(|r| matches!(r.event.body, Some(Body::TestModeLeft(_))))
        );
    });
}

#[test]
fn test_results_never_become_game_results() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.forget();
        s.spin(3);
        s.wait(5000);
        s.bell();
        s.uncover();
        s.key_in(&[1, 3, 6]);
        s.expect_no_events();
        assert_eq!(s.state().round_id, 0);
        s.cover();
        s.act_as(technician(), OperatorAct::LeaveTest);
        s.wait(10_000);
        s.expect_events(&["TestModeLeft"]);
        s.expect_phase("ready");
    });
}

#[test]
fn close_between_rounds() {
    play(|s| {
        s.operator(OperatorAct::Close);
        s.expect_done();
        s.expect_events(&["TableClosed by:supervisor round:0"]);
    });
}

#[test]
fn close_before_the_bell_gives_the_bets_back() {
    play(|s| {
        for to in [|s: &mut Scene| s.spin(2), Scene::reach_betting] {
            to(s);
            s.forget();
            s.operator(OperatorAct::Close);
            s.expect_done();
            s.expect_events(&["RoundAbandoned by:supervisor", "TableClosed"]);
            s.expect_dark();
            s.open();
        }
    });
}

#[test]
fn close_after_the_bell_is_refused() {
    play(|s| {
        for to in [Scene::reach_closed, Scene::reach_landed, |s: &mut Scene| {
            s.reach_entered(&[1, 2, 3])
        }] {
            to(s);
            s.forget();
            s.operator(OperatorAct::Close);
            s.expect_refused();
            s.expect_no_events();
            s.operator(OperatorAct::Void { reason: None });
            s.cover();
        }
    });
}

#[test]
fn opening_takes_test_entries_as_checks_never_as_results() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.forget();
        for faces in [[1, 1, 1], [2, 3, 4], [4, 6, 6]] {
            s.key_in(&faces);
            s.expect_lit(faces);
            s.wait(1500);
        }
        s.expect_no_events();
        s.operator(OperatorAct::AbandonOpening);
        s.expect_dark();
    });
}

#[test]
fn opening_ends_with_its_connection() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.feed(Input::OperatorGone {
            connection: supervisor().connection,
        });
        assert_eq!(s.state().mode(), Mode::Closed);
    });
}

#[test]
fn keys_at_a_closed_table_are_told_so() {
    play_with(config(), |s| {
        s.key_in(&[1, 3, 6]);
        s.expect_readout("CLO");
        s.expect_no_events();
    });
}

#[test]
fn keys_in_test_are_told_so() {
    play(|s| {
        s.act_as(technician(), OperatorAct::EnterTest);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_readout("TST");
        s.expect_no_events();
    });
}

#[test]
fn keys_at_a_frozen_table_are_told_so() {
    play(|s| {
        s.reach_landed();
        s.contact(Contact::CabinetDoor, false);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_readout("LOC");
        s.expect_no_events();
    });
}
