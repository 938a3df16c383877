//! An event as a line that a person can follow: `events`, `recall`, the demo's subscriber and `floor watch` print the same.
//! Here each kind of event finds its words; those that need more than a line have them in a file of their subject.

mod dice;
mod gateway;
mod refusals;
mod table;
mod tried;
mod two_up;
mod words;

pub use tried::{finding, part};
pub use words::{actor, areas, code, device, device_kind, keys, moment, output, word};

use crate::counted::counted;
use crate::table::event::{Body, Event};
use words::{after, also, area, away, by_itself};

/// Number, time (UTC), round, and what happened: `#42 2026-02-14 10:15:30.123Z round 7: result 1, 3, 6, Total 10 ... (terminal ET-1_0042)`.
#[must_use]
pub fn line(event: &Event) -> String {
    let round = match event.round_id {
        0 => String::new(),
        round => format!("round {round}: "),
    };
    format!(
        "#{} {} {round}{}",
        event.seqno,
        moment(event.recorded_at.as_ref()),
        describe(event)
    )
}

/// What happened, who did it, and which device it came from. One line, whatever a device or a person wrote into the texts.
#[must_use]
pub fn describe(event: &Event) -> String {
    let mut text = match &event.body {
        Some(body) => happened(body),
        None => "something that this version doesn't know".to_owned(),
    };
    let who: Vec<String> = [event.actor.as_ref().map(actor), event.device.as_ref().map(device)]
        .into_iter()
        .flatten()
        .collect();
    if !who.is_empty() {
        text = format!("{text} ({})", who.join(", "));
    }
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The event's kind as the proto names it: `result_entered`.
#[must_use]
pub fn kind(body: &Body) -> &'static str {
    match body {
        Body::GatewayStarted(_) => "gateway_started",
        Body::GatewayStopped(_) => "gateway_stopped",
        Body::JournalStarted(_) => "journal_started",
        Body::CheckpointRecorded(_) => "checkpoint_recorded",
        Body::EventsExpired(_) => "events_expired",
        Body::JournalFailed(_) => "journal_failed",
        Body::EventSetAside(_) => "event_set_aside",
        Body::ClockStepped(_) => "clock_stepped",
        Body::SelfTestFailed(_) => "self_test_failed",
        Body::SoftwareVerified(_) => "software_verified",
        Body::DeviceOnline(_) => "device_online",
        Body::DeviceOffline(_) => "device_offline",
        Body::DeviceFaulted(_) => "device_faulted",
        Body::DeviceFaultCleared(_) => "device_fault_cleared",
        Body::StaleKeysIgnored(_) => "stale_keys_ignored",
        Body::DeviceAccepted(_) => "device_accepted",
        Body::TumblerStarted(_) => "tumbler_started",
        Body::ActRefused(_) => "act_refused",
        Body::TestRecorded(_) => "test_recorded",
        Body::TestStarted(_) => "test_started",
        Body::OpeningStarted(_) => "opening_started",
        Body::OpeningAbandoned(_) => "opening_abandoned",
        Body::OpeningCheckRecorded(_) => "opening_check_recorded",
        Body::TableOpened(_) => "table_opened",
        Body::TableClosed(_) => "table_closed",
        Body::TableLocked(_) => "table_locked",
        Body::TableUnlocked(_) => "table_unlocked",
        Body::TestModeEntered(_) => "test_mode_entered",
        Body::TestModeLeft(_) => "test_mode_left",
        Body::AlertRaised(_) => "alert_raised",
        Body::AlertAcknowledged(_) => "alert_acknowledged",
        Body::AlertCleared(_) => "alert_cleared",
        Body::IncidentRecorded(_) => "incident_recorded",
        Body::RoundStarted(_) => "round_started",
        Body::TumblerSpun(_) => "tumbler_spun",
        Body::BetsOpened(_) => "bets_opened",
        Body::BetsClosed(_) => "bets_closed",
        Body::DiceUncovered(_) => "dice_uncovered",
        Body::ResultEntered(_) => "result_entered",
        Body::EntryRejected(_) => "entry_rejected",
        Body::LayoutLit(_) => "layout_lit",
        Body::LampFailed(_) => "lamp_failed",
        Body::LampRestored(_) => "lamp_restored",
        Body::ResultAmended(_) => "result_amended",
        Body::RoundHeld(_) => "round_held",
        Body::RoundResumed(_) => "round_resumed",
        Body::RoundVoided(_) => "round_voided",
        Body::VoidReasonStated(_) => "void_reason_stated",
        Body::VoidWithdrawn(_) => "void_withdrawn",
        Body::RoundAbandoned(_) => "round_abandoned",
        Body::RoundSettled(_) => "round_settled",
        Body::RoundReopened(_) => "round_reopened",
        Body::SpinnerSelected(_) => "spinner_selected",
        Body::SpinnerWagerPlaced(_) => "spinner_wager_placed",
        Body::SpinResulted(_) => "spin_resulted",
        Body::SpinInvalidated(_) => "spin_invalidated",
        Body::InvalidSpinOverruled(_) => "invalid_spin_overruled",
        Body::SpinCorrected(_) => "spin_corrected",
        Body::PlayersWagersDecided(_) => "players_wagers_decided",
        Body::SpinnerWagerDecided(_) => "spinner_wager_decided",
        Body::SpinnerChanged(_) => "spinner_changed",
        Body::ResultCardRequired(_) => "result_card_required",
        Body::DieOffTable(_) => "die_off_table",
        Body::DiceReplaced(_) => "dice_replaced",
        Body::ThrowerOffered(_) => "thrower_offered",
    }
}

