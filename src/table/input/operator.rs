//! People who act through a control socket, and what they can do. PURE.

use crate::table::event::{OpeningCheck, RoundVoidedReason, SpinInvalidatedReason};
use crate::table::incident::IncidentCause;
use crate::table::input::{DiceOff, LightSeen, Outcome, Replacement, Side, TestStep};

/// A person who acts through a control socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Person {
    /// The name that the event carries.
    pub name: String,
    /// The login, when it acted for somebody else (`--by`).
    pub login: Option<String>,
    /// What the socket they reached allows.
    pub role: Role,
    /// The connection they act through.
    pub connection: u64,
}

/// What a person may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Look and test.
    Technician,
    /// Act.
    Supervisor,
}

/// What a person can do by a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperatorAct {
    /// Begin the opening checks.
    BeginOpening,
    /// Light every lamp in turn and read it back (only while opening).
    WalkLamps,
    /// Light what these faces light, for a person to see (only while opening; what a test entry on the terminal does too).
    LightTestEntry {
        /// Faces 1 to 6.
        faces: [u8; 3],
    },
    /// Start the tumbler once (only while opening or in Test).
    SpinTumbler,
    /// Record a check: seen by a link, or vouched for by this person.
    RecordCheck {
        /// Which.
        check: OpeningCheck,
        /// It passed.
        passed: bool,
        /// What was seen.
        text: String,
    },
    /// Record what a person sees of the test entry that is shown (only while opening): the check itself is recorded when all are through.
    RecordTestEntry {
        /// It is shown as it must be.
        passed: bool,
        /// What was seen.
        text: String,
    },
    /// End the checks: open when all have passed.
    CompleteOpening,
    /// End the checks without opening.
    AbandonOpening,
    /// Open without questions: checks are recorded as seen by a link, else vouched for by this person.
    OpenVouched,
    /// Close the table.
    Close,
    /// Enter the result when the terminal can't.
    EnterResult {
        /// Faces 1 to 6.
        faces: [u8; 3],
        /// Why the terminal was not used, 1 to 200 characters.
        reason: String,
    },
    /// Amend the result before settlement.
    Amend {
        /// Faces 1 to 6.
        faces: [u8; 3],
    },
    /// Void the round.
    Void {
        /// Why; `None` is recorded as not stated.
        reason: Option<RoundVoidedReason>,
    },
    /// State the reason of a void that was recorded as not stated.
    StateVoidReason {
        /// Why.
        reason: RoundVoidedReason,
    },
    /// Confirm an entry that a dice reader contradicted (round held `dice_differ`): done by `Resume`.
    Settle,
    /// Take back a provisional settlement.
    Reopen,
    /// Let a held round, or a frozen table, go on.
    Resume,
    /// Take back a void that the gateway declared.
    WithdrawVoid,
    /// Record an incident.
    RecordIncident {
        /// What happened.
        cause: IncidentCause,
        /// What the person adds, 1 to 200 characters.
        note: Option<String>,
    },
    /// Hold the next round.
    Lock {
        /// Why, 1 to 200 characters.
        reason: String,
    },
    /// End locks: rectified, or what is done instead.
    Unlock {
        /// 1 to 200 characters.
        procedure: String,
    },
    /// Accept a device by its serial number.
    AcceptDevice {
        /// The serial number.
        serial_number: String,
    },
    /// Enter Test.
    EnterTest,
    /// Leave Test.
    LeaveTest,
    /// A step of a device's test, in Test.
    DeviceTest(TestStep),
    /// Acknowledge an alert.
    AcknowledgeAlert {
        /// Its name.
        alert: String,
    },
    /// Light what this outcome lights, for a person to see (only while opening; what a test entry on the terminal does too).
    LightTestOutcome {
        /// The outcome.
        outcome: Outcome,
    },
    /// Tai-sai with a dice cup: the dice are offered to this seat.
    Offer {
        /// The seat, as the house numbers them.
        seat: u32,
    },
    /// Two-up: a player accepts the dice and wagers, or changes the wager before its first call.
    Spinner {
        /// The side of the wager; `None`: it isn't placed yet.
        side: Option<Side>,
    },
    /// Two-up: everyone declined, or the dealer who spins for that goes on: the dealer spins.
    DealerSpins,
    /// Two-up: the spinner goes on with a new wager, or places the one that is missing.
    Continues {
        /// Its side.
        side: Side,
    },
    /// Two-up: "no more bets".
    NoMoreBets,
    /// Two-up: a valid spin.
    Spin {
        /// Its result.
        outcome: Outcome,
    },
    /// Two-up: the last valid result was keyed wrongly.
    CorrectOutcome {
        /// What was spun.
        outcome: Outcome,
    },
    /// Two-up: "no spin".
    Invalid {
        /// Why; `None` is recorded as not stated.
        reason: Option<SpinInvalidatedReason>,
    },
    /// Two-up with dice: the invalid spin directly before stands after all.
    Overrule {
        /// What the dice showed.
        outcome: Outcome,
    },
    /// Two-up: the spinner stops, or retires.
    SpinnerStops,
    /// Two-up: the dealer takes over.
    Relieve,
    /// Two-up: dice went off the table and were not found at once.
    OffTable {
        /// How many.
        dice: DiceOff,
    },
    /// Two-up: the set is completed.
    NewSet {
        /// From where.
        from: Replacement,
    },
    /// Two-up: a person says whether a result light shows what it must.
    ReportLight {
        /// "heads_2".
        light: String,
        /// What is seen.
        seen: LightSeen,
    },
}

