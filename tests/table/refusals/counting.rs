//! How often a refusal is recorded.

use super::*;

#[test]
fn equal_refusals_of_ten_seconds_give_one_event_with_their_number() {
    play(|s| {
        s.reach_landed();
        s.forget();
        for _ in 0..4 {
            s.key_in(&[1]);
            s.wait(1000);
        }
        s.expect_events(&["EntryRejected E02 1 x1"]);
        s.wait(10_000);
        s.expect_events(&["EntryRejected E02 1 x3"]);
        s.wait(20_000);
        s.expect_no_events();
        s.key_in(&[1]);
        s.expect_events(&["EntryRejected E02 1 x1"]);
    });
}

#[test]
fn a_single_one_has_no_second_event() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.key_in(&[1]);
        s.wait(30_000);
        s.expect_events(&["EntryRejected E02 1 x1"]);
    });
}

#[test]
fn other_keys_are_another_refusal() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.key_in(&[1]);
        s.key_in(&[2]);
        s.expect_events(&["EntryRejected E02 1 x1", "EntryRejected E02 2 x1"]);
    });
}

#[test]
fn the_rounds_end_writes_it_early() {
    play(|s| {
        s.reach_landed();
        for _ in 0..3 {
            s.key_in(&[1]);
        }
        s.forget();
        s.operator(OperatorAct::Void { reason: None });
        s.expect_events(&["EntryRejected E02 1 x2 round:1", "RoundVoided round:1"]);
        s.expect_one_append(2);
    });
}

#[test]
fn a_stop_writes_it_early() {
    play(|s| {
        s.reach_landed();
        for _ in 0..3 {
            s.key_in(&[1]);
        }
        s.forget();
        s.restart_cleanly();
        let counted = s.events.iter().rev().find_map(|r| match &r.event.body {
            Some(Body::EntryRejected(b)) => Some(b.count),
            _ => None,
        });
        assert_eq!(counted, Some(2), "{}", s.story());
    });
}

#[test]
fn a_flickering_lamp_likewise() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        s.forget();
        for _ in 0..5 {
            for dead in [vec![oracle::bit("face_1")], vec![]] {
                s.lamps.dead = dead;
                s.lamps.show();
                let report = s.lamps.report();
                s.feed(Input::Lamps(report));
                s.wait(900);
            }
        }
        s.wait(15_000);
        let failed: Vec<u32> = s
            .events
            .iter()
            .filter_map(|r| match &r.event.body {
                Some(Body::LampFailed(b)) => Some(b.count),
                _ => None,
            })
            .collect();
        assert!(failed.len() <= 2 && failed[0] == 1, "{failed:?}; {}", s.story());
        assert_eq!(failed.iter().sum::<u32>(), 5, "{failed:?}; {}", s.story());
        assert_eq!(s.locks().len(), 1);
    });
}

#[test]
fn many_different_refusals_stay_bounded() {
    play(|s| {
        s.reach_landed();
        s.forget();
        for n in 0..60u8 {
            s.key_in(&[n % 6 + 1, n / 6 % 6 + 1]);
        }
        s.wait(15_000);
        let events = s.events.len();
        s.wait(60_000);
        assert_eq!(s.events.len(), events);
    });
}
