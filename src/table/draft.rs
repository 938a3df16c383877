//! A decision in the making: facts recorded so far, and the state and the sight that they lead to. PURE.
//!
//! Each fact is folded as it is recorded, by the same fold that live running and recovery use, so that a decision of several
//! facts sees its own.

use crate::rules::citation::Citation;
use crate::table::event::{Actor, ActorKind, AlertRaised, Body, Closings, Counters, DeviceRef, Fact};
use crate::table::game::{self, Family};
use crate::table::indicators::DeviceCommand;
use crate::table::input::{Contact, DeviceKind, Person, Role};
use crate::table::rejection::{Code, Rejection};
use crate::table::seen::{Notice, Seen};
use crate::table::state::{ContactCount, Count, Envelope, State};
use crate::table::terminal::Missed;
use crate::table::{Decision, TableConfig, alert};
use crate::time::{Timestamp, Uptime};
use std::borrow::Cow;
use std::time::Duration;

/// One decision is one append of at most this many events; what is due beyond it follows in the next.
pub(crate) const MOST_FACTS: usize = 16;

/// How long a code blinks on the readout, unless a key hides it.
const NOTICE: Duration = Duration::from_secs(3);

/// A decision in the making, at a table of this family of games.
pub(crate) struct Draft<'a, F> {
    pub(crate) table: &'a TableConfig,
    pub(crate) game: &'a F,
    pub(crate) now: Uptime,
    pub(crate) state: Cow<'a, State>,
    pub(crate) seen: Seen,
    pub(crate) commands: Vec<DeviceCommand>,
    pub(crate) answer: Option<Result<String, Rejection>>,
    facts: Vec<Fact>,
    reserved: usize,
}

/// Who did it, and the device it came from.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Source {
    pub(crate) actor: Option<Actor>,
    pub(crate) device: Option<DeviceRef>,
}

/// When a bell rang, as `BetsClosed` carries it; 0 is not known.
pub(crate) struct Rang {
    pub(crate) while_away: bool,
    pub(crate) bets_open_ms: u32,
    pub(crate) rung_us_before: u64,
}

impl<'a, F: Family> Draft<'a, F> {
    pub(crate) fn new(table: &'a TableConfig, game: &'a F, now: Uptime, state: &'a State, seen: &Seen) -> Self {
        Draft {
            table,
            game,
            now,
            state: Cow::Borrowed(state),
            seen: seen.clone(),
            commands: Vec::new(),
            answer: None,
            facts: Vec::new(),
            reserved: 0,
        }
    }

    /// Keeps room for this many facts that must be in this decision.
    pub(crate) fn reserve(&mut self, facts: usize) {
        self.reserved = facts;
    }

    pub(crate) fn finish(self) -> Decision {
        debug_assert!(
            self.facts.len() <= MOST_FACTS,
            "{} facts in one decision",
            self.facts.len()
        );
        Decision {
            facts: self.facts,
            seen: self.seen,
            commands: self.commands,
            answer: self.answer,
        }
    }

    /// Facts recorded so far.
    pub(crate) fn fact_count(&self) -> usize {
        self.facts.len()
    }

    /// There is room for this many more facts; when not, what is due waits for the next decision, which comes at once.
    pub(crate) fn has_room(&mut self, facts: usize) -> bool {
        let room = self.facts.len() + facts + self.reserved <= MOST_FACTS;
        if !room {
            self.seen.unfinished = true;
        }
        room
    }

    /// Records a fact in the running round, if there is one.
    pub(crate) fn record(&mut self, source: Source, body: Body) {
        let round_id = game::round_of(&self.state, &body);
        self.record_of_round(round_id, source, body);
    }

    /// Records a fact of a round that may have ended.
    pub(crate) fn record_of_round(&mut self, round_id: u64, source: Source, body: Body) {
        let rules = self.game.cite(&body);
        self.record_under(&rules, round_id, source, body);
    }

    /// Records a fact that these rules decided.
    pub(crate) fn record_under(&mut self, rules: &[Citation], round_id: u64, source: Source, body: Body) {
        let envelope = Envelope {
            at: self.now,
            recorded: Timestamp::default(),
            round_id,
            actor: source.actor.as_ref(),
            device: source.device.as_ref(),
        };
        self.state.to_mut().fold(envelope, &body);
        self.facts.push(Fact {
            body,
            actor: source.actor,
            device: source.device,
            rules: rules.iter().map(|rule| (*rule).to_string()).collect(),
            round_id,
        });
    }

    /// Raises an alert, unless it stands.
    pub(crate) fn raise(&mut self, alert: alert::Name, text: impl Into<String>) {
        if self.state.standing(alert).is_some() {
            return;
        }
        let text = text.into();
        self.seen.alerts.insert(alert, text.clone());
        let raised = AlertRaised {
            alert: alert.as_str().to_string(),
            text,
        };
        self.record(Source::gateway(), Body::AlertRaised(raised));
    }

    /// A code on the readout for 3 s or until a key.
    pub(crate) fn notice(&mut self, code: Code) {
        self.seen.readout.notice = Some(Notice {
            text: code.readout,
            until: self.now + NOTICE,
            fresh: true,
            during: std::mem::discriminant(&self.state.mode),
        });
    }

