//! What a session hands over next, and what it reads for that: status, state, answers, events.

use super::alarms::Subject;
use super::delivery::Entry;
use super::desk::Short;
use super::exchange::{Publication, Retention};
use super::farewell::Farewell;
use super::keeper::{Leg, Presence};
use super::reading::JournalIndex;
use super::requests::ReplyTo;
use super::session::{Ended, STATE_EVERY, STATUS_EVERY, Session};
use super::source::{Extent, Page, SourceError};
use super::unread::{Patience, READ_AGAIN_AFTER};
use crate::failpoint::{Point, pass};
use crate::journal::Seqno;
use crate::table::event::{ErrorCode, Event, EventSetAsideReason, Response, event::Body};
use crate::table::input::Condition;
use prost::Message;
use prost::bytes::Bytes;
use tokio::time::Instant;

/// Events of one read: twice the window, so that reading and acknowledging overlap; 256 KiB at the very most.
const PAGE: usize = 32;
/// The next page is read when fewer than this wait.
const READ_AHEAD_BELOW: usize = 16;
/// Events of one read for a replay.
const REPLAY_PAGE: usize = 16;
/// Bytes of a PUBLISH beside topic and payload: header, lengths, packet id, empty properties.
const PUBLISH_OVERHEAD: usize = 16;

