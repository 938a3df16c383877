//! Each request of the floor's is answered once and with what was asked for, as long as the connection lives on which it came: a replay's
//! events in their order and then its end, or an error.

use std::collections::BTreeMap;

use prost::Message;

use crate::sim::faults::trace::{AfterRollback, Connection, Invariant, Judge, Seen, Sight, Wants};
use crate::table::event::response::Response as Body;
use crate::table::event::{Event, Request, Response, request};

#[derive(Default)]
pub(super) struct Answered {
    asked: BTreeMap<String, Asked>,
}

struct Asked {
    connection: Connection,
    wants: Wants,
    what: Option<request::Request>,
    /// The newest event of a replay.
    last: Option<(String, u64)>,
    is_answered: bool,
}

impl Judge for Answered {
    fn invariant(&self) -> Invariant {
        Invariant::Answered
    }

    fn after_rollback(&self) -> AfterRollback {
        AfterRollback::GoesOn
    }

    fn look(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        match sight.seen {
            Seen::FloorAsked {
                connection,
                payload,
                wants,
            } => {
                let request = Request::decode(*payload).map_err(|error| format!("a request can't be read: {error}"))?;
                let asked = Asked {
                    connection: *connection,
                    wants: *wants,
                    what: request.request,
                    last: None,
                    is_answered: false,
                };
                self.asked.insert(request.request_id, asked);
                Ok(())
            }
            // Whoever asked on it asks again.
            Seen::Disconnected { connection } => {
                self.asked.retain(|_, asked| asked.connection != *connection);
                Ok(())
            }
            Seen::Published {
                connection,
                topic,
                payload,
                ..
            } if topic.contains("/responses/") => {
                let answer = Response::decode(*payload).map_err(|error| format!("an answer can't be read: {error}"))?;
                self.answer(*connection, &answer)
            }
            Seen::Quiet => {
                let open = |(_, asked): &(&String, &Asked)| !asked.is_answered && asked.wants == Wants::Answer;
                match self.asked.iter().find(open) {
                    Some((id, asked)) => Err(format!("all is quiet, and {id} ({:?}) is not answered", asked.what)),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

impl Answered {
    fn answer(&mut self, connection: Connection, answer: &Response) -> Result<(), String> {
        let id = &answer.request_id;
        let asked = self.asked.get_mut(id);
        let Some(asked) = asked.filter(|asked| asked.connection == connection) else {
            return Err(format!(
                "{id} is answered on connection {connection}, and nobody asked it there"
            ));
        };
        if asked.wants == Wants::Silence {
            return Err(format!("{id} is answered, and wants no answer"));
        }
        if asked.is_answered {
            return Err(format!("{id} is answered after its end"));
        }
        asked.take(id, answer.response.as_ref())
    }
}

impl Asked {
    fn take(&mut self, id: &str, body: Option<&Body>) -> Result<(), String> {
        let fits = match (body, &self.what) {
            (Some(Body::Event(bytes)), Some(request::Request::Replay(_))) => return self.take_event(id, bytes),
            (Some(Body::Error(_)), _) => true,
            (Some(Body::ReplayDone(done)), Some(request::Request::Replay(_))) => {
                let through = self.last.as_ref().map_or(0, |(_, seqno)| *seqno);
                if done.through_seqno != through {
                    return Err(format!(
                        "{id} ends with event {through}, and its end says {}",
                        done.through_seqno
                    ));
                }
                true
            }
            (Some(Body::Snapshot(_)), Some(request::Request::Snapshot(_))) => true,
            (Some(Body::SoftwareVerified(verified)), Some(request::Request::VerifySoftware(asked))) => {
                verified.seed == asked.seed
            }
            _ => false,
        };
        self.is_answered = true;
        if fits {
            return Ok(());
        }
        Err(format!("{id} ({:?}) is answered with something else", self.what))
    }

    fn take_event(&mut self, id: &str, bytes: &[u8]) -> Result<(), String> {
        let Some(request::Request::Replay(replay)) = &self.what else {
            return Ok(());
        };
        let event = Event::decode(bytes).map_err(|error| format!("a replayed event can't be read: {error}"))?;
        let is_in_range = event.seqno >= replay.from_seqno && (replay.to_seqno == 0 || event.seqno <= replay.to_seqno);
        if event.journal_id != replay.journal_id || !is_in_range {
            return Err(format!(
                "{id} is answered with event {} of {}",
                event.seqno, event.journal_id
            ));
        }
        match self.last.replace((event.journal_id, event.seqno)) {
            Some((_, last)) if event.seqno != last + 1 => {
                Err(format!("in {id} event {} follows event {last}", event.seqno))
            }
            Some(_) | None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, Record, dice};
    use super::*;
    use crate::table::event::{Replay, ReplayDone};

    fn bench() -> (Bench, Vec<Record>) {
        let mut bench = Bench::bare(Answered::default());
        let records = bench.append(dice::to_landed(1));
        (bench, records)
    }

    fn ask(bench: &mut Bench, wants: Wants) {
        let request = Request {
            request_id: "a".to_owned(),
            request: Some(request::Request::Replay(Replay {
                journal_id: bench.journal().to_owned(),
                from_seqno: 2,
                to_seqno: 4,
            })),
        };
        bench.see(&Seen::FloorAsked {
            connection: 1,
            payload: &request.encode_to_vec(),
            wants,
        });
    }

    fn answer(bench: &mut Bench, id: &str, body: Body) {
        let response = Response {
            request_id: id.to_owned(),
            response: Some(body),
        };
        bench.publish_on(1, "p/responses/floor", &response.encode_to_vec());
    }

    fn event(bench: &mut Bench, record: &Record) {
        answer(bench, "a", Body::Event(record.1.clone()));
    }

    fn done(bench: &mut Bench, through_seqno: u64) {
        let done = ReplayDone {
            through_seqno,
            ..ReplayDone::default()
        };
        answer(bench, "a", Body::ReplayDone(done));
    }

    #[test]
    fn a_replay_in_order_and_its_end() {
        let (mut bench, records) = bench();
        ask(&mut bench, Wants::Answer);
        for record in &records[1..4] {
            event(&mut bench, record);
        }
        done(&mut bench, 4);
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
        done(&mut bench, 4);
        bench.expect("after its end");
    }

    #[test]
    fn what_is_missing_elsewhere_or_unasked_is_found() {
        let (mut bench, records) = bench();
        ask(&mut bench, Wants::Answer);
        bench.see(&Seen::Quiet);
        bench.expect("is not answered");
        event(&mut bench, &records[1]);
        event(&mut bench, &records[3]);
        bench.expect("event 4 follows event 2");
        event(&mut bench, &records[4]);
        bench.expect("is answered with event 5");
        answer(&mut bench, "b", Body::Event(Vec::new()));
        bench.expect("nobody asked it there");
        bench.see(&Seen::Disconnected { connection: 1 });
        bench.see(&Seen::Quiet);
        bench.expect_nothing();
        ask(&mut bench, Wants::Silence);
        done(&mut bench, 0);
        bench.expect("wants no answer");
    }
}