fn happened(body: &Body) -> String {
    match body {
        Body::GatewayStarted(started) => gateway::gateway_started(started),
        Body::GatewayStopped(_) => "gateway stopped".to_owned(),
        Body::JournalStarted(started) => gateway::journal_started(started),
        Body::CheckpointRecorded(checkpoint) => gateway::checkpoint_recorded(checkpoint),
        Body::EventsExpired(expired) => format!("events up to {} deleted, their time is over", expired.through_seqno),
        Body::JournalFailed(failed) => gateway::journal_failed(failed),
        Body::EventSetAside(aside) => {
            let reason = word(aside.reason().as_str_name(), "EVENT_SET_ASIDE_REASON_");
            format!("event {} set aside, the broker refused it: {reason}", aside.seqno)
        }
        Body::ClockStepped(step) => {
            format!(
                "clock stepped from {} to {}",
                moment(step.from.as_ref()),
                moment(step.to.as_ref())
            )
        }
        Body::SelfTestFailed(failed) => format!("SELF-TEST FAILED: {}", failed.text),
        Body::SoftwareVerified(verified) => gateway::software_verified(verified),
        Body::DeviceOnline(online) => gateway::device_online(online),
        Body::DeviceOffline(offline) => {
            "device offline: ".to_owned()
                + &word(offline.reason().as_str_name(), "DEVICE_OFFLINE_REASON_")
                + &also(&offline.text)
        }
        Body::DeviceFaulted(fault) => format!("device fault {}{}", fault.code, also(&fault.text)),
        Body::DeviceFaultCleared(fault) => format!("device fault {} cleared", fault.code),
        Body::StaleKeysIgnored(stale) => format!("{} stale keys ignored (E07)", stale.count),
        Body::DeviceAccepted(accepted) if accepted.firmware.is_empty() => "device accepted".to_owned(),
        Body::DeviceAccepted(accepted) => format!("device accepted with firmware {}", accepted.firmware),
        Body::TumblerStarted(_) => "tumbler started by the gateway".to_owned(),
        Body::ActRefused(refused) => refusals::act_refused(refused),
        Body::TestRecorded(recorded) => tried::recorded(recorded),
        Body::TestStarted(started) => tried::started(started),
        Body::OpeningStarted(_) => "opening checks begun".to_owned(),
        Body::OpeningAbandoned(abandoned) => format!("opening abandoned{}", also(&abandoned.text)),
        Body::OpeningCheckRecorded(check) => table::opening_check(check),
        Body::TableOpened(opened) => table::table_opened(opened),
        Body::TableClosed(_) => "table closed".to_owned(),
        Body::TableLocked(lock) => {
            let kind = word(lock.kind().as_str_name(), "TABLE_LOCKED_KIND_");
            let reason = word(lock.reason().as_str_name(), "TABLE_LOCKED_REASON_");
            format!("table locked ({kind}): {reason}{}", also(&lock.text))
        }
        Body::TableUnlocked(unlocked) => table::table_unlocked(unlocked),
        Body::TestModeEntered(_) => "test mode entered".to_owned(),
        Body::TestModeLeft(_) => "test mode left".to_owned(),
        Body::AlertRaised(alert) => format!("ALERT {}{}", alert.alert, also(&alert.text)),
        Body::AlertAcknowledged(alert) => format!("alert {} acknowledged", alert.alert),
        Body::AlertCleared(alert) => format!("alert {} cleared", alert.alert),
        Body::IncidentRecorded(recorded) => table::incident(recorded),
        Body::RoundStarted(started) => dice::round_started(started),
        Body::TumblerSpun(spun) => format!(
            "tumbler at rest after {}{}",
            counted(spun.spins, "spin"),
            away(spun.while_away)
        ),
        Body::BetsOpened(opened) => dice::bets_opened(opened),
        Body::BetsClosed(closed) => dice::bets_closed(closed),
        Body::DiceUncovered(uncovered) => dice::dice_uncovered(uncovered),
        Body::ResultEntered(result) => dice::result_entered(result),
        Body::EntryRejected(rejected) => refusals::entry_rejected(rejected),
        Body::LayoutLit(lit) => format!(
            "layout lit: {}{}",
            areas(&lit.areas),
            after(lit.entry_to_lamps_ms, "the entry")
        ),
        Body::LampFailed(failed) => dice::lamp_failed(failed),
        Body::LampRestored(restored) => format!("lamp of {} works again", area(restored.area.as_ref())),
        Body::ResultAmended(amended) => dice::result_amended(amended),
        Body::RoundHeld(held) => {
            format!(
                "ROUND HELD: {}{}",
                word(held.cause().as_str_name(), "ROUND_HELD_CAUSE_"),
                also(&held.text)
            )
        }
        Body::RoundResumed(resumed) => {
            format!(
                "round goes on after: {}",
                word(resumed.cause().as_str_name(), "ROUND_HELD_CAUSE_")
            )
        }
        Body::RoundVoided(voided) => dice::round_voided(voided),
        Body::VoidReasonStated(stated) => {
            format!(
                "reason of the void: {}",
                code(stated.reason().as_str_name(), "ROUND_VOIDED_REASON_")
            )
        }
        Body::VoidWithdrawn(withdrawn) => format!("void withdrawn{}", by_itself(withdrawn.automatic)),
        Body::RoundAbandoned(_) => "round abandoned before the bell, bets go back".to_owned(),
        Body::RoundSettled(settled) => dice::round_settled(settled),
        Body::RoundReopened(_) => "round reopened, its lamps are lit again".to_owned(),
        Body::SpinnerSelected(selected) => two_up::spinner_selected(selected),
        Body::SpinnerWagerPlaced(placed) => two_up::spinner_wager_placed(placed),
        Body::SpinResulted(spun) => two_up::spin_resulted(spun),
        Body::SpinInvalidated(invalid) => two_up::spin_invalidated(invalid),
        Body::InvalidSpinOverruled(_) => "NO SPIN OVERRULED: the spin stands".to_owned(),
        Body::SpinCorrected(corrected) => two_up::spin_corrected(corrected),
        Body::PlayersWagersDecided(decided) => two_up::players_wagers_decided(decided),
        Body::SpinnerWagerDecided(decided) => two_up::spinner_wager_decided(decided),
        Body::SpinnerChanged(changed) => two_up::spinner_changed(changed),
        Body::ResultCardRequired(required) => two_up::result_card_required(required),
        Body::DieOffTable(off) => two_up::die_off_table(off),
        Body::DiceReplaced(replaced) => two_up::dice_replaced(replaced),
        Body::ThrowerOffered(offered) => format!("dice offered to seat {}", offered.seat),
    }
}

