//! The canonical form of what was seen.

use super::{Form, Formed, NO_WAIT, Play};
use crate::table::input::{Contact, ContactReport, DeviceIdentity, DeviceKind, DiceReading, LampReport, TumblerReport};
use crate::table::seen::{
    Authority, Burst, EntrySeen, Flicker, LampsSeen, Link, Notice, OpeningSeen, Pressed, ReadoutSeen, Repeated, Seen,
    Signal, TerminalSeen, TumblerSeen, Walk,
};
use crate::table::state::{ContactCount, Count};

impl Formed for DeviceIdentity {
    fn form(&self, f: &mut Form<'_>) {
        let DeviceIdentity {
            kind,
            serial_number,
            firmware: _,
            boot_id,
            lamp_count: _,
            firmware_digest: _,
        } = self;
        f.text(serial_number);
        f.boot(*kind, *boot_id);
    }
}

impl Formed for DiceReading {
    fn form(&self, f: &mut Form<'_>) {
        let DiceReading { flatness, faces } = self;
        f.byte(*flatness as u8);
        faces.form(f);
    }
}

impl Formed for TumblerReport {
    fn form(&self, f: &mut Form<'_>) {
        let TumblerReport {
            motion,
            activations,
            spins,
            cover,
            seal,
            dice,
            fault_code,
            counters_kept: _,
        } = self;
        f.byte(*motion as u8);
        f.count(Count {
            activations: *activations,
            spins: *spins,
        });
        f.byte(*cover as u8);
        f.byte(*seal as u8);
        dice.form(f);
        fault_code.form(f);
    }
}

impl Formed for LampReport {
    fn form(&self, f: &mut Form<'_>) {
        let LampReport { lit, failed, measured } = self;
        f.slice(lit);
        f.slice(failed);
        measured.form(f);
    }
}

impl Formed for Seen {
    fn form(&self, f: &mut Form<'_>) {
        let Seen {
            links,
            tumbler,
            terminal,
            lamps,
            entry,
            key,
            readout,
            refusals,
            // The scene forgets them.
            refused_acts: _,
            stale,
            opening,
            // None of these worlds tests a device.
            device_test: _,
            mended: _,
            // No text decides anything but whether it is told anew.
            alerts: _,
            owner,
            unfinished,
            latest: _,
            // It decides what is measured, nothing else.
            run_began: _,
            door_reported,
            seal_reported,
            faults,
            odd_links,
        } = self;
        links.len().form(f);
        for (kind, Link { identity, down, since }) in links {
            kind.form(f);
            identity.form(f);
            down.form(f);
            // Only lamps are waited for since their link broke.
            let waited_for = *kind == DeviceKind::LayoutLamps && down.is_some();
            f.age(*since, if waited_for { 5_000 } else { NO_WAIT });
        }
        tumbler.form(f);
        terminal.form(f);
        lamps.form(f);
        entry.form(f);
        match key {
            Authority::Off => f.byte(0),
            Authority::Running { since } => {
                f.byte(1);
                f.age(*since, 30_000);
            }
            Authority::Spent { since } => {
                f.byte(2);
                f.age(*since, 60_000);
            }
        }
        readout.form(f);
        refusals.form(f);
        stale.form(f);
        opening.form(f);
        owner.map(|owner| u8::try_from(owner).unwrap()).form(f);
        unfinished.form(f);
        door_reported.form(f);
        seal_reported.form(f);
        faults.form(f);
        odd_links.len().form(f);
        for (kind, text) in odd_links {
            kind.form(f);
            text.len().form(f);
        }
    }
}

impl Formed for TumblerSeen {
    fn form(&self, f: &mut Form<'_>) {
        let TumblerSeen {
            report,
            off_at,
            off_while_away,
            exposed_at,
            on_at,
            rest_at,
            discount,
            spinning_at_base,
            early_off,
            void_off,
            tolerated_spin,
            bell_without_tumble,
            faulty,
        } = self;
        report.form(f);
        f.ages(*off_at, f.off_wait());
        off_while_away.form(f);
        f.ages(*exposed_at, f.off_wait());
        f.ages(*on_at, if f.play == Play::Reopened { 5_000 } else { NO_WAIT });
        f.age(*rest_at, if f.play == Play::BeforeBell { 3_000 } else { NO_WAIT });
        f.spins(*discount);
        spinning_at_base
            .map(|spins| f.world.tumbler.spins.wrapping_sub(spins).min(4))
            .form(f);
        f.ages(*early_off, f.off_wait());
        (early_off == off_at).form(f);
        f.ages(*void_off, f.off_wait());
        tolerated_spin.form(f);
        f.ages(*bell_without_tumble, NO_WAIT);
        (*off_at >= *bell_without_tumble).form(f);
        faulty.form(f);
    }
}

