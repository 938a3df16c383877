//! A simulated entry terminal: keys, readout, and the contacts wired to it.

use super::Chance;
use super::engine::{self, Link, Model};
use super::handle::{Handle, Hearing, LineView, Setup};
use super::plug::Place;
use crate::time::Uptime;
use crate::wire::message::{
    Contact, ContactState, DeviceFault, DeviceKind, EntryPressed, FaultState, Key, KeyPressed, Level, Readout,
    TerminalStatus, from_device, to_device,
};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// After ENTER keys are ignored until the next readout, at most this long.
const ENTER_PAUSE: Duration = Duration::from_secs(1);
/// A bell or a button stays closed this long.
const PUSH: Duration = Duration::from_millis(80);
/// `Readout.for_ms` without limit: until a key is taken.
const NO_LIMIT: u32 = u32::MAX;
/// The fault of a readout with entry 0.
const BAD_ENTRY_FAULT: u32 = 1;

/// How a simulated terminal is built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TerminalSetup {
    /// Keys that an entry keeps: 3, or 2 on a two-up terminal.
    pub keys: usize,
    /// Contacts that are fitted.
    pub contacts: Vec<Contact>,
}

impl Default for TerminalSetup {
    fn default() -> Self {
        TerminalSetup {
            keys: TAI_SAI_KEYS,
            contacts: vec![
                Contact::Bell,
                Contact::SupervisorKey,
                Contact::NoSpinButton,
                Contact::CabinetDoor,
            ],
        }
    }
}

/// Keys that an entry keeps on a tai-sai terminal; a two-up terminal keeps one less.
const TAI_SAI_KEYS: usize = 3;

impl TerminalSetup {
    /// A two-up terminal: two keys, and no button for "no spin" beside the key.
    #[must_use]
    pub fn two_up() -> Self {
        TerminalSetup {
            keys: 2,
            contacts: vec![Contact::Bell, Contact::SupervisorKey, Contact::CabinetDoor],
        }
    }
}

/// How a key is worn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wear {
    /// It works.
    None,
    /// Pressed, nothing happens.
    Dead,
    /// One press comes twice, 8 ms apart.
    Bounces,
}

/// The time between the two of a press that bounced.
const BOUNCED: Duration = Duration::from_millis(8);

/// A simulated terminal.
pub type Terminal = Handle<Act, TerminalView>;

/// What can be seen of a terminal.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct TerminalView {
    /// What stands on the readout.
    pub readout: String,
    /// It blinks.
    pub blink: bool,
    /// The entry that may be typed; 0 before the first readout.
    pub entry: u32,
    /// Keys of this entry, oldest first, by number.
    pub keys: Vec<u32>,
    /// Keys are ignored: after ENTER, before the first readout, or without a session.
    pub locked: bool,
    /// Readouts received since the last boot.
    pub readouts: u64,
    /// Key presses that were ignored.
    pub ignored: u64,
    /// Contacts that are closed.
    pub closed: Vec<String>,
    /// Its link.
    pub line: LineView,
}

/// A script's word to a terminal.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub enum Act {
    Press(u32),
    Enter,
    Push(Contact),
    Move(Contact, Level),
    Entry(u32),
    StaleKeys { count: u32, age: Duration },
    Flood { count: u32 },
    Wear { key: u32, wear: Wear },
}

impl Terminal {
    /// Starts a terminal; its port is there when this returns.
    ///
    /// # Errors
    /// When the pty or its symlink can't be made.
    pub fn start(setup: Setup, terminal: TerminalSetup) -> io::Result<Terminal> {
        engine::start(setup, TerminalModel::new(terminal))
    }

    /// Starts it in a place.
    pub(super) fn start_at(place: Place<TerminalView>, setup: Setup, terminal: TerminalSetup) -> io::Result<Terminal> {
        engine::start_at(place, setup, TerminalModel::new(terminal))
    }

    /// Presses a key by its number (1 to 6; 16 to 27 those of two-up; 21 is NO_SPIN).
    pub async fn press(&self, key: u32) {
        self.own(Act::Press(key)).await;
    }

    /// Presses ENTER.
    pub async fn enter(&self) {
        self.own(Act::Enter).await;
    }

