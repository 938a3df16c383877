//! What the table would do for a supervisor now, and why not the rest: every act that the protocol knows is tried on a copy of the
//! table. No list of what is possible when stands here or anywhere: the table's own decision is asked.

use super::hex;
use super::message::{
    Act, DiceGone, INVALID_REASONS, LIGHTS, LightWord, Offer, OutcomeName, Preview, Refused, SetFrom, SideName,
    VOID_REASONS,
};
use crate::gateway::{Handle, Refusal, StateView, View};
use crate::table::Table;
use crate::table::event::{Body, Event};
use crate::table::incident::IncidentCause;
use crate::table::input::{OperatorAct, Person};
use crate::table::rejection::Rejection;
use crate::time::Uptime;
use prost::Message;
use std::collections::BTreeSet;

/// Acts tried before others get a turn: a fraction of a millisecond.
const AT_ONCE: usize = 8;

/// Stands in for the text that a person would give: only its presence matters.
const SOME_TEXT: &str = "-";

/// Every act of the supervisors' menu, with each of its few choices; of faces and seats, of which there are many, the first that the
/// table takes. Acts of the guided commands (`open` with questions, `test`) are theirs.
pub(super) async fn offers(handle: &Handle, person: &Person) -> Result<Vec<Offer>, Refusal> {
    let view = handle.look();
    let (now, table) = handle.peek().await?;
    let mut offers = Vec::new();
    for (at, act) in choices(&view).into_iter().enumerate() {
        if at % AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
        let refused = refusal(&table, now, person, &act);
        offers.push(Offer { act, refused });
    }
    // Beside the acts that end a round, where a person looks for them.
    let mut among = offers
        .iter()
        .position(|offer| matches!(offer.act, Act::Void { .. }))
        .unwrap_or(0);
    for acts in many() {
        let mut example = None;
        for (at, act) in acts.into_iter().enumerate() {
            if at % AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
            let refused = refusal(&table, now, person, &act);
            let is_taken = refused.is_none();
            if is_taken || example.is_none() {
                example = Some(Offer { act, refused });
            }
            if is_taken {
                break;
            }
        }
        if let Some(offer) = example {
            offers.insert(among, offer);
            among += 1;
        }
    }
    Ok(offers)
}

/// What exactly one act would do.
pub(super) async fn preview(handle: &Handle, person: &Person, act: &OperatorAct) -> Result<Preview, Refusal> {
    let view = handle.look();
    let (now, table) = handle.peek().await?;
    let tried = table.attempt(now, person, act).map_err(Refusal::Rejected)?;
    let lit = |table: &Table| -> BTreeSet<String> {
        let state = StateView::of(&table.state());
        state.lit.into_iter().collect()
    };
    // A table that is opened again has a round, and not this one.
    let gives_up_a_round = |event: &Event| matches!(event.body, Some(Body::RoundAbandoned(_)));
    let is_final = tried.events.iter().any(gives_up_a_round);
    let taken_back_by = choices(&view)
        .into_iter()
        .chain(many().into_iter().flatten())
        .filter(|_| !is_final)
        .find(|back| takes_back(act, back) && refusal(&tried.after, now, person, back).is_none());
    Ok(Preview {
        events: tried
            .events
            .iter()
            .map(|event| hex::write(&event.encode_to_vec()))
            .collect(),
        lit_before: lit(&table).into_iter().collect(),
        lit_after: lit(&tried.after).into_iter().collect(),
        after: StateView::of(&tried.after.state()),
        taken_back_by,
    })
}

fn refusal(table: &Table, now: Uptime, person: &Person, act: &Act) -> Option<Refused> {
    match OperatorAct::try_from(act.clone()) {
        Ok(act) => table.attempt(now, person, &act).err().map(Refused::from),
        Err(error) => Some(Refused {
            code: 0,
            text: error.to_string(),
            rule: String::new(),
        }),
    }
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Refused {
        Refused {
            code: rejection.code,
            text: rejection.text,
            rule: rejection.rule.to_owned(),
        }
    }
}

