//! Housekeeping: when a checkpoint, a look at the disk, at the clock or at old events is due. Works between inputs, in the
//! loop, so that what it records has its place in the order.

use super::calm::{Calm, Tell};
use super::clock::Synchronisation;
use super::recorder::gateway_fact;
use super::store::Room;
use super::table_loop::{TableLoop, Trouble, condition_input};
use super::view::word;
use crate::table::event::{Body, ClockQuality, DeviceState, Event, EventsExpired, Mode, TableState};
use crate::table::input::Condition;
use crate::time::Uptime;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::watch;

/// Recovery reads at most this many events: about a second on a slow disk, some days of play.
pub(super) const CHECKPOINT_EVERY: u64 = 10_000;

/// How often the loop looks after itself. An idle loop costs microseconds each time.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A disk fills by other programs' doing too, but not in seconds.
const ASK_DISK_EVERY: Duration = Duration::from_secs(10);

/// Old events are looked for this often; at most a day's worth is deleted a day.
const EXPIRE_EVERY: Duration = Duration::from_secs(24 * 3600);

/// A clock that isn't synchronised deletes nothing; it may be by then.
const EXPIRE_AGAIN: Duration = Duration::from_secs(3600);

/// The first look for old events after a start. Not at once: a start is when a table is waited for.
const FIRST_EXPIRE: Duration = Duration::from_secs(300);

/// Between rounds, the write-ahead log is moved into the file when at least this many events were appended since.
/// It keeps the log at some hundred kilobytes.
pub(super) const TIDY_AFTER: u64 = 64;

/// In a round that takes so many events (a supervisor's hold while a device comes and goes) the log is moved in the middle of it: it is some ten
/// megabytes then, and moving it takes some ten milliseconds.
pub(super) const TIDY_AT_LATEST: u64 = 1024;

/// The alert of a slow journal ends when no append was slow for this long.
const SLOW_FOR: Duration = Duration::from_secs(60);

/// A clock may be unsynchronised for this long after a start or a loss before it is an alert: time servers take minutes.
const UNSYNCHRONISED_FOR: Duration = Duration::from_secs(600);

/// A device that the game needs may be away for this long while the table is open, or being opened, before it is an alert: its code is on
/// the readout at once, and whoever replugs it needs no alert.
const AWAY_FOR: Duration = Duration::from_secs(60);

/// Without a synchronised clock nothing is deleted, so the disk is watched from here on, in percent in use.
const DISK_ALERT_PERCENT: u64 = 80;

/// What is due when.
pub(super) struct Upkeep {
    synchronisation: watch::Receiver<Synchronisation>,
    /// `[clock] source = "none"`: retention deletes nothing.
    clock_is_watched: bool,
    since_checkpoint: u64,
    checkpoint_asked: bool,
    since_tidy: u64,
    slow_at: Option<Uptime>,
    /// What the table was told of each condition in this run; `None`: nothing yet, and one of an earlier run may stand.
    slow_said: Option<bool>,
    ask_disk_at: Uptime,
    disk_low_said: Option<bool>,
    disk_filling_said: Option<bool>,
    expire_at: Uptime,
    /// The wall clock was set since the last look at old events.
    clock_stepped: bool,
    unsynchronised_since: Option<Uptime>,
    unsynchronised_said: Option<bool>,
    /// Needed devices that are away, and since when.
    away: BTreeMap<i32, Uptime>,
    /// Of which of them the table was told.
    away_said: Option<BTreeSet<i32>>,
    pub(super) calm: Calm,
}

