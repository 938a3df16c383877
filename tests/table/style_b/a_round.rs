//! A whole round, and every outcome.

use super::*;
use crate::oracle;

#[test]
fn from_bets_to_settlement_and_bets_again() {
    play(|s| {
        s.wait(20_000);
        s.expect_no_events();
        s.bell();
        s.expect_events(&["BetsClosed heard TERMINAL by:dealer round:1"]);
        s.wait(6000);
        s.key_in(&[6, 1, 3]);
        s.expect_events(&[
            "ResultEntered pressed:6,1,3 1,3,6 total:10 call:1,_3,_6,_Total_10 TERMINAL by:dealer round:1",
        ]);
        s.expect_lit([1, 3, 6]);
        s.expect_readout("613");
        s.wait(500);
        s.expect_events(&["LayoutLit face_1,face_3,face_6,pair_1_3,pair_1_6,pair_3_6,small,total_10 LAYOUT_LAMPS"]);
        settle(s);
        s.expect_events(&[
            "RoundSettled stated final by:dealer round:1",
            "RoundStarted tai-sai B appendix-1 by:gateway round:2",
            "BetsOpened by:gateway round:2",
        ]);
        s.expect_one_append(3);
        s.expect_dark();
        s.expect_phase("betting");
    });
}

#[test]
fn the_time_from_the_bell_to_the_entry_is_measured() {
    play(|s| {
        to_the_entry(s, &[2, 2, 5]);
        let entered = s.newest(|body| match body {
            Body::ResultEntered(entered) => Some(entered.clone()),
            _ => None,
        });
        assert!((4000..6000).contains(&entered.bell_to_entry_ms), "{entered:?}");
        assert_eq!(entered.uncover_to_entry_ms, 0);
    });
}

#[test]
fn every_outcome_lights_its_areas_on_both_layouts() {
    for layout in [Layout::Appendix1, Layout::Appendix2] {
        let alternative = layout == Layout::Appendix2;
        let mut shut = Scene::new(config_with(|c| {
            c.style = Style::B;
            c.layout = layout;
            c.lamp_map = (0..if alternative { 106 } else { 50 }).map(|bit| vec![bit]).collect();
        }));
        shut.open();
        to_the_bell(&mut shut);
        for n in 0..216u8 {
            let faces = [n / 36 + 1, n / 6 % 6 + 1, n % 6 + 1];
            let mut s = shut.clone();
            s.key_in(&faces);
            let mut bits: Vec<u16> = oracle::winners(faces, alternative)
                .iter()
                .map(|id| oracle::bit(id))
                .collect();
            bits.sort_unstable();
            assert_eq!(s.lit(), bits, "lamps of {faces:?} on {layout:?}");
        }
    }
}

#[test]
fn an_entry_is_amended_and_its_lamps_judged_as_with_a_tumbler() {
    play(|s| {
        to_the_entry(s, &[2, 2, 5]);
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["EntryRejected E05"]);
        s.key_on();
        s.wait(200);
        s.key_in(&[1, 3, 6]);
        s.expect_events(&["ResultAmended 2,2,5->1,3,6 by:supervisor by:key"]);
        s.key_off();
        s.lamps.dead = vec![crate::oracle::bit("small")];
        s.operator(OperatorAct::Amend { faces: [1, 1, 6] });
        s.wait(2000);
        s.expect_locks(&[(TableLockedReason::Lamp, TableLockedKind::HoldNext)]);
        // Held back: the round ends, and no bets open.
        settle(s);
        s.expect_phase("ready");
        s.expect_readout("LOC");
    });
}