/// Acts with few choices, all of them.
pub(super) fn choices(view: &View) -> Vec<Act> {
    let text = || SOME_TEXT.to_owned();
    let sides = [SideName::Heads, SideName::Tails];
    let outcomes = [
        OutcomeName::Heads,
        OutcomeName::Tails,
        OutcomeName::Odds,
        OutcomeName::TripleHeads,
        OutcomeName::TripleTails,
    ];
    let mut acts = vec![Act::Resume {}, Act::Settle {}, Act::Reopen {}, Act::WithdrawVoid {}];
    acts.extend(reasons(&VOID_REASONS).map(|reason| Act::Void { reason }));
    let stated = VOID_REASONS.iter().map(|reason| (*reason).to_owned());
    acts.extend(stated.map(|reason| Act::StateVoidReason { reason }));
    acts.push(Act::Spinner { side: None });
    acts.extend(sides.map(|side| Act::Spinner { side: Some(side) }));
    acts.push(Act::DealerSpins {});
    acts.extend(sides.map(|side| Act::Continues { side }));
    acts.push(Act::NoMoreBets {});
    acts.extend(outcomes.map(|outcome| Act::Spin { outcome }));
    acts.extend(outcomes.map(|outcome| Act::CorrectOutcome { outcome }));
    acts.extend(reasons(&INVALID_REASONS).map(|reason| Act::Invalid { reason }));
    acts.extend(outcomes.map(|outcome| Act::Overrule { outcome }));
    acts.extend([Act::SpinnerStops {}, Act::Relieve {}]);
    acts.extend([DiceGone::One, DiceGone::Two, DiceGone::Three].map(|dice| Act::OffTable { dice }));
    acts.extend([SetFrom::Due, SetFrom::Found].map(|from| Act::NewSet { from }));
    for light in LIGHTS {
        acts.extend([LightWord::Failed, LightWord::Works].map(|seen| Act::ReportLight {
            light: light.to_owned(),
            seen,
        }));
    }
    acts.push(Act::Lock { reason: text() });
    acts.push(Act::Unlock { procedure: text() });
    let devices = view
        .table
        .state
        .devices
        .iter()
        .map(|device| device.serial_number.clone());
    let answering = view.links.iter().filter_map(|link| link.identity.as_ref());
    let answering = answering.map(|identity| identity.serial_number.clone());
    let serials: BTreeSet<String> = devices.chain(answering).filter(|serial| !serial.is_empty()).collect();
    acts.extend(
        serials
            .into_iter()
            .map(|serial_number| Act::AcceptDevice { serial_number }),
    );
    let alerts = view.table.situation.alerts.iter().map(|alert| alert.alert.clone());
    acts.extend(alerts.map(|alert| Act::AcknowledgeAlert { alert }));
    acts.extend(IncidentCause::all().map(|cause| Act::RecordIncident {
        cause: cause.code().to_owned(),
        note: Some(text()),
    }));
    acts.extend([
        Act::OpenVouched {},
        Act::AbandonOpening {},
        Act::LeaveTest {},
        Act::Close {},
    ]);
    acts
}

/// Acts with many choices, each with all of them.
fn many() -> [Vec<Act>; 3] {
    let faces = (1..=6u8).flat_map(|one| (one..=6).flat_map(move |two| (two..=6).map(move |three| [one, two, three])));
    let faces: Vec<[u8; 3]> = faces.collect();
    let results = faces.iter().map(|faces| Act::EnterResult {
        faces: *faces,
        reason: SOME_TEXT.to_owned(),
    });
    let amendments = faces.iter().map(|faces| Act::Amend { faces: *faces });
    [results.collect(), amendments.collect(), vec![Act::Offer { seat: 1 }]]
}

