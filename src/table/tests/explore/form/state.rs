//! The canonical form of what every table's events have made true.

use super::{Form, Formed};
use crate::table::game::Play as Course;
use crate::table::input::Contact;
use crate::table::mode::{Below, Checked, Mode, Opening};
use crate::table::state::{Accepted, Alert, FailedLamp, Known, LastVoid, Lock, State};

impl Formed for State {
    fn form(&self, f: &mut Form<'_>) {
        let State {
            mode,
            locks,
            alerts,
            devices,
            accepted,
            accepted_readers,
            failed_lamps,
            board_failed,
            no_spin,
            last_round: _,
            last_void,
            // None of these worlds tests a device.
            testing: _,
        } = self;
        mode.form(f);
        for lock in locks {
            let Lock { reason, kind, text: _ } = lock;
            reason.form(f);
            f.byte(*kind as u8);
        }
        alerts.len().form(f);
        for (name, alert) in alerts {
            let Alert {
                text: _,
                acknowledged,
                over,
                since_ms: _,
                // Nothing is decided by it.
                times: _,
            } = alert;
            f.text(name);
            acknowledged.form(f);
            over.form(f);
        }
        for (kind, known) in devices {
            let Known {
                serial_number,
                boot_id,
                online,
                seen_since_start,
            } = known;
            kind.form(f);
            f.text(serial_number);
            f.boot(*kind, *boot_id);
            online.form(f);
            seen_since_start.form(f);
        }
        for accepted in accepted {
            let Accepted {
                serial_number,
                firmware,
                firmware_digest: _,
            } = accepted;
            f.text(serial_number);
            f.text(firmware);
        }
        accepted.len().form(f);
        accepted_readers.form(f);
        failed_lamps.len().form(f);
        for (id, failed) in failed_lamps {
            let FailedLamp {
                wrongly_lit,
                round,
                reported,
            } = failed;
            f.text(id);
            wrongly_lit.form(f);
            reported.form(f);
            f.round(*round);
        }
        board_failed.form(f);
        f.contact(Contact::NoSpinButton, *no_spin);
        f.byte(u8::from(last_void.is_some()));
        if let Some(LastVoid { round, reason }) = last_void {
            f.round(*round);
            f.byte(*reason as u8);
        }
    }
}

impl Formed for Mode {
    fn form(&self, f: &mut Form<'_>) {
        match self {
            Mode::Closed => f.byte(0),
            Mode::Opening(Opening { checks }) => {
                f.byte(1);
                for (
                    check,
                    Checked {
                        passed,
                        vouched,
                        text: _,
                    },
                ) in checks
                {
                    check.form(f);
                    passed.form(f);
                    vouched.form(f);
                }
            }
            Mode::Open(play) => {
                f.byte(2);
                play.form(f);
            }
            Mode::Test(Below::Closed) => f.byte(3),
            Mode::Test(Below::Open(play)) => {
                f.byte(4);
                play.form(f);
            }
        }
    }
}

impl Formed for Course {
    fn form(&self, f: &mut Form<'_>) {
        match self {
            Course::Dice(phase) => phase.form(f),
            Course::TwoUp(course) => course.form(f),
        }
    }
}
