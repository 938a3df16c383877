//! What a two-up table waits for, and what can be done about it, for people. PURE.

use crate::table::event::Area;
use crate::table::two_up::phase::Course;
use crate::table::view::Shown;

impl Course {
    /// As `TableState` shows it.
    pub(crate) fn shown(&self) -> Shown {
        Shown {
            phase: self.phase.name(),
            lit: Vec::<Area>::new(),
            ..Shown::default()
        }
    }
}
