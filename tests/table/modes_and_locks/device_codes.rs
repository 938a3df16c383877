//! What the readout says of devices that are away and of acts out of order.

use super::*;

#[test]
fn a_tumbler_that_is_away_shows_its_code_in_ready() {
    play(|s| {
        s.offline(DeviceKind::Tumbler);
        s.wait(100);
        s.expect_readout("E20");
        s.online(DeviceKind::Tumbler);
        s.wait(100);
        s.expect_readout("");
    });
}

#[test]
fn lamps_that_are_away_show_theirs() {
    play(|s| {
        s.offline(DeviceKind::LayoutLamps);
        s.wait(100);
        s.expect_readout("E22");
        s.expect_events(&["DeviceOffline SILENT LAYOUT_LAMPS"]);
    });
}

#[test]
fn of_two_the_first_in_order_shows() {
    play(|s| {
        s.offline(DeviceKind::LayoutLamps);
        s.offline(DeviceKind::Tumbler);
        s.wait(100);
        s.expect_readout("E20");
    });
}

#[test]
fn a_key_hides_it_and_three_seconds_after_the_last_key_it_is_back() {
    play(|s| {
        s.offline(DeviceKind::Tumbler);
        s.wait(1000);
        s.press(&[1]);
        s.expect_readout("");
        s.wait(2000);
        s.press(&[2]);
        s.wait(2900);
        s.expect_readout("");
        s.wait(200);
        s.expect_readout("E20");
    });
}

#[test]
fn in_a_round_it_is_not_shown() {
    play(|s| {
        s.reach_betting();
        s.offline(DeviceKind::LayoutLamps);
        s.wait(1000);
        s.expect_readout("");
    });
}

#[test]
fn codes_of_the_order_of_play_come_alone() {
    play(|s| {
        s.contact(Contact::Bell, true);
        s.expect_readout("E30");
        s.expect_no_events();
    });
}

#[test]
fn an_entry_out_of_order_comes_with_its_event() {
    play(|s| {
        s.key_in(&[1, 3, 6]);
        s.expect_readout("E31");
        s.expect_events(&["EntryRejected E31 1,3,6"]);
        s.reach_betting();
        s.forget();
        s.key_in(&[1, 3, 6]);
        s.expect_readout("E31");
        s.expect_events(&["EntryRejected E31 1,3,6"]);
    });
}

#[test]
fn a_refusal_shows_over_it_for_three_seconds() {
    play(|s| {
        s.offline(DeviceKind::Tumbler);
        s.wait(1000);
        s.key_in(&[1, 3, 6]);
        s.expect_readout("E31");
        s.wait(2900);
        s.expect_readout("E31");
        s.wait(200);
        s.expect_readout("E20");
    });
}
