//! Tai-sai: New Zealand Division 9, styles A and B, both layouts. PURE.

/// How the dice are thrown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// A powered tumbler under a cover.
    A,
    /// A dice cup.
    B,
}

/// Which areas the layout shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Appendix 1: 50 areas.
    Appendix1,
    /// Appendix 2: 106 areas.
    Appendix2,
}

/// What a wager pays: `pays` to `per`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Odds {
    /// Paid.
    pub pays: u32,
    /// For this much staked.
    pub per: u32,
}

/// An area that wins, and what it pays for these dice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Winner {
    /// Its id, as in `areas`.
    pub id: &'static str,
    /// What it pays.
    pub odds: Odds,
}

/// Why a spin or throw is void (r7.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "skeleton")]
pub enum VoidReason {
    ANotFlat,
    ATumblerFault,
    AExposedEarly,
    ANotActivated,
    BShortOfLine,
    BLeftArea,
    BHitObject,
    BNotFlat,
    BInterference,
    BNotRandom,
}

/// Ids of the layout's areas, in the order of the default lamp map.
#[must_use]
pub fn areas(_layout: Layout) -> &'static [&'static str] {
    todo!()
}

/// The areas that win for these faces (1 to 6, any order), in the order of `areas`.
#[must_use]
pub fn winners(_faces: [u8; 3], _layout: Layout) -> Vec<Winner> {
    todo!()
}

/// The dealer's call, r6.3: "1, 3, 6, Total 10".
#[must_use]
pub fn call(_faces: [u8; 3]) -> String {
    todo!()
}
