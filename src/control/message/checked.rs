//! From an act as it was asked to one that the table may see: faces, texts and codes are checked here, and nowhere behind.

use super::act::{Act, Check, TestedDevice};
use super::two_up::INVALID_REASONS;
use crate::table::event::{OpeningCheck, RoundVoidedReason, SpinInvalidatedReason};
use crate::table::incident::IncidentCause;
use crate::table::input::{DeviceKind, OperatorAct, Part, Shown, Side, TestStep};

/// Why something is no act.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ActError {
    /// Faces are 1 to 6.
    #[error("{0} is no face of a die: give three numbers from 1 to 6")]
    Face(u8),
    /// Texts that are recorded have bounds.
    #[error("{what} must have 1 to {MAX_TEXT} characters, and has {length}")]
    Length {
        /// What is too long or empty.
        what: &'static str,
        /// Its characters.
        length: usize,
    },
    /// Control characters would garble logs and terminals.
    #[error("{what} contains a control character: write plain text")]
    ControlCharacter {
        /// What contains it.
        what: &'static str,
    },
    /// No reason of r7.1.
    #[error("\"{code}\" is no reason to void a round; the reasons are {}", VOID_REASONS.join(", "))]
    VoidReason {
        /// What was given.
        code: String,
    },
    /// No reason of s20 or s477.
    #[error("\"{code}\" is no reason for which a spin is invalid; the reasons are {}", INVALID_REASONS.join(", "))]
    InvalidReason {
        /// What was given.
        code: String,
    },
    /// No device has such a part.
    #[error(
        "\"{part}\" is no part of a device that is tested; such as key_3, enter, bell, cover, lamp_16, readout_full"
    )]
    Part {
        /// What was given.
        part: String,
    },
    /// No incident that is known.
    #[error("\"{cause}\" is no incident that is known; the causes are {}", incidents())]
    Incident {
        /// What was given.
        cause: String,
    },
}

/// Codes of incidents, for a message.
fn incidents() -> String {
    let codes: Vec<_> = IncidentCause::all().map(IncidentCause::code).collect();
    codes.join(", ")
}

/// Characters of a text that is recorded: an event stays small, and a sentence is enough.
pub const MAX_TEXT: usize = 200;

/// Codes of the reasons to void (NZ Div 9 r7.1): `a_` with a tumbler, `b_` with a dice cup.
pub const VOID_REASONS: [&str; 10] = [
    "a_not_flat",
    "a_tumbler_fault",
    "a_exposed_early",
    "a_not_activated",
    "b_short_of_line",
    "b_left_area",
    "b_hit_object",
    "b_not_flat",
    "b_interference",
    "b_not_random",
];

impl TryFrom<Act> for OperatorAct {
    type Error = ActError;

