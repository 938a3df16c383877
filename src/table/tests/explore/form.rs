//! The canonical form of a table, its devices and what the law reads of its events: equal forms have the same future.
//!
//! Times are ages, up to the longest wait that looks at them; counters, entry and round numbers are told by how far they are
//! from the newest; texts for people and counts that nothing decides by are left out. Each struct is taken apart whole, so that
//! a new field doesn't compile until somebody has said what it is here.

use super::world::World;
use crate::table::event::{Area, OpeningCheck, RoundHeldCause, TableLockedReason};
use crate::table::game::Play as Course;
use crate::table::input::{
    Contact, ContactReport, DeviceIdentity, DeviceKind, DiceReading, Key, LampReport, TumblerReport,
};
use crate::table::mode::{Below, Checked, Mode, Opening};
use crate::table::seen::{
    Authority, Burst, EntrySeen, Flicker, LampsSeen, Link, Notice, OpeningSeen, Pressed, ReadoutSeen, Repeated, Seen,
    TerminalSeen, TumblerSeen, Walk,
};
use crate::table::state::{Alert, ContactCount, Count, FailedLamp, Known, LastVoid, Lock, State};
use crate::table::tai_sai::phase::{
    After, BetsShut, Betting, Entered, Held, InSight, Landed, Phase, Proof, Ready, Round, Tumbling,
};
use crate::time::Uptime;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Waits of the table, in milliseconds: ages are told apart by those that they have passed, not within.
const WAITS: [u64; 9] = [300, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000, 60_000, 100_000];

/// What no wait looks at.
const NO_WAIT: u64 = 0;

/// Counts that only grow are told apart up to this.
const MANY: u32 = 1;

/// The bytes of a form, and what its numbers are told from.
pub struct Form<'a> {
    bytes: Vec<u8>,
    now: Uptime,
    world: &'a World,
    last_round: u64,
    entry: u32,
    play: Play,
    ages_matter: bool,
}

/// What moments matter now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Play {
    /// No round, and none that may come back.
    Still,
    /// Before the bell, or where a late one may still come.
    BeforeBell,
    /// Covered after the bell.
    Covered,
    /// The dice can be seen.
    Seen,
    /// A settlement was taken back.
    Reopened,
}

/// Something with a canonical form.
pub trait Formed {
    fn form(&self, f: &mut Form<'_>);
}

/// A form's digest.
pub type Key16 = [u8; 16];

impl<'a> Form<'a> {
    pub fn new(now: Uptime, world: &'a World, state: &State, seen: &Seen) -> Self {
        Form {
            bytes: Vec::with_capacity(1024),
            now,
            world,
            last_round: state.last_round,
            entry: seen.entry.number,
            ages_matter: true,
            play: match state.phase() {
                None if state.course().is_some() => Play::BeforeBell,
                None => Play::Still,
                Some(Phase::Ready(ready))
                    if ready.after.wants_a_bell() || seen.tumbler.bell_without_tumble.is_some() =>
                {
                    Play::BeforeBell
                }
                Some(Phase::Ready(_)) => Play::Still,
                Some(Phase::Tumbling(_) | Phase::Betting(_)) => Play::BeforeBell,
                Some(Phase::Closed(_)) => Play::Covered,
                Some(Phase::Landed(_)) => Play::Seen,
                Some(Phase::Entered(entered)) if entered.reopened => Play::Reopened,
                Some(Phase::Entered(_)) => Play::Seen,
            },
        }
    }

    /// A bell may still come late.
    pub fn bell_matters(&self) -> bool {
        self.play == Play::BeforeBell
    }

    /// Ages of the cover's going off matter up to the longest wait for a bell.
    fn off_wait(&self) -> u64 {
        match self.play {
            Play::BeforeBell => 2_000,
            Play::Covered => 300,
            Play::Still | Play::Seen | Play::Reopened => NO_WAIT,
        }
    }