    /// Rings the bell: "no more bets".
    pub async fn ring(&self) {
        self.own(Act::Push(Contact::Bell)).await;
    }

    /// Pushes the no-spin button.
    pub async fn push_no_spin(&self) {
        self.own(Act::Push(Contact::NoSpinButton)).await;
    }

    /// Turns the supervisor's key on (CLOSED) or off, opens or closes the cabinet's door (CLOSED: the door is closed).
    pub async fn turn(&self, contact: Contact, level: Level) {
        self.own(Act::Move(contact, level)).await;
    }

    /// Sends an ENTER whose `shown` says something else than was pressed: a key was lost.
    pub async fn enter_with_a_lost_key(&self, lost: u32) {
        self.own(Act::Entry(lost)).await;
    }

    /// Sends a burst of keys that were pressed long ago, as a device does that kept what it should have dropped.
    pub async fn stale_keys(&self, count: u32, age: Duration) {
        self.own(Act::StaleKeys { count, age }).await;
    }

    /// Wears a key out, or mends it.
    pub async fn wear(&self, key: u32, wear: Wear) {
        self.own(Act::Wear { key, wear }).await;
    }

    /// Sends this many contact reports as fast as they are acknowledged.
    pub async fn flood(&self, count: u32) {
        self.own(Act::Flood { count }).await;
    }
}

struct Wired {
    contact: Contact,
    closed: bool,
    closings: u32,
    last_closed_ms: u32,
    opens_at: Option<Uptime>,
}

pub(super) struct TerminalModel {
    setup: TerminalSetup,
    entry: u32,
    keys: Vec<i32>,
    readout: Readout,
    /// When a readout with a limit ends.
    readout_ends: Option<Uptime>,
    enter_pause: Option<Uptime>,
    host: Host,
    wired: Vec<Wired>,
    readouts: u64,
    ignored: u64,
    bad_entry: bool,
    flood: u32,
    worn: BTreeMap<u32, Wear>,
    chance: Chance,
}

/// What the terminal knows of its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Host {
    /// No readout in this session: it shows `---`.
    Silent,
    /// It says what to show.
    Speaks,
}

impl TerminalModel {
    fn new(setup: TerminalSetup) -> Self {
        TerminalModel {
            setup,
            entry: 0,
            keys: Vec::new(),
            readout: Readout::default(),
            readout_ends: None,
            enter_pause: None,
            host: Host::Silent,
            wired: Vec::new(),
            readouts: 0,
            ignored: 0,
            bad_entry: false,
            flood: 0,
            worn: BTreeMap::new(),
            chance: Chance::new(1),
        }
    }

    fn is_locked(&self, link: &Link<'_>) -> bool {
        !link.has_session() || self.entry == 0 || self.enter_pause.is_some()
    }

    fn press(&mut self, link: &mut Link<'_>, number: u32) {
        if self.is_locked(link) {
            self.ignored += 1;
            return;
        }
        let wear = self.worn.get(&number).copied().unwrap_or(Wear::None);
        if wear == Wear::Dead {
            return;
        }
        let key = i32::try_from(number).unwrap_or(0);
        // On a two-up terminal NO_SPIN is a key like every other.
        let no_spin = i32::from(Key::NoSpin);
        let stands_alone = self.setup.keys == TAI_SAI_KEYS;
        if stands_alone && (key == no_spin || self.keys == [no_spin]) {
            self.keys.clear();
        }
        self.keys.push(key);
        if self.keys.len() > self.setup.keys {
            self.keys.remove(0);
        }
        if self.readout.for_ms > 0 {
            self.end_text();
        }
        let entry = self.entry;
        if wear == Wear::Bounces {
            link.report_of(link.now - BOUNCED, from_device::Body::Key(KeyPressed { key, entry }));
        }
        link.report(from_device::Body::Key(KeyPressed { key, entry }));
    }

    fn enter(&mut self, link: &mut Link<'_>, shown: Vec<i32>) {
        if self.is_locked(link) {
            self.ignored += 1;
            return;
        }
        self.enter_pause = Some(link.now + ENTER_PAUSE);
        let entry = self.entry;
        link.report(from_device::Body::Entry(EntryPressed { shown, entry }));
    }

