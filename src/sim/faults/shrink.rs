//! Makes a failing plan smaller: parts of it (faults, rounds) are left out as long as the same thing goes wrong.

use super::plan::Plan;
use super::trace::{Invariant, Outcome};

/// A plan is lived through at most so many times to make it smaller; most need a dozen.
const MOST_TRIES: usize = 80;

/// What is left of a failing plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Smaller {
    /// The faults that are needed, by their numbers in the whole plan.
    pub faults: Vec<usize>,
    /// Rounds that are needed.
    pub rounds: u32,
    /// That plan.
    pub plan: Plan,
}

/// As few faults and rounds of a plan as still break this invariant; `live` lives through one.
pub fn smaller(plan: &Plan, invariant: Invariant, mut live: impl FnMut(&Plan) -> Option<Outcome>) -> Smaller {
    let faults = plan.faults.len();
    // One round is always played; each further one is a part after the faults.
    let further = usize::try_from(plan.rounds.saturating_sub(1)).unwrap_or(0);
    let left = |parts: &[usize]| {
        let kept: Vec<usize> = parts.iter().copied().filter(|part| *part < faults).collect();
        let rounds = u32::try_from(parts.len() - kept.len()).unwrap_or(0) + 1;
        Smaller {
            plan: plan.only(&kept, rounds),
            faults: kept,
            rounds,
        }
    };
    let kept = shrink(faults + further, MOST_TRIES, |parts| {
        live(&left(parts).plan)
            .is_some_and(|outcome| outcome.findings.iter().any(|finding| finding.invariant == invariant))
    });
    left(&kept)
}

/// Of `parts` parts, numbered from 0, as few as still fail; `fails` is asked with the numbers that are left in, in order. Everything
/// together fails. At most `budget` times it is asked.
pub fn shrink(parts: usize, budget: usize, mut fails: impl FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..parts).collect();
    let mut asked = 0;
    // Half of what is left at a time, then a quarter, down to one by one; from the front again after each success.
    let mut size = parts.div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let mut is_smaller = false;
        while start < kept.len() {
            if asked == budget {
                return kept;
            }
            asked += 1;
            let end = (start + size).min(kept.len());
            let without: Vec<usize> = kept
                .iter()
                .enumerate()
                .filter(|(at, _)| !(start..end).contains(at))
                .map(|(_, part)| *part)
                .collect();
            if fails(&without) {
                kept = without;
                is_smaller = true;
            } else {
                start = end;
            }
        }
        if size == 1 && !is_smaller {
            return kept;
        }
        if !is_smaller || size > kept.len() {
            size = (size / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        for needed in [vec![], vec![0], vec![3, 7], vec![0, 9, 19], (0..20).collect()] {
            let kept = shrink(20, 1000, |left| needed.iter().all(|part| left.contains(part)));
            assert_eq!(kept, needed);
        }
    }

    #[test]
    fn a_plan_keeps_the_faults_and_rounds_that_it_needs() {
        let plan = (0..500)
            .map(Plan::drawn)
            .find(|plan| plan.faults.len() == 5 && plan.rounds == 3)
            .unwrap();
        let fails = |plan: &Plan, needed: Option<&super::super::plan::Fault>, rounds| {
            let is_there = needed.is_none_or(|fault| plan.faults.contains(fault));
            let mut outcome = super::super::trace::Trace::new(Vec::new()).outcome();
            if is_there && plan.rounds >= rounds {
                outcome.findings.push(super::super::trace::Finding {
                    invariant: Invariant::NoGap,
                    at: std::time::Duration::ZERO,
                    text: String::new(),
                });
            }
            Some(outcome)
        };
        let needed = plan.faults.get(3);
        let smaller = smaller(&plan, Invariant::NoGap, |plan| fails(plan, needed, 2));
        assert_eq!((smaller.faults.as_slice(), smaller.rounds), ([3].as_slice(), 2));
        let least = super::smaller(&plan, Invariant::NoGap, |plan| fails(plan, None, 1));
        assert_eq!((least.faults.len(), least.rounds, least.plan.seed), (0, 1, plan.seed));
    }

    #[test]
    fn it_is_never_asked_more_often_than_allowed() {
        let mut asked = 0;
        let kept = shrink(100, 30, |left| {
            asked += 1;
            left.contains(&50) && left.contains(&99)
        });
        assert!(
            asked <= 30 && kept.len() < 100 && kept.contains(&50) && kept.contains(&99),
            "{asked} {kept:?}"
        );
    }

    #[test]
    fn nothing_can_be_left_out_of_nothing() {
        assert_eq!(shrink(0, 10, |_| true), Vec::<usize>::new());
    }
}