impl Upkeep {
    /// `tail`: events since the newest checkpoint.
    pub(super) fn new(synchronisation: watch::Receiver<Synchronisation>, clock_is_watched: bool, tail: u64) -> Self {
        Upkeep {
            synchronisation,
            clock_is_watched,
            since_checkpoint: tail,
            checkpoint_asked: false,
            since_tidy: 0,
            // Before it has been quick for a minute, nobody can say that it is.
            slow_at: None,
            slow_said: None,
            ask_disk_at: Uptime::ZERO,
            disk_low_said: None,
            disk_filling_said: None,
            expire_at: Uptime::ZERO + FIRST_EXPIRE,
            clock_stepped: false,
            unsynchronised_since: None,
            unsynchronised_said: None,
            away: BTreeMap::new(),
            away_said: None,
            calm: Calm::default(),
        }
    }

    /// `events` are durable.
    pub(super) fn recorded(&mut self, events: &[Event]) {
        for event in events {
            self.since_checkpoint += 1;
            self.since_tidy += 1;
            if matches!(event.body, Some(Body::CheckpointRecorded(_))) {
                self.since_checkpoint = 0;
                self.checkpoint_asked = false;
            }
            self.checkpoint_asked |= matches!(event.body, Some(Body::TableClosed(_)));
            self.clock_stepped |= matches!(event.body, Some(Body::ClockStepped(_)));
        }
    }

    pub(super) fn checkpoint_is_due(&self) -> bool {
        self.checkpoint_asked || self.since_checkpoint >= CHECKPOINT_EVERY
    }

    /// A checkpoint could not be made: not again before the next one is due.
    pub(super) fn checkpoint_given_up(&mut self) {
        self.since_checkpoint = 0;
        self.checkpoint_asked = false;
    }

    /// Whether at least `events` were appended since the write-ahead log was moved: then it is now.
    pub(super) fn take_tidy(&mut self, events: u64) -> bool {
        let due = self.since_tidy >= events;
        if due {
            self.since_tidy = 0;
        }
        due
    }

    /// An append took `took`.
    pub(super) fn appended(&mut self, now: Uptime, took: Duration) {
        if took > super::table_loop::APPEND_SLOW {
            tracing::warn!(ms = took.as_millis(), "an append was slow");
            self.slow_at = Some(now);
        }
    }

    /// Appending works again at `now`: what was known of the disk is asked anew.
    pub(super) fn journal_recovered(&mut self, now: Uptime) {
        self.slow_at = Some(now);
        self.ask_disk_at = now;
    }

    /// Whether the table is told of a condition now.
    pub(super) fn weigh(&mut self, now: Uptime, condition: Condition, text: &str, standing: bool) -> Tell {
        if standing {
            self.calm.stands(condition, text, now)
        } else {
            self.calm.is_over(condition, text, now)
        }
    }

    /// What to say of the journal's speed, when that has changed.
    fn slow_changed(&mut self, now: Uptime) -> Option<(String, bool)> {
        let slow = self.slow_at.is_some_and(|at| now.since(at) < SLOW_FOR);
        let is_too_early = !slow && self.slow_said.is_none() && now < Uptime::ZERO + SLOW_FOR;
        if is_too_early || self.slow_said.replace(slow) == Some(slow) {
            return None;
        }
        let text = if slow {
            "recording took longer than 500 ms: the disk is slow or failing"
        } else {
            "recording is quick again"
        };
        Some((text.to_owned(), slow))
    }

    /// What to say of room on the disk, when that has changed.
    fn room_changed(&mut self, room: Room) -> Option<(String, bool)> {
        if self.disk_low_said.replace(room.low) == Some(room.low) {
            return None;
        }
        // No numbers: they change, and what stands for hours would go on telling those of its beginning.
        let text = if room.low {
            "less than [journal] min_free_mb is free, or the reserve for the end of a round is used up: make room"
                .to_owned()
        } else {
            format!("there is room for the journal again: {} MB", room.free_mb)
        };
        Some((text, room.low))
    }

    /// What to say of a disk that only ever fills, when that has changed.
    fn filling_changed(&mut self, room: Room) -> Option<(String, bool)> {
        let filling = !self.clock_is_watched && room.used_percent >= DISK_ALERT_PERCENT;
        if self.disk_filling_said.replace(filling) == Some(filling) {
            return None;
        }
        // No numbers that change: see above.
        let text = format!(
            "{DISK_ALERT_PERCENT} % or more of the journal's disk in use, and without a clock source no old event is deleted"
        );
        Some((text, filling))
    }