    fn try_from(act: Act) -> Result<OperatorAct, ActError> {
        Ok(match act {
            Act::BeginOpening {} => OperatorAct::BeginOpening,
            Act::WalkLamps {} => OperatorAct::WalkLamps,
            Act::LightTestEntry { faces } => OperatorAct::LightTestEntry { faces: dice(faces)? },
            Act::SpinTumbler {} => OperatorAct::SpinTumbler,
            Act::RecordCheck { check, passed, text } => OperatorAct::RecordCheck {
                check: check.into(),
                passed,
                text: sentence("what was seen", text)?,
            },
            Act::RecordEntry { passed, text } => OperatorAct::RecordTestEntry {
                passed,
                text: sentence("what was seen", text)?,
            },
            Act::CompleteOpening {} => OperatorAct::CompleteOpening,
            Act::AbandonOpening {} => OperatorAct::AbandonOpening,
            Act::OpenVouched {} => OperatorAct::OpenVouched,
            Act::Close {} => OperatorAct::Close,
            Act::EnterResult { faces, reason } => OperatorAct::EnterResult {
                faces: dice(faces)?,
                reason: sentence("the reason", reason)?,
            },
            Act::Amend { faces } => OperatorAct::Amend { faces: dice(faces)? },
            Act::Void { reason } => OperatorAct::Void {
                reason: reason.map(void_reason).transpose()?,
            },
            Act::StateVoidReason { reason } => OperatorAct::StateVoidReason {
                reason: void_reason(reason)?,
            },
            Act::Settle {} => OperatorAct::Settle,
            Act::Reopen {} => OperatorAct::Reopen,
            Act::Resume {} => OperatorAct::Resume,
            Act::WithdrawVoid {} => OperatorAct::WithdrawVoid,
            Act::RecordIncident { cause, note } => OperatorAct::RecordIncident {
                cause: IncidentCause::from_code(&cause).ok_or(ActError::Incident { cause })?,
                note: note.map(|note| sentence("the note", note)).transpose()?,
            },
            Act::Lock { reason } => OperatorAct::Lock {
                reason: sentence("the reason", reason)?,
            },
            Act::Unlock { procedure } => OperatorAct::Unlock {
                procedure: sentence("the procedure", procedure)?,
            },
            Act::AcceptDevice { serial_number } => OperatorAct::AcceptDevice {
                serial_number: sentence("the serial number", serial_number)?,
            },
            Act::EnterTest {} => OperatorAct::EnterTest,
            Act::LeaveTest {} => OperatorAct::LeaveTest,
            Act::BeginTest { device } => OperatorAct::DeviceTest(TestStep::Begin { device: device.into() }),
            Act::TestLamp { bit } => OperatorAct::DeviceTest(TestStep::Light { bit }),
            Act::AskTest { part } => OperatorAct::DeviceTest(TestStep::Ask {
                part: Part::from_name(&part).ok_or(ActError::Part { part })?,
            }),
            Act::SayTest { part, seen } => OperatorAct::DeviceTest(TestStep::Say {
                what: Shown::from_name(&part).ok_or(ActError::Part { part })?,
                seen: seen.into(),
            }),
            Act::EndTest {} => OperatorAct::DeviceTest(TestStep::End),
            Act::AcknowledgeAlert { alert } => OperatorAct::AcknowledgeAlert {
                alert: sentence("the alert", alert)?,
            },
            Act::LightTestOutcome { outcome } => OperatorAct::LightTestOutcome {
                outcome: outcome.into(),
            },
            Act::Offer { seat } => OperatorAct::Offer { seat },
            Act::Spinner { side } => OperatorAct::Spinner {
                side: side.map(Side::from),
            },
            Act::DealerSpins {} => OperatorAct::DealerSpins,
            Act::Continues { side } => OperatorAct::Continues { side: side.into() },
            Act::NoMoreBets {} => OperatorAct::NoMoreBets,
            Act::Spin { outcome } => OperatorAct::Spin {
                outcome: outcome.into(),
            },
            Act::CorrectOutcome { outcome } => OperatorAct::CorrectOutcome {
                outcome: outcome.into(),
            },
            Act::Invalid { reason } => OperatorAct::Invalid {
                reason: reason.map(invalid_reason).transpose()?,
            },
            Act::Overrule { outcome } => OperatorAct::Overrule {
                outcome: outcome.into(),
            },
            Act::SpinnerStops {} => OperatorAct::SpinnerStops,
            Act::Relieve {} => OperatorAct::Relieve,
            Act::OffTable { dice } => OperatorAct::OffTable { dice: dice.into() },
            Act::NewSet { from } => OperatorAct::NewSet { from: from.into() },
            Act::ReportLight { light, seen } => OperatorAct::ReportLight {
                light: sentence("the light", light)?,
                seen: seen.into(),
            },
        })
    }
}

impl From<TestedDevice> for DeviceKind {
    fn from(device: TestedDevice) -> DeviceKind {
        match device {
            TestedDevice::Lamps => DeviceKind::LayoutLamps,
            TestedDevice::Lights => DeviceKind::ResultLights,
            TestedDevice::Terminal => DeviceKind::Terminal,
            TestedDevice::Tumbler => DeviceKind::Tumbler,
        }
    }
}

impl From<Check> for OpeningCheck {
    fn from(check: Check) -> OpeningCheck {
        match check {
            Check::Devices => OpeningCheck::Devices,
            Check::LampWalk => OpeningCheck::LampWalk,
            Check::TestEntries => OpeningCheck::TestEntries,
            Check::Tumbler => OpeningCheck::Tumbler,
            Check::Seal => OpeningCheck::Seal,
            Check::Dice => OpeningCheck::Dice,
        }
    }
}

fn dice(faces: [u8; 3]) -> Result<[u8; 3], ActError> {
    match faces.iter().find(|face| !(1..=6).contains(*face)) {
        Some(face) => Err(ActError::Face(*face)),
        None => Ok(faces),
    }
}

fn sentence(what: &'static str, text: String) -> Result<String, ActError> {
    let length = text.chars().count();
    if !(1..=MAX_TEXT).contains(&length) || text.trim().is_empty() {
        return Err(ActError::Length { what, length });
    }
    if text.chars().any(char::is_control) {
        return Err(ActError::ControlCharacter { what });
    }
    Ok(text)
}

fn void_reason(code: String) -> Result<RoundVoidedReason, ActError> {
    let known = VOID_REASONS
        .contains(&code.as_str())
        .then(|| RoundVoidedReason::from_str_name(&format!("ROUND_VOIDED_REASON_{}", code.to_ascii_uppercase())));
    known.flatten().ok_or(ActError::VoidReason { code })
}

