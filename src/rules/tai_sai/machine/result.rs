//! From the entry of the result to the end of the game, however it ends. PURE.

use super::operation::{Cause, Clearance, Done, Effect, GameEnd, Role};
use super::{Answered, DisplayFaults, Keys, Lamps, Machine, Malfunction, NextOffer, State, Thrower, refuse, wagers};
use crate::rules::citation::nz_div_9;
use crate::rules::tai_sai::{VoidReason, are_faces, sorted};

impl Machine {
    /// Keys before the dice are seen are refused (TS-18); after an entry they would change it.
    pub(super) fn key(&mut self, key: u8) -> Answered {
        if !(1..=6).contains(&key) {
            return refuse(Cause::UnknownKey, nz_div_9!("r3.3(a)(i)"));
        }
        match &mut self.state {
            State::Landed { keys } => {
                keys.press(key);
                Ok(Done::default())
            }
            State::Entered { .. } => refuse(Cause::AmendmentNeedsSupervisor, nz_div_9!("r7.2")),
            State::Shut
            | State::Ready { .. }
            | State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Collecting { .. }
            | State::Halted { .. } => refuse(Cause::EntryOutOfOrder, nz_div_9!("r6.4, r6.6")),
        }
    }

    pub(super) fn enter(&mut self) -> Answered {
        match &self.state {
            State::Landed { keys } => {
                let Some(faces) = keys.faces() else {
                    return refuse(Cause::IncompleteEntry, nz_div_9!("r3.3(a)(iii), r6.4(a)"));
                };
                self.state = State::Entered {
                    keys: keys.clone(),
                    faces,
                    lamps: Lamps::Awaited,
                };
                Ok(Done {
                    effects: vec![Effect::Call(faces)],
                    ..Done::default()
                })
            }
            State::Entered { .. } => refuse(Cause::AmendmentNeedsSupervisor, nz_div_9!("r7.2")),
            State::Shut
            | State::Ready { .. }
            | State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Collecting { .. }
            | State::Halted { .. } => refuse(Cause::EntryOutOfOrder, nz_div_9!("r6.4, r6.6")),
        }
    }

    /// Before settlement only (TS-7). New areas have to be confirmed anew; a fault that was declared still stands.
    pub(super) fn amend(&mut self, to: [u8; 3], by: Role) -> Answered {
        let rule = nz_div_9!("r7.2");
        match &mut self.state {
            State::Entered { keys, faces, lamps } => {
                if by != Role::GameSupervisor {
                    return refuse(Cause::AmendmentNeedsSupervisor, rule);
                }
                if !are_faces(to) {
                    return refuse(Cause::BadDice, nz_div_9!("r3.3(a)"));
                }
                if sorted(to) == sorted(*faces) {
                    return refuse(Cause::NoChange, rule);
                }
                let from = std::mem::replace(faces, to);
                // No order of presses belongs to an amendment; the order of the call does.
                *keys = Keys(sorted(to).to_vec());
                if *lamps == Lamps::Confirmed {
                    *lamps = Lamps::Awaited;
                }
                Ok(Done {
                    effects: vec![Effect::Amended { from, to }],
                    ..Done::default()
                })
            }
            State::Collecting { .. } => refuse(Cause::SettlementStarted, rule),
            State::Shut
            | State::Ready { .. }
            | State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Landed { .. }
            | State::Halted { .. } => refuse(Cause::NothingToAmend, rule),
        }
    }

    pub(super) fn lamps_lit(&mut self) -> Answered {
        let rule = self.rule(nz_div_9!("r6.5"), nz_div_9!("r6A.11"));
        let State::Entered { lamps, .. } = &mut self.state else {
            return refuse(Cause::OutOfOrder, rule);
        };
        if *lamps == Lamps::Awaited {
            *lamps = Lamps::Confirmed;
        }
        Ok(Done::default())
    }

    pub(super) fn lamp_fault(&mut self) -> Answered {
        let State::Entered { lamps, .. } = &mut self.state else {
            return refuse(Cause::OutOfOrder, nz_div_9!("r7.3"));
        };
        *lamps = Lamps::FaultDeclared;
        self.malfunctions.insert(Malfunction::Lamps);
        Ok(Done {
            effects: vec![Effect::SettleByDice, Effect::NoFurtherGames],
            ..Done::default()
        })
    }

    /// This game goes on, the next waits; between games the next waits at once (r7.4, r7.5, TS-8).
    pub(super) fn display_fault(&mut self) -> Answered {
        if self.state == State::Shut {
            return refuse(Cause::OutOfOrder, nz_div_9!("r7.5"));
        }
        match self.settings.display_faults {
            DisplayFaults::Noted => Ok(Done::default()),
            DisplayFaults::HoldNextGame => {
                self.malfunctions.insert(Malfunction::Display);
                if let State::Ready { spins } = self.state {
                    self.state = State::Halted { spins };
                }
                Ok(Done {
                    effects: vec![Effect::NoFurtherGames],
                    ..Done::default()
                })
            }
        }
    }

