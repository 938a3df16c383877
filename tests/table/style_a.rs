//! "Tai-sai, style A": which signal stands for which act.

use crate::devices::{Manners, bytes_of};
use crate::oracle;
use crate::scene::{MS, Scene, config, config_with, play, play_with, supervisor, technician};
use std::time::Duration;
use tablegate::rules::tai_sai::Layout;
use tablegate::table::event::{
    Body, OpeningCheck, RoundHeldCause, RoundVoidedReason, TableLocked, TableLockedKind, TableLockedReason,
};
use tablegate::table::indicators::DeviceCommand;
use tablegate::table::input::{Contact, Cover, DeviceKind, Flatness, Input, Key, Motion, OperatorAct, Seal};

mod a_round;
mod amend;
mod cover_off;
mod dice_flat;
mod keys_and_entry;
mod lamps_lit;
mod no_more_bets;
mod opening_checks;
mod place_your_bets;
mod settlement;
mod tumble;
mod void;
