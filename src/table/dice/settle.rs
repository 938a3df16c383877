//! Settlement: by the dealer's press, by a supervisor's word, or by the cover until a supervisor says otherwise. PURE.

use crate::table::dice::phase::{Entered, Phase};
use crate::table::dice::{Draft, Look, due, tumbler};
use crate::table::draft::Source;
use crate::table::due::round_ends;
use crate::table::event::{Body, RoundSettled};
use crate::table::input::{Cover, DeviceKind};
use crate::table::rejection::{self, Code};
use crate::time::Uptime;

/// How the round was settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Stated,
    ByCover,
}

/// ENTER with nothing in `shown`.
pub(crate) fn press(draft: &mut Draft<'_>, entered: &Entered) -> Result<(), Code> {
    let seen = &draft.seen;
    let newest = [
        Some(entered.entered_at),
        seen.entry.refused_at,
        seen.entry.running_key_at(),
    ]
    .into_iter()
    .flatten()
    .max()
    .unwrap_or(entered.entered_at);
    if draft.now < newest + draft.game.config.settle_after || seen.has_authority() {
        return Err(rejection::TOO_EARLY_TO_SETTLE);
    }
    if !due::lamps_are_known(&draft.look()) {
        return Err(rejection::LAMPS_NOT_CONFIRMED);
    }
    let source = draft.dealer_at_terminal();
    settle(draft, source, entered, How::Stated);
    Ok(())
}

/// A supervisor's word: lamps as for the press, no time.
pub(crate) fn by_command(draft: &mut Draft<'_>, source: Source, entered: &Entered) -> Result<(), Code> {
    if !due::lamps_are_known(&draft.look()) {
        return Err(rejection::LAMPS_NOT_CONFIRMED);
    }
    settle(draft, source, entered, How::Stated);
    Ok(())
}

/// When the cover lying on settles the round.
pub(crate) fn by_cover_at(look: &Look<'_>) -> Option<Uptime> {
    let Phase::Entered(entered) = look.state.phase()? else {
        return None;
    };
    let seen = &look.seen.tumbler;
    let waits = !look.game.course().has_cover()
        || look.state.is_frozen()
        || look.state.is_held()
        || !look.state.is_online(DeviceKind::Tumbler)
        || seen.cover() != Cover::On
        || (entered.reopened && seen.on_at.is_none_or(|on_at| on_at <= entered.entered_at))
        || !look.seen.entry.keys.is_empty()
        || look.seen.has_authority()
        || !due::lamps_are_known(look);
    (!waits).then(|| entered.entered_at + look.game.config.cover_settles_after)
}

/// Settles provisionally when the cover says so.
pub(crate) fn by_cover(draft: &mut Draft<'_>) {
    let Some(Phase::Entered(entered)) = draft.phase() else {
        return;
    };
    if by_cover_at(&draft.look()).is_some_and(|at| at <= draft.now) {
        let source = draft.dealer_at_tumbler();
        settle(draft, source, &entered, How::ByCover);
    }
}

fn settle(draft: &mut Draft<'_>, source: Source, entered: &Entered, how: How) {
    round_ends(draft);
    let settled = RoundSettled {
        implied: how == How::ByCover,
        provisional: how == How::ByCover,
        lamps_to_settled_ms: draft.measured(entered.lamps_settled_at.unwrap_or(entered.entered_at), draft.now),
        base: tumbler::base(draft),
    };
    draft.record(source, Body::RoundSettled(settled));
    // A press that was too early must not look like the answer to the one that settled.
    draft.seen.readout.notice = None;
    draft.base_taken();
}
