//! An alert is raised once until it is cleared, is cleared only when it stands, and is acknowledged while it stands, or once after it was
//! cleared before anybody had seen it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::faults::trace::{Invariant, Judge, Seen, Sight};
use crate::table::event::event::Body;

#[derive(Default)]
pub(super) struct AlertsOnce {
    /// The text of each that stands.
    standing: BTreeMap<String, String>,
    /// Nobody has seen these, standing or not.
    unseen: BTreeSet<String>,
}

impl Judge for AlertsOnce {
    fn invariant(&self) -> Invariant {
        Invariant::AlertsOnce
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        let Seen::Appended { .. } = sight.seen else {
            return Ok(());
        };
        for event in sight.events {
            let told = match &event.body {
                Some(Body::AlertRaised(raised)) => {
                    self.unseen.insert(raised.alert.clone());
                    // One that tells of several things is raised anew when they change.
                    match self.standing.insert(raised.alert.clone(), raised.text.clone()) {
                        Some(text) if text == raised.text => Err(format!("{} is raised again", raised.alert)),
                        Some(_) | None => Ok(()),
                    }
                }
                Some(Body::AlertCleared(cleared)) => match self.standing.remove(&cleared.alert) {
                    Some(_) => Ok(()),
                    None => Err(format!("{} is cleared, and doesn't stand", cleared.alert)),
                },
                Some(Body::AlertAcknowledged(acknowledged)) => {
                    let stands = self.standing.contains_key(&acknowledged.alert);
                    if self.unseen.remove(&acknowledged.alert) || stands {
                        Ok(())
                    } else {
                        Err(format!("{} is acknowledged, and doesn't stand", acknowledged.alert))
                    }
                }
                // A new journal carries the alerts of the one before.
                Some(Body::CheckpointRecorded(recorded)) if event.seqno <= 2 => {
                    let alerts = recorded.state.iter().flat_map(|state| &state.alerts);
                    let (over, standing): (Vec<_>, Vec<_>) = alerts.partition(|alert| alert.over);
                    let unseen = over.iter().chain(&standing).filter(|alert| !alert.acknowledged);
                    self.unseen = unseen.map(|alert| alert.alert.clone()).collect();
                    let standing = standing.into_iter();
                    self.standing = standing
                        .map(|alert| (alert.alert.clone(), alert.text.clone()))
                        .collect();
                    Ok(())
                }
                _ => Ok(()),
            };
            told.map_err(|text| format!("event {}: {text}", event.seqno))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, Fact, fact};
    use super::*;
    use crate::table::event::{AlertAcknowledged, AlertCleared, AlertRaised};

    fn raised(text: &str) -> Fact {
        let (alert, text) = ("link_odd".to_owned(), text.to_owned());
        fact(0, Body::AlertRaised(AlertRaised { alert, text }))
    }

    fn cleared() -> Fact {
        let alert = "link_odd".to_owned();
        fact(0, Body::AlertCleared(AlertCleared { alert }))
    }

    #[test]
    fn raised_changed_cleared_and_raised_again() {
        let mut bench = Bench::dice(AlertsOnce::default());
        bench.append(vec![
            raised("terminal"),
            raised("terminal; lamps"),
            cleared(),
            raised("terminal"),
        ]);
        bench.expect_nothing();
    }

    #[test]
    fn twice_without_a_change_or_a_stand_is_found() {
        let mut bench = Bench::dice(AlertsOnce::default());
        bench.append(vec![raised("terminal"), raised("terminal")]);
        bench.expect("is raised again");
        bench.append(vec![cleared()]);
        bench.append(vec![cleared()]);
        bench.expect("is cleared, and doesn't stand");
        // Nobody had seen it when it was cleared: it may be acknowledged once.
        let acknowledged = || {
            let alert = "link_odd".to_owned();
            fact(0, Body::AlertAcknowledged(AlertAcknowledged { alert }))
        };
        bench.append(vec![acknowledged()]);
        bench.append(vec![acknowledged()]);
        bench.expect("is acknowledged");
    }
}
