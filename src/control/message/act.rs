//! What a person can ask the table for, in the words of the commands.

use super::two_up::{DiceGone, LightWord, OutcomeName, SetFrom, SideName};
use serde::{Deserialize, Serialize};

/// What a person can ask for. The words are those of the commands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "each is the OperatorAct of the same name, documented there")]
pub enum Act {
    BeginOpening {},
    WalkLamps {},
    LightTestEntry {
        faces: [u8; 3],
    },
    SpinTumbler {},
    RecordCheck {
        check: Check,
        passed: bool,
        text: String,
    },
    RecordEntry {
        passed: bool,
        text: String,
    },
    CompleteOpening {},
    AbandonOpening {},
    OpenVouched {},
    Close {},
    EnterResult {
        faces: [u8; 3],
        reason: String,
    },
    Amend {
        faces: [u8; 3],
    },
    Void {
        /// A code like `a_not_flat`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    StateVoidReason {
        reason: String,
    },
    Settle {},
    Reopen {},
    Resume {},
    WithdrawVoid {},
    RecordIncident {
        /// A code like `chip_moved_by_another`.
        cause: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Lock {
        reason: String,
    },
    Unlock {
        procedure: String,
    },
    AcceptDevice {
        serial_number: String,
    },
    EnterTest {},
    LeaveTest {},
    BeginTest {
        device: TestedDevice,
    },
    TestLamp {
        /// Its bit; none: every lamp is dark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bit: Option<u16>,
    },
    AskTest {
        /// Such as `key_3`.
        part: String,
    },
    SayTest {
        /// Such as `lamp_16`, `other_lamps`, `readout_full`.
        part: String,
        seen: LightWord,
    },
    EndTest {},
    AcknowledgeAlert {
        alert: String,
    },
    LightTestOutcome {
        outcome: OutcomeName,
    },
    Offer {
        seat: u32,
    },
    Spinner {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        side: Option<SideName>,
    },
    DealerSpins {},
    Continues {
        side: SideName,
    },
    NoMoreBets {},
    Spin {
        outcome: OutcomeName,
    },
    CorrectOutcome {
        outcome: OutcomeName,
    },
    Invalid {
        /// A code like `off_table`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Overrule {
        outcome: OutcomeName,
    },
    SpinnerStops {},
    Relieve {},
    OffTable {
        dice: DiceGone,
    },
    NewSet {
        from: SetFrom,
    },
    ReportLight {
        /// Such as `heads_2`.
        light: String,
        seen: LightWord,
    },
}

/// The opening checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the OpeningCheck of the same name")]
pub enum Check {
    Devices,
    LampWalk,
    TestEntries,
    Tumbler,
    Seal,
    Dice,
}

/// Devices that are tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each is the DeviceKind of the same name")]
pub enum TestedDevice {
    Lamps,
    Lights,
    Terminal,
    Tumbler,
}

impl Act {
    /// Acts of the socket for looking and testing; every other needs the supervisors' socket.
    #[must_use]
    pub fn is_test(&self) -> bool {
        match self {
            Act::EnterTest {}
            | Act::LeaveTest {}
            | Act::SpinTumbler {}
            | Act::BeginTest { .. }
            | Act::TestLamp { .. }
            | Act::AskTest { .. }
            | Act::SayTest { .. }
            | Act::EndTest {} => true,
            Act::BeginOpening {}
            | Act::WalkLamps {}
            | Act::LightTestEntry { .. }
            | Act::RecordCheck { .. }
            | Act::RecordEntry { .. }
            | Act::CompleteOpening {}
            | Act::AbandonOpening {}
            | Act::OpenVouched {}
            | Act::Close {}
            | Act::EnterResult { .. }
            | Act::Amend { .. }
            | Act::Void { .. }
            | Act::StateVoidReason { .. }
            | Act::Settle {}
            | Act::Reopen {}
            | Act::Resume {}
            | Act::WithdrawVoid {}
            | Act::RecordIncident { .. }
            | Act::Lock { .. }
            | Act::Unlock { .. }
            | Act::AcceptDevice { .. }
            | Act::AcknowledgeAlert { .. }
            | Act::LightTestOutcome { .. }
            | Act::Offer { .. }
            | Act::Spinner { .. }
            | Act::DealerSpins {}
            | Act::Continues { .. }
            | Act::NoMoreBets {}
            | Act::Spin { .. }
            | Act::CorrectOutcome { .. }
            | Act::Invalid { .. }
            | Act::Overrule { .. }
            | Act::SpinnerStops {}
            | Act::Relieve {}
            | Act::OffTable { .. }
            | Act::NewSet { .. }
            | Act::ReportLight { .. } => false,
        }
    }
}
