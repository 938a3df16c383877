//! The rules behind each fact at a tai-sai table. PURE.

use crate::rules::citation::Citation;
use crate::rules::tai_sai::VoidReason;
use crate::table::event::{Body, ResultSource, RoundHeldCause, RoundVoidedReason, TableLockedReason};
use crate::table::rejection::CODES;

/// The rules that decided a fact, as its event carries them.
pub(crate) fn of(body: &Body) -> &'static [Citation] {
    match body {
        Body::OpeningStarted(_)
        | Body::OpeningAbandoned(_)
        | Body::OpeningCheckRecorded(_)
        | Body::TumblerStarted(_)
        | Body::TableOpened(_) => &["NZ Div 9 r5.1"],
        Body::RoundStarted(_) | Body::TumblerSpun(_) => &["NZ Div 9 r6.1"],
        Body::BetsOpened(_) => &["NZ Div 9 r6.1", "NZ Div 9 r4.4"],
        Body::BetsClosed(_) => &["NZ Div 9 r6.2", "NZ Div 9 r4.7"],
        Body::DiceUncovered(_) => &["NZ Div 9 r6.3"],
        Body::ResultEntered(entered) => match entered.source() {
            ResultSource::Command => &["NZ Div 9 r6.4", "NZ Div 9 r4.2"],
            ResultSource::Unspecified | ResultSource::Terminal => &["NZ Div 9 r3.3", "NZ Div 9 r6.3", "NZ Div 9 r6.4"],
        },
        Body::ResultAmended(_) => &["NZ Div 9 r7.2"],
        Body::LayoutLit(_) => &["NZ Div 9 r3.3", "NZ Div 9 r6.5"],
        Body::LampFailed(_) => &["NZ Div 9 r7.3"],
        Body::LampRestored(_) => &["NZ Div 9 r7.4"],
        Body::EntryRejected(rejected) => rejection(rejected.code),
        Body::RoundHeld(held) => held_cause(held.cause()),
        Body::RoundResumed(resumed) => held_cause(resumed.cause()),
        Body::RoundVoided(voided) => void(voided.reason()),
        Body::VoidReasonStated(stated) => void(stated.reason()),
        Body::VoidWithdrawn(_) => &["NZ Div 9 r7.1"],
        Body::RoundAbandoned(_) => &["NZ Div 9 r4.7"],
        Body::RoundSettled(_) => &["NZ Div 9 r6.5"],
        Body::RoundReopened(_) => &["NZ Div 9 r7.2"],
        Body::TableLocked(locked) => lock(locked.reason()),
        Body::TableUnlocked(unlocked) => lock(unlocked.reason()),
        Body::GatewayStarted(_)
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
        | Body::ActRefused(_)
        | Body::TestRecorded(_)
        | Body::TestStarted(_)
        | Body::AlertAcknowledged(_)
        | Body::AlertCleared(_)
        | Body::IncidentRecorded(_)
        | Body::ThrowerOffered(_)
        // Of other games.
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

/// The same at a table with a dice cup (section 6A).
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a throw has some rules of its own; whatever else happens is as with a tumbler"
)]
pub(crate) fn of_a_throw(body: &Body) -> &'static [Citation] {
    match body {
        Body::RoundStarted(_) => &["NZ Div 9 r6A.1"],
        Body::BetsOpened(_) => &["NZ Div 9 r6A.1", "NZ Div 9 r4.4"],
        Body::BetsClosed(_) => &["NZ Div 9 r6A.2", "NZ Div 9 r4.7"],
        Body::ThrowerOffered(_) => &["NZ Div 9 r6A.3"],
        Body::ResultEntered(entered) => match entered.source() {
            ResultSource::Command => &["NZ Div 9 r6A.10", "NZ Div 9 r4.2"],
            ResultSource::Unspecified | ResultSource::Terminal => {
                &["NZ Div 9 r3.3", "NZ Div 9 r6A.9", "NZ Div 9 r6A.10"]
            }
        },
        Body::LayoutLit(_) => &["NZ Div 9 r3.3", "NZ Div 9 r6A.11"],
        Body::RoundSettled(_) => &["NZ Div 9 r6A.11", "NZ Div 9 r6A.12"],
        other => of(other),
    }
}

fn rejection(code: u32) -> &'static [Citation] {
    CODES
        .iter()
        .find(|known| known.number == code)
        .map_or(&[], |known| std::slice::from_ref(&known.rule))
}

