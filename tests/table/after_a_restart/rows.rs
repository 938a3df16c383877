//! The page's rows as data: where it stopped, what happened while nobody looked, what it becomes.

use super::*;

/// A row: where it stopped, what happened while nobody looked, what it becomes.
struct Row {
    stopped_in: &'static str,
    before: fn(&mut Scene),
    meanwhile: fn(&mut Scene),
    phase: &'static str,
    held: RoundHeldCause,
    /// Since the start, without devices' greetings and confirmed lamps.
    events: &'static [&'static str],
    /// What people do next, to show that the round goes on.
    then: fn(&mut Scene),
}

const NOT_HELD: RoundHeldCause = RoundHeldCause::Unspecified;

fn rows() -> Vec<Row> {
    vec![
        Row {
            stopped_in: "ready, at rest",
            before: nothing,
            meanwhile: nothing,
            phase: "ready",
            held: NOT_HELD,
            events: &[],
            then: |s| {
                s.reach_betting();
                rest_of_the_round(s);
            },
        },
        Row {
            stopped_in: "ready, spun while away",
            before: nothing,
            meanwhile: |s| s.tumbler.spins += 3,
            phase: "ready",
            held: NOT_HELD,
            events: &[],
            then: |s| {
                s.wait(10_000);
                s.expect_phase("ready");
                s.spin(2);
                s.wait(5000);
                s.expect_phase("tumbling");
                s.spin(1);
                s.wait(3500);
                rest_of_the_round(s);
            },
        },
        Row {
            stopped_in: "betting, cover on, counts equal",
            before: Scene::reach_betting,
            meanwhile: nothing,
            phase: "betting",
            held: NOT_HELD,
            events: &[],
            then: rest_of_the_round,
        },
        Row {
            stopped_in: "betting, cover on, bell while away",
            before: Scene::reach_betting,
            meanwhile: ring,
            phase: "closed",
            held: NOT_HELD,
            events: &["BetsClosed heard away"],
            then: |s| {
                s.uncover();
                enter_and_settle(s);
            },
        },
        Row {
            stopped_in: "betting, cover off, bell while away",
            before: Scene::reach_betting,
            meanwhile: |s| {
                ring(s);
                off(s);
            },
            phase: "landed",
            held: NOT_HELD,
            events: &["BetsClosed heard away", "DiceUncovered seen away"],
            then: enter_and_settle,
        },
        Row {
            stopped_in: "betting, cover off",
            before: Scene::reach_betting,
            meanwhile: off,
            phase: "betting",
            held: RoundHeldCause::ExposedEarly,
            events: &["RoundHeld EXPOSED_EARLY"],
            then: |s| {
                resume(s);
                enter_and_settle(s);
            },
        },
        Row {
            stopped_in: "closed, cover on",
            before: Scene::reach_closed,
            meanwhile: nothing,
            phase: "closed",
            held: NOT_HELD,
            events: &[],
            then: |s| {
                s.uncover();
                enter_and_settle(s);
            },
        },
        Row {
            stopped_in: "closed, cover off",
            before: Scene::reach_closed,
            meanwhile: off,
            phase: "landed",
            held: NOT_HELD,
            events: &["DiceUncovered seen away"],
            then: enter_and_settle,
        },
        Row {
            stopped_in: "landed, cover off",
            before: Scene::reach_landed,
            meanwhile: nothing,
            phase: "landed",
            held: NOT_HELD,
            events: &[],
            then: enter_and_settle,
        },
        Row {
            stopped_in: "landed, cover on",
            before: Scene::reach_landed,
            meanwhile: |s| s.tumbler.cover = Cover::On,
            phase: "landed",
            held: NOT_HELD,
            events: &[],
            then: enter_and_settle,
        },
        Row {
            stopped_in: "entered",
            before: |s| s.reach_entered(&[1, 3, 6]),
            meanwhile: |s| s.lamps.lit.clear(),
            phase: "entered",
            held: NOT_HELD,
            events: &[],
            then: |s| {
                s.expect_lit([1, 3, 6]);
                assert_eq!(s.lamps.lit, s.table.indicators().lamps.lit, "commanded again");
                s.settle();
            },
        },
        Row {
            stopped_in: "betting, counts differ",
            before: Scene::reach_betting,
            meanwhile: moved,
            phase: "betting",
            held: RoundHeldCause::ActivityWhileAway,
            events: &["RoundHeld ACTIVITY_WHILE_AWAY"],
            then: |s| {
                resume(s);
                rest_of_the_round(s);
            },
        },
        Row {
            stopped_in: "closed, counts differ",
            before: Scene::reach_closed,
            meanwhile: moved,
            phase: "closed",
            held: RoundHeldCause::ActivityWhileAway,
            events: &["RoundHeld ACTIVITY_WHILE_AWAY"],
            then: |s| {
                resume(s);
                s.uncover();
                enter_and_settle(s);
            },
        },
        Row {
            stopped_in: "landed, counts differ",
            before: Scene::reach_landed,
            meanwhile: moved,
            phase: "landed",
            held: RoundHeldCause::ActivityWhileAway,
            events: &["RoundHeld ACTIVITY_WHILE_AWAY"],
            then: |s| {
                resume(s);
                enter_and_settle(s);
            },
        },
        Row {
            stopped_in: "entered, counts differ",
            before: |s| s.reach_entered(&[1, 3, 6]),
            meanwhile: moved,
            phase: "entered",
            held: RoundHeldCause::ActivityWhileAway,
            events: &["RoundHeld ACTIVITY_WHILE_AWAY"],
            then: |s| {
                s.expect_lit([1, 3, 6]);
                resume(s);
                s.wait(1000);
                s.settle();
            },
        },
        Row {
            stopped_in: "betting, cover off and counts differ: the lower row counts",
            before: Scene::reach_betting,
            meanwhile: |s| {
                off(s);
                moved(s);
            },
            phase: "betting",
            held: RoundHeldCause::ActivityWhileAway,
            events: &["RoundHeld ACTIVITY_WHILE_AWAY"],
            then: |s| s.operator(OperatorAct::Void { reason: None }),
        },
    ]
}

#[test]
fn each_row_of_the_page() {
    for row in rows() {
        println!("{}", row.stopped_in);
        play(|s| {
            (row.before)(s);
            s.wait(1000);
            s.stop();
            s.now += 2_000_000;
            (row.meanwhile)(s);
            s.now += 3_000_000;
            s.start_again();
            s.forget();
            s.greet_all();
            s.wait(1000);
            let got = s.fresh_without(&["DeviceOnline", "LayoutLit"]);
            let expected = row.events;
            assert_eq!(
                got.len(),
                expected.len(),
                "{}: {got:?} against {expected:?}",
                row.stopped_in
            );
            for (line, words) in expected.iter().zip(&got) {
                assert!(
                    line.split(' ').all(|word| words.iter().any(|w| w == word)),
                    "{}: {line} against {words:?}",
                    row.stopped_in
                );
            }
            s.expect_phase(row.phase);
            s.expect_held(row.held);
            (row.then)(s);
        });
    }
}
