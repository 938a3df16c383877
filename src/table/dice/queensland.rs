//! The rules behind each fact at a sic-bo table. PURE. Voids, lamps and amendments stand in no instrument at hand: what the house does
//! there cites the section that is missing, or nothing, and the fact says that it is the house's policy.

use crate::rules::citation::{Citation, qld_1995};
use crate::rules::sic_bo::machine::Tumbler;
use crate::table::event::{Body, RoundHeldCause, TableLockedReason};
use crate::table::rejection::{self, Code};

/// Irregularities: their words are not at hand.
const IRREGULARITY: &[Citation] = &[qld_1995!("r22.1, s80")];

/// The rules that decided a fact, as its event carries them.
pub(crate) fn cite(body: &Body, tumbler: Tumbler) -> &'static [Citation] {
    match body {
        Body::RoundStarted(_) | Body::TumblerSpun(_) => &[qld_1995!("s76")],
        Body::BetsOpened(_) | Body::RoundAbandoned(_) => &[qld_1995!("r19.4, s72")],
        Body::BetsClosed(_) => match tumbler {
            Tumbler::Covered => &[qld_1995!("r19.4(3), s72(3)")],
            Tumbler::Open => &[qld_1995!("r19.4(1)-(2), s72(1)-(2)")],
        },
        Body::DiceUncovered(_) => match tumbler {
            Tumbler::Covered => &[qld_1995!("r19.4(4), s72(4)"), qld_1995!("r21.2(1)(a), s77(1)(a)")],
            Tumbler::Open => &[qld_1995!("r21.2(1)(b), s77(1)(b)")],
        },
        Body::ResultEntered(_) => &[qld_1995!("r21.2(2)-(3), s77(2)-(3)"), qld_1995!("s78")],
        Body::RoundSettled(_) => &[qld_1995!("r20.1, s75")],
        Body::RoundHeld(held) => held_cause(held.cause()),
        Body::RoundResumed(resumed) => held_cause(resumed.cause()),
        Body::RoundVoided(_) | Body::VoidReasonStated(_) | Body::VoidWithdrawn(_) => IRREGULARITY,
        Body::TableLocked(locked) => lock(locked.reason()),
        Body::TableUnlocked(unlocked) => lock(unlocked.reason()),
        // Refused entries and acts are recorded with the rule of their refusal.
        Body::EntryRejected(_)
        | Body::ActRefused(_)
        | Body::TestRecorded(_)
        | Body::TestStarted(_)
        // Opening, lamps, amendments: nothing at hand.
        | Body::OpeningStarted(_)
        | Body::OpeningAbandoned(_)
        | Body::OpeningCheckRecorded(_)
        | Body::TumblerStarted(_)
        | Body::TableOpened(_)
        | Body::LayoutLit(_)
        | Body::LampFailed(_)
        | Body::LampRestored(_)
        | Body::ResultAmended(_)
        | Body::RoundReopened(_)
        | Body::GatewayStarted(_)
        | Body::GatewayStopped(_)
        | Body::JournalStarted(_)
        | Body::CheckpointRecorded(_)
        | Body::EventsExpired(_)
        | Body::JournalFailed(_)
        | Body::EventSetAside(_)
        | Body::ClockStepped(_)
        | Body::SelfTestFailed(_)
        | Body::SoftwareVerified(_)
        | Body::DeviceOnline(_)
        | Body::DeviceOffline(_)
        | Body::DeviceFaulted(_)
        | Body::DeviceFaultCleared(_)
        | Body::StaleKeysIgnored(_)
        | Body::DeviceAccepted(_)
        | Body::TableClosed(_)
        | Body::TestModeEntered(_)
        | Body::TestModeLeft(_)
        | Body::AlertRaised(_)
        | Body::AlertAcknowledged(_)
        | Body::AlertCleared(_)
        | Body::IncidentRecorded(_)
        // Not of this game.
        | Body::ThrowerOffered(_)
        | Body::SpinnerSelected(_)
        | Body::SpinnerWagerPlaced(_)
        | Body::SpinResulted(_)
        | Body::SpinInvalidated(_)
        | Body::InvalidSpinOverruled(_)
        | Body::SpinCorrected(_)
        | Body::PlayersWagersDecided(_)
        | Body::SpinnerWagerDecided(_)
        | Body::SpinnerChanged(_)
        | Body::ResultCardRequired(_)
        | Body::DieOffTable(_)
        | Body::DiceReplaced(_) => &[],
    }
}

/// The rule behind a refused entry.
pub(super) fn rejection(code: Code) -> Citation {
    match code {
        rejection::PRESSED_BEFORE_UNCOVER | rejection::OUT_OF_ORDER => qld_1995!("r21.2(1), s77(1)"),
        // The uppermost faces decide.
        rejection::DICE_DIFFER => qld_1995!("s69"),
        _ => qld_1995!("s78"),
    }
}

fn held_cause(cause: RoundHeldCause) -> &'static [Citation] {
    match cause {
        RoundHeldCause::ExposedEarly => &[qld_1995!("r19.4(3), s72(3)")],
        RoundHeldCause::NotFlat => &[qld_1995!("r21.2(2), r22.1, s77(2), s80(1)")],
        RoundHeldCause::TumblerShort | RoundHeldCause::NotActivated => &[qld_1995!("s76")],
        RoundHeldCause::ActivityWhileAway | RoundHeldCause::CountersLost => &[qld_1995!("r21.8, s79")],
        RoundHeldCause::DiceDiffer => &[qld_1995!("s69")],
        RoundHeldCause::Unspecified
        | RoundHeldCause::TumblerFault
        | RoundHeldCause::NoSpinAfterUncover
        | RoundHeldCause::NoSpin => IRREGULARITY,
    }
}

fn lock(reason: TableLockedReason) -> &'static [Citation] {
    match reason {
        TableLockedReason::OutOfTurn | TableLockedReason::ReadsUnderCover => &[qld_1995!("r21.8, s79")],
        TableLockedReason::Tumbler | TableLockedReason::Seal => IRREGULARITY,
        TableLockedReason::Unspecified
        | TableLockedReason::Lamp
        | TableLockedReason::LampBoard
        | TableLockedReason::Display
        | TableLockedReason::DeviceNotApproved
        | TableLockedReason::Door
        | TableLockedReason::Digest
        | TableLockedReason::Configuration
        | TableLockedReason::Journal
        | TableLockedReason::Disk
        | TableLockedReason::Supervisor => &[],
    }
}