fn held_cause(cause: RoundHeldCause) -> &'static [Citation] {
    match cause {
        RoundHeldCause::ExposedEarly => &["NZ Div 9 r7.1(c)"],
        RoundHeldCause::NotFlat => &["NZ Div 9 r7.1(a)"],
        RoundHeldCause::TumblerFault => &["NZ Div 9 r7.1(b)"],
        RoundHeldCause::TumblerShort | RoundHeldCause::NotActivated => &["NZ Div 9 r6.1", "NZ Div 9 r7.1(d)"],
        RoundHeldCause::ActivityWhileAway | RoundHeldCause::CountersLost => &["NZ Div 9 r6.6"],
        RoundHeldCause::DiceDiffer => &["NZ Div 9 r4.2"],
        RoundHeldCause::Unspecified | RoundHeldCause::NoSpinAfterUncover | RoundHeldCause::NoSpin => &["NZ Div 9 r7.1"],
    }
}

/// The law's own reason; `None` for "not stated".
pub(crate) fn void_reason(reason: RoundVoidedReason) -> Option<VoidReason> {
    match reason {
        RoundVoidedReason::Unspecified | RoundVoidedReason::NotStated => None,
        RoundVoidedReason::ANotFlat => Some(VoidReason::ANotFlat),
        RoundVoidedReason::ATumblerFault => Some(VoidReason::ATumblerFault),
        RoundVoidedReason::AExposedEarly => Some(VoidReason::AExposedEarly),
        RoundVoidedReason::ANotActivated => Some(VoidReason::ANotActivated),
        RoundVoidedReason::BShortOfLine => Some(VoidReason::BShortOfLine),
        RoundVoidedReason::BLeftArea => Some(VoidReason::BLeftArea),
        RoundVoidedReason::BHitObject => Some(VoidReason::BHitObject),
        RoundVoidedReason::BNotFlat => Some(VoidReason::BNotFlat),
        RoundVoidedReason::BInterference => Some(VoidReason::BInterference),
        RoundVoidedReason::BNotRandom => Some(VoidReason::BNotRandom),
    }
}

fn void(reason: RoundVoidedReason) -> &'static [Citation] {
    match reason {
        RoundVoidedReason::Unspecified | RoundVoidedReason::NotStated => &["NZ Div 9 r7.1"],
        RoundVoidedReason::ANotFlat => &["NZ Div 9 r7.1(a)"],
        RoundVoidedReason::ATumblerFault => &["NZ Div 9 r7.1(b)"],
        RoundVoidedReason::AExposedEarly => &["NZ Div 9 r7.1(c)"],
        RoundVoidedReason::ANotActivated => &["NZ Div 9 r7.1(d)"],
        RoundVoidedReason::BShortOfLine => &["NZ Div 9 r7.1(e)"],
        RoundVoidedReason::BLeftArea => &["NZ Div 9 r7.1(f)"],
        RoundVoidedReason::BHitObject => &["NZ Div 9 r7.1(g)"],
        RoundVoidedReason::BNotFlat => &["NZ Div 9 r7.1(h)"],
        RoundVoidedReason::BInterference => &["NZ Div 9 r7.1(i)"],
        RoundVoidedReason::BNotRandom => &["NZ Div 9 r7.1(j)"],
    }
}

fn lock(reason: TableLockedReason) -> &'static [Citation] {
    match reason {
        TableLockedReason::Lamp | TableLockedReason::LampBoard => &["NZ Div 9 r7.3", "NZ Div 9 r7.4"],
        TableLockedReason::Tumbler => &["NZ Div 9 r7.4"],
        TableLockedReason::Display => &["NZ Div 9 r7.4", "NZ Div 9 r7.5"],
        TableLockedReason::Seal => &["NZ Div 9 r3.4"],
        TableLockedReason::ReadsUnderCover | TableLockedReason::Door | TableLockedReason::OutOfTurn => {
            &["NZ Div 9 r6.6"]
        }
        TableLockedReason::Unspecified
        | TableLockedReason::DeviceNotApproved
        | TableLockedReason::Digest
        | TableLockedReason::Configuration
        | TableLockedReason::Journal
        | TableLockedReason::Disk
        | TableLockedReason::Supervisor => &[],
    }
}
