//! What goes over a control socket, one JSON document a line. Closed sets stay closed: what isn't known here is refused.

mod act;
mod answer;
mod checked;
mod request;
mod two_up;
mod wording;

pub use act::{Act, Check, TestedDevice};
pub use answer::{Answer, Offer, Preview, Refused};
pub use checked::{ActError, MAX_TEXT, VOID_REASONS};
pub use request::Request;
pub use two_up::{DiceGone, INVALID_REASONS, LIGHTS, LightWord, OutcomeName, SetFrom, SideName};
#[cfg(test)]
pub(super) use wording::act_words;