impl Session<'_> {
    /// Hands over whatever may go out now, and asks for what is to be read.
    pub(super) fn fill(&mut self, now: Instant) -> Result<(), Ended> {
        if matches!(self.farewell, Farewell::SayingOffline(_) | Farewell::Leaving(_)) {
            return Ok(());
        }
        self.advance_leg();
        while self.window.has_room() {
            if !self.hand_over_one(now)? {
                break;
            }
        }
        self.read_events(now);
        self.read_replay();
        Ok(())
    }

    /// Hands one thing over: status, state, then answers and events in turn.
    fn hand_over_one(&mut self, now: Instant) -> Result<bool, Ended> {
        let is_staying = self.farewell == Farewell::NotYet;
        if is_staying && self.status_at <= now && self.window.has_room_for(Entry::Status) {
            self.publish_status(Presence::Online)?;
            self.status_at = now + STATUS_EVERY;
            return Ok(true);
        }
        // A state that waits for its interval lets events by; a clean stop doesn't wait for it.
        if self.state_dirty && (self.state_at <= now || !is_staying) && self.window.has_room_for(Entry::State) {
            return self.publish_state(now);
        }
        let may_answer = is_staying && self.window.has_room_for(Entry::Response);
        if may_answer && !(self.answered_last && self.has_event()) && self.publish_answer()? {
            self.answered_last = true;
            return Ok(true);
        }
        self.answered_last = false;
        self.publish_event()
    }

    fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    fn publish(&mut self, entry: Entry, topic: &str, retained: Retention, payload: Bytes) -> Result<(), Ended> {
        self.connection.publish(Publication {
            topic: topic.to_owned(),
            retained,
            payload,
            response_topic: None,
            correlation: None,
        })?;
        self.window.hand_over(entry);
        Ok(())
    }

    fn publish_status(&mut self, presence: Presence) -> Result<(), Ended> {
        let status = self.keeper.status(self.number, presence);
        let topic = self.keeper.topics.status.clone();
        self.publish(Entry::Status, &topic, Retention::Kept, status.into())
    }

    pub(super) fn publish_offline(&mut self) -> Result<(), Ended> {
        self.publish_status(Presence::Offline)
    }

    fn publish_state(&mut self, now: Instant) -> Result<bool, Ended> {
        let state = Bytes::from(self.keeper.state.borrow_and_update().encode_to_vec());
        self.state_dirty = false;
        self.state_at = now + STATE_EVERY;
        let is_too_large = self.is_too_large(&self.keeper.topics.state, state.len());
        if is_too_large || self.keeper.state_too_large.as_ref() == Some(&state) {
            let text = format!("{}: the state is too large for it", self.keeper.report.broker);
            let broker = &self.keeper.report.broker;
            self.keeper.alarms.refused(Subject::State, broker, text);
            return Ok(true);
        }
        if self.state_said.as_ref() == Some(&state) {
            return Ok(true);
        }
        let topic = self.keeper.topics.state.clone();
        self.publish(Entry::State, &topic, Retention::Kept, state.clone())?;
        self.state_said = Some(state);
        Ok(true)
    }

    fn is_too_large(&self, topic: &str, payload: usize) -> bool {
        let packet = payload.saturating_add(topic.len()).saturating_add(PUBLISH_OVERHEAD);
        let max = self.terms.max_packet.and_then(|max| usize::try_from(max).ok());
        max.is_some_and(|max| packet > max)
    }

    fn publish_event(&mut self) -> Result<bool, Ended> {
        if !self.keeper.alarms.may_set_aside() {
            return Ok(false);
        }
        let Some(record) = self.events.pop_front() else {
            return Ok(false);
        };
        let seqno = record.seqno;
        let bytes = Bytes::from(record.bytes);
        self.recent.push_back((seqno, bytes.clone()));
        let is_too_large = self.is_too_large(&self.keeper.topics.events, bytes.len());
        if is_too_large || self.keeper.too_large.contains(&seqno) {
            self.set_aside(seqno, EventSetAsideReason::TooLarge);
            self.window.pass_over(seqno);
            self.advance();
            return Ok(true);
        }
        let topic = self.keeper.topics.events.clone();
        self.publish(Entry::Event(seqno), &topic, Retention::Passing, bytes)?;
        pass(Point::Published);
        let in_flight = self.events_in_flight();
        let report = &mut self.keeper.report;
        report.published = report.published.saturating_add(1);
        report.in_flight = in_flight;
        self.keeper.say_soon();
        Ok(true)
    }

    /// The event goes to no broker; the gateway records it. That the record of one can't be published is not recorded again.
    pub(super) fn set_aside(&mut self, seqno: Seqno, reason: EventSetAsideReason) {
        let report = &mut self.keeper.report;
        report.set_aside = report.set_aside.saturating_add(1);
        let what = match reason {
            EventSetAsideReason::TooLarge => "too large",
            EventSetAsideReason::PayloadFormat | EventSetAsideReason::Unspecified => "payload format invalid",
        };
        let text = format!("{} does not take event {seqno}: {what}", report.broker);
        tracing::error!(seqno, reason = what, "event set aside");
        self.keeper.alarms.raise(Condition::EventSetAside, text);
        let bytes = self
            .recent
            .iter()
            .find(|(other, _)| *other == seqno)
            .map(|(_, bytes)| bytes);
        let body = bytes
            .and_then(|bytes| Event::decode(bytes.as_ref()).ok())
            .and_then(|event| event.body);
        let is_of_this_journal = self.keeper.leg().is_some_and(|leg| self.keeper.is_in_use(leg));
        if is_of_this_journal && !matches!(body, Some(Body::EventSetAside(_))) {
            self.keeper.alarms.set_aside(seqno, reason);
        }
    }

    /// The window moved: the cursor goes to the journal.
    pub(super) fn advance(&mut self) {
        let cursor = self.window.cursor();
        while self.recent.front().is_some_and(|(seqno, _)| *seqno <= cursor) {
            self.recent.pop_front();
        }
        self.keeper.advance(cursor);
        self.keeper.report.in_flight = self.events_in_flight();
        self.keeper.say_soon();
    }

    pub(super) fn events_in_flight(&self) -> u64 {
        u64::try_from(self.window.events_in_flight()).unwrap_or(u64::MAX)
    }

    /// Everything that is durable is acknowledged.
    pub(super) fn is_delivered(&self) -> bool {
        let Some(journal) = &self.keeper.journal else {
            return true;
        };
        let is_last = journal.legs.len() == 1;
        is_last && self.window.cursor() >= self.keeper.head.borrow().seqno
    }

    /// Goes on with the next journal when the one under way is delivered to its end.
    fn advance_leg(&mut self) {
        while let Some(leg) = self.keeper.leg() {
            let is_under_way =
                !self.events.is_empty() || self.events_coming.is_some() || self.window.events_in_flight() > 0;
            if self.keeper.is_in_use(leg) || self.unread_from <= leg.newest || is_under_way {
                return;
            }
            self.keeper.leg_delivered();
            self.recent.clear();
            let cursor = self.keeper.leg().map_or(0, |leg| leg.cursor);
            self.window.turn_to_journal(cursor);
            self.unread_from = cursor.saturating_add(1);
        }
    }

    /// Asks for the next page when little waits.
    fn read_events(&mut self, now: Instant) {
        if self.read_again_at.is_some_and(|at| at > now) {
            return;
        }
        self.read_again_at = None;
        if self.events_coming.is_some() || self.events.len() >= READ_AHEAD_BELOW {
            return;
        }
        let Some(journal) = &self.keeper.journal else { return };
        let Some(leg) = journal.legs.front() else { return };
        let to = self.keeper.newest_of(leg);
        if self.unread_from <= to {
            if self.keeper.is_in_use(leg)
                && let Some(page) = Page::of(&journal.newest.records(), self.unread_from, to)
            {
                self.take_events(Ok(page));
                return;
            }
            self.events_coming = Some(journal.reading.page(leg.journal, self.unread_from, to, PAGE));
        }
    }

    pub(super) fn take_events(&mut self, read: Result<Page, SourceError>) {
        let is_in_use = self.keeper.leg().is_some_and(|leg| self.keeper.is_in_use(leg));
        match read {
            Ok(page) if page.next > self.unread_from => {
                let asked = page.next.saturating_sub(self.unread_from);
                let read = u64::try_from(page.records.len()).unwrap_or(u64::MAX);
                self.keeper.read_succeeded(asked.saturating_sub(read));
                self.unread_from = page.next;
                self.events.extend(page.records);
            }
            Ok(_) if is_in_use => {
                let text = format!("event {} is not in the journal", self.unread_from);
                self.read_failed(&text);
            }
            Err(SourceError::Lost { text }) if is_in_use => self.read_failed(&text),
            Err(SourceError::Failed { text }) => self.read_failed(&text),
            Ok(_) => self.abandon_leg("it ends early"),
            Err(SourceError::Lost { text }) => self.abandon_leg(&text),
        }
    }

    /// After a read that failed: the journal is asked again later. One that was moved aside holds up the one in use only for so long.
    fn read_failed(&mut self, why: &str) {
        let is_in_use = self.keeper.leg().is_some_and(|leg| self.keeper.is_in_use(leg));
        match self.keeper.read_failed(self.unread_from, why) {
            Patience::Left => self.read_again_at = Some(Instant::now() + READ_AGAIN_AFTER),
            Patience::Spent if is_in_use => self.read_again_at = Some(Instant::now() + READ_AGAIN_AFTER),
            Patience::Spent => {
                self.keeper.leave_for_next_start();
                self.abandon_leg(why);
            }
        }
    }

    /// A journal that was moved aside ends where it can't be read: what was read before is delivered. The next start tries the rest again.
    fn abandon_leg(&mut self, why: &str) {
        let read_through = self.unread_from.saturating_sub(1);
        tracing::warn!(
            error = why,
            read_through,
            "a journal that was moved aside can't be read any further"
        );
        self.keeper.leg_ends_at(read_through);
    }

    /// Answers what is due: a short answer first, then the replay.
    fn publish_answer(&mut self) -> Result<bool, Ended> {
        if let Some((to, short)) = self.desk.pop_short() {
            let response = match short {
                Short::Error(error) => to.error(error.code(), &error.text),
                Short::Snapshot => to.snapshot(self.keeper.state.borrow().clone()),
                Short::Verified(verified) => to.verified(*verified),
            };
            self.publish_response(&to, &response)?;
            return Ok(true);
        }
        let Some(replay) = &mut self.desk.replay else {
            return Ok(false);
        };
        let to = replay.to.clone();
        if let Some(record) = self.replayed.pop_front() {
            let response = replay.event(record.seqno, record.bytes);
            self.publish_response(&to, &response)?;
            return Ok(true);
        }
        if replay.is_unclipped() || replay.remaining().is_some() {
            return Ok(false);
        }
        let response = replay.done();
        self.publish_response(&to, &response)?;
        self.end_replay();
        Ok(true)
    }

    fn publish_response(&mut self, to: &ReplyTo, response: &Response) -> Result<(), Ended> {
        let payload = Bytes::from(response.encode_to_vec());
        let correlation = to.correlation.as_ref().map_or(0, Bytes::len);
        if self.is_too_large(&to.topic, payload.len().saturating_add(correlation)) {
            let report = &mut self.keeper.report;
            report.refused_requests = report.refused_requests.saturating_add(1);
            return Ok(());
        }
        self.connection.publish(Publication {
            topic: to.topic.clone(),
            retained: Retention::Passing,
            payload,
            response_topic: None,
            correlation: to.correlation.clone(),
        })?;
        self.window.hand_over(Entry::Response);
        Ok(())
    }

    fn end_replay(&mut self) {
        self.replayed.clear();
        self.replay_coming = None;
        self.find_coming = None;
        self.replay_from = None;
        self.desk.end_replay();
    }

    /// Ends the replay with an error as its last answer.
    fn fail_replay(&mut self, code: ErrorCode, text: &str) {
        if let Some(replay) = &self.desk.replay {
            let to = replay.to.clone();
            self.desk.add_error(to, code, text);
            let report = &mut self.keeper.report;
            report.refused_requests = report.refused_requests.saturating_add(1);
        }
        self.end_replay();
    }

    fn read_replay(&mut self) {
        let Some(replay) = &self.desk.replay else { return };
        let Some(journal) = &self.keeper.journal else {
            self.fail_replay(ErrorCode::NotReady, "the journal could not be opened");
            return;
        };
        if replay.is_unclipped() {
            if self.find_coming.is_none() {
                self.find_coming = Some(journal.reading.find(replay.journal_id.clone()));
            }
            return;
        }
        let (Some(index), Some((from, to))) = (self.replay_from, replay.remaining()) else {
            return;
        };
        if self.replayed.is_empty() && self.replay_coming.is_none() {
            self.replay_coming = Some(journal.reading.page(index, from, to, REPLAY_PAGE));
        }
    }

    pub(super) fn take_found(&mut self, read: Result<Option<(JournalIndex, Extent)>, SourceError>) {
        match (read, &mut self.desk.replay) {
            (Ok(Some((index, extent))), Some(replay)) => {
                replay.clip(extent.oldest, extent.newest);
                self.replay_from = Some(index);
            }
            (Ok(None), _) => self.fail_replay(ErrorCode::UnknownJournal, "no journal of this id is here"),
            (Err(error), _) => self.fail_replay(ErrorCode::NotReady, &error.to_string()),
            (Ok(Some(_)), None) => {}
        }
    }

    pub(super) fn take_replay(&mut self, read: Result<Page, SourceError>) {
        match read {
            Ok(page) => {
                let goes_on = self
                    .desk
                    .replay
                    .as_mut()
                    .is_some_and(|replay| replay.goes_on_at(page.next));
                if goes_on {
                    self.replayed.extend(page.records);
                } else {
                    self.fail_replay(ErrorCode::NotReady, "the events can't be read");
                }
            }
            Err(error) => self.fail_replay(ErrorCode::NotReady, &error.to_string()),
        }
    }
}

