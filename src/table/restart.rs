//! The start of a run: what a folded journal means before any device has answered. PURE.

use crate::table::draft::{Draft, Source};
use crate::table::event::{Body, OpeningAbandoned, TableClosed, TableLockedKind, TableLockedReason, TestModeLeft};
use crate::table::game::{Family, Play};
use crate::table::mode::Mode;
use crate::table::{alert, device_test, locks};

/// The daemon is up: the state is folded, `GatewayStarted` applied.
pub(crate) fn started<F: Family>(draft: &mut Draft<'_, F>) {
    draft.seen.run_began = draft.now;
    // These are judged anew: whoever raised them does so again.
    locks::judge_digests(draft);
    locks::end_by_itself(draft, TableLockedReason::Disk, TableLockedKind::HoldNext);
    alert::started(draft);
    let source = Source::gateway();
    match draft.state.mode.clone() {
        Mode::Closed => {}
        Mode::Test(_) => {
            device_test::killed(draft);
            draft.record(source, Body::TestModeLeft(TestModeLeft { base: None }));
        }
        Mode::Opening(_) => {
            let text = "the daemon was started again: the checks must be repeated".into();
            draft.record(source, Body::OpeningAbandoned(OpeningAbandoned { text }));
        }
        Mode::Open(_) => F::started(draft),
    }
    configuration(draft);
}

/// A round of another game, style or layout than the configuration's is frozen until that is restored or it is voided.
fn configuration<F: Family>(draft: &mut Draft<'_, F>) {
    let ours = draft.state.play().is_none_or(|play| draft.game.is_ours(play));
    let between = draft.state.play().is_some_and(Play::is_between_rounds);
    if !ours && between {
        // Another game is played here now: its devices must be checked before.
        return draft.record(Source::gateway(), Body::TableClosed(TableClosed {}));
    }
    if ours {
        return locks::end_by_itself(draft, TableLockedReason::Configuration, TableLockedKind::Freeze);
    }
    let text = "The open round was begun with another game, style or layout: start with that configuration, or void the round.";
    let source = Source::gateway();
    locks::lock(
        draft,
        source,
        TableLockedReason::Configuration,
        TableLockedKind::Freeze,
        text,
    );
}
