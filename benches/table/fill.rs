//! A journal with very many events that no broker has acknowledged: a weekend without the floor, without waiting for one.

use prost::Message;
use std::path::Path;
use tablegate::journal::{Journal, Options, Owner, Reader, Record, Seqno, chain, decode, file_in};
use tablegate::table::event::{Body, CheckpointRecorded, Event, StaleKeysIgnored};
use tablegate::time::{Clock, Timestamp};

/// Events of one append: as many as the journal takes.
const AT_ONCE: u64 = 64;

/// Events of real rounds that are written again and again.
const PATTERN: usize = 64;

/// What the journal ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// A checkpoint, as at a close.
    Checkpoint,
    /// Events after the newest checkpoint, as in play.
    Events,
}

/// Appends `count` events like those of the rounds that were played, and a checkpoint that leaves the table as it was.
/// The journal in `folder` must have been closed with a checkpoint. Returns the newest seqno.
pub fn fill(folder: &Path, count: u64) -> Seqno {
    append(folder, count, Last::Checkpoint)
}

/// The same, ending as told.
pub fn append(folder: &Path, count: u64, ends_with: Last) -> Seqno {
    let directory = folder.join("journal");
    let path = file_in(&directory);
    let (pattern, checkpoint, machine) = read(&path);
    let owner = Owner {
        site: pattern[0].site.clone(),
        table: pattern[0].table.clone(),
    };
    let now = tablegate::gateway::SystemClock::start().wall();
    let opened = Journal::open(&directory, &owner, &machine, Options::new(now)).unwrap();
    let mut scribe = Scribe {
        seqno: opened.head.seqno,
        sha256: opened.head.sha256.clone(),
        at: now,
    };
    let last = scribe.seqno + count;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        while scribe.seqno < last {
            let records = (0..AT_ONCE.min(last - scribe.seqno))
                .map(|_| {
                    let mut event = pattern[(scribe.seqno % pattern.len() as u64) as usize].clone();
                    if ends_with == Last::Events {
                        // They will be folded, and the table is closed: something that means nothing to play.
                        event.round_id = 0;
                        event.body = Some(Body::StaleKeysIgnored(StaleKeysIgnored { count: 1 }));
                    }
                    scribe.write(event)
                })
                .collect();
            opened.journal.append(records).await.unwrap();
            opened.journal.tidy();
        }
        if ends_with == Last::Events {
            return;
        }
        let mut event = pattern[0].clone();
        event.body = Some(Body::CheckpointRecorded(CheckpointRecorded {
            through_seqno: scribe.seqno,
            sha256: scribe.sha256.clone(),
            ..checkpoint
        }));
        let record = scribe.write(event);
        opened.journal.append(vec![record]).await.unwrap();
    });
    opened.journal.close();
    scribe.seqno
}

/// The events of the rounds, the newest checkpoint, and the machine that the journal was begun on.
fn read(path: &Path) -> (Vec<Event>, CheckpointRecorded, String) {
    let mut reader = Reader::open(path).unwrap();
    let records = reader.page(1, Seqno::MAX, usize::MAX).unwrap();
    let (mut pattern, mut checkpoint, mut machine) = (Vec::new(), None, String::new());
    for event in records.iter().map(|record| decode(record).unwrap()) {
        match &event.body {
            Some(Body::JournalStarted(started)) => machine.clone_from(&started.machine),
            Some(Body::CheckpointRecorded(recorded)) => checkpoint = Some(recorded.clone()),
            _ if event.round_id > 0 && pattern.len() < PATTERN => pattern.push(event),
            _ => {}
        }
    }
    assert!(!pattern.is_empty(), "rounds were played");
    (pattern, checkpoint.expect("a checkpoint at the close"), machine)
}

struct Scribe {
    seqno: Seqno,
    sha256: Vec<u8>,
    at: Timestamp,
}

impl Scribe {
    fn write(&mut self, mut event: Event) -> Record {
        self.seqno += 1;
        event.seqno = self.seqno;
        event.previous_sha256 = std::mem::take(&mut self.sha256);
        event.recorded_at = Some(self.at.into());
        let bytes = event.encode_to_vec();
        let sha256 = chain::sha256(&bytes);
        self.sha256 = sha256.to_vec();
        Record {
            seqno: self.seqno,
            sha256,
            bytes,
        }
    }
}
