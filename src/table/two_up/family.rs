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
use crate::table::opening::Evidence;
use crate::table::readout::Standing;
use crate::table::rejection::Rejection;
use crate::table::seen::Pressed;
use crate::table::terminal::Missed;
use crate::table::two_up::{Draft, Look, TwoUp, acts, bell, citation, entry, lights, opening, view};
use crate::table::view::InPlay;
use crate::time::Uptime;
use std::borrow::Cow;
use std::time::Duration;

impl Family for TwoUp {
    const KEYS: usize = entry::KEYS;

    const LAMPS: DeviceKind = DeviceKind::ResultLights;

    type Found = Option<bell::Ring>;

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

    fn cite(&self, body: &Body) -> Cow<'static, [Citation]> {
        citation::of(&self.law, body)
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
            Play::TwoUp(course) => course.game == self.name(),
        }
    }

    fn voids(&self, _play: &Play) -> bool {
        // There is no void in two-up.
        false
    }

    fn tumbler(_draft: &mut Draft<'_>, _report: &TumblerReport, _happened: Option<Uptime>) {}

    fn tumbler_greeted(_draft: &mut Draft<'_>, _identity: &DeviceIdentity, _report: &TumblerReport) {}

    fn bell(draft: &mut Draft<'_>, at: Uptime, last_closed: Option<Uptime>) {
        bell::bell(draft, at, last_closed);
    }

    /// No rule of theirs asks whether the bell rang before something else.
    fn rang_unheard(_draft: &mut Draft<'_>, _times: u32, _last: Option<Uptime>) {}

    fn no_spin(draft: &mut Draft<'_>, at: Uptime) {
        bell::no_spin(draft, at);
    }

    fn find(draft: &Draft<'_>, missed: Missed) -> Option<bell::Ring> {
        bell::find(draft, missed)
    }

    fn found(draft: &mut Draft<'_>, found: Option<bell::Ring>, missed: Missed) {
        bell::found(draft, found, missed);
    }

    fn knows(&self, key: Key) -> bool {
        self.law.knows(key)
    }

    fn clears(_keys: &[Pressed], _key: Key) -> bool {
        false
    }

    fn enter(draft: &mut Draft<'_>, shown: &[Key]) -> Result<(), Refused> {
        entry::enter(draft, shown)
    }

    fn due(draft: &mut Draft<'_>) {
        lights::judge(draft);
    }

    fn next(look: &Look<'_>) -> Option<Uptime> {
        lights::next(look)
    }

    fn write_counts(draft: &mut Draft<'_>, which: Which) {
        lights::forget_flicker(draft, which);
    }

    fn started(_draft: &mut Draft<'_>) {
        // The table is exactly where the journal left it.
    }

    fn go_on(draft: &mut Draft<'_>) {
        if !draft.state.is_frozen() {
            let found = bell::find(draft, Missed::WhileAway);
            bell::found(draft, found, Missed::WhileAway);
        }
    }

    fn close(draft: &mut Draft<'_>, source: &Source) -> Result<(), Rejection> {
        acts::close(draft, source)
    }

    fn checks(&self) -> &'static [OpeningCheck] {
        opening::checks(&self.law)
    }

    fn evidence(draft: &Draft<'_>, check: OpeningCheck) -> Evidence {
        opening::evidence(draft, check)
    }

    fn test_entry(draft: &mut Draft<'_>, shown: &[Key]) {
        opening::test_entry(draft, shown);
    }

    fn tested(look: &Look<'_>) -> Option<Vec<u8>> {
        opening::tested(look)
    }

    fn tested_text(look: &Look<'_>) -> Option<String> {
        opening::tested_text(look)
    }

    fn act(draft: &mut Draft<'_>, person: &Person, act: &OperatorAct) -> Answer {
        acts::act(draft, person, act)
    }

    fn lit<'a>(look: &Look<'a>) -> Cow<'a, [u8]> {
        lights::commanded(look)
    }

    fn tumbler_wish(_look: &Look<'_>) -> TumblerWish {
        TumblerWish::default()
    }

    fn lamps_restored(draft: &mut Draft<'_>) {
        lights::told(draft);
    }

    fn standing(look: &Look<'_>) -> Standing {
        view::standing(look)
    }

    fn in_play(look: &Look<'_>) -> InPlay {
        view::in_play(look)
    }
}