    pub(super) fn collect_losing(&mut self) -> Answered {
        let rule = self.rule(nz_div_9!("r6.5(a)"), nz_div_9!("r6A.11(a)"));
        let State::Entered { keys, faces, lamps } = &self.state else {
            return refuse(Cause::OutOfOrder, rule);
        };
        match lamps {
            Lamps::Awaited => return refuse(Cause::LampsNotConfirmed, nz_div_9!("r6.5, r7.3")),
            Lamps::Confirmed | Lamps::FaultDeclared => {}
        }
        let faces = *faces;
        self.state = State::Collecting {
            keys: keys.clone(),
            faces,
        };
        Ok(Done {
            resolved: self.chips.collect_losing(faces, self.settings.layout),
            ..Done::default()
        })
    }

    pub(super) fn pay_winning(&mut self) -> Answered {
        let State::Collecting { faces, .. } = self.state else {
            return refuse(
                Cause::OutOfOrder,
                self.rule(nz_div_9!("r6.5(b)"), nz_div_9!("r6A.11(b)")),
            );
        };
        let resolved = self.chips.pay_winning(faces, self.settings.layout);
        let effects = self.decide_next_thrower(faces).into_iter().collect();
        self.end_game();
        Ok(Done {
            resolved,
            effects,
            game_end: Some(GameEnd::Settled(faces)),
        })
    }

    /// A thrower keeps the dice while some wager of theirs wins at more than 1 to 1; a face wager counts by what it paid
    /// (r6A.4, TS-9).
    fn decide_next_thrower(&mut self, faces: [u8; 3]) -> Option<Effect> {
        let Some(Thrower::Seat { seat, areas }) = &self.thrower else {
            return None;
        };
        let wins_over_evens =
            |area: &&str| wagers::paid(area, faces, self.settings.layout).is_some_and(|odds| odds.exceeds_evens());
        if self.next_offer == NextOffer::Keeps(*seat) && areas.iter().any(wins_over_evens) {
            Some(Effect::ThrowerKeeps)
        } else {
            self.next_offer = NextOffer::ClockwiseOf(*seat);
            Some(Effect::OfferNextClockwise)
        }
    }

    /// "No spin", "no roll": nobody wins or loses, wagers stay where they are (TS-10). Not once settlement has begun (TS-7).
    pub(super) fn void(&mut self, reason: VoidReason, by: Role) -> Answered {
        let rule = nz_div_9!("r7.1");
        self.of_style(reason.style(), rule)?;
        match by {
            Role::Dealer | Role::GameSupervisor => {}
            Role::CasinoSupervisor | Role::Player => return refuse(Cause::NotAuthorised, rule),
        }
        match self.state {
            State::Collecting { .. } => return refuse(Cause::SettlementStarted, rule),
            State::Shut | State::Halted { .. } => return refuse(Cause::OutOfOrder, reason.rule()),
            // Between games only the tumbler's own reasons make sense; once the dice were spun, "not activated" is untrue.
            State::Ready { .. } => match reason {
                VoidReason::ANotActivated | VoidReason::ATumblerFault => {}
                VoidReason::ANotFlat
                | VoidReason::AExposedEarly
                | VoidReason::BShortOfLine
                | VoidReason::BLeftArea
                | VoidReason::BHitObject
                | VoidReason::BNotFlat
                | VoidReason::BInterference
                | VoidReason::BNotRandom => return refuse(Cause::OutOfOrder, reason.rule()),
            },
            State::Primed
            | State::Betting
            | State::Closed
            | State::Throwing
            | State::Landed { .. }
            | State::Entered { .. } => {
                if reason == VoidReason::ANotActivated {
                    return refuse(Cause::OutOfOrder, reason.rule());
                }
            }
        }
        if reason == VoidReason::ATumblerFault {
            self.malfunctions.insert(Malfunction::Tumbler);
        }
        Ok(self.end_void(reason))
    }

    pub(super) fn clear_malfunction(&mut self, how: Clearance) -> Answered {
        let State::Halted { spins } = self.state else {
            return refuse(Cause::NotHalted, nz_div_9!("r7.4"));
        };
        match how {
            Clearance::Rectified | Clearance::AlternativeProcedure => {
                self.malfunctions.clear();
                self.state = State::Ready { spins };
                Ok(Done::default())
            }
        }
    }
}
