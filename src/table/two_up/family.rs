//! What the table asks of a two-up game. PURE. It only says where each answer stands.

use crate::rules::citation::Citation;
use crate::rules::triple_penny::Display;
use crate::table::draft::Source;
use crate::table::entry::{Refused, Which};
use crate::table::event::{Body, OpeningCheck};
use crate::table::game::{Answer, Family, Play};
use crate::table::indicators::TumblerWish;
use crate::table::input::{DeviceIdentity, DeviceKind, Key, OperatorAct, Person, TumblerReport};
use crate::table::lamps::Board;
use crate::table::opening::{self, Evidence};
use crate::table::operator::not_here;
use crate::table::readout::Standing;
use crate::table::rejection::{self, Rejection};
use crate::table::seen::Pressed;
use crate::table::terminal::Missed;
use crate::table::two_up::{Draft, Look, TwoUp};
use crate::table::view::InPlay;
use crate::time::Uptime;
use std::borrow::Cow;
use std::time::Duration;

impl Family for TwoUp {
    const KEYS: usize = 2;

    const LAMPS: DeviceKind = DeviceKind::ResultLights;

    type Found = ();

    fn name(&self) -> &'static str {
        self.law.name()
    }

    fn needed(&self) -> &'static [DeviceKind] {
        // Lights are never needed: cards stand in for them.
        &[DeviceKind::Terminal]
    }

    fn wanted(&self) -> &'static [DeviceKind] {
        match self.law.display() {
            Display::Lights => &[DeviceKind::ResultLights],
            Display::Electronic | Display::Cards => &[],
        }
    }

    fn instrument(&self) -> &'static str {
        "Qld "
    }

    fn cite(&self, _body: &Body) -> &'static [Citation] {
        &[]
    }

    fn board(&self) -> &Board {
        &self.board
    }

    fn lamp_wait(&self) -> Duration {
        self.law.lamp_wait()
    }

    fn is_ours(&self, play: &Play) -> bool {
        match play {
            Play::Dice(_) => false,
            Play::TwoUp(course) => course.phase.turn().is_none_or(|game| game.game == self.name()),
        }
    }

    fn tumbler(_draft: &mut Draft<'_>, _report: &TumblerReport, _happened: Option<Uptime>) {}

    fn tumbler_greeted(_draft: &mut Draft<'_>, _identity: &DeviceIdentity, _report: &TumblerReport) {}

    fn bell(_draft: &mut Draft<'_>, _at: Uptime, _last_closed: Option<Uptime>) {}

    fn no_spin(_draft: &mut Draft<'_>, _at: Uptime) {}

    fn find(_draft: &Draft<'_>, _missed: Missed) {}

    fn found(_draft: &mut Draft<'_>, (): (), _missed: Missed) {}

    fn knows(&self, key: Key) -> bool {
        match key {
            Key::TwoUp(_) | Key::NoSpin => true,
            Key::Number(_) | Key::Other(_) => false,
        }
    }

    fn clears(_keys: &[Pressed], _key: Key) -> bool {
        false
    }

    fn enter(_draft: &mut Draft<'_>, _shown: &[Key]) -> Result<(), Refused> {
        Err(Refused::Recorded(rejection::OUT_OF_ORDER))
    }

    fn due(_draft: &mut Draft<'_>) {}

    fn next(_look: &Look<'_>) -> Option<Uptime> {
        None
    }

    fn write_counts(_draft: &mut Draft<'_>, _which: Which) {}

    fn started(_draft: &mut Draft<'_>) {}

    fn go_on(_draft: &mut Draft<'_>) {}

    fn close(_draft: &mut Draft<'_>, _source: &Source) -> Result<(), Rejection> {
        Ok(())
    }

    fn checks(&self) -> &'static [OpeningCheck] {
        match self.law.display() {
            Display::Lights => &[
                OpeningCheck::Devices,
                OpeningCheck::LampWalk,
                OpeningCheck::TestEntries,
                OpeningCheck::Dice,
            ],
            Display::Electronic | Display::Cards => {
                &[OpeningCheck::Devices, OpeningCheck::TestEntries, OpeningCheck::Dice]
            }
        }
    }

    fn evidence(draft: &Draft<'_>, check: OpeningCheck) -> Evidence {
        match check {
            OpeningCheck::Devices => opening::devices(draft),
            OpeningCheck::LampWalk => opening::lamps_at_rest(draft),
            OpeningCheck::Unspecified
            | OpeningCheck::TestEntries
            | OpeningCheck::Tumbler
            | OpeningCheck::Seal
            | OpeningCheck::Dice => Evidence::None,
        }
    }

    fn test_entry(_draft: &mut Draft<'_>, _shown: &[Key]) {}

    fn tested(_look: &Look<'_>) -> Option<Vec<u8>> {
        None
    }

    fn act(_draft: &mut Draft<'_>, _person: &Person, _act: &OperatorAct) -> Answer {
        not_here()
    }

    fn lit<'a>(_look: &Look<'a>) -> Cow<'a, [u8]> {
        Cow::Borrowed(&[])
    }

    fn tumbler_wish(_look: &Look<'_>) -> TumblerWish {
        TumblerWish::default()
    }

    fn standing(_look: &Look<'_>) -> Standing {
        Standing::Nothing
    }

    fn in_play(_look: &Look<'_>) -> InPlay {
        InPlay::default()
    }
}
