//! Absorbing Markov chains, solved exactly: how likely each end is, and after how many steps on average. PURE.

use super::Ratio;
use std::collections::BTreeMap;

/// More states than any game's wager has (two-up dice has 15). A chain beyond it is taken for one that never ends.
const MAX_STATES: usize = 2_000;

/// Where a step leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next<S, E> {
    /// On.
    Goes(S),
    /// To an end.
    Ends(E),
}

/// How a chain ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solved<E> {
    /// Each end with its probability, in the order of the ends; together they are one.
    pub ends: Vec<(E, Ratio)>,
    /// Steps until an end, on average.
    pub steps: Ratio,
}

/// Why a chain has no solution here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unsolved {
    /// More than a few thousand states were reached.
    TooManyStates,
    /// From some state no end can be reached.
    NeverEnds,
    /// A fraction outgrew 128 bits.
    TooLarge,
}

impl std::fmt::Display for Unsolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unsolved::TooManyStates => "the game has too many states",
            Unsolved::NeverEnds => "the game may go on for ever",
            Unsolved::TooLarge => "a fraction outgrew 128 bits",
        })
    }
}

impl std::error::Error for Unsolved {}

/// One state's way on, once states are numbered.
struct Row<E> {
    to: BTreeMap<usize, Ratio>,
    ends: BTreeMap<E, Ratio>,
    /// Steps on average from here to the next state that is left in the chain.
    steps: Ratio,
}

/// Solves the chain that begins in `start`; `step` gives where a state leads with which probability, together one.
///
/// # Errors
///
/// [`Unsolved`].
pub fn solve<S, E>(start: S, step: impl Fn(&S) -> Vec<(Ratio, Next<S, E>)>) -> Result<Solved<E>, Unsolved>
where
    S: PartialEq,
    E: Ord + Clone,
{
    let mut rows = explore(start, step)?;
    // Each state but the start is taken out: whoever leads to it leads where it leads. What is left is the start alone.
    while let Some(mut out) = rows.pop() {
        let at = rows.len();
        without_loop(&mut out, at)?;
        if rows.is_empty() {
            return Ok(Solved {
                ends: out.ends.into_iter().collect(),
                steps: out.steps,
            });
        }
        for row in &mut rows {
            if let Some(probability) = row.to.remove(&at) {
                lead_past(row, &out, probability).ok_or(Unsolved::TooLarge)?;
            }
        }
    }
    Err(Unsolved::NeverEnds)
}

/// Every state that can be reached, numbered in the order in which it was found; the start is 0.
fn explore<S, E>(start: S, step: impl Fn(&S) -> Vec<(Ratio, Next<S, E>)>) -> Result<Vec<Row<E>>, Unsolved>
where
    S: PartialEq,
    E: Ord + Clone,
{
    let mut states = vec![start];
    let mut rows = Vec::new();
    while let Some(state) = states.get(rows.len()) {
        let mut row = Row {
            to: BTreeMap::new(),
            ends: BTreeMap::new(),
            steps: Ratio::ONE,
        };
        for (probability, next) in step(state) {
            let share = match next {
                Next::Ends(end) => row.ends.entry(end).or_insert(Ratio::ZERO),
                Next::Goes(to) => {
                    let at = states.iter().position(|known| *known == to).unwrap_or_else(|| {
                        states.push(to);
                        states.len() - 1
                    });
                    row.to.entry(at).or_insert(Ratio::ZERO)
                }
            };
            *share = share.plus(probability).ok_or(Unsolved::TooLarge)?;
        }
        if states.len() > MAX_STATES {
            return Err(Unsolved::TooManyStates);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Takes the way back to itself out of a row: what leaves it is scaled up to one.
fn without_loop<E: Ord>(row: &mut Row<E>, at: usize) -> Result<(), Unsolved> {
    let Some(back) = row.to.remove(&at) else {
        return Ok(());
    };
    let leaves = Ratio::ONE.minus(back).ok_or(Unsolved::TooLarge)?;
    if leaves == Ratio::ZERO {
        return Err(Unsolved::NeverEnds);
    }
    let scaled = [&mut row.steps]
        .into_iter()
        .chain(row.to.values_mut())
        .chain(row.ends.values_mut());
    for share in scaled {
        *share = share.divided_by(leaves).ok_or(Unsolved::TooLarge)?;
    }
    Ok(())
}

/// Where `row` led to `out` with `probability`, it leads where `out` leads.
fn lead_past<E: Ord + Clone>(row: &mut Row<E>, out: &Row<E>, probability: Ratio) -> Option<()> {
    row.steps = row.steps.plus(out.steps.times(probability)?)?;
    for (to, share) in &out.to {
        let there = row.to.entry(*to).or_insert(Ratio::ZERO);
        *there = there.plus(share.times(probability)?)?;
    }
    for (end, share) in &out.ends {
        let there = row.ends.entry(end.clone()).or_insert(Ratio::ZERO);
        *there = there.plus(share.times(probability)?)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(over: i128, under: i128) -> Ratio {
        Ratio::new(over, under).unwrap()
    }

    /// The gambler's ruin: from `at` of `goal`, one up with probability p, one down else.
    fn ruin(at: i32, goal: i32, p: Ratio) -> Solved<&'static str> {
        solve(at, |at| {
            let go = |to: i32| match to {
                0 => Next::Ends("ruin"),
                to if to == goal => Next::Ends("goal"),
                to => Next::Goes(to),
            };
            vec![(p, go(at + 1)), (Ratio::ONE.minus(p).unwrap(), go(at - 1))]
        })
        .unwrap()
    }

    #[test]
    fn ruin_is_as_likely_as_the_textbook_says() {
        let fair = ruin(3, 10, ratio(1, 2));
        assert_eq!(fair.ends, [("goal", ratio(3, 10)), ("ruin", ratio(7, 10))]);
        assert_eq!(fair.steps, ratio(3 * 7, 1));
        // (1 - (q/p)^i) / (1 - (q/p)^n) with q/p = 2.
        let unfair = ruin(2, 5, ratio(1, 3));
        assert_eq!(unfair.ends, [("goal", ratio(3, 31)), ("ruin", ratio(28, 31))]);
    }

    #[test]
    fn waiting_for_a_six_takes_six_throws() {
        let solved = solve((), |()| {
            vec![(ratio(1, 6), Next::Ends("six")), (ratio(5, 6), Next::Goes(()))]
        })
        .unwrap();
        assert_eq!(solved.steps, ratio(6, 1));
        assert_eq!(solved.ends, [("six", Ratio::ONE)]);
    }

    #[test]
    fn what_never_ends_is_told() {
        let never: Result<Solved<()>, _> = solve(0, |at| vec![(Ratio::ONE, Next::Goes(1 - at))]);
        assert_eq!(never, Err(Unsolved::NeverEnds));
        let endless: Result<Solved<()>, _> = solve(0_u64, |at| vec![(Ratio::ONE, Next::Goes(at + 1))]);
        assert_eq!(endless, Err(Unsolved::TooManyStates));
    }
}
