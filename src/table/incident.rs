//! Incidents that a person records: one that the law lists, with what it allows at this table's game, or another in a person's
//! words. PURE. It changes no result.

use crate::rules::chip_and_throw::{Allows, Game, Incident};
use crate::table::draft::{Draft, Source};
use crate::table::event::{Body, IncidentRecorded};
use crate::table::game::{Answer, Family};
use crate::table::input::Person;
use crate::table::locks;
use crate::table::rejection::Rejection;

/// What an incident is recorded as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncidentCause {
    /// One that the law lists.
    Listed(Incident),
    /// Another: a note says what happened.
    Other,
}

/// As commands and events write an incident that the law doesn't list.
const OTHER: &str = "other";

impl IncidentCause {
    /// As commands and events write it: "chip_struck_by_die", "other".
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            IncidentCause::Listed(incident) => incident.code(),
            IncidentCause::Other => OTHER,
        }
    }

    /// The cause with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<IncidentCause> {
        if code == OTHER {
            return Some(IncidentCause::Other);
        }
        Incident::from_code(code).map(IncidentCause::Listed)
    }

    /// Every one.
    pub fn all() -> impl Iterator<Item = IncidentCause> {
        Incident::ALL
            .into_iter()
            .map(IncidentCause::Listed)
            .chain([IncidentCause::Other])
    }

    /// A clause for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            IncidentCause::Listed(incident) => incident.text(),
            IncidentCause::Other => "another incident, which the law does not list",
        }
    }
}

/// A supervisor records an incident of the running round, or of the last one.
pub(crate) fn record<F: Family>(
    draft: &mut Draft<'_, F>,
    person: &Person,
    cause: IncidentCause,
    note: Option<&str>,
) -> Answer {
    let game = draft.table.game.of_incidents();
    let note = match (note, cause) {
        (Some(note), _) => locks::checked_text("note", note)?,
        (None, IncidentCause::Listed(_)) => String::new(),
        (None, IncidentCause::Other) => {
            return Err(Rejection::command(
                "Say in a note what happened (--note): the law does not list it.",
                "",
            ));
        }
    };
    let allows = match cause {
        IncidentCause::Other => None,
        IncidentCause::Listed(incident) => {
            let allows = incident.allows_at(game);
            if allows == Allows::Nothing {
                return Err(not_listed(incident, game));
            }
            Some(allows)
        }
    };
    let running = draft.state.round_id();
    let recorded = IncidentRecorded {
        cause: cause.code().into(),
        of_round: if running == 0 { draft.state.last_round } else { running },
        text: cause.text().into(),
        allows: allows.map(Allows::text).unwrap_or_default(),
        note,
    };
    let told = match allows {
        Some(allows) => format!("Recorded: {}. What the law allows: {}.", cause.text(), told(allows)),
        None => "Recorded.".to_owned(),
    };
    let rule = allows.and_then(Allows::rule);
    let round = draft.state.round_id();
    draft.record_under(
        rule.as_slice(),
        round,
        Source::person(person),
        Body::IncidentRecorded(recorded),
    );
    Ok(told)
}

/// What is allowed, with its rule.
fn told(allows: Allows) -> String {
    match allows.rule() {
        Some(rule) => format!("{} ({rule})", allows.text()),
        None => allows.text(),
    }
}

/// The refusal of one that the game doesn't have, with those that it has.
fn not_listed(incident: Incident, game: Game) -> Rejection {
    let known = Incident::ALL.into_iter().filter_map(|known| {
        let allows = known.allows_at(game);
        (allows != Allows::Nothing).then(|| format!("\n  {}: {}; {}", known.code(), known.text(), told(allows)))
    });
    let text = format!(
        "No rule at hand speaks of {} at {}. The causes are:{}\n  {OTHER}: {}; with a note (--note).",
        incident.code(),
        game.name(),
        known.collect::<String>(),
        IncidentCause::Other.text(),
    );
    Rejection::command(text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_lead_back_to_their_causes() {
        for cause in IncidentCause::all() {
            assert_eq!(IncidentCause::from_code(cause.code()), Some(cause));
        }
        assert_eq!(IncidentCause::from_code("chips fell"), None);
    }

    #[test]
    fn what_a_game_does_not_have_is_refused_with_what_it_has() {
        let told = |game| {
            let told: Vec<_> = Incident::ALL
                .into_iter()
                .filter(|incident| incident.allows_at(game) == Allows::Nothing)
                .map(|incident| not_listed(incident, game).text)
                .collect();
            told
        };
        assert_eq!(told(Game::TaiSai), Vec::<String>::new());
        let refused = told(Game::TriplePenny);
        assert_eq!(refused.len(), 6);
        assert!(
            refused[0].contains("\n  craps_missed_far_end: craps: "),
            "{}",
            refused[0]
        );
        assert!(!refused[0].contains("\n  chip_"), "{}", refused[0]);
        assert!(
            refused[0].contains("(Qld 2004 sch 4 s21(1)(b), s22(2)(b))"),
            "{}",
            refused[0]
        );
    }
}
