//! The law of the dice games, read from their events: stages of a round, its one result, what is lit.

use super::form::{Form, Formed};
use super::law::{End, Ground, Law, Lights, is_gateway, is_supervisor, must};
use super::world::{World, bytes_of};
use crate::rules::{sic_bo, tai_sai};
use crate::table::event::{Area, Body, Event, Mode, RoundHeldCause, RoundVoidedReason, TableLockedReason, TableState};
use crate::table::input::{Contact, Input, Key, OperatorAct};
use crate::table::rejection;

/// Which law it is, and what the house adds to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    pub game: Played,
    pub course: Course,
    /// A round can be void; settlement waits for the lamps; a result can be amended.
    pub void: bool,
    pub lamps: bool,
    pub amend: bool,
    /// The spin is void, in law, when dice were seen too early or never spun.
    pub by_itself: bool,
}

/// What is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Played {
    TaiSai(tai_sai::Layout),
    /// Without a table of odds.
    SicBo,
}

/// What comes when in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Course {
    /// The tumble, bets, the bell, the cover off.
    Covered,
    /// Bets, the bell, the tumble.
    Open,
    /// Bets, the bell, a throw that no device sees.
    Cup,
}

/// Where a round stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Ready,
    Tumbling,
    Betting,
    Closed,
    Landed,
    Entered,
}

/// What can still be taken back of the last round.
#[derive(Clone, PartialEq, Debug)]
enum Back {
    Nothing,
    Settled { result: [u8; 3], faulty: bool },
    Void { stage: Stage },
}

#[derive(Clone, PartialEq, Debug)]
pub struct DiceLaw {
    pub rules: Rules,
    pub ground: Ground,
    pub stage: Stage,
    pub result: Option<[u8; 3]>,
    /// The lamps of the newest result were read back.
    lit: bool,
    /// Their fault was declared: settlement goes by the dice.
    faulty: bool,
    spins: u32,
    /// A supervisor accepted the round though fewer spins are known.
    accepted: bool,
    back: Back,
    /// The faces that this decision may record, as a person gave them.
    given: Option<[u8; 3]>,
    /// The entry that a supervisor may confirm.
    waiting: Option<[u8; 3]>,
    /// What the dice reader saw that it contradicts.
    read: Option<[u8; 3]>,
}

impl DiceLaw {
    pub fn new(rules: Rules) -> Self {
        DiceLaw {
            rules,
            ground: Ground::new(),
            stage: Stage::Ready,
            result: None,
            lit: false,
            faulty: false,
            spins: 0,
            accepted: false,
            back: Back::Nothing,
            given: None,
            waiting: None,
            read: None,
        }
    }

    /// The picture that the law wants for these faces: a lamp per area, in the layout's order.
    fn picture(&self, faces: [u8; 3]) -> Vec<u8> {
        let winners = self.areas(faces);
        let areas = match self.rules.game {
            Played::TaiSai(layout) => tai_sai::areas(layout),
            Played::SicBo => sic_bo::areas(),
        };
        let lit = areas
            .iter()
            .enumerate()
            .filter(|(_, area)| winners.iter().any(|winner| winner.id == **area))
            .map(|(place, _)| u16::try_from(place).unwrap());
        bytes_of(&lit.collect::<Vec<u16>>())
    }

    fn areas(&self, faces: [u8; 3]) -> Vec<Area> {
        let area = |id: &str, pays, per| Area {
            id: id.to_string(),
            pays,
            per,
        };
        match self.rules.game {
            Played::TaiSai(layout) => tai_sai::winners(faces, layout)
                .iter()
                .map(|winner| area(winner.id, winner.odds.pays, winner.odds.per))
                .collect(),
            Played::SicBo => sic_bo::winners(faces).into_iter().map(|id| area(id, 0, 0)).collect(),
        }
    }

    fn call(&self, faces: [u8; 3]) -> String {
        match self.rules.game {
            Played::TaiSai(_) => tai_sai::call(faces),
            Played::SicBo => sic_bo::call(faces),
        }
    }

