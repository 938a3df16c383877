//! What people asked for by commands and were refused: recorded with their name, and bounded. PURE.
//!
//! The first of equal refusals is an event; those of the next 10 s give one event at their end with their number, as refused
//! entries do. A program that asks for ever must not fill the disk: only so many events are recorded at a time and a day, and
//! beyond that refusals are counted and told of together.

use crate::rules::citation::Citation;
use crate::table::draft::{Draft, Source};
use crate::table::due::Look;
use crate::table::event::{ActRefused, ActRefusedReason, Actor, Body};
use crate::table::game::Family;
use crate::table::input::{OperatorAct, Person};
use crate::table::rejection::{self, Rejection};
use crate::table::seen::{OtherActs, RefusedAct};
use crate::time::Uptime;
use std::time::Duration;

/// Equal refusals after the first are counted this long.
const REPEATS: Duration = Duration::from_secs(10);

/// Different refusals that are counted at a time; a person makes no more mistakes in [`REPEATS`].
const MOST_REPEATED: usize = 8;

/// One event of a refusal is worked off in this time: at most 2880 are recorded a day for long, which are less than 2 MB.
const ONE_IN: Duration = Duration::from_secs(30);

/// So much may be recorded ahead of that: a bad evening of people, 60 events.
const AHEAD: Duration = ONE_IN.saturating_mul(60);

/// A refusal may have a second event, its count.
const BOTH: Duration = ONE_IN.saturating_mul(2);

/// Longest text that is recorded, in characters. The table's own sentences are shorter; a name that somebody claimed may not be.
const MAX_TEXT: usize = 400;

/// The rules, the order of play or the table's rights refuse an act.
pub(crate) fn refused<F: Family>(
    draft: &mut Draft<'_, F>,
    person: &Person,
    act: &OperatorAct,
    refusal: &Rejection,
    reason: ActRefusedReason,
) {
    let first = ActRefused {
        act: act.word().to_string(),
        text: clipped(&refusal.text),
        code: refusal.code,
        count: 1,
        reason: reason as i32,
    };
    record(draft, person, first, refusal.rule);
}

/// A person may not ask for an act so.
pub(crate) fn forbidden<F: Family>(draft: &mut Draft<'_, F>, person: &Person, act: &OperatorAct, text: &str) {
    let first = ActRefused {
        act: act.word().to_string(),
        text: clipped(text),
        code: 0,
        count: 1,
        reason: ActRefusedReason::NotAllowed as i32,
    };
    record(draft, person, first, rejection::HOUSE);
}

fn clipped(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn record<F: Family>(draft: &mut Draft<'_, F>, person: &Person, first: ActRefused, rule: Citation) {
    let source = Source::person(person);
    let Some(by) = source.actor else { return };
    let round = draft.state.round_id();
    let equal =
        |known: &&mut RefusedAct| known.first == first && known.by == by && known.rule == rule && known.round == round;
    if let Some(known) = draft.seen.refused_acts.repeated.iter_mut().find(equal) {
        known.more = known.more.saturating_add(1);
        return;
    }
    let is_free = draft.seen.refused_acts.repeated.len() < MOST_REPEATED;
    if !is_free || !may_record(draft, BOTH) || !draft.has_room(1) {
        let now = draft.now;
        let others = draft.seen.refused_acts.others.get_or_insert(OtherActs {
            by: by.clone(),
            since: now,
            count: 0,
        });
        others.by = by;
        others.count = others.count.saturating_add(1);
        return;
    }
    let known = RefusedAct {
        first: first.clone(),
        by: by.clone(),
        rule,
        since: draft.now,
        round,
        more: 0,
    };
    draft.seen.refused_acts.repeated.push(known);
    write(draft, first, by, rule, round);
}

/// Another so much may be recorded now.
fn may_record<F: Family>(draft: &Draft<'_, F>, cost: Duration) -> bool {
    draft.seen.refused_acts.worked_off.max(draft.now) + cost <= draft.now + AHEAD
}

fn write<F: Family>(draft: &mut Draft<'_, F>, refused: ActRefused, by: Actor, rule: Citation, round: u64) {
    let seen = &mut draft.seen.refused_acts;
    seen.worked_off = seen.worked_off.max(draft.now) + ONE_IN;
    // An event names rules of an instrument; the house's own is none.
    let of_instrument = Some(rule).filter(|rule| !rule.is_empty() && *rule != rejection::HOUSE);
    let source = Source {
        actor: Some(by),
        device: None,
    };
    // What is counted after a round's end is no part of it any longer.
    let round = if round == draft.state.round_id() { round } else { 0 };
    draft.record_under(of_instrument.as_slice(), round, source, Body::ActRefused(refused));
}

/// Which counts are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// Those whose time is over.
    Due,
    /// All: the daemon stops.
    All,
}

/// Writes counts of equal refusals, and of those that were only counted.
pub(crate) fn write_counts<F: Family>(draft: &mut Draft<'_, F>, which: Which) {
    let mut kept = Vec::new();
    for known in std::mem::take(&mut draft.seen.refused_acts.repeated) {
        let due = which == Which::All || known.since + REPEATS <= draft.now;
        if !due {
            kept.push(known);
        } else if known.more > 0 {
            if draft.has_room(1) {
                let count = known.more;
                let counted = ActRefused { count, ..known.first };
                write(draft, counted, known.by, known.rule, known.round);
            } else {
                kept.push(known);
            }
        }
    }
    draft.seen.refused_acts.repeated = kept;
    let due = others_at(&draft.look()).is_some_and(|at| which == Which::All || at <= draft.now);
    if due
        && draft.has_room(1)
        && let Some(others) = draft.seen.refused_acts.others.take()
    {
        let counted = ActRefused {
            act: String::new(),
            text: "More acts were refused than are recorded one by one.".to_string(),
            code: 0,
            count: others.count,
            reason: ActRefusedReason::TooMany as i32,
        };
        write(draft, counted, others.by, rejection::HOUSE, draft.state.round_id());
    }
}

/// When those that were only counted are told of.
fn others_at<F>(look: &Look<'_, F>) -> Option<Uptime> {
    let seen = &look.seen.refused_acts;
    let others = seen.others.as_ref()?;
    let affordable = (seen.worked_off + ONE_IN).since(Uptime::ZERO + AHEAD);
    Some((others.since + REPEATS).max(Uptime::ZERO + affordable))
}

/// When a count is written.
pub(crate) fn counts_at<F>(look: &Look<'_, F>) -> Option<Uptime> {
    let repeated = look.seen.refused_acts.repeated.iter();
    let repeated = repeated.map(|known| known.since + REPEATS).min();
    repeated.into_iter().chain(others_at(look)).min()
}