/// Each reason, after none.
fn reasons(codes: &'static [&'static str]) -> impl Iterator<Item = Option<String>> {
    let stated = codes.iter().map(|code| Some((*code).to_owned()));
    std::iter::once(None).chain(stated)
}

/// `back` is the act that undoes `act`, where the table takes it.
fn takes_back(act: &OperatorAct, back: &Act) -> bool {
    match act {
        OperatorAct::Void { .. } | OperatorAct::StateVoidReason { .. } => matches!(back, Act::WithdrawVoid {}),
        OperatorAct::Settle => matches!(back, Act::Reopen {}),
        OperatorAct::EnterResult { .. } | OperatorAct::Amend { .. } => matches!(back, Act::Amend { .. }),
        OperatorAct::Spin { .. } | OperatorAct::CorrectOutcome { .. } => matches!(back, Act::CorrectOutcome { .. }),
        OperatorAct::Invalid { .. } => matches!(back, Act::Overrule { .. }),
        OperatorAct::Lock { .. } => matches!(back, Act::Unlock { .. }),
        OperatorAct::ReportLight { .. } => matches!(back, Act::ReportLight { .. }),
        OperatorAct::Close | OperatorAct::AbandonOpening => matches!(back, Act::OpenVouched {}),
        OperatorAct::OpenVouched => matches!(back, Act::Close {}),
        OperatorAct::BeginOpening
        | OperatorAct::WalkLamps
        | OperatorAct::LightTestEntry { .. }
        | OperatorAct::SpinTumbler
        | OperatorAct::RecordCheck { .. }
        | OperatorAct::CompleteOpening
        | OperatorAct::Reopen
        | OperatorAct::Resume
        | OperatorAct::WithdrawVoid
        | OperatorAct::RecordIncident { .. }
        | OperatorAct::Unlock { .. }
        | OperatorAct::AcceptDevice { .. }
        | OperatorAct::EnterTest
        | OperatorAct::LeaveTest
        | OperatorAct::DeviceTest(_)
        | OperatorAct::RecordTestEntry { .. }
        | OperatorAct::AcknowledgeAlert { .. }
        | OperatorAct::LightTestOutcome { .. }
        | OperatorAct::Offer { .. }
        | OperatorAct::Spinner { .. }
        | OperatorAct::DealerSpins
        | OperatorAct::Continues { .. }
        | OperatorAct::NoMoreBets
        | OperatorAct::Overrule { .. }
        | OperatorAct::SpinnerStops
        | OperatorAct::Relieve
        | OperatorAct::OffTable { .. }
        | OperatorAct::NewSet { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::act_words;
    use super::*;
    use crate::gateway::testing;

    /// What guided commands do, and the menu does not.
    const GUIDED: [&str; 14] = [
        "begin_opening",
        "walk_lamps",
        "light_test_entry",
        "light_test_outcome",
        "spin_tumbler",
        "record_check",
        "complete_opening",
        "enter_test",
        "record_entry",
        "begin_test",
        "test_lamp",
        "ask_test",
        "say_test",
        "end_test",
    ];

    #[test]
    fn every_act_is_offered_or_belongs_to_a_guided_command() {
        let mut table = testing::view();
        table.situation.alerts.push(crate::table::view::AlertLine {
            alert: "lamp_failed".into(),
            text: String::new(),
            acknowledged: false,
            over: false,
            since_unix_ms: 0,
            times: 1,
        });
        table.state.devices.push(crate::gateway::DeviceView {
            kind: "tumbler".into(),
            serial_number: "DT-1".into(),
            online: true,
            needed: true,
        });
        let view = View {
            table,
            links: Vec::new(),
            uplink: None,
        };
        let tried = choices(&view).into_iter().chain(many().into_iter().flatten());
        let tried: BTreeSet<&str> = tried.map(|act| OperatorAct::try_from(act).unwrap().word()).collect();
        for word in act_words() {
            let guided = GUIDED.contains(&word);
            assert!(tried.contains(word) != guided, "{word}");
        }
    }
}