    /// A result, or an amendment, says of its faces what the law says.
    fn result(&mut self, faces: &[u32], total: u32, call: &str, areas: &[Area], lit: &[u8]) -> Result<(), String> {
        let faces: Vec<u8> = faces.iter().map(|face| u8::try_from(*face).unwrap_or(0)).collect();
        let faces = <[u8; 3]>::try_from(faces).map_err(|_| "no three faces".to_string())?;
        must(tai_sai::are_faces(faces), "faces that dice don't have")?;
        must(faces == tai_sai::sorted(faces), "faces that aren't sorted")?;
        must(
            self.given == Some(faces),
            &format!("{faces:?} were recorded, and {:?} were given", self.given),
        )?;
        must(total == u32::from(tai_sai::total(faces)), "another total")?;
        must(call == self.call(faces), "another call")?;
        must(areas == self.areas(faces), "other areas than win")?;
        must(lit == self.picture(faces), "other lamps than win")?;
        self.result = Some(faces);
        self.lit = false;
        self.faulty = false;
        Ok(())
    }

    fn stands(&self, stage: Stage, what: &str) -> Result<(), String> {
        must(self.stage == stage, &format!("{what} in {:?}", self.stage))
    }

    fn play(&mut self, event: &Event, world: &World) -> Result<(), String> {
        let Some(body) = &event.body else { return Ok(()) };
        match body {
            Body::RoundStarted(_) => {
                self.ground.begins(event)?;
                self.stage = Stage::Tumbling;
                self.result = None;
                self.spins = 0;
                self.accepted = false;
                self.back = Back::Nothing;
                Ok(())
            }
            Body::TumblerSpun(spun) => {
                must(self.stage != Stage::Ready, "spins of no round")?;
                self.spins = spun.spins;
                Ok(())
            }
            Body::BetsOpened(_) => {
                self.ground.takes("bets opened")?;
                self.stands(Stage::Tumbling, "bets opened")?;
                let tumbled = self.spins >= 3 || self.rules.course != Course::Covered;
                must(tumbled || self.accepted, "bets opened without a tumble")?;
                let held_back = !self.ground.locks.is_empty();
                must(!held_back || self.accepted, "bets opened though a lock stands")?;
                self.stage = Stage::Betting;
                Ok(())
            }
            Body::BetsClosed(_) => {
                self.ground.takes("bets closed")?;
                self.stands(Stage::Betting, "bets closed")?;
                self.stage = Stage::Closed;
                Ok(())
            }
            Body::DiceUncovered(uncovered) => {
                self.ground.takes("dice uncovered")?;
                self.stands(Stage::Closed, "dice uncovered")?;
                let told = world.tells_the_uncover() || (world.tumbler.up && self.rules.course == Course::Open);
                must(
                    !uncovered.implied || !told || is_supervisor(event),
                    "an uncover that the tumbler would have told",
                )?;
                let tumbled = self.spins >= 3 || self.rules.course != Course::Open;
                must(tumbled || uncovered.implied, "dice landed that were not spun")?;
                self.stage = Stage::Landed;
                Ok(())
            }
            Body::ResultEntered(entered) => {
                self.ground.takes("a result")?;
                must(self.result.is_none(), "a second result in a round")?;
                // No device sees a throw: the entry follows the bell.
                let thrown = self.rules.course == Course::Cup && self.stage == Stage::Closed;
                must(
                    thrown || self.stage == Stage::Landed,
                    &format!("a result in {:?}", self.stage),
                )?;
                let (faces, total, lit) = (&entered.faces, entered.total, &entered.lit);
                self.result(faces, total, &entered.call, &entered.areas, lit)?;
                self.stage = Stage::Entered;
                Ok(())
            }
            Body::ResultAmended(amended) => {
                self.ground.takes("an amendment")?;
                must(self.rules.amend, "an amendment that neither law nor house has")?;
                self.stands(Stage::Entered, "an amendment")?;
                let key = event.actor.as_ref().is_some_and(|actor| actor.by_key);
                let turned = world.terminal.wire(Contact::SupervisorKey).closed;
                must(is_supervisor(event) && (turned || !key), "amended without a supervisor")?;
                let from: Vec<u32> = self.result.iter().flatten().map(|face| u32::from(*face)).collect();
                must(amended.from_faces == from, "amended from another result")?;
                let (faces, total, lit) = (&amended.faces, amended.total, &amended.lit);
                self.result(faces, total, &amended.call, &amended.areas, lit)
            }
            Body::RoundSettled(settled) => {
                self.ground.takes("a settlement")?;
                self.stands(Stage::Entered, "a settlement")?;
                let told = world.lamps.up && !world.lamps.measured;
                must(
                    self.lit || self.faulty || told || !self.rules.lamps,
                    "settled before the lamps are known",
                )?;
                let result = self.result.ok_or("settled without a result")?;
                if settled.provisional {
                    self.back = Back::Settled {
                        result,
                        faulty: self.faulty,
                    };
                }
                self.over(End::Decided);
                Ok(())
            }
            Body::RoundVoided(voided) => {
                must(self.stage != Stage::Ready, "no round to void")?;
                must(self.rules.void, "a void that neither law nor house has")?;
                must(self.rules.by_itself || !voided.automatic, "a void that nobody declared")?;
                must(voided.automatic == is_gateway(event), "a void by nobody")?;
                if voided.automatic {
                    let reasons = [RoundVoidedReason::AExposedEarly, RoundVoidedReason::ANotActivated];
                    must(
                        reasons.contains(&voided.reason()),
                        "a void that the gateway may not declare",
                    )?;
                    must(
                        !self.ground.waits(),
                        "a void by the gateway while a supervisor is waited for",
                    )?;
                    self.back = Back::Void { stage: self.stage };
                    self.over(End::VoidByGateway);
                } else {
                    self.over(End::VoidByPerson);
                }
                Ok(())
            }
            Body::RoundAbandoned(_) => {
                let early = matches!(self.stage, Stage::Tumbling | Stage::Betting);
                must(early, "abandoned after the bell")?;
                self.over(End::Abandoned);
                Ok(())
            }
            Body::RoundReopened(_) => {
                self.ground.takes("a reopening")?;
                let Back::Settled { result, faulty } = self.back else {
                    return Err("nothing to reopen".into());
                };
                must(is_supervisor(event), "reopened without a supervisor")?;
                self.returns(event)?;
                self.stage = Stage::Entered;
                self.result = Some(result);
                self.lit = false;
                self.faulty = faulty;
                Ok(())
            }
            Body::VoidWithdrawn(_) => {
                self.ground.takes("a withdrawal")?;
                let Back::Void { stage } = self.back else {
                    return Err("no void to withdraw".into());
                };
                self.returns(event)?;
                self.stage = stage;
                // Whoever takes it back says that the dice were spun.
                self.accepted = true;
                Ok(())
            }
            Body::EntryRejected(rejected) if rejected.code == rejection::DICE_DIFFER.number => {
                let keys: Vec<Key> = rejected.shown.iter().map(|key| Key::from_number(*key)).collect();
                let agrees = three(&keys) == self.given && self.given == self.read;
                must(
                    !agrees || self.read.is_none(),
                    "refused, and the reader saw these numbers",
                )
            }
            Body::LayoutLit(lit) => {
                self.stands(Stage::Entered, "a layout lit")?;
                let faces = self.result.ok_or("lit without a result")?;
                must(lit.areas == self.areas(faces), "other areas were lit")?;
                self.lit = true;
                Ok(())
            }
            Body::LampFailed(_) => {
                self.faulty |= event.round_id == self.ground.round;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn over(&mut self, end: End) {
        self.ground.ends(end);
        self.stage = Stage::Ready;
        self.result = None;
        self.waiting = None;
        self.read = None;
    }

    /// The last round runs again.
    fn returns(&mut self, event: &Event) -> Result<(), String> {
        must(self.stage == Stage::Ready, "a round returns in a round")?;
        must(
            event.round_id == self.ground.last_round,
            "another round returns than the last",
        )?;
        self.ground.round = event.round_id;
        self.back = Back::Nothing;
        Ok(())
    }
}

/// Three numbers, sorted.
fn three(keys: &[Key]) -> Option<[u8; 3]> {
    let numbers: Option<Vec<u8>> = keys
        .iter()
        .map(|key| match key {
            Key::Number(number) => Some(*number),
            Key::NoSpin | Key::TwoUp(_) | Key::Other(_) => None,
        })
        .collect();
    <[u8; 3]>::try_from(numbers?).ok().map(tai_sai::sorted)
}

impl Law for DiceLaw {
    fn decides(&mut self, input: &Input) {
        self.given = match input {
            Input::Entry {
                shown, stale: false, ..
            } => three(shown),
            Input::Operator { act, .. } => match act {
                OperatorAct::EnterResult { faces, .. } | OperatorAct::Amend { faces } => Some(tai_sai::sorted(*faces)),
                OperatorAct::Resume => self.waiting,
                _ => None,
            },
            _ => None,
        };
    }

    fn read(&mut self, event: &Event, world: &World) -> Result<(), String> {
        let frozen = self.ground.is_frozen();
        if self.ground.read(event)? {
            match &event.body {
                Some(Body::TableLocked(locked)) => {
                    let lamps = [TableLockedReason::Lamp, TableLockedReason::LampBoard].contains(&locked.reason());
                    self.faulty |= lamps && self.stage == Stage::Entered;
                }
                Some(Body::RoundHeld(held)) if held.cause() == RoundHeldCause::DiceDiffer => {
                    let keys: Vec<Key> = held.pressed.iter().map(|key| Key::from_number(*key)).collect();
                    self.waiting = three(&keys);
                    must(self.waiting == self.given, "held with another entry than the newest")?;
                    let keys: Vec<Key> = held.read_faces.iter().map(|face| Key::from_number(*face)).collect();
                    self.read = three(&keys);
                }
                Some(Body::RoundResumed(resumed)) => {
                    must(!frozen, "resumed at a frozen table")?;
                    let early = [RoundHeldCause::ExposedEarly, RoundHeldCause::NotActivated];
                    self.accepted |= early.contains(&resumed.cause());
                    let short = resumed.cause() == RoundHeldCause::TumblerShort;
                    let differs = resumed.cause() == RoundHeldCause::DiceDiffer;
                    let bell = resumed.cause() == RoundHeldCause::ExposedEarly;
                    must(
                        is_supervisor(event) || short || differs || bell,
                        "resumed without a supervisor",
                    )?;
                }
                Some(Body::TableOpened(_) | Body::TableClosed(_) | Body::TestModeEntered(_)) => {
                    self.back = Back::Nothing;
                }
                _ => {}
            }
            return Ok(());
        }
        self.play(event, world)
    }

    fn lights(&self) -> Lights {
        match (self.ground.mode, self.result) {
            // A walk lights one area after the other, a test entry what it wins; nobody plays.
            (Mode::Opening, _) => Lights::Any,
            (Mode::Open, Some(faces)) if self.stage == Stage::Entered => Lights::Are(vec![self.picture(faces)]),
            (_, _) => Lights::Are(vec![Vec::new()]),
        }
    }

    fn compare(&self, state: &TableState) -> Result<(), String> {
        self.ground.compare(state)?;
        let phase = match self.stage {
            _ if self.ground.mode != Mode::Open => "",
            Stage::Ready => "ready",
            Stage::Tumbling => "tumbling",
            Stage::Betting => "betting",
            Stage::Closed => "closed",
            Stage::Landed => "landed",
            Stage::Entered => "entered",
        };
        must(
            state.phase == phase,
            &format!("published phase {:?}, not {phase:?}", state.phase),
        )?;
        let (lit, call) = match self.result.filter(|_| self.stage == Stage::Entered) {
            Some(faces) => (self.areas(faces), self.call(faces)),
            None => (Vec::new(), String::new()),
        };
        must(state.lit == lit, "published areas are not the law's")?;
        must(
            state.call == call,
            &format!("published call {:?}, not {call:?}", state.call),
        )
    }

    fn is_running(&self) -> bool {
        self.ground.round != 0
    }

    fn waits(&self) -> bool {
        self.ground.waits()
    }

    fn end(&self) -> Option<End> {
        self.ground.end
    }

    fn forget_end(&mut self) {
        self.ground.end = None;
    }
}

impl Formed for DiceLaw {
    fn form(&self, f: &mut Form<'_>) {
        let DiceLaw {
            rules: _,
            ground,
            stage,
            result,
            lit,
            faulty,
            spins,
            accepted,
            back,
            given: _,
            waiting,
            read,
        } = self;
        ground.form(f);
        f.byte(*stage as u8);
        result.form(f);
        lit.form(f);
        faulty.form(f);
        f.spins(*spins);
        accepted.form(f);
        match back {
            Back::Nothing => f.byte(0),
            Back::Settled { result, faulty } => {
                f.byte(1);
                result.form(f);
                faulty.form(f);
            }
            Back::Void { stage } => {
                f.byte(2);
                f.byte(*stage as u8);
            }
        }
        waiting.form(f);
        read.form(f);
    }
}
