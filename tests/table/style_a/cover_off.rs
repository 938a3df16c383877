//! Cover off.

use super::*;

#[test]
fn it_counts_after_three_hundred_milliseconds_and_from_its_first() {
    play(|s| {
        s.reach_closed();
        s.wait(2000);
        let off_at = s.now;
        s.forget();
        s.cover_off();
        s.wait(299);
        s.expect_no_events();
        s.wait(1);
        s.expect_events(&["DiceUncovered seen"]);
        let closed_at = s.events.iter().rev().find_map(|r| match r.event.body {
            Some(Body::BetsClosed(_)) => Some(r.event.uptime_us),
            _ => None,
        });
        let since = s.newest(|body| match body {
            Body::DiceUncovered(b) => Some(b.bell_to_uncover_ms),
            _ => None,
        });
        let off = s.in_run(off_at).as_micros();
        assert_eq!(
            u64::from(since),
            (off - closed_at.unwrap()) / MS,
            "measured to the device's time of OFF"
        );
    });
}

#[test]
fn a_shorter_one_is_nothing() {
    play(|s| {
        s.reach_closed();
        s.forget();
        s.cover_off();
        s.wait(200);
        s.cover();
        s.expect_no_events();
        s.expect_phase("closed");
    });
}