fn invalid_reason(code: String) -> Result<SpinInvalidatedReason, ActError> {
    let known = INVALID_REASONS.contains(&code.as_str()).then(|| {
        let name = format!("SPIN_INVALIDATED_REASON_{}", code.to_ascii_uppercase());
        SpinInvalidatedReason::from_str_name(&name)
    });
    known.flatten().ok_or(ActError::InvalidReason { code })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::message::request::Request;
    use crate::control::message::two_up::OutcomeName;
    use crate::table::input::Outcome;

    fn check(act: Act, expected: Result<OperatorAct, ActError>) {
        assert_eq!(OperatorAct::try_from(act), expected);
    }

    #[test]
    fn acts_are_checked_before_the_table_sees_them() {
        check(
            Act::Amend { faces: [1, 3, 6] },
            Ok(OperatorAct::Amend { faces: [1, 3, 6] }),
        );
        check(Act::Amend { faces: [1, 7, 6] }, Err(ActError::Face(7)));
        check(Act::Amend { faces: [0, 1, 6] }, Err(ActError::Face(0)));
        let reason = "procedure \u{1b}[2J".to_owned();
        check(
            Act::Lock { reason },
            Err(ActError::ControlCharacter { what: "the reason" }),
        );
        let what = "the procedure";
        let procedure = "x".repeat(201);
        check(Act::Unlock { procedure }, Err(ActError::Length { what, length: 201 }));
        let procedure = " ".to_owned();
        check(Act::Unlock { procedure }, Err(ActError::Length { what, length: 1 }));
        let procedure = "é".repeat(200);
        check(
            Act::Unlock {
                procedure: procedure.clone(),
            },
            Ok(OperatorAct::Unlock { procedure }),
        );
    }

    #[test]
    fn an_act_has_the_same_word_on_the_socket_and_in_the_events() {
        let fields = [
            ("light_test_entry", r#"{"faces":[1,3,6]}"#),
            ("record_check", r#"{"check":"seal","passed":true,"text":"whole"}"#),
            ("record_entry", r#"{"passed":true,"text":"as it must be"}"#),
            ("enter_result", r#"{"faces":[1,3,6],"reason":"terminal away"}"#),
            ("amend", r#"{"faces":[1,3,6]}"#),
            ("state_void_reason", r#"{"reason":"a_not_flat"}"#),
            ("record_incident", r#"{"cause":"other","note":"x"}"#),
            ("lock", r#"{"reason":"x"}"#),
            ("unlock", r#"{"procedure":"x"}"#),
            ("accept_device", r#"{"serial_number":"DT-1"}"#),
            ("acknowledge_alert", r#"{"alert":"lamp_failed"}"#),
            ("begin_test", r#"{"device":"lamps"}"#),
            ("ask_test", r#"{"part":"key_3"}"#),
            ("say_test", r#"{"part":"readout_full","seen":"works"}"#),
            ("light_test_outcome", r#"{"outcome":"heads"}"#),
            ("offer", r#"{"seat":3}"#),
            ("continues", r#"{"side":"heads"}"#),
            ("spin", r#"{"outcome":"tails"}"#),
            ("correct_outcome", r#"{"outcome":"odds"}"#),
            ("overrule", r#"{"outcome":"odds"}"#),
            ("off_table", r#"{"dice":"two"}"#),
            ("new_set", r#"{"from":"due"}"#),
            ("report_light", r#"{"light":"heads_2","seen":"failed"}"#),
        ];
        let words = super::super::wording::act_words();
        assert!(words.len() > 30, "{words:?}");
        for word in words {
            let inside = fields
                .iter()
                .find(|(act, _)| *act == word)
                .map_or("{}", |(_, inside)| inside);
            let act: Act = serde_json::from_str(&format!(r#"{{"{word}":{inside}}}"#))
                .unwrap_or_else(|error| panic!("{word}: {error}"));
            let act = OperatorAct::try_from(act).unwrap_or_else(|error| panic!("{word}: {error}"));
            assert_eq!(act.word(), word);
        }
    }

    #[test]
    fn every_reason_to_void_is_known_by_its_code_and_nothing_else_is() {
        for code in VOID_REASONS {
            let reason = void_reason(code.to_owned()).unwrap();
            assert_eq!(
                reason.as_str_name().to_ascii_lowercase(),
                format!("round_voided_reason_{code}")
            );
        }
        for code in ["not_stated", "unspecified", "A_NOT_FLAT", ""] {
            assert!(void_reason(code.to_owned()).is_err(), "{code:?}");
        }
    }

    #[test]
    fn every_reason_for_an_invalid_spin_is_known_by_its_code_and_nothing_else_is() {
        for code in INVALID_REASONS {
            let reason = invalid_reason(code.to_owned()).unwrap();
            assert_eq!(
                reason.as_str_name().to_ascii_lowercase(),
                format!("spin_invalidated_reason_{code}")
            );
        }
        for code in ["not_stated", "unspecified", "chip_contact", ""] {
            assert!(invalid_reason(code.to_owned()).is_err(), "{code:?}");
        }
    }

    #[test]
    fn acts_of_two_up_are_those_of_the_table() {
        let reason = Some("off_table".to_owned());
        check(
            Act::Invalid { reason },
            Ok(OperatorAct::Invalid {
                reason: Some(SpinInvalidatedReason::OffTable),
            }),
        );
        let outcome = OutcomeName::TripleHeads;
        check(
            Act::Spin { outcome },
            Ok(OperatorAct::Spin {
                outcome: Outcome::TripleHeads,
            }),
        );
        check(Act::Spinner { side: None }, Ok(OperatorAct::Spinner { side: None }));
        let request = r#"{"act":{"act":{"off_table":{"dice":"two"}}}}"#;
        assert!(serde_json::from_str::<Request>(request).is_ok());
    }
}