impl Formed for TerminalSeen {
    fn form(&self, f: &mut Form<'_>) {
        let TerminalSeen {
            contacts,
            boot_id,
            bell,
            no_spin,
        } = self;
        for report in contacts.values() {
            let ContactReport {
                contact,
                closed,
                closings,
                last_closed,
            } = report;
            contact.form(f);
            closed.form(f);
            f.contact(
                *contact,
                ContactCount {
                    closings: *closings,
                    boot_id: *boot_id,
                },
            );
            // Only the bell is asked when it rang.
            let asked = *contact == Contact::Bell && f.play == Play::BeforeBell;
            f.ages(*last_closed, if asked { 2_000 } else { NO_WAIT });
        }
        for signal in [bell, no_spin] {
            f.ages(signal.map(|Signal { at, heard: _ }| at), 1_000);
        }
    }
}

impl Formed for LampsSeen {
    fn form(&self, f: &mut Form<'_>) {
        let LampsSeen {
            report,
            acknowledged,
            judged,
            flicker,
        } = self;
        report.form(f);
        f.byte(u8::from(acknowledged.is_some()));
        if let Some((lit, at)) = acknowledged {
            f.slice(lit);
            f.age(*at, if *judged { NO_WAIT } else { 1_000 });
        }
        judged.form(f);
        for flicker in flicker {
            let Flicker {
                area,
                wrongly_lit,
                since,
                round,
                more,
                failing,
            } = flicker;
            area.form(f);
            wrongly_lit.form(f);
            f.age(*since, 10_000);
            f.round(*round);
            f.many(*more);
            failing.form(f);
        }
    }
}

impl Formed for EntrySeen {
    fn form(&self, f: &mut Form<'_>) {
        let EntrySeen {
            number,
            keys,
            unknown_key,
            last_key_at,
            refused_at,
            dropped: _,
        } = self;
        f.byte(u8::from(*number != 0));
        keys.len().form(f);
        for Pressed { key, at } in keys {
            key.form(f);
            f.age(*at, 5_000);
        }
        unknown_key.form(f);
        f.ages(*last_key_at, 3_000);
        f.ages(*refused_at, 3_000);
    }
}

impl Formed for ReadoutSeen {
    fn form(&self, f: &mut Form<'_>) {
        let ReadoutSeen {
            wanted,
            in_force,
            notice,
            numbers_hidden,
        } = self;
        f.text(&wanted.text);
        wanted.blink.form(f);
        f.entry.wrapping_sub(wanted.entry).min(2).form(f);
        wanted.for_ms.form(f);
        in_force.form(f);
        f.byte(u8::from(notice.is_some()));
        // That of another mode is gone with it.
        if let Some(Notice {
            text,
            until,
            fresh,
            during: _,
        }) = notice
        {
            f.text(text);
            f.age(*until, NO_WAIT);
            fresh.form(f);
        }
        numbers_hidden.form(f);
    }
}

impl Formed for Repeated {
    fn form(&self, f: &mut Form<'_>) {
        let Repeated {
            code,
            text: _,
            rule: _,
            shown,
            since,
            round,
            more,
        } = self;
        code.form(f);
        shown.form(f);
        f.age(*since, 10_000);
        f.round(*round);
        f.many(*more);
    }
}

impl Formed for Burst {
    fn form(&self, f: &mut Form<'_>) {
        let Burst { count, newest } = self;
        f.many(*count);
        f.age(*newest, 1_000);
    }
}

impl Formed for OpeningSeen {
    fn form(&self, f: &mut Form<'_>) {
        let OpeningSeen {
            walk,
            test_faces,
            test_outcome,
            count,
        } = self;
        f.byte(test_outcome.map_or(0, |outcome| 1 + outcome as u8));
        f.byte(u8::from(walk.is_some()));
        if let Some(walk) = walk {
            let Walk {
                area,
                since,
                failed,
                unproven,
                check,
            } = walk;
            area.form(f);
            f.age(*since, 5_000);
            failed.form(f);
            unproven.form(f);
            check.form(f);
        }
        test_faces.form(f);
        test_outcome.form(f);
        f.byte(u8::from(count.is_some()));
        count.iter().for_each(|count| f.count(*count));
    }
}