/// The legs of the way: what the keeper knows of the journals to deliver.
impl super::keeper::Keeper {
    /// The journal under way.
    pub(super) fn leg(&self) -> Option<&Leg> {
        self.journal.as_ref().and_then(|journal| journal.legs.front())
    }

    pub(super) fn is_in_use(&self, leg: &Leg) -> bool {
        self.journal
            .as_ref()
            .is_some_and(|journal| journal.in_use == leg.journal)
    }

    pub(super) fn newest_of(&self, leg: &Leg) -> Seqno {
        if self.is_in_use(leg) {
            self.head.borrow().seqno
        } else {
            leg.newest
        }
    }

    /// Everything up to `cursor` of the journal under way is acknowledged.
    fn advance(&mut self, cursor: Seqno) {
        if self.leg().is_some_and(|leg| self.is_in_use(leg)) {
            self.report.cursor = cursor;
        }
        let has_told = self.alarms.has_told_set_aside();
        let Some(journal) = &mut self.journal else { return };
        let in_use = journal.in_use;
        let Some(leg) = journal.legs.front_mut() else { return };
        if leg.cursor < cursor {
            self.report.settled = self.report.settled.saturating_add(cursor - leg.cursor);
            leg.cursor = cursor;
            self.too_large = self.too_large.split_off(&cursor.saturating_add(1));
        }
        // The cursor passes an event that was set aside only when the gateway knows of it.
        if leg.journal != in_use {
            journal.ledger.acknowledge_moved_aside(&leg.journal_id, cursor);
        } else if has_told {
            journal.ledger.acknowledge(cursor);
        }
        pass(Point::CursorTold);
    }

    fn leg_ends_at(&mut self, seqno: Seqno) {
        if let Some(leg) = self.journal.as_mut().and_then(|journal| journal.legs.front_mut()) {
            let lost = leg.newest.saturating_sub(leg.cursor.max(seqno));
            self.report.unreadable = self.report.unreadable.saturating_add(lost);
            leg.newest = leg.newest.min(seqno);
        }
    }

    fn leg_delivered(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        let Some(leg) = journal.legs.pop_front() else { return };
        let lost = leg.newest.saturating_sub(leg.cursor);
        self.report.unreadable = self.report.unreadable.saturating_add(lost);
        self.unread.say_damaged(&leg.journal_id);
        self.too_large.clear();
        // Not what could not be read of it: the next start tries that again.
        journal.ledger.acknowledge_moved_aside(&leg.journal_id, leg.newest);
    }

    pub(super) fn subscriptions_taken(&mut self) {
        self.alarms.taken(Subject::Subscription);
    }
}
