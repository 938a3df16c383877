//! "No more bets" and bell.

use super::*;

#[test]
fn a_second_bell_within_a_second_is_a_bounce() {
    play(|s| {
        s.reach_betting();
        s.forget();
        s.bell();
        s.bell();
        s.bell();
        s.expect_events(&["BetsClosed heard"]);
        s.expect_phase("closed");
        s.expect_readout("");
    });
}

#[test]
fn the_bell_of_the_next_round_is_no_bounce_however_soon_it_comes() {
    play(|s| {
        s.reach_closed();
        let rung = s.uptime();
        s.operator(OperatorAct::Void { reason: None });
        s.spin_begins();
        s.spin_ends(3);
        s.bell();
        assert!(s.uptime().since(rung) < Duration::from_secs(1));
        s.expect_phase("closed");
    });
}

#[test]
fn the_layout_is_dark_and_the_tumbler_inhibited_until_the_round_ends() {
    play(|s| {
        s.reach_entered(&[1, 3, 6]);
        assert!(s.table.indicators().tumbler.inhibit);
        s.settle();
        assert!(!s.table.indicators().tumbler.inhibit, "settled");
        s.reach_betting();
        assert!(s.table.indicators().tumbler.inhibit);
        s.operator(OperatorAct::Void { reason: None });
        assert!(!s.table.indicators().tumbler.inhibit, "voided");
        s.reach_betting();
        s.operator(OperatorAct::Close);
        s.open();
        assert!(!s.table.indicators().tumbler.inhibit, "abandoned");
    });
}

#[test]
fn a_bell_rung_as_bets_open_counts_though_two_clocks_put_it_before() {
    for (before_opening, phase) in [(200, "closed"), (700, "betting")] {
        play(|s| {
            // Bets opened 900 ms ago.
            s.reach_betting();
            let now = s.now;
            let bell = s.terminal.wire(Contact::Bell);
            bell.closed = true;
            bell.closings += 1;
            bell.last_closed = now - (900 + before_opening) * MS;
            let wire = bell.clone();
            let input = Input::Contact(s.contact_report(&wire));
            s.say(DeviceKind::Terminal, input);
            s.wait(100);
            s.expect_phase(phase);
        });
    }
}

#[test]
fn a_bell_as_bets_open_closes_them_whatever_two_clocks_say() {
    for early in [0, 250] {
        play(|s| {
            s.spin(3);
            s.forget();
            s.wait(2600 - early);
            s.terminal.link.latency_us = early * 1200;
            s.bell();
            s.wait(500);
            s.expect_phase("closed");
            s.expect_events(&["BetsOpened", "BetsClosed heard"]);
        });
    }
}

#[test]
fn a_bell_that_only_a_status_tells_of_in_the_rest_closes_bets() {
    play(|s| {
        s.spin(3);
        s.forget();
        s.wait(1000);
        // The contact's own message came too late to be believed, and the terminal was asked instead.
        let now = s.now;
        let bell = s.terminal.wire(Contact::Bell);
        bell.closings += 1;
        bell.last_closed = now;
        let input = Input::Terminal(s.terminal_report());
        s.say(DeviceKind::Terminal, input);
        s.wait(500);
        s.expect_phase("closed");
        s.expect_events(&["BetsOpened", "BetsClosed heard"]);
    });
}
