//! Tai-sai at a table with devices: which signal stands for which act. PURE.
//!
//! [`phase`] is where play stands, [`fold`] how events change it, [`due`] what time brings. The rest is sorted by what the
//! signals come from: [`tumbler`], [`terminal`] (contacts), [`entry`] (keys), [`lamps`]; and by what becomes of a round:
//! [`play`], [`held`], [`settle`]. [`opening`] has the checks before play.

pub(crate) mod due;
pub(crate) mod entry;
pub(crate) mod fold;
pub(crate) mod held;
pub(crate) mod lamps;
pub(crate) mod layout;
pub(crate) mod opening;
pub(crate) mod phase;
pub(crate) mod play;
pub(crate) mod settle;
pub(crate) mod terminal;
pub(crate) mod tumbler;
