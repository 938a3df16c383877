//! A whole round, and every outcome.

use super::*;

#[test]
fn from_spin_to_settlement() {
    play(|s| {
        s.spin(3);
        s.wait(3000);
        s.expect_events(&[
            "RoundStarted tai-sai A appendix-1 round:1",
            "TumblerSpun 1 TUMBLER",
            "TumblerSpun 2",
            "TumblerSpun 3",
            "BetsOpened round:1",
        ]);
        s.expect_dark();
        s.wait(20_000);
        s.bell();
        s.expect_events(&["BetsClosed heard TERMINAL by:dealer round:1"]);
        s.wait(4000);
        s.uncover();
        s.expect_events(&["DiceUncovered seen TUMBLER round:1"]);
        s.expect_dark();
        s.wait(1500);
        s.key_in(&[6, 1, 3]);
        s.expect_events(&[
            "ResultEntered pressed:6,1,3 1,3,6 total:10 call:1,_3,_6,_Total_10 TERMINAL by:dealer round:1",
        ]);
        s.expect_lit([1, 3, 6]);
        s.wait(500);
        s.expect_events(&["LayoutLit face_1,face_3,face_6,pair_1_3,pair_1_6,pair_3_6,small,total_10 LAYOUT_LAMPS"]);
        s.wait(10_000);
        s.expect_lit([1, 3, 6]);
        s.enter();
        s.expect_events(&["RoundSettled stated final by:dealer round:1"]);
        s.expect_dark();
        s.expect_phase("ready");
    });
}

#[test]
fn every_outcome_lights_its_areas_and_no_other() {
    for layout in [Layout::Appendix1, Layout::Appendix2] {
        let alternative = layout == Layout::Appendix2;
        let config = config_with(|c| {
            c.layout = layout;
            c.lamp_map = (0..if alternative { 106 } else { 50 }).map(|bit| vec![bit]).collect();
        });
        let mut entered = Scene::new(config);
        entered.open();
        entered.reach_landed();
        for n in 0..216u8 {
            let faces = [n / 36 + 1, n / 6 % 6 + 1, n % 6 + 1];
            let mut s = entered.clone();
            s.key_in(&faces);
            let mut bits: Vec<u16> = oracle::winners(faces, alternative)
                .iter()
                .map(|id| oracle::bit(id))
                .collect();
            bits.sort_unstable();
            assert_eq!(s.lit(), bits, "lamps of {faces:?} on {layout:?}");
            crate::recovery::check(&s);
        }
    }
}

#[test]
fn the_next_round_has_the_next_number() {
    play(|s| {
        s.whole_round(&[1, 2, 3]);
        s.forget();
        s.spin(3);
        s.wait(3000);
        s.expect_events(&[
            "RoundStarted round:2",
            "TumblerSpun 1 round:2",
            "TumblerSpun 2 round:2",
            "TumblerSpun 3 round:2",
            "BetsOpened round:2",
        ]);
    });
}

#[test]
fn decided_facts_name_their_rules() {
    play(|s| {
        s.reach_entered(&[2, 2, 5]);
        let unruled = s.events.iter().find(|recorded| {
            matches!(recorded.event.body, Some(Body::ResultEntered(_) | Body::BetsClosed(_)))
                && recorded.event.rules.is_empty()
        });
        assert!(unruled.is_none(), "{unruled:?}", unruled = unruled.map(|r| &r.event));
    });
}