    /// The device as events name it.
    pub(crate) fn device(&self, kind: DeviceKind) -> Option<DeviceRef> {
        let seen = self.seen.serial_number(kind);
        let known = || self.state.devices.get(&kind).map(|known| known.serial_number.as_str());
        seen.or_else(known).map(|serial_number| DeviceRef {
            kind: kind.to_event() as i32,
            serial_number: serial_number.to_string(),
        })
    }

    /// The dealer, by a key or contact of the terminal.
    pub(crate) fn dealer_at_terminal(&self) -> Source {
        Source {
            actor: Some(actor(ActorKind::Dealer)),
            device: self.device(DeviceKind::Terminal),
        }
    }

    /// The dealer, by the tumbler or its cover.
    pub(crate) fn dealer_at_tumbler(&self) -> Source {
        Source {
            actor: Some(actor(ActorKind::Dealer)),
            device: self.device(DeviceKind::Tumbler),
        }
    }

    /// A supervisor whose key gave the authority.
    pub(crate) fn supervisor_by_key(&self) -> Source {
        Source {
            actor: Some(Actor {
                by_key: true,
                ..actor(ActorKind::Supervisor)
            }),
            device: self.device(DeviceKind::Terminal),
        }
    }

    /// A device that tells of itself; nobody acts.
    pub(crate) fn device_itself(&self, kind: DeviceKind) -> Source {
        Source {
            actor: None,
            device: self.device(kind),
        }
    }

    /// The tumbler's counters, when it can be asked.
    pub(crate) fn counters(&self) -> Option<Counters> {
        let online = self.state.is_online(DeviceKind::Tumbler);
        self.seen.tumbler.count().filter(|_| online).map(Count::into)
    }

    /// The terminal's contacts as events record them.
    pub(crate) fn closings(&self) -> Vec<Closings> {
        let count = |contact: &Contact| self.seen.terminal.count(*contact).named(*contact);
        self.seen.terminal.contacts.keys().map(count).collect()
    }

    /// Milliseconds from `earlier` to `later`, as events carry them; 0, not measured, when they began in an earlier run: no clock
    /// went on from there.
    pub(crate) fn measured(&self, earlier: Uptime, later: Uptime) -> u32 {
        match earlier <= self.seen.run_began {
            true => 0,
            false => millis(earlier, later),
        }
    }

    /// What is known of when a bell rang, for bets that opened then; `None`: somebody's word stands for it now.
    pub(crate) fn rang(&self, opened_at: Uptime, rung: Option<Uptime>, missed: Missed) -> Rang {
        // Times before the run are related to its start.
        let before_this_run = rung == Some(Uptime::ZERO);
        let while_away = missed == Missed::WhileAway || before_this_run;
        match rung {
            Some(at) if before_this_run || (while_away && at >= self.now) => Rang {
                while_away,
                bets_open_ms: 0,
                rung_us_before: 0,
            },
            Some(_) | None => {
                let at = rung.unwrap_or(self.now);
                Rang {
                    while_away,
                    bets_open_ms: self.measured(opened_at, at),
                    rung_us_before: micros(at, self.now),
                }
            }
        }
    }

    /// The bell as events record it.
    pub(crate) fn bell(&self) -> ContactCount {
        self.seen.terminal.count(Contact::Bell)
    }

    /// Takes the base of the spins anew: what the tumbler spins until it rests doesn't count.
    pub(crate) fn base_taken(&mut self) {
        let seen = &mut self.seen.tumbler;
        seen.discount = 0;
        seen.spinning_at_base = seen.count().map(|count| count.spins).filter(|_| seen.is_spinning());
        seen.bell_without_tumble = None;
    }
}

impl Source {
    /// The gateway by itself.
    pub(crate) fn gateway() -> Self {
        Source {
            actor: Some(actor(ActorKind::Gateway)),
            device: None,
        }
    }

    /// The floor, by a request.
    pub(crate) fn floor() -> Self {
        Source {
            actor: Some(actor(ActorKind::Floor)),
            device: None,
        }
    }

    /// Nobody.
    pub(crate) fn nobody() -> Self {
        Source::default()
    }

    /// A person by a command.
    pub(crate) fn person(person: &Person) -> Self {
        let kind = match person.role {
            Role::Technician => ActorKind::Technician,
            Role::Supervisor => ActorKind::Supervisor,
        };
        Source {
            actor: Some(Actor {
                name: person.name.clone(),
                login: person.login.clone().unwrap_or_default(),
                ..actor(kind)
            }),
            device: None,
        }
    }

    /// The same person or nobody, and this device.
    pub(crate) fn with_device(self, device: Option<DeviceRef>) -> Self {
        Source { device, ..self }
    }
}

fn actor(kind: ActorKind) -> Actor {
    Actor {
        kind: kind as i32,
        ..Actor::default()
    }
}

/// Milliseconds from `earlier` to `later`, as events carry them; 0 when they are the other way round.
fn millis(earlier: Uptime, later: Uptime) -> u32 {
    u32::try_from(later.since(earlier).as_millis()).unwrap_or(u32::MAX)
}

/// Microseconds from `earlier` to `later`, as events carry them.
pub(crate) fn micros(earlier: Uptime, later: Uptime) -> u64 {
    u64::try_from(later.since(earlier).as_micros()).unwrap_or(u64::MAX)
}
