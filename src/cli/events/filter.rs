//! Which events are asked for: bounds by number or time, a round, kinds.

use crate::cli::describe;
use crate::cli::ending::Failure;
use crate::cli::event_json;
use crate::journal::Seqno;
use crate::table::event::Event;
use crate::time::Timestamp;
use clap::Args;
use std::str::FromStr;

/// Which events.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Filter {
    /// The first: a number, or a time like 2026-02-14T10:15:00Z.
    #[arg(long, value_name = "SEQNO|TIME")]
    pub(super) from: Option<Edge>,
    /// The last: a number, or a time.
    #[arg(long, value_name = "SEQNO|TIME")]
    to: Option<Edge>,
    /// Only of this round, with the incidents recorded of it afterwards.
    #[arg(long, value_name = "N")]
    pub(super) round: Option<u64>,
    /// Only of this kind, as `result_entered`; may be given again.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
}

/// A number or a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    Number(Seqno),
    Time(Timestamp),
}

impl FromStr for Edge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(Edge::Number(number));
        }
        text.parse()
            .map(Edge::Time)
            .map_err(|error: crate::time::NotATime| format!("neither a number nor a time: {error}"))
    }
}

impl Filter {
    /// Nothing can lie between bounds that are the wrong way round.
    fn check_bounds(&self) -> Result<(), Failure> {
        let reversed = match (self.from, self.to) {
            (Some(Edge::Number(from)), Some(Edge::Number(to))) => from > to,
            (Some(Edge::Time(from)), Some(Edge::Time(to))) => from > to,
            (Some(Edge::Number(_)), Some(Edge::Time(_)))
            | (Some(Edge::Time(_)), Some(Edge::Number(_)))
            | (None, _)
            | (_, None) => false,
        };
        if reversed {
            return Err(Failure::usage("--to comes before --from"));
        }
        Ok(())
    }

    pub(super) fn numbers(&self) -> (Seqno, Seqno) {
        let from = match self.from {
            Some(Edge::Number(number)) => number,
            Some(Edge::Time(_)) | None => 1,
        };
        let to = match self.to {
            Some(Edge::Number(number)) => number,
            Some(Edge::Time(_)) | None => Seqno::MAX,
        };
        (from, to)
    }

    pub(super) fn takes(&self, event: &Event) -> bool {
        let recorded_at = event.recorded_at.as_ref().map(Timestamp::from);
        let late_enough = match self.from {
            Some(Edge::Time(from)) => recorded_at.is_some_and(|at| at >= from),
            Some(Edge::Number(_)) | None => true,
        };
        let early_enough = match self.to {
            Some(Edge::Time(to)) => recorded_at.is_some_and(|at| at <= to),
            Some(Edge::Number(_)) | None => true,
        };
        let of_kind = self.kind.is_empty()
            || event
                .body
                .as_ref()
                .is_some_and(|body| self.kind.iter().any(|kind| kind == describe::kind(body)));
        late_enough && early_enough && of_kind && self.round.is_none_or(|round| describe::round(event) == round)
    }

    /// A kind that no event can have is a mistake, not an empty answer.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.check_bounds()?;
        let known = event_json::kinds();
        match self.kind.iter().find(|kind| !known.contains(kind)) {
            None => Ok(()),
            Some(unknown) => {
                let nearest = known
                    .iter()
                    .max_by(|one, other| strsim::jaro(one, unknown).total_cmp(&strsim::jaro(other, unknown)));
                let hint = nearest.map(|nearest| format!(", is it {nearest}?")).unwrap_or_default();
                let all = known.join(", ");
                Err(Failure::usage(format!(
                    "there is no kind of event \"{unknown}\"{hint}; there are: {all}"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::event::{Body, IncidentRecorded, VoidReasonStated};

    #[test]
    fn edges_are_numbers_or_times() {
        assert_eq!("17".parse(), Ok(Edge::Number(17)));
        assert_eq!(
            "1970-01-02".parse(),
            Ok(Edge::Time(Timestamp::from_unix_micros(86_400_000_000)))
        );
        assert!("yesterday".parse::<Edge>().is_err());
    }

    #[test]
    fn a_kind_that_does_not_exist_is_a_mistake() {
        let filter = Filter {
            kind: vec!["result_enterd".to_owned()],
            ..Filter::default()
        };
        let text = filter.check().unwrap_err().text;
        assert!(text.contains("is it result_entered?"), "{text}");
        assert!(text.contains("there are: gateway_started, "), "{text}");
        assert!(
            Filter {
                kind: vec!["round_voided".to_owned()],
                ..Filter::default()
            }
            .check()
            .is_ok()
        );
    }

    #[test]
    fn a_round_has_the_incidents_that_are_recorded_of_it_afterwards() {
        let of_round_17 = Filter {
            round: Some(17),
            ..Filter::default()
        };
        let event = |round_id, body| Event {
            round_id,
            body: Some(body),
            ..Event::default()
        };
        let incident = |of_round| {
            Body::IncidentRecorded(IncidentRecorded {
                of_round,
                ..IncidentRecorded::default()
            })
        };
        let reason = || Body::VoidReasonStated(VoidReasonStated::default());
        assert!(of_round_17.takes(&event(0, incident(17))));
        assert!(of_round_17.takes(&event(17, incident(17))));
        assert!(of_round_17.takes(&event(17, reason())));
        assert!(!of_round_17.takes(&event(0, incident(16))));
        assert!(!of_round_17.takes(&event(0, incident(0))));
        assert!(!of_round_17.takes(&event(18, reason())));
    }
}
