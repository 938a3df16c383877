//! Opening checks: dice and cup in the place of tumbler and seal (r5.1).

use super::*;

#[test]
fn bets_open_with_the_table() {
    play_with(config(), |s| {
        s.operator(OperatorAct::OpenVouched);
        s.expect_done();
        s.expect_events(&[
            "OpeningStarted by:supervisor",
            "OpeningCheckRecorded DEVICES passed seen",
            "OpeningCheckRecorded LAMP_WALK passed vouched",
            "OpeningCheckRecorded TEST_ENTRIES passed vouched",
            "OpeningCheckRecorded DICE passed vouched",
            "TableOpened",
            "RoundStarted tai-sai B appendix-1 by:gateway round:1",
            "BetsOpened by:gateway round:1",
        ]);
        s.expect_phase("betting");
    });
}

#[test]
fn dice_and_cup_are_looked_at_by_a_person() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        for check in [OpeningCheck::Devices, OpeningCheck::LampWalk, OpeningCheck::TestEntries] {
            s.operator(OperatorAct::RecordCheck {
                check,
                passed: true,
                text: "seen".into(),
            });
            s.expect_done();
        }
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
        assert!(format!("{:?}", s.answer).contains("dice"), "{:?}", s.answer);
        s.operator(OperatorAct::RecordCheck {
            check: OpeningCheck::Dice,
            passed: false,
            text: "a chipped corner".into(),
        });
        s.operator(OperatorAct::CompleteOpening);
        s.expect_refused();
        s.operator(OperatorAct::RecordCheck {
            check: OpeningCheck::Dice,
            passed: true,
            text: "another set".into(),
        });
        s.operator(OperatorAct::CompleteOpening);
        s.expect_done();
        s.expect_phase("betting");
    });
}

#[test]
fn there_is_no_tumbler_to_start() {
    play_with(config(), |s| {
        s.operator(OperatorAct::BeginOpening);
        s.operator(OperatorAct::SpinTumbler);
        s.expect_refused();
        assert!(s.commands.is_empty());
    });
}

#[test]
fn the_table_needs_terminal_and_lamps() {
    play(|s| {
        let needed: Vec<_> = s
            .state()
            .devices
            .iter()
            .filter(|device| device.needed)
            .map(|device| device.device.clone().unwrap_or_default().kind().as_str_name())
            .collect();
        assert_eq!(needed, ["DEVICE_KIND_TERMINAL", "DEVICE_KIND_LAYOUT_LAMPS"]);
    });
}
