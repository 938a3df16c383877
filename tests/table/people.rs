//! What people do at the table, in their words, and the longer stretches of a round.

use crate::devices::{HOLD_US, Tumbler};
use crate::scene::{MS, Scene, supervisor};
use tablegate::table::event::Mode;
use tablegate::table::input::{Contact, Cover, DeviceKind, Input, Key, Motion, OperatorAct, Person};

impl Scene {
    fn tumbler_says(&mut self) {
        let input = Input::Tumbler {
            report: self.tumbler.report(),
            happened: Some(self.uptime()),
        };
        self.say(DeviceKind::Tumbler, input);
    }

    /// So many activations, each of one spin, each to rest; an inhibited tumbler does nothing.
    pub fn spin(&mut self, spins: u32) {
        for _ in 0..spins {
            self.spin_once(1);
            self.wait(400);
        }
    }

    /// One activation that spins the dice so often.
    pub fn spin_once(&mut self, spins: u32) {
        self.spin_begins();
        self.wait(800 * u64::from(spins));
        self.spin_ends(spins);
    }

    pub fn spin_begins(&mut self) {
        if self.tumbler.link.up && self.tumbler.wish.inhibit {
            return;
        }
        self.tumbler.motion = Motion::Spinning;
        self.tumbler.activations = self.tumbler.activations.wrapping_add(1);
        self.tumbler_says();
    }

    pub fn spin_ends(&mut self, spins: u32) {
        if self.tumbler.motion == Motion::Spinning {
            self.tumbler.motion = Motion::AtRest;
            self.tumbler.spins = self.tumbler.spins.wrapping_add(spins);
            self.tumbler_says();
        }
    }

    /// One activation against the inhibit: a tumbler that doesn't obey.
    pub fn spin_despite(&mut self, spins: u32) {
        self.tumbler.wish.inhibit = false;
        self.spin_once(spins);
    }

    /// Whatever was changed in `tumbler` is reported.
    pub fn tumbler_changes(&mut self, change: impl FnOnce(&mut Tumbler)) {
        change(&mut self.tumbler);
        self.tumbler_says();
    }

    /// The cover comes off and lies beside the tumbler for 400 ms.
    pub fn uncover(&mut self) {
        self.cover_off();
        self.wait(400);
    }

    pub fn cover_off(&mut self) {
        self.tumbler_changes(|tumbler| tumbler.cover = Cover::Off);
    }

    /// The cover goes on and lies there for 400 ms.
    pub fn cover(&mut self) {
        self.tumbler_changes(|tumbler| tumbler.cover = Cover::On);
        self.wait(400);
    }

    /// A contact changes.
    pub fn contact(&mut self, contact: Contact, closed: bool) {
        let now = self.now;
        let wire = self.terminal.wire(contact);
        if wire.closed == closed {
            return;
        }
        wire.closed = closed;
        if closed {
            wire.closings += 1;
            wire.last_closed = now;
        }
        let wire = wire.clone();
        let input = Input::Contact(self.contact_report(&wire));
        self.say(DeviceKind::Terminal, input);
    }

    fn push(&mut self, contact: Contact) {
        self.contact(contact, true);
        self.wait(120);
        self.contact(contact, false);
        self.wait(30);
    }

    pub fn bell(&mut self) {
        self.push(Contact::Bell);
    }

    pub fn no_spin(&mut self) {
        self.push(Contact::NoSpinButton);
    }

    pub fn key_on(&mut self) {
        self.contact(Contact::SupervisorKey, true);
        self.wait(100);
    }

    pub fn key_off(&mut self) {
        self.contact(Contact::SupervisorKey, false);
        self.wait(100);
    }

    /// Numbered keys, 150 ms apart.
    pub fn press(&mut self, keys: &[u8]) {
        for &key in keys {
            self.press_key(Key::Number(key));
        }
    }

    pub fn press_key(&mut self, key: Key) {
        self.wait(150);
        self.settle_terminal();
        if self.terminal.key(key, self.now) {
            let input = Input::Key {
                key,
                entry: self.terminal.entry,
                pressed_at: Some(self.uptime()),
                stale: false,
            };
            self.say(DeviceKind::Terminal, input);
        }
    }

    /// ENTER.
    pub fn enter(&mut self) {
        self.wait(150);
        self.settle_terminal();
        if self.terminal.entry == 0 || self.now < self.terminal.ignores_until {
            return;
        }
        self.terminal.ignores_until = self.now + 1000 * MS;
        let (shown, entry) = (self.terminal.shown.clone(), self.terminal.entry);
        self.say(
            DeviceKind::Terminal,
            Input::Entry {
                shown,
                entry,
                pressed_at: Some(self.uptime()),
                stale: false,
            },
        );
    }

    /// A terminal without its host for `hold_ms` ignores keys.
    fn settle_terminal(&mut self) {
        let link = &self.terminal.link;
        if !link.up && self.now - link.down_since >= HOLD_US {
            self.terminal.shown.clear();
            self.terminal.ignores_until = u64::MAX;
        }
    }

    /// Three keys and ENTER.
    pub fn key_in(&mut self, keys: &[u8]) {
        self.press(keys);
        self.enter();
    }

    /// A supervisor acts by a command.
    pub fn operator(&mut self, act: OperatorAct) {
        self.act_as(supervisor(), act);
    }

    pub fn act_as(&mut self, person: Person, act: OperatorAct) {
        self.answer = None;
        self.feed(Input::Operator { person, act });
    }

    /// Opens the table without questions.
    pub fn open(&mut self) {
        self.operator(OperatorAct::OpenVouched);
        for _ in 0..120 {
            if self.state().mode() == Mode::Open {
                break;
            }
            self.wait(500);
        }
        assert_eq!(
            self.state().mode(),
            Mode::Open,
            "the table opens; the answer was {:?}",
            self.answer
        );
        self.wait(500);
    }

    /// Three spins and the rest: bets are open.
    pub fn reach_betting(&mut self) {
        self.spin(3);
        self.wait(3500);
        self.expect_phase("betting");
    }

    pub fn reach_closed(&mut self) {
        self.reach_betting();
        self.wait(5000);
        self.bell();
        self.expect_phase("closed");
    }

    pub fn reach_landed(&mut self) {
        self.reach_closed();
        self.wait(2000);
        self.uncover();
        self.expect_phase("landed");
    }

    /// Entered, lamps confirmed.
    pub fn reach_entered(&mut self, faces: &[u8]) {
        self.reach_landed();
        self.wait(1000);
        self.key_in(faces);
        self.wait(500);
        self.expect_phase("entered");
    }

    /// A whole round, cover on again.
    pub fn whole_round(&mut self, faces: &[u8]) {
        self.reach_entered(faces);
        self.settle();
    }

    /// The settlement press in good time, and the cover on.
    pub fn settle(&mut self) {
        self.wait(3500);
        self.enter();
        self.expect_phase("ready");
        self.cover();
    }
}