    /// What to say of the clock, when that has changed.
    fn clock_changed(&mut self, now: Uptime) -> Option<(String, bool)> {
        if !self.clock_is_watched {
            // One of an earlier run, with a source, is over: nobody looks any more.
            let is_first = self.unsynchronised_said.replace(false).is_none();
            return is_first.then(|| ("no clock source is configured".to_owned(), false));
        }
        let synchronised = *self.synchronisation.borrow() == Synchronisation::Synchronised;
        if synchronised {
            self.unsynchronised_since = None;
        } else if self.unsynchronised_since.is_none() {
            self.unsynchronised_since = Some(now);
        }
        let lasting = self
            .unsynchronised_since
            .is_some_and(|since| now.since(since) >= UNSYNCHRONISED_FOR);
        let is_undecided = !synchronised && !lasting && self.unsynchronised_said.is_none();
        if is_undecided || self.unsynchronised_said.replace(lasting) == Some(lasting) {
            return None;
        }
        let text = if lasting {
            "the PC's clock follows no time server: events carry its time unsynchronised, and no old event is deleted"
        } else {
            "the PC's clock follows a time server"
        };
        Some((text.to_owned(), lasting))
    }

    /// What to say of devices that are away, when that has changed.
    fn away_changed(&mut self, now: Uptime, table: &TableState) -> Option<(String, bool)> {
        let is_played = matches!(table.mode(), Mode::Open | Mode::Opening);
        let away = |device: &&DeviceState| is_played && device.needed && !device.online;
        let away: BTreeSet<i32> = table.devices.iter().filter(away).filter_map(kind_of).collect();
        self.away.retain(|kind, _| away.contains(kind));
        for kind in away {
            self.away.entry(kind).or_insert(now);
        }
        let long = self.away.iter().filter(|(_, since)| now.since(**since) >= AWAY_FOR);
        let long: BTreeSet<i32> = long.map(|(kind, _)| *kind).collect();
        let is_undecided = long.is_empty() && !self.away.is_empty() && self.away_said.is_none();
        if is_undecided || self.away_said.as_ref() == Some(&long) {
            return None;
        }
        let names: Vec<String> = long.iter().filter_map(|kind| kind_word(*kind)).collect();
        let text = match long.is_empty() {
            true => "every device that the game needs is there".to_owned(),
            false => format!(
                "away for more than a minute: {}; see `tablegate devices`",
                names.join(", ")
            ),
        };
        let standing = !long.is_empty();
        self.away_said = Some(long);
        Some((text, standing))
    }

    fn quality(&self) -> ClockQuality {
        match *self.synchronisation.borrow() {
            Synchronisation::Synchronised => ClockQuality::Synchronised,
            Synchronisation::Unsynchronised => ClockQuality::Unsynchronised,
        }
    }
}

fn kind_of(device: &DeviceState) -> Option<i32> {
    device.device.as_ref().map(|device| device.kind)
}

/// As `status` names it: "layout_lamps".
fn kind_word(kind: i32) -> Option<String> {
    let kind = crate::table::event::DeviceKind::try_from(kind).ok()?;
    Some(word(kind.as_str_name(), "DEVICE_KIND_"))
}

