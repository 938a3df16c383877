//! What the law's machines of all games have in common: an operation is done, with what follows from it, or refused with the rule.
//! PURE.

use crate::rules::citation::Citation;
use std::fmt;

/// What follows from an operation that was accepted: `R` a decided wager, `E` an effect, `G` how a game ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done<R, E, G> {
    /// Wagers decided or given back by it.
    pub resolved: Vec<R>,
    /// What people have to do or to know.
    pub effects: Vec<E>,
    /// How the game ended, if it did.
    pub game_end: Option<G>,
}

impl<R, E, G> Default for Done<R, E, G> {
    /// Nothing.
    fn default() -> Self {
        Done {
            resolved: Vec::new(),
            effects: Vec::new(),
            game_end: None,
        }
    }
}

/// What is wrong with an operation.
pub trait Cause: Copy + fmt::Debug {
    /// A few words for a person.
    fn text(self) -> &'static str;
}

/// Why an operation is refused; nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal<C> {
    /// What is wrong.
    pub cause: C,
    /// The rule behind it.
    pub rule: Citation,
}

impl<C: Cause> fmt::Display for Refusal<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.cause.text(), self.rule)
    }
}

impl<C: Cause> std::error::Error for Refusal<C> {}

/// Refuses.
///
/// # Errors
///
/// Always.
pub(in crate::rules) fn refuse<D, C>(cause: C, rule: Citation) -> Result<D, Refusal<C>> {
    Err(Refusal { cause, rule })
}

/// What the tests of every machine do with it.
#[cfg(test)]
pub(in crate::rules) mod testing {
    use super::{Cause, Done, Refusal};
    use std::collections::HashMap;
    use std::fmt::Debug;
    use std::hash::Hash;

    /// A machine, as its tests see it.
    pub trait Performs: Clone + PartialEq + Debug {
        type Operation: Debug;
        type Resolved;
        type Effect;
        type GameEnd;
        type Cause: Cause;

        #[expect(clippy::type_complexity, reason = "said once")]
        fn perform(
            &mut self,
            operation: &Self::Operation,
        ) -> Result<Done<Self::Resolved, Self::Effect, Self::GameEnd>, Refusal<Self::Cause>>;
    }

    /// What follows from a machine's operation.
    pub type DoneBy<M> = Done<<M as Performs>::Resolved, <M as Performs>::Effect, <M as Performs>::GameEnd>;

    /// Does all of these, each of which must be accepted; gives what followed from the last.
    pub fn all<M: Performs>(machine: &mut M, operations: &[M::Operation]) -> DoneBy<M> {
        let mut last = Done::default();
        for operation in operations {
            last = machine
                .perform(operation)
                .unwrap_or_else(|refusal| panic!("{operation:?}: {refusal}"));
        }
        last
    }

    /// Refused, with nothing changed.
    pub fn refused<M: Performs>(machine: &mut M, operation: &M::Operation) -> M::Cause {
        let before = machine.clone();
        let Err(refusal) = machine.perform(operation) else {
            panic!("{operation:?} was accepted in {before:?}");
        };
        assert_eq!(*machine, before, "{operation:?} was refused and changed something");
        refusal.cause
    }

    /// Every state that can be reached, each with those it was reached from.
    pub struct Reached<M> {
        pub states: Vec<M>,
        back: Vec<Vec<usize>>,
    }

    /// Does every operation in every state that can be reached, and has each step checked.
    pub fn explore<M: Performs + Eq + Hash>(
        first: M,
        every: &[M::Operation],
        check: impl Fn(&M, &M::Operation, &M, &DoneBy<M>),
    ) -> Reached<M> {
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut states = vec![first];
        let mut back: Vec<Vec<usize>> = vec![Vec::new()];
        let mut at = 0;
        while at < states.len() {
            for operation in every {
                let before = states[at].clone();
                let mut after = before.clone();
                match after.perform(operation) {
                    Err(_) => assert_eq!(after, before, "{operation:?} was refused and changed something"),
                    Ok(done) => {
                        check(&before, operation, &after, &done);
                        let next = *numbers.entry(after.clone()).or_insert_with(|| {
                            states.push(after);
                            back.push(Vec::new());
                            states.len() - 1
                        });
                        back[next].push(at);
                    }
                }
            }
            at += 1;
        }
        eprintln!("{} states of {} operations", states.len(), every.len());
        Reached { states, back }
    }

    impl<M: Performs> Reached<M> {
        /// From every state some order of acts leads to such a one.
        pub fn each_leads_to(&self, goal: impl Fn(&M) -> bool) {
            let mut leads_on = vec![false; self.states.len()];
            let mut open: Vec<usize> = (0..self.states.len()).filter(|at| goal(&self.states[*at])).collect();
            while let Some(state) = open.pop() {
                if !std::mem::replace(&mut leads_on[state], true) {
                    open.extend(&self.back[state]);
                }
            }
            let stuck = self.states.iter().zip(&leads_on).find(|(_, leads_on)| !**leads_on);
            assert!(stuck.is_none(), "no way on: {stuck:?}");
        }
    }

    /// Makes a machine's own `perform` the one that its tests see.
    macro_rules! performs {
        () => {
            impl crate::rules::machine::testing::Performs for Machine {
                type Operation = Operation;
                type Resolved = Resolved;
                type Effect = Effect;
                type GameEnd = GameEnd;
                type Cause = Cause;

                fn perform(&mut self, operation: &Operation) -> Result<Done, Refusal> {
                    Machine::perform(self, operation)
                }
            }
        };
    }
    pub(in crate::rules) use performs;
}