    fn show(&mut self, link: &mut Link<'_>, readout: Readout) {
        if readout.entry == 0 {
            self.bad_entry = true;
            link.report(bad_entry(FaultState::Raised));
            return;
        }
        if self.bad_entry {
            self.bad_entry = false;
            link.report(bad_entry(FaultState::Cleared));
        }
        self.readouts += 1;
        self.host = Host::Speaks;
        self.enter_pause = None;
        if readout.entry != self.entry {
            self.keys.clear();
            self.entry = readout.entry;
        }
        let limited = readout.for_ms > 0 && readout.for_ms != NO_LIMIT;
        self.readout_ends = limited.then(|| link.now + Duration::from_millis(u64::from(readout.for_ms)));
        self.readout = readout;
    }

    fn end_text(&mut self) {
        self.readout.text.clear();
        self.readout.blink = false;
        self.readout_ends = None;
    }

    fn move_contact(&mut self, link: &mut Link<'_>, contact: Contact, level: Level, opens_at: Option<Uptime>) {
        let now_ms = link.uptime_ms();
        let Some(wired) = self.wired.iter_mut().find(|wired| wired.contact == contact) else {
            return;
        };
        let close = level == Level::Closed;
        wired.opens_at = opens_at;
        if wired.closed == close && opens_at.is_none() {
            return;
        }
        if close && !wired.closed {
            wired.closings = wired.closings.wrapping_add(1);
            wired.last_closed_ms = now_ms;
        }
        wired.closed = close;
        link.report(from_device::Body::Contact(wired.state()));
    }

    fn shown(&self, hearing: Hearing) -> String {
        if hearing == Hearing::NoSession || self.host == Host::Silent {
            "---".to_owned()
        } else if self.readout.text.is_empty() {
            self.keys.iter().map(|key| glyph(*key)).collect()
        } else {
            self.readout.text.clone()
        }
    }
}

impl Wired {
    fn state(&self) -> ContactState {
        let level = if self.closed { Level::Closed } else { Level::Open };
        ContactState {
            contact: self.contact.into(),
            level: level.into(),
            closings: self.closings,
            last_closed_ms: self.last_closed_ms,
        }
    }
}

impl Model for TerminalModel {
    type Act = Act;
    type View = TerminalView;

    fn kind(&self) -> (DeviceKind, u32) {
        (DeviceKind::Terminal, 0)
    }

    fn boot(&mut self) {
        // Levels are the world's; counts are the device's, and begin again.
        let closed: Vec<(Contact, bool)> = self.wired.iter().map(|wired| (wired.contact, wired.closed)).collect();
        let was_closed = |contact: Contact| {
            let known = closed.iter().find(|(known, _)| *known == contact);
            known.map_or(contact == Contact::CabinetDoor, |(_, closed)| *closed)
        };
        self.wired = self
            .setup
            .contacts
            .iter()
            .map(|contact| Wired {
                contact: *contact,
                closed: was_closed(*contact),
                closings: 0,
                last_closed_ms: 0,
                opens_at: None,
            })
            .collect();
        self.entry = 0;
        self.keys.clear();
        self.end_text();
        self.enter_pause = None;
        self.host = Host::Silent;
        self.readouts = 0;
    }

    fn accept(&mut self, link: &mut Link<'_>, body: to_device::Body) {
        match body {
            to_device::Body::Readout(readout) => self.show(link, readout),
            to_device::Body::Status(_)
            | to_device::Body::Lamps(_)
            | to_device::Body::Inhibit(_)
            | to_device::Body::Spin(_)
            | to_device::Body::Digest(_) => {}
        }
    }

    fn act(&mut self, link: &mut Link<'_>, act: Act) {
        match act {
            Act::Press(key) => self.press(link, key),
            Act::Enter => self.enter(link, self.keys.clone()),
            Act::Push(contact) => {
                let opens_at = link.now + PUSH;
                self.move_contact(link, contact, Level::Closed, Some(opens_at));
            }
            Act::Move(contact, level) => self.move_contact(link, contact, level, None),
            Act::Entry(lost) => {
                let lost = i32::try_from(lost).unwrap_or(0);
                let mut shown = self.keys.clone();
                if let Some(at) = shown.iter().position(|key| *key == lost) {
                    shown.remove(at);
                }
                self.enter(link, shown);
            }
            Act::StaleKeys { count, age } => {
                let entry = self.entry;
                for _ in 0..count {
                    let key = i32::from(self.chance.face());
                    link.report_of(link.now - age, from_device::Body::Key(KeyPressed { key, entry }));
                }
            }
            Act::Flood { count } => self.flood = count,
            Act::Wear { key, wear } => drop(self.worn.insert(key, wear)),
        }
    }

