//! The rules behind each fact at a two-up table. PURE.

use crate::rules::citation::Citation;
use crate::table::event::{Body, SpinnerChangedReason};
use crate::table::two_up::law::Law;
use crate::table::two_up::reason;
use std::borrow::Cow;

/// The rules that decided a fact.
pub(crate) fn of(law: &Law, body: &Body) -> Cow<'static, [Citation]> {
    if let Body::SpinInvalidated(invalidated) = body
        && let Some(reason) = reason::of(invalidated.reason())
    {
        return vec![reason.rule()].into();
    }
    match law {
        Law::Dice(_) => with_dice(body).into(),
        Law::Coins(_) => with_coins(body).into(),
    }
}

macro_rules! other_facts {
    () => {
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
            | Body::OpeningStarted(_)
            | Body::OpeningAbandoned(_)
            | Body::OpeningCheckRecorded(_)
            | Body::TumblerStarted(_)
            | Body::TableOpened(_)
            | Body::TableClosed(_)
            | Body::TableLocked(_)
            | Body::TableUnlocked(_)
            | Body::TestModeEntered(_)
            | Body::TestModeLeft(_)
            | Body::AlertRaised(_)
            | Body::AlertAcknowledged(_)
            | Body::AlertCleared(_)
            | Body::IncidentRecorded(_)
            | Body::RoundStarted(_)
            | Body::TumblerSpun(_)
            | Body::BetsOpened(_)
            | Body::DiceUncovered(_)
            | Body::ResultEntered(_)
            | Body::EntryRejected(_)
            | Body::ActRefused(_)
            | Body::TestRecorded(_)
            | Body::TestStarted(_)
            | Body::LayoutLit(_)
            | Body::ResultAmended(_)
            | Body::RoundHeld(_)
            | Body::RoundResumed(_)
            | Body::RoundVoided(_)
            | Body::VoidReasonStated(_)
            | Body::VoidWithdrawn(_)
            | Body::RoundSettled(_)
            | Body::RoundReopened(_)
            | Body::ThrowerOffered(_)
    };
}

fn with_dice(body: &Body) -> &'static [Citation] {
    match body {
        Body::SpinnerSelected(selected) if selected.dealer => &["Qld 2004 sch 13 s5(6)"],
        Body::SpinnerSelected(_) => &["Qld 2004 sch 13 s5(2)", "Qld 2004 sch 13 s5(3)"],
        Body::SpinnerWagerPlaced(_) => &["Qld 2004 sch 13 s6(1)", "Qld 2004 sch 13 s10(1)"],
        Body::BetsClosed(_) => &["Qld 2004 sch 13 s7(1)", "Qld 2004 sch 13 s16"],
        Body::SpinResulted(_) => &["Qld 2004 sch 13 s2", "Qld 2004 sch 13 s19(1)"],
        // Not stated.
        Body::SpinInvalidated(_) => &["Qld 2004 sch 13 s20(1)"],
        Body::InvalidSpinOverruled(_) => &["Qld 2004 sch 13 s20(4)"],
        // The house's policy: no rule stands behind it (TD-20).
        Body::SpinCorrected(_) => &[],
        Body::PlayersWagersDecided(_) => &["Qld 2004 sch 13 s12"],
        Body::SpinnerWagerDecided(_) => &["Qld 2004 sch 13 s8", "Qld 2004 sch 13 s9"],
        Body::SpinnerChanged(changed) => match changed.reason() {
            SpinnerChangedReason::Unspecified => &[],
            SpinnerChangedReason::Stopped if changed.dealer => &["Qld 2004 sch 13 s10(4)"],
            SpinnerChangedReason::Stopped => &["Qld 2004 sch 13 s10(3)"],
            SpinnerChangedReason::Lost => &["Qld 2004 sch 13 s10(2)"],
            SpinnerChangedReason::InvalidSpins if changed.first_three => {
                &["Qld 2004 sch 13 s21(1)(a)", "Qld 2004 sch 13 s21(3)"]
            }
            SpinnerChangedReason::InvalidSpins => &["Qld 2004 sch 13 s21(1)(a)", "Qld 2004 sch 13 s21(2)"],
            SpinnerChangedReason::Relieved => &["Qld 2004 sch 13 s21(1)(b)", "Qld 2004 sch 13 s21(2)"],
        },
        Body::LampFailed(_) | Body::LampRestored(_) | Body::ResultCardRequired(_) => &["Qld 2004 sch 13 s19(2)"],
        Body::DieOffTable(_) => &["Qld 2004 sch 13 s22(1)"],
        Body::DiceReplaced(replaced) if replaced.found => &["Qld 2004 sch 13 s22(1)(c)"],
        Body::DiceReplaced(_) => &["Qld 2004 sch 13 s22(1)(d)"],
        Body::RoundAbandoned(_) => &["Qld 2004 sch 13 s16"],
        other_facts!() => &[],
    }
}

fn with_coins(body: &Body) -> &'static [Citation] {
    match body {
        Body::SpinnerSelected(selected) if selected.dealer => &["Qld 1998 s471(5)"],
        Body::SpinnerSelected(_) => &["Qld 1998 s471(1)", "Qld 1998 s471(2)"],
        Body::SpinnerWagerPlaced(_) => &["Qld 1998 s472(2)(a)", "Qld 1998 s472(7)"],
        Body::BetsClosed(closed) if closed.run_out => &["Qld 1998 s472(8)(b)", "Qld 1998 s475(4)"],
        Body::BetsClosed(_) => &["Qld 1998 s475(4)"],
        Body::SpinResulted(_) => &["Qld 1998 s468", "Qld 1998 s479"],
        // Not stated.
        Body::SpinInvalidated(_) => &["Qld 1998 s477"],
        // With dice only.
        Body::InvalidSpinOverruled(_) => &[],
        // The house's policy.
        Body::SpinCorrected(_) => &[],
        Body::PlayersWagersDecided(decided) if decided.run_out => &["Qld 1998 s472(8)(b)", "Qld 1998 s473(5)"],
        Body::PlayersWagersDecided(_) => &["Qld 1998 s473(3)", "Qld 1998 s473(4)", "Qld 1998 s473(5)"],
        Body::SpinnerWagerDecided(_) => &["Qld 1998 s472(5)(a)", "Qld 1998 s480(2)(a)"],
        Body::SpinnerChanged(changed) => match changed.reason() {
            SpinnerChangedReason::Unspecified => &[],
            SpinnerChangedReason::Stopped if changed.dealer => &["Qld 1998 s472(9)"],
            SpinnerChangedReason::Stopped if changed.wager_returned => &["Qld 1998 s472(10)"],
            SpinnerChangedReason::Stopped => &["Qld 1998 s472(7)"],
            SpinnerChangedReason::Lost => &["Qld 1998 s472(8)(a)"],
            SpinnerChangedReason::InvalidSpins if changed.first_three => &["Qld 1998 s478(1)"],
            SpinnerChangedReason::InvalidSpins | SpinnerChangedReason::Relieved => &["Qld 1998 s478(2)"],
        },
        Body::LampFailed(_) | Body::LampRestored(_) | Body::ResultCardRequired(_) => &["Qld 1998 s479"],
        Body::DieOffTable(_) => &["Qld 1998 s474(1)"],
        Body::DiceReplaced(replaced) if replaced.found => &["Qld 1998 s474(2)"],
        Body::DiceReplaced(_) => &["Qld 1998 s474(4)"],
        Body::RoundAbandoned(_) => &["Qld 1998 s475(4)"],
        other_facts!() => &[],
    }
}
