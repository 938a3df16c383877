//! Refusals: every code with its text, its rule and what it shows on the readout, in one place. PURE.

/// An act that the rules or the order of play make impossible now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// Its number; 7 is shown as E07. 0: text only (LOC, TST, CLO).
    pub code: u32,
    /// What the readout shows: "E07", "LOC".
    pub readout: &'static str,
    /// One sentence for a person: what is wrong and what to do.
    pub text: String,
    /// The rule behind it.
    pub rule: &'static str,
}
