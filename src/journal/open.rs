//! Opens a journal: looks at the file read-only and decides. Good: go on with it. Damaged: move it aside whole, begin a new one, say so.
//! Anything that tells nothing about the contents (rights, a disk that fails, a newer layout, another owner): an error, and nothing is touched.

use super::ballast;
use super::chain::{BadRecord, Chain};
use super::counter::Counter;
use super::error::StoreError;
use super::files::{self, beside};
use super::head_mark::{self, Noted};
use super::lineage;
use super::lock::Lock;
use super::reader::{ReadError, Reader};
use super::row::{Identity, Mark, MovedAside};
use super::salvage::{self, Salvaged, Why};
use super::store::{Store, View};
use super::tail::{PAGE, Tail};
use super::thread::{self, Start};
use super::{Begin, Carried, Fresh, Journal, OpenError, Opened, Options, Owner, Seqno, file_in};
use crate::table::event::{Body, Event, Head, JournalStartedReason, Predecessor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn open(directory: &Path, owner: &Owner, machine: &str, options: &Options) -> Result<Opened, OpenError> {
    std::fs::create_dir_all(directory).map_err(|source| OpenError::Directory {
        directory: directory.to_owned(),
        source,
    })?;
    let lock = Lock::take(directory)?;
    let path = file_in(directory);
    let store_error = |source| OpenError::Store {
        path: path.clone(),
        source,
    };
    salvage::finish_interrupted_move(&path).map_err(store_error)?;
    let noted = head_mark::read(directory);
    let looked = match usable(&path, owner, noted.as_ref(), &options.begin) {
        Err(OpenError::Store {
            source: StoreError::Full { .. },
            ..
        }) if ballast::give_up(directory) => {
            tracing::warn!("the disk is full: the ballast was given up so that the journal can be opened");
            usable(&path, owner, noted.as_ref(), &options.begin)
        }
        looked => looked,
    };
    let (found, store, text) = match looked? {
        Usable::Yes(found, store) => (*found, store, String::new()),
        Usable::No(reason) => {
            let text = match reason {
                None => String::new(),
                Some((why, what)) => {
                    let moved = salvage::move_aside(&path, options.now, why).map_err(store_error)?;
                    format!("{what}; it is kept as {}", moved.display())
                }
            };
            let identity = Identity {
                journal_id: uuid::Uuid::new_v4().to_string(),
                site: owner.site.clone(),
                table: owner.table.clone(),
                machine: machine.to_owned(),
                created_us: options.now.as_unix_micros(),
            };
            Store::create(&path, &identity).map_err(store_error)?;
            (Good::empty(identity), Store::open(&path).map_err(store_error)?, text)
        }
    };
    start(directory, owner, (found, store), lock, options, text)
}

enum Usable {
    Yes(Box<Good>, Store),
    /// None is there, or it can't be gone on with and must be moved aside: why, and in words.
    No(Option<(Why, String)>),
}

fn usable(path: &Path, owner: &Owner, noted: Option<&Noted>, begin: &Begin) -> Result<Usable, OpenError> {
    let damaged = |what: String| Usable::No(Some((Why::Damaged, format!("the journal is damaged: {what}"))));
    let good = match look(path, owner, noted)? {
        Look::Nothing => return Ok(Usable::No(None)),
        Look::Damaged(what) => return Ok(damaged(what)),
        Look::Good(good) => good,
    };
    if let Begin::RolledBack { text } = begin {
        let what = format!("the journal went back in time: {text}");
        return Ok(Usable::No(Some((Why::RolledBack, what))));
    }
    match Store::open(path) {
        Ok(store) => Ok(Usable::Yes(good, store)),
        Err(StoreError::Damaged { doing, source }) => Ok(damaged(format!("cannot {doing}: {source}"))),
        Err(source) => Err(OpenError::Store {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Starts the thread on a file that has been looked at.
fn start(
    directory: &Path,
    owner: &Owner,
    (found, store): (Good, Store),
    lock: Lock,
    options: &Options,
    text: String,
) -> Result<Opened, OpenError> {
    let path = file_in(directory);
    let failed = |source| OpenError::Store {
        path: path.clone(),
        source,
    };
    let mut moved_aside = found.moved_aside;
    let mut fresh = None;
    if found.head == Mark::NONE {
        let (entries, why) = begin(directory, owner, text).map_err(failed)?;
        for entry in entries {
            if moved_aside.iter().all(|known| known.path != entry.path) {
                store.write_moved_aside(&entry).map_err(failed)?;
                moved_aside.push(entry);
            }
        }
        fresh = Some(why);
    }
    moved_aside.sort_by(|one, other| one.path.cmp(&other.path));
    let undelivered = moved_aside
        .iter()
        .filter(|moved| moved.cursor < moved.through && moved.path.exists())
        .cloned()
        .collect();
    let counter = Counter::open(directory, options.now);
    let last_connection = counter.last();
    let identity = found.identity;
    let shared = thread::start(Start {
        directory: directory.to_owned(),
        path: path.clone(),
        retention: options.retention,
        store,
        lock,
        counter,
        chain: Chain::new(
            &identity.journal_id,
            &identity.site,
            &identity.table,
            found.head.seqno + 1,
            Some(found.head.sha256),
        ),
        head: found.head,
        cursor: found.cursor,
        moved_aside,
        faults: options.faults.clone(),
        journal_id: identity.journal_id.clone(),
    })
    .map_err(|error| failed(StoreError::file("start the journal's thread", error)))?;
    Ok(Opened {
        journal: Journal {
            shared: Arc::new(shared),
        },
        fresh,
        head: Head {
            journal_id: identity.journal_id.clone(),
            seqno: found.head.seqno,
            sha256: found.head.sha256.to_vec(),
        },
        journal_id: identity.journal_id,
        checkpoint: found.state.checkpoint,
        tail: Tail::new(path, found.state.next, found.head.seqno),
        cursor: found.cursor.seqno,
        undelivered,
        last_connection,
    })
}

/// Why a journal without events is there: the first, or the successor of one that is gone or of the newest one that was moved aside.
fn begin(directory: &Path, owner: &Owner, text: String) -> Result<(Vec<MovedAside>, Fresh), StoreError> {
    let older = salvage::moved_aside_in(directory)?;
    let newest = older
        .last()
        .map(|(path, why)| (path, *why, salvage::salvage(path, owner)));
    let entries = match &newest {
        Some((_, _, salvaged)) => salvage::undelivered(&older, salvaged, owner),
        None => Vec::new(),
    };
    // A journal takes its note along when it is moved aside, and a new one has none yet: this one's journal is gone.
    if let Some(noted) = head_mark::read(directory) {
        let gone = missing(&noted);
        let text = if text.is_empty() { gone.text } else { text };
        return Ok((entries, Fresh { text, ..gone }));
    }
    let fresh = match newest {
        Some((path, why, salvaged)) => successor(path, why, salvaged, text),
        None => Fresh {
            reason: JournalStartedReason::First,
            predecessor: None,
            carried: None,
            text,
        },
    };
    Ok((entries, fresh))
}

/// What follows a journal that was moved aside to `path`.
fn successor(path: &Path, why: Why, salvaged: Salvaged, mut text: String) -> Fresh {
    if text.is_empty() {
        text = format!("the journal before this one is kept as {}", path.display());
    }
    let reason = match why {
        Why::Damaged => JournalStartedReason::MovedAside,
        Why::RolledBack => JournalStartedReason::RolledBack,
    };
    let predecessor = Predecessor {
        journal_id: salvaged.journal_id,
        last_seqno: salvaged.last.seqno,
        last_sha256: salvaged.last.sha256.to_vec(),
        last_acknowledged: salvaged.cursor,
        moved_to: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let carried = salvaged.state.map(|state| Carried {
        checkpoint: state.checkpoint,
        tail: Tail::new(path.to_owned(), state.next, salvaged.last.seqno),
    });
    Fresh {
        reason,
        predecessor: Some(predecessor),
        carried,
        text,
    }
}

/// The file is gone, and the note beside it says what it held.
fn missing(noted: &Noted) -> Fresh {
    Fresh {
        reason: JournalStartedReason::MovedAside,
        predecessor: Some(Predecessor {
            journal_id: noted.journal_id.clone(),
            last_seqno: noted.head.seqno,
            last_sha256: noted.head.sha256.to_vec(),
            last_acknowledged: 0,
            moved_to: String::new(),
        }),
        carried: None,
        text: format!(
            "the journal {} is gone; its newest event was {}",
            noted.journal_id, noted.head.seqno
        ),
    }
}

enum Look {
    Nothing,
    Good(Box<Good>),
    Damaged(String),
}

/// A file that can be gone on with.
struct Good {
    identity: Identity,
    head: Mark,
    cursor: Mark,
    state: State,
    moved_aside: Vec<MovedAside>,
}

/// Where folding begins.
pub(super) struct State {
    /// The newest checkpoint.
    pub(super) checkpoint: Option<Event>,
    /// The first event to be folded over it.
    pub(super) next: Seqno,
}

impl Good {
    fn empty(identity: Identity) -> Self {
        Good {
            identity,
            head: Mark::NONE,
            cursor: Mark::NONE,
            state: State {
                checkpoint: None,
                next: 1,
            },
            moved_aside: Vec::new(),
        }
    }
}

/// Why a look ended.
enum Stop {
    Damaged(String),
    Refused(OpenError),
}

fn look(path: &Path, owner: &Owner, noted: Option<&Noted>) -> Result<Look, OpenError> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Look::Nothing),
        Err(error) => {
            return Err(OpenError::Store {
                path: path.to_owned(),
                source: StoreError::file("look at the journal", error),
            });
        }
        Ok(_) => {}
    }
    // Nobody in this process has the file open yet: reading it directly drops no locks.
    match std::fs::File::open(path).and_then(|mut file| files::header(&mut file)) {
        Ok(None) => {}
        Ok(Some(what)) => return Ok(Look::Damaged(what.to_owned())),
        Err(error) => {
            return Err(OpenError::Store {
                path: path.to_owned(),
                source: StoreError::file("read the journal's header", error),
            });
        }
    }
    match examine(path, owner, noted) {
        Ok(good) => Ok(Look::Good(Box::new(good))),
        Err(Stop::Damaged(what)) => Ok(Look::Damaged(what)),
        Err(Stop::Refused(error)) => Err(error),
    }
}

fn examine(path: &Path, owner: &Owner, noted: Option<&Noted>) -> Result<Good, Stop> {
    let mut reader = Reader::open(path).map_err(stop)?;
    let identity = reader.identity().clone();
    let found = Owner {
        site: identity.site.clone(),
        table: identity.table.clone(),
    };
    if found != *owner {
        let configured = owner.clone();
        return Err(Stop::Refused(OpenError::OtherOwner {
            path: path.to_owned(),
            found,
            configured,
        }));
    }
    let head = reader.read(View::head).map_err(stop)?;
    let oldest = reader.read(View::oldest).map_err(stop)?;
    let expired = reader
        .read(View::expired)
        .map_err(stop)?
        .map_or(Mark::NONE, |expired| expired.through);
    if oldest.seqno != expired.seqno + 1 && head != Mark::NONE || head == Mark::NONE && expired != Mark::NONE {
        return Err(Stop::Damaged(format!(
            "event {} should be the oldest, and {} is",
            expired.seqno + 1,
            oldest.seqno
        )));
    }
    let cursor = reader.read(View::cursor).map_err(stop)?;
    let under_cursor = reader.read(|view| view.mark(cursor.seqno)).map_err(stop)?;
    if cursor != Mark::NONE && cursor != expired && under_cursor != Some(cursor) {
        return Err(Stop::Damaged(format!(
            "the cursor names event {}, and that is another",
            cursor.seqno
        )));
    }
    check_note(&mut reader, head, noted)?;
    let state = state(&mut reader, head)?;
    let directory = path.parent().unwrap_or(Path::new("")).to_owned();
    let moved_aside = reader.read(|view| view.moved_aside(&directory)).map_err(stop)?;
    Ok(Good {
        identity,
        head,
        cursor,
        state,
        moved_aside,
    })
}

/// The note beside the journal is never ahead of what was durable: a head behind it means that events were lost. A note of another journal,
/// which isn't one before this, means that this file took that one's place.
fn check_note(reader: &mut Reader, head: Mark, noted: Option<&Noted>) -> Result<(), Stop> {
    let Some(noted) = noted.filter(|_| head != Mark::NONE) else {
        return Ok(());
    };
    if noted.journal_id != reader.journal_id() {
        if lineage::comes_before(reader, &noted.journal_id).map_err(stop)? {
            return Ok(());
        }
        return Err(Stop::Damaged(format!(
            "it is journal {}, and the one that was written here is {}, up to event {}",
            reader.journal_id(),
            noted.journal_id,
            noted.head.seqno
        )));
    }
    if noted.head.seqno > head.seqno {
        return Err(Stop::Damaged(format!(
            "its newest event is {}, and event {} had been written",
            head.seqno, noted.head.seqno
        )));
    }
    match reader.sha256(noted.head.seqno).map_err(stop)? {
        Some(sha256) if sha256 != noted.head.sha256 => Err(Stop::Damaged(format!(
            "event {} is not the one that had been written",
            noted.head.seqno
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Finds the newest checkpoint and verifies the chain from there to the head.
fn state(reader: &mut Reader, head: Mark) -> Result<State, Stop> {
    let newest = reader.read(|view| view.checkpoint_below(Seqno::MAX)).map_err(stop)?;
    let oldest = reader.oldest().map_err(stop)?;
    let first = newest.unwrap_or(oldest.max(1));
    if first == 0 {
        return Err(Stop::Damaged(
            "event 0 is listed as a checkpoint, and numbers begin with 1".to_owned(),
        ));
    }
    let identity = reader.identity().clone();
    let previous = if first == 1 {
        Some([0; 32])
    } else {
        reader.sha256(first - 1).map_err(stop)?
    };
    let mut chain = Chain::new(&identity.journal_id, &identity.site, &identity.table, first, previous);
    let mut checkpoint = None;
    while chain.next() <= head.seqno {
        let page = reader
            .read(|view| view.page(chain.next(), head.seqno, PAGE))
            .map_err(stop)?;
        if page.is_empty() {
            return Err(broken(
                chain.next(),
                &BadRecord::Missing {
                    expected: chain.next(),
                    found: head.seqno,
                },
            ));
        }
        for record in &page {
            let event = chain.take(record).map_err(|bad| broken(record.seqno, &bad))?;
            if newest == Some(record.seqno) {
                check_checkpoint(reader, &event)?;
                checkpoint = Some(event);
            }
        }
    }
    if newest.is_some() && checkpoint.is_none() {
        return Err(Stop::Damaged(
            "its newest checkpoint lies beyond its newest event".to_owned(),
        ));
    }
    let next = if checkpoint.is_some() { first + 1 } else { first };
    if checkpoint.is_none() && first > 1 {
        return Err(Stop::Damaged(
            "events were deleted and no checkpoint stands for them".to_owned(),
        ));
    }
    Ok(State { checkpoint, next })
}

fn check_checkpoint(reader: &mut Reader, event: &Event) -> Result<(), Stop> {
    let Some(Body::CheckpointRecorded(checkpoint)) = &event.body else {
        return Err(Stop::Damaged(BadRecord::Listed(event.seqno).to_string()));
    };
    let through = checkpoint.through_seqno;
    // The second event of a journal carries over a predecessor's state: its number is one of the predecessor.
    if event.seqno == 2 || through >= event.seqno {
        return Ok(());
    }
    match reader.sha256(through).map_err(stop)? {
        Some(sha256) if checkpoint.sha256 != sha256 => Err(broken(event.seqno, &BadRecord::Checkpoint(through))),
        Some(_) | None => Ok(()),
    }
}

fn broken(seqno: Seqno, bad: &BadRecord) -> Stop {
    Stop::Damaged(format!("event {seqno}: {bad}"))
}

/// Sorts what went wrong while reading: the contents, or everything else.
fn stop(error: ReadError) -> Stop {
    match error {
        ReadError::Event { seqno, source, .. } => broken(seqno, &source),
        ReadError::Store {
            source: StoreError::Damaged { doing, source },
            ..
        } => Stop::Damaged(format!("cannot {doing}: {source}")),
        ReadError::Newer { path, found, known } => Stop::Refused(OpenError::Newer { path, found, known }),
        ReadError::Store { path, source } | ReadError::NotClosed { path, source } => {
            Stop::Refused(OpenError::Store { path, source })
        }
        ReadError::Missing { path } => {
            let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
            Stop::Refused(OpenError::Store {
                path,
                source: StoreError::file("look at the journal", gone),
            })
        }
    }
}

/// The state that a file's newest checkpoint and the events after it give, up to `through`; `None` when they don't verify.
pub(super) fn state_of(reader: &mut Reader, through: Seqno) -> Option<State> {
    let head = reader.read(View::head).ok()?;
    if head.seqno != through {
        return None;
    }
    state(reader, head).ok()
}

/// The database file and the two that SQLite keeps beside it.
pub(super) fn files_of(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")]
}