    fn session_ended(&mut self) {
        self.host = Host::Silent;
        self.flood = 0;
    }

    fn host_gone(&mut self) {
        self.keys.clear();
        self.end_text();
    }

    fn status(&self, _link: &Link<'_>) -> from_device::Body {
        from_device::Body::Terminal(TerminalStatus {
            shown: self.keys.clone(),
            entry: self.entry,
            contacts: self.wired.iter().map(Wired::state).collect(),
        })
    }

    fn run(&mut self, link: &mut Link<'_>) {
        if self.enter_pause.is_some_and(|until| link.now >= until) {
            self.enter_pause = None;
        }
        if self.readout_ends.is_some_and(|until| link.now >= until) {
            self.end_text();
        }
        let opening: Vec<Contact> = self
            .wired
            .iter()
            .filter(|wired| wired.opens_at.is_some_and(|at| link.now >= at))
            .map(|wired| wired.contact)
            .collect();
        for contact in opening {
            self.move_contact(link, contact, Level::Open, None);
        }
        if self.flood > 0 && link.is_idle() {
            // Another one for each that is acknowledged: as fast as the line goes.
            self.flood -= 1;
            if let Some(wired) = self.wired.first() {
                link.report(from_device::Body::Contact(wired.state()));
            }
        }
    }

    fn deadline(&self) -> Option<Uptime> {
        let opens = self.wired.iter().filter_map(|wired| wired.opens_at);
        opens.chain(self.enter_pause).chain(self.readout_ends).min()
    }

    fn view(&self, line: LineView) -> TerminalView {
        let closed = self.wired.iter().filter(|wired| wired.closed);
        TerminalView {
            readout: self.shown(line.hearing),
            blink: self.readout.blink,
            entry: self.entry,
            keys: self.keys.iter().map(|key| u32::try_from(*key).unwrap_or(0)).collect(),
            locked: line.hearing == Hearing::NoSession || self.entry == 0 || self.enter_pause.is_some(),
            readouts: self.readouts,
            ignored: self.ignored,
            closed: closed.map(|wired| name(wired.contact).to_owned()).collect(),
            line,
        }
    }
}

fn bad_entry(state: FaultState) -> from_device::Body {
    from_device::Body::Fault(DeviceFault {
        code: BAD_ENTRY_FAULT,
        text: "readout with entry 0".to_owned(),
        state: state.into(),
    })
}

/// As events name it.
fn name(contact: Contact) -> &'static str {
    match contact {
        Contact::Bell => "bell",
        Contact::SupervisorKey => "supervisor_key",
        Contact::NoSpinButton => "no_spin_button",
        Contact::CabinetDoor => "cabinet_door",
        Contact::Unspecified => "unknown",
    }
}

/// One character a key.
pub(super) fn glyph(key: i32) -> char {
    match Key::try_from(key) {
        Ok(Key::NoSpin) => 'X',
        Ok(Key::Key1 | Key::Key2 | Key::Key3 | Key::Key4 | Key::Key5 | Key::Key6) => u32::try_from(key)
            .ok()
            .and_then(|digit| char::from_digit(digit, 10))
            .unwrap_or('?'),
        Ok(Key::Heads) => 'H',
        Ok(Key::Tails) => 'T',
        Ok(Key::Odds) => 'O',
        Ok(Key::TripleHeads) => 'A',
        Ok(Key::TripleTails) => 'B',
        Ok(Key::NewSpinner) => 'S',
        Ok(Key::SpinnerStops) => 'P',
        Ok(Key::Relieve) => 'R',
        Ok(Key::OffTable) => 'D',
        Ok(Key::NewSet) => 'N',
        Ok(Key::Overrule) => 'V',
        Ok(Key::Unspecified) | Err(_) => '?',
    }
}