impl OperatorAct {
    /// Its word, as the control socket and the events have it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            OperatorAct::BeginOpening => "begin_opening",
            OperatorAct::WalkLamps => "walk_lamps",
            OperatorAct::LightTestEntry { .. } => "light_test_entry",
            OperatorAct::SpinTumbler => "spin_tumbler",
            OperatorAct::RecordCheck { .. } => "record_check",
            OperatorAct::RecordTestEntry { .. } => "record_entry",
            OperatorAct::CompleteOpening => "complete_opening",
            OperatorAct::AbandonOpening => "abandon_opening",
            OperatorAct::OpenVouched => "open_vouched",
            OperatorAct::Close => "close",
            OperatorAct::EnterResult { .. } => "enter_result",
            OperatorAct::Amend { .. } => "amend",
            OperatorAct::Void { .. } => "void",
            OperatorAct::StateVoidReason { .. } => "state_void_reason",
            OperatorAct::Settle => "settle",
            OperatorAct::Reopen => "reopen",
            OperatorAct::Resume => "resume",
            OperatorAct::WithdrawVoid => "withdraw_void",
            OperatorAct::RecordIncident { .. } => "record_incident",
            OperatorAct::Lock { .. } => "lock",
            OperatorAct::Unlock { .. } => "unlock",
            OperatorAct::AcceptDevice { .. } => "accept_device",
            OperatorAct::EnterTest => "enter_test",
            OperatorAct::LeaveTest => "leave_test",
            OperatorAct::DeviceTest(step) => step.word(),
            OperatorAct::AcknowledgeAlert { .. } => "acknowledge_alert",
            OperatorAct::LightTestOutcome { .. } => "light_test_outcome",
            OperatorAct::Offer { .. } => "offer",
            OperatorAct::Spinner { .. } => "spinner",
            OperatorAct::DealerSpins => "dealer_spins",
            OperatorAct::Continues { .. } => "continues",
            OperatorAct::NoMoreBets => "no_more_bets",
            OperatorAct::Spin { .. } => "spin",
            OperatorAct::CorrectOutcome { .. } => "correct_outcome",
            OperatorAct::Invalid { .. } => "invalid",
            OperatorAct::Overrule { .. } => "overrule",
            OperatorAct::SpinnerStops => "spinner_stops",
            OperatorAct::Relieve => "relieve",
            OperatorAct::OffTable { .. } => "off_table",
            OperatorAct::NewSet { .. } => "new_set",
            OperatorAct::ReportLight { .. } => "report_light",
        }
    }
}
