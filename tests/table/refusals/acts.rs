//! What people ask for by commands and are refused: recorded with their names, and bounded.

use super::*;
use crate::scene::{supervisor, technician};
use tablegate::table::event::{ActRefused, ActRefusedReason, ActorKind};
use tablegate::table::input::{Person, Role};

fn refusals(s: &Scene) -> Vec<(ActRefused, String, u64)> {
    let all = s.events.iter().filter_map(|r| match &r.event.body {
        Some(Body::ActRefused(refused)) => Some((
            refused.clone(),
            r.event.actor.as_ref().unwrap().name.clone(),
            r.event.round_id,
        )),
        _ => None,
    });
    all.collect()
}

#[test]
fn a_refused_act_is_an_event_with_who_what_and_why() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.operator(OperatorAct::Amend { faces: [1, 3, 6] });
        s.expect_refused();
        s.expect_events(&["ActRefused amend NOT_NOW x1 round:1"]);
        let event = &s.events.last().unwrap().event;
        let actor = event.actor.as_ref().unwrap();
        assert_eq!((actor.kind(), actor.name.as_str()), (ActorKind::Supervisor, "maria"));
        let Some(Err(told)) = &s.answer else { unreachable!() };
        let Some(Body::ActRefused(refused)) = &event.body else {
            unreachable!()
        };
        assert_eq!(refused.text, told.text);
        let rules: Vec<&str> = event.rules.iter().map(String::as_str).collect();
        assert_eq!(rules, Some(told.rule).filter(|rule| !rule.is_empty()).as_slice());
    });
}

#[test]
fn a_technician_who_may_not_is_told_apart_from_what_can_not_be_done_now() {
    play(|s| {
        s.reach_landed();
        s.forget();
        s.act_as(technician(), OperatorAct::Close);
        s.expect_refused();
        s.expect_events(&["ActRefused close NOT_ALLOWED x1"]);
        let actor = s.events.last().unwrap().event.actor.clone().unwrap();
        assert_eq!((actor.kind(), actor.name.as_str()), (ActorKind::Technician, "tom"));
        s.feed(Input::ActForbidden {
            person: technician(),
            act: OperatorAct::Lock { reason: "x".into() },
            text: "this socket is for looking".into(),
        });
        s.expect_events(&["ActRefused lock NOT_ALLOWED x1"]);
    });
}

#[test]
fn equal_refusals_of_ten_seconds_are_one_event_and_its_number() {
    play(|s| {
        s.reach_landed();
        s.forget();
        for _ in 0..1000 {
            s.operator(OperatorAct::BeginOpening);
        }
        s.expect_events(&["ActRefused begin_opening x1"]);
        s.wait(11_000);
        s.expect_events(&["ActRefused begin_opening x999"]);
        s.wait(30_000);
        s.expect_no_events();
    });
}

#[test]
fn a_stop_writes_the_number_early() {
    play(|s| {
        s.reach_landed();
        for _ in 0..3 {
            s.operator(OperatorAct::BeginOpening);
        }
        s.restart_cleanly();
        let counts: Vec<u32> = refusals(s).iter().map(|(refused, ..)| refused.count).collect();
        assert_eq!(counts, [1, 2], "{}", s.story());
    });
}

/// A program that asks day and night for acts that are refused, each time in another name.
#[test]
fn a_flood_of_refusals_stays_below_its_bound_and_none_is_lost_from_the_count() {
    play(|s| {
        s.reach_landed();
        s.forget();
        let before = s.events.len();
        let hours = 6;
        let asked = hours * 3600;
        for n in 0..asked {
            let person = Person {
                name: format!("nobody {}", n % 50),
                login: Some("root".into()),
                role: Role::Supervisor,
                ..supervisor()
            };
            s.act_as(person, OperatorAct::BeginOpening);
            s.wait(1000);
        }
        s.wait(600_000);
        let refused = refusals(s);
        let counted: u64 = refused.iter().map(|(refused, ..)| u64::from(refused.count)).sum();
        assert_eq!(counted, asked, "every refusal is in a count");
        let most = 60 + 16 + hours as usize * 120;
        assert!(refused.len() <= most, "{} events, at most {most}", refused.len());
        assert_eq!(s.events.len() - before, refused.len(), "and nothing else");
        assert!(
            refused
                .iter()
                .any(|(refused, ..)| refused.reason() == ActRefusedReason::TooMany)
        );
    });
}
