//! What the table asks of a dice game. PURE. It only says where each answer stands.

use crate::rules::citation::Citation;
use crate::rules::tai_sai::Style;
use crate::table::citation;
use crate::table::dice::game::{Course, DiceGame};
use crate::table::dice::phase::Phase;
use crate::table::dice::{
    Dice, Draft, Look, acts, due, entry, lamps, opening, play, queensland, terminal, tumbler, view,
};
use crate::table::draft::Source;
use crate::table::entry::{Refused, Which};
use crate::table::event::{Body, OpeningCheck, RoundAbandoned};
use crate::table::game::{Answer, Family, Play};
use crate::table::indicators::TumblerWish;
use crate::table::input::{DeviceIdentity, DeviceKind, Key, OperatorAct, Person, TumblerReport};
use crate::table::lamps::Board;
use crate::table::opening::Evidence;
use crate::table::readout::Standing;
use crate::table::rejection::Rejection;
use crate::table::seen::Pressed;
use crate::table::terminal::Missed;
use crate::table::view::InPlay;
use crate::time::Uptime;
use std::borrow::Cow;
use std::time::Duration;

impl Family for Dice {
    const KEYS: usize = entry::KEYS;

    const LAMPS: DeviceKind = DeviceKind::LayoutLamps;

    type Found = terminal::Found;

    fn name(&self) -> &'static str {
        self.game.name()
    }

    fn needed(&self) -> &'static [DeviceKind] {
        self.course().needed()
    }

    fn wanted(&self) -> &'static [DeviceKind] {
        &[]
    }

    fn instrument(&self) -> &'static str {
        match self.game {
            DiceGame::TaiSai { .. } => "NZ ",
            DiceGame::SicBo { .. } => "Qld ",
        }
    }

    fn cite(&self, body: &Body) -> Cow<'static, [Citation]> {
        let rules = match self.game {
            DiceGame::TaiSai { style: Style::A, .. } => citation::of(body),
            DiceGame::TaiSai { style: Style::B, .. } => citation::of_a_throw(body),
            DiceGame::SicBo { tumbler, .. } => queensland::cite(body, tumbler),
        };
        rules.into()
    }

    fn board(&self) -> &Board {
        &self.layout.board
    }

    fn lamp_wait(&self) -> Duration {
        self.config.lamp_wait
    }

    fn is_ours(&self, play: &Play) -> bool {
        match play {
            Play::Dice(phase) => phase.round().is_none_or(|round| {
                round.game == self.name() && round.style == self.game.style() && round.layout == self.game.layout()
            }),
            Play::TwoUp(_) => false,
        }
    }

    fn voids(&self, play: &Play) -> bool {
        match play {
            Play::Dice(_) => true,
            Play::TwoUp(_) => false,
        }
    }

    fn tumbler(draft: &mut Draft<'_>, report: &TumblerReport, happened: Option<Uptime>) {
        if draft.game.course().has_tumbler() {
            tumbler::report(draft, report, happened);
        }
    }

    fn tumbler_greeted(draft: &mut Draft<'_>, identity: &DeviceIdentity, report: &TumblerReport) {
        if draft.game.course().has_tumbler() {
            tumbler::greeted(draft, identity, report);
        }
    }

    fn bell(draft: &mut Draft<'_>, at: Uptime, last_closed: Option<Uptime>) {
        terminal::bell(draft, at, last_closed);
    }

    fn rang_unheard(draft: &mut Draft<'_>, times: u32, last: Option<Uptime>) {
        super::held::rang_unheard(draft, times, last);
    }

    fn no_spin(draft: &mut Draft<'_>, at: Uptime) {
        terminal::no_spin(draft, at);
    }

    fn find(draft: &Draft<'_>, missed: Missed) -> terminal::Found {
        terminal::find(draft, missed)
    }

    fn found(draft: &mut Draft<'_>, found: terminal::Found, missed: Missed) {
        terminal::found(draft, found, missed);
    }

    fn knows(&self, key: Key) -> bool {
        entry::knows(key)
    }

    fn clears(keys: &[Pressed], key: Key) -> bool {
        entry::clears(keys, key)
    }

    fn enter(draft: &mut Draft<'_>, shown: &[Key]) -> Result<(), Refused> {
        let game = draft.game;
        entry::judge(draft, shown).map_err(|refused| entry::in_words_of(game, refused))
    }

    fn due(draft: &mut Draft<'_>) {
        due::run(draft);
    }

    fn next(look: &Look<'_>) -> Option<Uptime> {
        due::next(look)
    }

    fn write_counts(draft: &mut Draft<'_>, which: Which) {
        lamps::write_flicker(draft, which);
    }

    fn started(draft: &mut Draft<'_>) {
        if let Some(Phase::Tumbling(tumbling)) = draft.phase()
            && tumbling.round.held.is_none()
        {
            // Nobody has bet: the table becomes ready, and the dice are spun again.
            draft.record(Source::gateway(), Body::RoundAbandoned(RoundAbandoned { base: None }));
        }
    }

    fn go_on(draft: &mut Draft<'_>) {
        play::go_on(draft);
    }

    fn close(draft: &mut Draft<'_>, source: &Source) -> Result<(), Rejection> {
        acts::close(draft, source)
    }

    fn checks(&self) -> &'static [OpeningCheck] {
        self.course().checks()
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
        let faces = look.seen.opening.test_faces?;
        Some(faces.map(|face| face.to_string()).concat())
    }

    fn act(draft: &mut Draft<'_>, person: &Person, act: &OperatorAct) -> Answer {
        acts::act(draft, person, act)
    }

    fn lit<'a>(look: &Look<'a>) -> Cow<'a, [u8]> {
        lamps::commanded(look)
    }

    fn tumbler_wish(look: &Look<'_>) -> TumblerWish {
        let Some(phase) = look.state.phase() else {
            return TumblerWish::default();
        };
        let bets_are_closed = match phase {
            Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_) => true,
            Phase::Ready(_) | Phase::Tumbling(_) | Phase::Betting(_) => false,
        };
        match (look.game.course(), phase) {
            // From the moment bets open until the round ends.
            (Course::CoveredTumbler, Phase::Betting(_) | Phase::Closed(_) | Phase::Landed(_) | Phase::Entered(_)) => {
                TumblerWish {
                    inhibit: true,
                    dice_allowed: false,
                }
            }
            (Course::CoveredTumbler, Phase::Ready(_) | Phase::Tumbling(_)) | (Course::DiceCup, _) => {
                TumblerWish::default()
            }
            // Until the bell, and not after it.
            (Course::OpenTumbler, _) => TumblerWish {
                inhibit: !bets_are_closed,
                dice_allowed: bets_are_closed,
            },
        }
    }

    /// What failed is told by the lock, which waits for a supervisor's word.
    fn lamps_restored(_draft: &mut Draft<'_>) {}

    fn standing(look: &Look<'_>) -> Standing {
        view::standing(look)
    }

    fn in_play(look: &Look<'_>) -> InPlay {
        view::in_play(look)
    }
}
