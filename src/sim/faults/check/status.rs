//! The number of the connection only rises, and once quiet the retained status says that the table is there, and is its own.

use std::collections::BTreeSet;

use prost::Message;

use crate::sim::faults::trace::{AfterRollback, Connection, Invariant, Judge, Seen, Sight, is_status};
use crate::table::event::Status;

#[derive(Default)]
pub(super) struct StatusTrue {
    /// The highest number that was said and could be kept, and on which connection.
    highest: Option<(u64, Connection)>,
    /// The newest number that was said.
    newest: u64,
    /// Numbers that could not be kept when they were counted: the next run may use them again.
    lost: BTreeSet<u64>,
    retained: Option<Status>,
    /// What is retained is of a second gateway.
    is_intruders: bool,
    /// The count of connections has gone back, and nobody was told a number since.
    has_gone_back: bool,
}

impl Judge for StatusTrue {
    fn invariant(&self) -> Invariant {
        Invariant::StatusTrue
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::Published {
                connection,
                topic,
                payload,
                ..
            } if is_status(topic) => {
                let status = Status::decode(*payload).map_err(|error| format!("a status can't be read: {error}"))?;
                let said = status.connection;
                let is_online = status.online;
                let before = self.retained.replace(status);
                let is_intruders = std::mem::take(&mut self.is_intruders);
                if !is_online {
                    return Ok(());
                }
                self.newest = said;
                if std::mem::take(&mut self.has_gone_back) {
                    // What the disk knew is gone, and only what the broker has kept can be outbid.
                    self.highest = None;
                    self.lost.clear();
                    if before.as_ref().is_some_and(|before| said <= before.connection) {
                        return Err(format!(
                            "connection {connection} calls itself {said}, and the broker has kept a higher one"
                        ));
                    }
                }
                if let Some(before) = before.filter(|before| is_intruders && said <= before.connection) {
                    return Err(format!(
                        "connection {connection} calls itself {said}, and a second gateway is {}",
                        before.connection
                    ));
                }
                match self.highest {
                    Some((highest, by)) if by != *connection && said <= highest => Err(format!(
                        "connection {connection} calls itself {said}, and an earlier one was {highest}"
                    )),
                    Some((highest, _)) if said < highest => Ok(()),
                    Some(_) | None if self.lost.contains(&said) => Ok(()),
                    Some(_) | None => {
                        self.highest = Some((said, *connection));
                        Ok(())
                    }
                }
            }
            Seen::CountLost { number } => {
                self.lost.insert(*number);
                Ok(())
            }
            Seen::Intruded { topic, payload } if is_status(topic) => {
                self.retained = Status::decode(*payload).ok();
                self.is_intruders = true;
                Ok(())
            }
            Seen::WentBack { .. } => {
                self.has_gone_back = true;
                Ok(())
            }
            Seen::BrokerForgot => {
                self.retained = None;
                self.is_intruders = false;
                Ok(())
            }
            Seen::Quiet => {
                let newest = self.newest;
                match &self.retained {
                    None => Err("there is no retained status".to_owned()),
                    Some(_) if self.is_intruders => Err("the retained status is a second gateway's".to_owned()),
                    Some(status) if !status.online => Err("the retained status says that the table is away".to_owned()),
                    Some(status) if status.connection != newest => Err(format!(
                        "the retained status is of connection {}, and the table's is {newest}",
                        status.connection
                    )),
                    Some(status) if !status.fault.is_empty() => {
                        Err(format!("the retained status tells of {:?}", status.fault))
                    }
                    Some(_) => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    fn status(bench: &mut Bench, on: Connection, connection: u64, online: bool) {
        let status = Status {
            connection,
            online,
            ..Status::default()
        };
        bench.publish_on(on, "p/status", &status.encode_to_vec());
    }

    #[test]
    fn a_late_last_will_is_put_right() {
        let mut bench = Bench::bare(StatusTrue::default());
        status(&mut bench, 1, 1, true);
        status(&mut bench, 2, 2, true);
        status(&mut bench, 1, 1, false);
        bench.see(&Seen::Quiet);
        bench.expect("says that the table is away");
        status(&mut bench, 2, 2, true);
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
    }

    #[test]
    fn a_number_that_was_lost_may_come_again_and_a_lower_one_not() {
        let mut bench = Bench::bare(StatusTrue::default());
        status(&mut bench, 1, 5, true);
        bench.see(&Seen::CountLost { number: 6 });
        status(&mut bench, 2, 6, true);
        bench.see(&Seen::CountLost { number: 6 });
        status(&mut bench, 3, 6, true);
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
        status(&mut bench, 4, 5, true);
        bench.expect("calls itself 5, and an earlier one was 5");
    }

    #[test]
    fn a_number_that_does_not_rise_is_found() {
        let mut bench = Bench::bare(StatusTrue::default());
        status(&mut bench, 1, 7, true);
        status(&mut bench, 2, 7, true);
        bench.expect("calls itself 7, and an earlier one was 7");
        bench.see(&Seen::BrokerForgot);
        bench.see(&Seen::Quiet);
        bench.expect("no retained status");
    }
}
