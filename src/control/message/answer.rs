//! What the daemon answers.

use super::act::Act;
use crate::gateway::{Captured, StateView, View};
use serde::{Deserialize, Serialize};

/// What the daemon answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What there is to see.
    View(Box<View>),
    /// What has gone over the lines since the last answer.
    Lines(Box<Captured>),
    /// Acts, and what the table says to each.
    Offers(Vec<Offer>),
    /// What an act would do.
    Preview(Box<Preview>),
    /// The digests, which are recorded.
    Verified {
        /// An encoded `tablegate.v1.SoftwareVerified`, in hexadecimal digits.
        message: String,
    },
    /// It is done.
    Done {
        /// One sentence.
        text: String,
    },
    /// The rules or the order of play make it impossible now; nothing was done.
    Refused {
        /// 7 is shown as E07; 0: no number.
        code: u32,
        /// What the readout would show.
        readout: String,
        /// One sentence: what is wrong, and what to do.
        text: String,
        /// The rule behind it; empty: none.
        rule: String,
    },
    /// It can't be done at all now; nothing was done.
    Failed {
        /// One sentence.
        text: String,
    },
    /// This person may not ask it so, or it is no request.
    WrongUse {
        /// One sentence.
        text: String,
    },
}

impl Answer {
    /// The view.
    ///
    /// # Errors
    /// Any other answer, as it is.
    pub fn view(self) -> Result<View, Answer> {
        match self {
            Answer::View(view) => Ok(*view),
            Answer::Lines(_)
            | Answer::Offers(_)
            | Answer::Preview(_)
            | Answer::Verified { .. }
            | Answer::Done { .. }
            | Answer::Refused { .. }
            | Answer::Failed { .. }
            | Answer::WrongUse { .. } => Err(self),
        }
    }

    /// What has gone over the lines.
    ///
    /// # Errors
    /// Any other answer, as it is.
    pub fn lines(self) -> Result<Captured, Answer> {
        match self {
            Answer::Lines(captured) => Ok(*captured),
            Answer::View(_)
            | Answer::Offers(_)
            | Answer::Preview(_)
            | Answer::Verified { .. }
            | Answer::Done { .. }
            | Answer::Refused { .. }
            | Answer::Failed { .. }
            | Answer::WrongUse { .. } => Err(self),
        }
    }
}

/// An act, and whether the table would do it now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Offer {
    /// The act; of an act with many choices (faces, a seat) or with a text, an example.
    pub act: Act,
    /// Why not; `None`: it would be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

/// Why an act would not be done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refused {
    /// 7 is shown as E07; 0: no number.
    pub code: u32,
    /// One sentence: what is wrong, and what to do.
    pub text: String,
    /// The rule behind it; empty: none.
    pub rule: String,
}

/// What an act would do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Preview {
    /// What would be recorded: encoded `tablegate.v1.Event`s without number, time and chain, in hexadecimal digits.
    pub events: Vec<String>,
    /// Ids of the areas or lights that should be lit now.
    pub lit_before: Vec<String>,
    /// The same afterwards.
    pub lit_after: Vec<String>,
    /// The table afterwards.
    pub after: StateView,
    /// The act that would take it back, which the table would do afterwards; `None`: nothing takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back_by: Option<Act>,
}
