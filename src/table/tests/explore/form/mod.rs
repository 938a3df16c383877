//! The canonical form of a table, its devices and what the law reads of its events: equal forms have the same future.
//!
//! Times are ages, up to the longest wait that looks at them; counters, entry and round numbers are told by how far they are
//! from the newest; texts for people and counts that nothing decides by are left out. Each struct is taken apart whole, so that
//! a new field doesn't compile until somebody has said what it is here.

mod dice;
mod seen;
mod state;
mod two_up;

use super::world::World;
use crate::table::dice::phase::Phase;
use crate::table::event::{OpeningCheck, RoundHeldCause, TableLockedReason};
use crate::table::input::{Contact, DeviceKind, Key};
use crate::table::seen::Seen;
use crate::table::state::{ContactCount, Count, State};
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