impl TableLoop<'_> {
    /// Everything that is due at `now`.
    pub(super) async fn keep_house(&mut self, now: Uptime) -> Result<(), Trouble> {
        self.advance(now);
        if self.recorder.clock_has_stepped() {
            self.record(Vec::new()).await?;
            self.publish();
        }
        self.recorder.follow_slewing();
        if let Some((text, standing)) = self.upkeep.slow_changed(now) {
            self.say(Condition::JournalSlow, text, standing).await?;
        }
        if let Some((text, standing)) = self.upkeep.clock_changed(now) {
            self.say(Condition::ClockUnsynchronised, text, standing).await?;
        }
        let away = self.upkeep.away_changed(now, &self.outlets.state.borrow());
        if let Some((text, standing)) = away {
            self.say(Condition::DeviceOffline, text, standing).await?;
        }
        while let Some((condition, text)) = self.upkeep.calm.ended(now) {
            let told = self.tell_table(condition_input(condition, text, false)).await;
            told.inspect_err(|_| self.upkeep.calm.untold(condition))?;
        }
        while let Some((condition, text)) = self.upkeep.calm.changed(now) {
            let told = self.tell_table(condition_input(condition, text, true)).await;
            told.inspect_err(|_| self.upkeep.calm.untold(condition))?;
        }
        let quality = self.upkeep.quality();
        if self.outlets.view.borrow().clock != quality {
            self.outlets.change_view(|view| view.clock = quality);
        }
        if now >= self.upkeep.ask_disk_at {
            self.upkeep.ask_disk_at = now + ASK_DISK_EVERY;
            self.look_at_disk().await?;
        }
        if std::mem::take(&mut self.upkeep.clock_stepped) {
            // Whoever set it has a day to see that it is wrong before it ages anything.
            self.upkeep.expire_at = self.upkeep.expire_at.max(now + EXPIRE_EVERY);
        }
        if now >= self.upkeep.expire_at && self.table.is_between_rounds() {
            if self.upkeep.quality() == ClockQuality::Synchronised {
                self.upkeep.expire_at = now + EXPIRE_EVERY;
                self.expire().await?;
            } else {
                self.upkeep.expire_at = now + EXPIRE_AGAIN;
            }
        }
        Ok(())
    }

    async fn say(&mut self, condition: Condition, text: String, standing: bool) -> Result<(), Trouble> {
        self.tell_of(self.clock.uptime(), condition, text, standing).await
    }

    /// Tells the table of a condition, unless it comes and goes too often.
    pub(super) async fn tell_of(
        &mut self,
        now: Uptime,
        condition: Condition,
        text: String,
        standing: bool,
    ) -> Result<(), Trouble> {
        match self.upkeep.weigh(now, condition, &text, standing) {
            Tell::Now => {
                let told = self.tell_table(condition_input(condition, text, standing)).await;
                told.inspect_err(|_| self.upkeep.calm.untold(condition))
            }
            Tell::NotNow => Ok(()),
        }
    }

    async fn look_at_disk(&mut self) -> Result<(), Trouble> {
        let Some(room) = self.store.room() else { return Ok(()) };
        if self.outlets.view.borrow().journal.free_mb != Some(room.free_mb) {
            self.outlets
                .change_view(|view| view.journal.free_mb = Some(room.free_mb));
        }
        if let Some((text, standing)) = self.upkeep.room_changed(room) {
            self.say(Condition::DiskLow, text, standing).await?;
        }
        if let Some((text, standing)) = self.upkeep.filling_changed(room) {
            self.say(Condition::DiskFilling, text, standing).await?;
        }
        Ok(())
    }

    /// Deletes old events, a checkpoint before it and the event that says so in one transaction with it.
    async fn expire(&mut self) -> Result<(), Trouble> {
        let Some((through, sha256)) = self.store.expirable(self.recorder.wall()).await else {
            return Ok(());
        };
        let checkpoint = self.checkpoint();
        self.record(vec![checkpoint]).await?;
        let expired = gateway_fact(Body::EventsExpired(EventsExpired {
            through_seqno: through,
            sha256: sha256.to_vec(),
        }));
        let Ok(mut batch) = self.recorder.seal(self.now, vec![expired]) else {
            return Ok(());
        };
        let records = std::mem::take(&mut batch.records);
        self.append(self.store.append_and_expire(records, through), batch)
            .await?;
        self.publish();
        tracing::info!(through, "old events were deleted");
        Ok(())
    }
}