    pub fn digest(&self) -> Key16 {
        let mut key = [0; 16];
        key.copy_from_slice(&Sha256::digest(&self.bytes)[..16]);
        key
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn number(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.number(u32::try_from(text.len()).unwrap());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub fn slice(&mut self, bytes: &[u8]) {
        self.number(u32::try_from(bytes.len()).unwrap());
        self.bytes.extend_from_slice(bytes);
    }

    /// Moments of a round that is over: it would begin them anew.
    pub fn over(&mut self, past: impl FnOnce(&mut Self)) {
        let kept = std::mem::replace(&mut self.ages_matter, false);
        past(self);
        self.ages_matter = kept;
    }

    /// How long ago, or ahead, by the waits up to `most_ms` that have passed since, or will.
    pub fn age(&mut self, at: Uptime, most_ms: u64) {
        if !self.ages_matter {
            return;
        }
        let passed = |ms: u128| {
            WAITS
                .iter()
                .filter(|wait| **wait <= most_ms && u128::from(**wait) <= ms)
                .count()
        };
        let (ago, ahead) = (self.now.since(at).as_millis(), at.since(self.now).as_millis());
        let class = if ahead > 0 { 100 + passed(ahead) } else { passed(ago) };
        self.byte(u8::try_from(class).unwrap());
    }

    pub fn ages(&mut self, at: Option<Uptime>, most_ms: u64) {
        self.byte(u8::from(at.is_some()));
        if let Some(at) = at {
            self.age(at, most_ms);
        }
    }

    pub fn round(&mut self, round: u64) {
        let back = self.last_round.wrapping_sub(round).min(2);
        self.byte(if round == 0 { 9 } else { u8::try_from(back).unwrap() });
    }

    fn many(&mut self, count: u32) {
        self.number(count.min(MANY));
    }

    /// Spins are told apart well beyond those that a tumble needs.
    pub fn spins(&mut self, spins: u32) {
        self.number(spins.min(4));
    }

    fn boot(&mut self, kind: DeviceKind, boot_id: u32) {
        self.byte(u8::from(self.world.boot_id(kind) == boot_id));
    }

    fn count(&mut self, count: Count) {
        self.number(self.world.tumbler.activations.wrapping_sub(count.activations).min(1));
        self.spins(self.world.tumbler.spins.wrapping_sub(count.spins));
    }

    pub fn contact(&mut self, contact: Contact, count: ContactCount) {
        let wire = self.world.terminal.wire(contact);
        let same = count.boot_id == self.world.terminal.boot_id;
        self.byte(u8::from(same));
        self.number(if same {
            wire.closings.wrapping_sub(count.closings).min(MANY)
        } else {
            count.closings.min(1)
        });
    }
}

impl Formed for bool {
    fn form(&self, f: &mut Form<'_>) {
        f.byte(u8::from(*self));
    }
}

impl Formed for u8 {
    fn form(&self, f: &mut Form<'_>) {
        f.byte(*self);
    }
}

impl Formed for u16 {
    fn form(&self, f: &mut Form<'_>) {
        f.number(u32::from(*self));
    }
}

impl Formed for u32 {
    fn form(&self, f: &mut Form<'_>) {
        f.number(*self);
    }
}

impl Formed for i32 {
    fn form(&self, f: &mut Form<'_>) {
        f.number(u32::try_from(*self).unwrap());
    }
}

impl Formed for usize {
    fn form(&self, f: &mut Form<'_>) {
        f.number(u32::try_from(*self).unwrap());
    }
}

impl Formed for String {
    fn form(&self, f: &mut Form<'_>) {
        f.text(self);
    }
}

impl<T: Formed> Formed for Option<T> {
    fn form(&self, f: &mut Form<'_>) {
        f.byte(u8::from(self.is_some()));
        if let Some(value) = self {
            value.form(f);
        }
    }
}

impl<T: Formed, const N: usize> Formed for [T; N] {
    fn form(&self, f: &mut Form<'_>) {
        self.iter().for_each(|value| value.form(f));
    }
}

impl<T: Formed> Formed for Vec<T> {
    fn form(&self, f: &mut Form<'_>) {
        self.len().form(f);
        self.iter().for_each(|value| value.form(f));
    }
}

impl<T: Formed> Formed for BTreeSet<T> {
    fn form(&self, f: &mut Form<'_>) {
        self.len().form(f);
        self.iter().for_each(|value| value.form(f));
    }
}

impl<K: Formed, V: Formed> Formed for BTreeMap<K, V> {
    fn form(&self, f: &mut Form<'_>) {
        self.len().form(f);
        self.iter().for_each(|(key, value)| {
            key.form(f);
            value.form(f);
        });
    }
}

impl<A: Formed, B: Formed> Formed for (A, B) {
    fn form(&self, f: &mut Form<'_>) {
        self.0.form(f);
        self.1.form(f);
    }
}

/// Enums without data.
macro_rules! plain {
    ($($name:ty),*) => {
        $(impl Formed for $name {
            fn form(&self, f: &mut Form<'_>) {
                f.byte(*self as u8);
            }
        })*
    };
}

plain!(DeviceKind, Contact, OpeningCheck, RoundHeldCause, TableLockedReason);

impl Formed for Key {
    fn form(&self, f: &mut Form<'_>) {
        f.number(self.number());
    }
}

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
            stale,
            opening,
            owner,
            unfinished,
            latest: _,
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
            bell_at,
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
        f.ages(*bell_at, 1_000);
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
        if let Some(Notice { text, until, fresh }) = notice {
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
        } = self;
        mode.form(f);
        for lock in locks {
            let Lock { reason, kind, text: _ } = lock;
            reason.form(f);
            f.byte(*kind as u8);
        }
        alerts.len().form(f);
        for (name, alert) in alerts {
            let Alert { text: _, acknowledged } = alert;
            f.text(name);
            acknowledged.form(f);
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
        accepted.form(f);
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

impl Formed for Phase {
    fn form(&self, f: &mut Form<'_>) {
        match self {
            Phase::Ready(ready) => {
                f.byte(10);
                ready.form(f);
            }
            Phase::Tumbling(tumbling) => {
                f.byte(11);
                let Tumbling {
                    round,
                    base,
                    quiet_since,
                } = tumbling;
                round.form(f);
                f.byte(u8::from(base.is_some()));
                base.iter().for_each(|base| f.count(*base));
                f.age(*quiet_since, 3_000);
            }
            Phase::Betting(betting) => {
                f.byte(12);
                let Betting {
                    round,
                    opened_at,
                    bell,
                    unbroken,
                } = betting;
                round.form(f);
                f.age(*opened_at, 2_000);
                f.contact(Contact::Bell, *bell);
                unbroken.form(f);
            }
            Phase::Closed(shut) => {
                f.byte(13);
                let BetsShut { round, closed_at, open } = shut;
                round.form(f);
                f.age(*closed_at, NO_WAIT);
                f.byte(u8::from(open.is_some()));
                if let Some(InSight { base, quiet_since }) = open {
                    f.byte(u8::from(base.is_some()));
                    base.iter().for_each(|base| f.count(*base));
                    f.age(*quiet_since, 3_000);
                }
            }
            Phase::Landed(landed) => {
                f.byte(14);
                let Landed { round, uncovered_at } = landed;
                round.form(f);
                f.age(*uncovered_at, 300);
            }
            Phase::Entered(entered) => {
                f.byte(15);
                entered.form(f);
            }
        }
    }
}

impl Formed for Ready {
    fn form(&self, f: &mut Form<'_>) {
        let Ready { base, watched, after } = self;
        f.byte(u8::from(base.is_some()));
        base.iter().for_each(|base| f.count(*base));
        watched.form(f);
        match after {
            After::Nothing => f.byte(0),
            After::Settled => f.byte(1),
            After::Provisional(entered) => {
                f.byte(2);
                f.over(|f| entered.form(f));
            }
            After::Voided => f.byte(3),
            After::Withdrawable { reason, before } => {
                f.byte(4);
                f.byte(*reason as u8);
                if self.after.wants_a_bell() {
                    before.form(f);
                } else {
                    f.over(|f| before.form(f));
                }
            }
            After::Abandoned => f.byte(5),
        }
    }
}

impl Formed for Round {
    fn form(&self, f: &mut Form<'_>) {
        let Round {
            id,
            game,
            style,
            layout,
            counters,
            spins,
            held,
            resumed,
        } = self;
        f.round(*id);
        f.text(game);
        f.text(style);
        f.text(layout);
        f.byte(u8::from(counters.is_some()));
        counters.iter().for_each(|count| f.count(*count));
        f.spins(*spins);
        f.byte(u8::from(held.is_some()));
        if let Some(Held { cause, pressed }) = held {
            cause.form(f);
            pressed.form(f);
        }
        resumed.form(f);
    }
}

impl Formed for Entered {
    fn form(&self, f: &mut Form<'_>) {
        let Entered {
            round,
            pressed,
            faces,
            areas,
            lit,
            call,
            entered_at,
            proof,
            fault_declared,
            lamps_settled_at,
            reopened,
        } = self;
        round.form(f);
        pressed.form(f);
        faces.form(f);
        areas.len().form(f);
        for Area { id, pays: _, per: _ } in areas {
            f.text(id);
        }
        f.slice(lit);
        f.text(call);
        f.age(*entered_at, 5_000);
        match proof {
            Proof::Waiting(since) => {
                f.byte(0);
                f.age(*since, 5_000);
            }
            Proof::Lit => f.byte(1),
        }
        fault_declared.form(f);
        f.byte(u8::from(lamps_settled_at.is_some()));
        reopened.form(f);
    }
}