/// The round that an event is of; 0: none. An incident that is recorded between rounds names the one it concerns.
#[must_use]
pub fn round(event: &Event) -> u64 {
    match &event.body {
        Some(Body::IncidentRecorded(incident)) if incident.of_round > 0 => incident.of_round,
        Some(_) | None => event.round_id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event;
    use crate::table::event::{
        Actor, ActorKind, Area, BetsClosed, DeviceKind, DeviceRef, DiceUncovered, IncidentRecorded, LampFailed,
        ResultEntered, ResultSource, RoundVoided,
    };
    use crate::time::Timestamp;

    fn check(body: Body, expected: &str) {
        let event = Event {
            body: Some(body),
            ..Event::default()
        };
        assert_eq!(describe(&event), expected);
    }

    fn area(id: &str) -> Area {
        Area {
            id: id.to_owned(),
            pays: 1,
            per: 1,
        }
    }

    #[test]
    fn a_line_says_number_time_round_what_and_who() {
        let event = Event {
            seqno: 42,
            round_id: 7,
            recorded_at: Some(Timestamp::from_unix_micros(1_771_064_130_123_456).into()),
            actor: Some(Actor {
                kind: ActorKind::Dealer.into(),
                ..Actor::default()
            }),
            device: Some(DeviceRef {
                kind: DeviceKind::Terminal.into(),
                serial_number: "ET-1_0042".to_owned(),
            }),
            body: Some(Body::ResultEntered(ResultEntered {
                pressed: vec![6, 1, 3],
                faces: vec![1, 3, 6],
                total: 10,
                call: "1, 3, 6, Total 10".to_owned(),
                areas: vec![area("small"), area("total_10")],
                source: ResultSource::Terminal.into(),
                ..ResultEntered::default()
            })),
            ..Event::default()
        };
        assert_eq!(
            line(&event),
            "#42 2026-02-14 10:15:30.123Z round 7: RESULT 1, 3, 6, Total 10: small, total_10, keys 6 1 3 (dealer, terminal ET-1_0042)"
        );
    }

    #[test]
    fn facts_in_words() {
        check(
            Body::BetsClosed(BetsClosed {
                implied: true,
                bets_open_ms: 25_340,
                ..BetsClosed::default()
            }),
            "no more bets, no bell was heard, bets were open 25.3 s",
        );
        check(
            Body::DiceUncovered(DiceUncovered {
                bell_to_uncover_ms: 412,
                off_us_before: 300_900,
                ..DiceUncovered::default()
            }),
            "cover off, 412 ms after the bell (off for 300 ms, so it counts)",
        );
        check(
            Body::DiceUncovered(DiceUncovered {
                implied: true,
                ..DiceUncovered::default()
            }),
            "cover off, implied by the entry",
        );
        check(
            Body::EntryRejected(event::EntryRejected {
                shown: vec![1, 2, 4],
                code: 1,
                text: "keys differ".to_owned(),
                count: 3,
            }),
            "entry 1 2 4 refused, E01: keys differ, 3 times",
        );
        check(
            Body::RoundVoided(RoundVoided {
                reason: event::RoundVoidedReason::AExposedEarly.into(),
                automatic: true,
                ..RoundVoided::default()
            }),
            "NO SPIN, round void: a_exposed_early, by the gateway",
        );
        check(
            Body::SpinResulted(event::SpinResulted {
                outcome: event::SpinOutcome::Odds.into(),
                heads: 2,
                odds_run: 3,
                source: ResultSource::Command.into(),
                ..event::SpinResulted::default()
            }),
            "RESULT odds: heads 2, tails 0, odds 3 in a row, by command",
        );
        check(
            Body::SpinInvalidated(event::SpinInvalidated {
                reason: event::SpinInvalidatedReason::OffTable.into(),
                in_a_row: 2,
                ..event::SpinInvalidated::default()
            }),
            "NO SPIN: off_table, 2 in a row",
        );
        check(
            Body::SpinnerWagerDecided(event::SpinnerWagerDecided {
                won: true,
                odds: Some(Area {
                    id: String::new(),
                    pays: 15,
                    per: 2,
                }),
                may_continue: true,
            }),
            "SPINNER'S WAGER WINS, pays 15 to 2, the spinner may go on",
        );
        check(
            Body::SpinnerChanged(event::SpinnerChanged {
                reason: event::SpinnerChangedReason::InvalidSpins.into(),
                dealer: true,
                first_three: true,
                wager_returned: false,
            }),
            "spinner after three invalid spins at the beginning: the dealer spins until the wager is decided",
        );
        check(
            Body::EntryRejected(event::EntryRejected {
                shown: vec![22, 16],
                code: 31,
                text: "not now".to_owned(),
                count: 1,
            }),
            "entry NEW_SPINNER HEADS refused, E31: not now",
        );
        check(
            Body::ActRefused(event::ActRefused {
                act: "no_more_bets".to_owned(),
                text: "No round is open for bets.".to_owned(),
                code: 31,
                count: 3,
                reason: event::ActRefusedReason::NotNow.into(),
            }),
            "act \"no more bets\" refused, E31, 3 times: No round is open for bets.",
        );
        check(
            Body::IncidentRecorded(IncidentRecorded {
                cause: "chip_place_unknown".to_owned(),
                of_round: 7,
                text: "nobody can say where a chip lay".to_owned(),
                allows: "the wager is settled where it lies".to_owned(),
                note: "seat 4".to_owned(),
            }),
            "incident in round 7: chip_place_unknown: nobody can say where a chip lay; the law: the wager is settled where it lies; note: seat 4",
        );
        check(
            Body::LampFailed(LampFailed {
                area: Some(area("big")),
                wrongly_lit: false,
                count: 1,
                reported: false,
            }),
            "LAMP of big is dark",
        );
        check(
            Body::TumblerSpun(event::TumblerSpun {
                spins: 1,
                ..Default::default()
            }),
            "tumbler at rest after 1 spin",
        );
        check(
            Body::AlertRaised(event::AlertRaised {
                alert: "x".to_owned(),
                text: "two\nlines\u{1b}[2J".to_owned(),
            }),
            "ALERT x: two?lines?[2J",
        );
    }
}
