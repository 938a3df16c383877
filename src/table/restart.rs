//! The start of a run: what a folded journal means before any device has answered. PURE.

use crate::table::draft::{Draft, Source};
use crate::table::event::{Body, OpeningAbandoned, RoundAbandoned, TableLockedKind, TableLockedReason, TestModeLeft};
use crate::table::locks;
use crate::table::mode::Mode;
use crate::table::tai_sai::phase::{Phase, Round};

/// The daemon is up: the state is folded, `GatewayStarted` applied.
pub(crate) fn started(draft: &mut Draft<'_>) {
    // These are judged anew: whoever raised them does so again.
    locks::end_by_itself(draft, TableLockedReason::Digest, TableLockedKind::Freeze);
    locks::end_by_itself(draft, TableLockedReason::Disk, TableLockedKind::HoldNext);
    let source = Source::gateway();
    match draft.state.mode.clone() {
        Mode::Closed => {}
        Mode::Test(_) => {
            draft.record(source, Body::TestModeLeft(TestModeLeft { base: None }));
        }
        Mode::Opening(_) => {
            let text = "the daemon was started again: the checks must be repeated".into();
            draft.record(source, Body::OpeningAbandoned(OpeningAbandoned { text }));
        }
        Mode::Open(Phase::Tumbling(tumbling)) if tumbling.round.held.is_none() => {
            // Nobody has bet: the table becomes ready, and the dice are spun again.
            draft.record(source, Body::RoundAbandoned(RoundAbandoned { base: None }));
        }
        Mode::Open(_) => {}
    }
    configuration(draft);
}

/// A round of another game, style or layout than the configuration's is frozen until that is restored or it is voided.
fn configuration(draft: &mut Draft<'_>) {
    let differs = draft
        .state
        .phase()
        .and_then(Phase::round)
        .is_some_and(|round| !is_ours(draft, round));
    if !differs {
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

fn is_ours(draft: &Draft<'_>, round: &Round) -> bool {
    round.game == "tai-sai" && round.style == draft.config.style.name() && round.layout == draft.config.layout.name()
}
