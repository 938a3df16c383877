//! Journals that can't be gone on with: moved aside whole, never changed, and read for what they still hold.

use super::chain;
use super::error::StoreError;
use super::files::{beside, sync_directory};
use super::head_mark::{self, Noted};
use super::lineage;
use super::open::{State, files_of, state_of};
use super::reader::{Readable, Reader};
use super::row::{Mark, MovedAside};
use super::store::View;
use super::{Owner, Seqno};
use crate::failpoint::{Point, pass};
use crate::time::Timestamp;
use std::path::{Path, PathBuf};

/// Rows asked for at once while looking for what can be read.
const PAGE: usize = 256;

/// Journals moved aside in one second are numbered; names sort in the order in which they were moved.
const NAMES_TRIED: u32 = 99;

/// Why a journal was moved aside; part of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    Damaged,
    RolledBack,
}

impl Why {
    fn word(self) -> &'static str {
        match self {
            Why::Damaged => "damaged",
            Why::RolledBack => "rolled-back",
        }
    }
}

/// Moves the journal's files to a name with the date. The database goes first: a WAL without its database is brought after it at the next
/// start, a database without its WAL would be taken for a damaged one.
pub(super) fn move_aside(path: &Path, now: Timestamp, why: Why) -> Result<PathBuf, StoreError> {
    let doing = "move the journal aside";
    let stamp = stamp(now);
    let to = (1..=NAMES_TRIED)
        .map(|number| path.with_file_name(format!("journal-{stamp}-{number:02}-{}.sqlite3", why.word())))
        .find(|name| files_of(name).iter().all(|file| !file.exists()))
        .ok_or_else(|| StoreError::file(doing, std::io::Error::from(std::io::ErrorKind::AlreadyExists)))?;
    for (from, to) in files_of(path).iter().zip(files_of(&to)) {
        match std::fs::rename(from, to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(doing, error)),
            Ok(()) | Err(_) => {}
        }
        pass(Point::DatabaseMovedAside);
    }
    pass(Point::JournalMovedAside);
    move_note(path, &to)?;
    sync_directory(path).map_err(|error| StoreError::file(doing, error))?;
    Ok(to)
}

/// The note beside a journal goes with it to `moved`. One of another journal stays: its file was here, and is gone.
fn move_note(path: &Path, moved: &Path) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    if head_mark::read(directory).is_none_or(|noted| may_be_of(moved, &noted)) {
        head_mark::move_along(directory, moved)
            .map_err(|error| StoreError::file("move the journal's note aside", error))?;
    }
    Ok(())
}

/// Whether the journal at `path` is the noted one. One that can't be read may be any; one that comes after the noted one has had no newer note.
fn may_be_of(path: &Path, noted: &Noted) -> bool {
    let Ok(mut reader) = Reader::open(path) else {
        return true;
    };
    reader.journal_id() == noted.journal_id || lineage::comes_before(&mut reader, &noted.journal_id).unwrap_or(true)
}

/// A crash in the middle of [`move_aside`] leaves the WAL without its database: it follows the newest journal that was moved, and so does
/// the note when that journal has none.
pub(super) fn finish_interrupted_move(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let newest = moved_aside_in(directory)?.pop().map(|(newest, _)| newest);
    for suffix in ["-wal", "-shm"] {
        let stray = beside(path, suffix);
        if !stray.exists() {
            continue;
        }
        let beside_newest = newest
            .as_ref()
            .map(|newest| beside(newest, suffix))
            .filter(|place| !place.exists());
        // Without a journal that it could belong to it is kept under a name that no new journal reads.
        let place = beside_newest.unwrap_or_else(|| beside(path, &format!("{suffix}.stray")));
        std::fs::rename(&stray, place).map_err(|error| StoreError::file("move the journal aside", error))?;
    }
    match newest {
        Some(newest) if head_mark::read_kept(&newest).is_none() => move_note(path, &newest),
        Some(_) | None => Ok(()),
    }
}

/// The journals in a directory that were moved aside, oldest first.
pub(super) fn moved_aside_in(directory: &Path) -> Result<Vec<(PathBuf, Why)>, StoreError> {
    let list = || -> std::io::Result<Vec<(PathBuf, Why)>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let why = [Why::Damaged, Why::RolledBack]
                .into_iter()
                .find(|why| name.starts_with("journal-") && name.ends_with(&format!("-{}.sqlite3", why.word())));
            if let Some(why) = why {
                found.push((path, why));
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found)
    };
    list().map_err(|error| StoreError::file("look for older journals", error))
}

/// What a journal that was moved aside still tells.
pub(super) struct Salvaged {
    /// Empty when it can't be read.
    pub(super) journal_id: String,
    /// The newest event that is known to have been written.
    pub(super) last: Mark,
    /// Highest seqno up to which a broker acknowledged everything.
    pub(super) cursor: Seqno,
    /// The newest event that can be read.
    pub(super) through: Seqno,
    /// Where folding begins, when everything from there to `last` verifies.
    pub(super) state: Option<State>,
    /// What it knew about journals before it.
    pub(super) moved_aside: Vec<MovedAside>,
}

/// Reads what can be read.
pub(super) fn salvage(path: &Path, owner: &Owner) -> Salvaged {
    let noted = head_mark::read_kept(path);
    let mut salvaged = Salvaged {
        journal_id: String::new(),
        last: Mark::NONE,
        cursor: 0,
        through: 0,
        state: None,
        moved_aside: Vec::new(),
    };
    if let Ok(mut reader) = Reader::open(path) {
        salvaged.journal_id = reader.journal_id().to_owned();
        let noted = noted.filter(|noted| noted.journal_id == salvaged.journal_id);
        let newest = newest_readable(&mut reader, noted.as_ref().map_or(0, |noted| noted.head.seqno));
        salvaged.through = newest.map_or(0, |newest| newest.seqno);
        salvaged.last = newest.unwrap_or(Mark::NONE);
        if let Ok(cursor) = reader.read(View::cursor) {
            let under = reader.read(|view| view.mark(cursor.seqno)).ok().flatten();
            // A cursor that names another event is damaged itself; then everything is delivered again, which the floor drops as repeats.
            if under.is_none_or(|under| under == cursor) {
                salvaged.cursor = cursor.seqno;
                if cursor.seqno > salvaged.last.seqno {
                    salvaged.last = cursor;
                }
            }
        }
        if let Some(noted) = noted.filter(|noted| noted.head.seqno > salvaged.last.seqno) {
            salvaged.last = noted.head;
        }
        let same_owner = reader.identity().site == owner.site && reader.identity().table == owner.table;
        if same_owner && salvaged.through > 0 && salvaged.through == salvaged.last.seqno {
            salvaged.state = state_of(&mut reader, salvaged.last.seqno);
        }
        let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
        salvaged.moved_aside = reader.read(|view| view.moved_aside(&directory)).unwrap_or_default();
    } else if let Some(noted) = noted {
        salvaged.journal_id = noted.journal_id;
        salvaged.last = noted.head;
    }
    salvaged
}

/// From the end, or, when the end can't be found, from the start. Event `written` is known to have been there: no hole before it is the end.
fn newest_readable(reader: &mut Reader, written: Seqno) -> Option<Mark> {
    if let Ok(head) = reader.read(View::head) {
        let record = reader
            .read(|view| view.page(head.seqno, head.seqno, 1))
            .ok()
            .and_then(|mut page| page.pop());
        if let Some(record) = record.filter(|record| chain::check_alone(record, reader.journal_id()).is_ok()) {
            return Some(Mark {
                seqno: record.seqno,
                sha256: record.sha256,
            });
        }
    }
    let mut newest = None;
    let mut from = reader.oldest().unwrap_or(1).max(1);
    loop {
        let span = Seqno::try_from(PAGE).unwrap_or(Seqno::MAX);
        let readable = reader.readable(from, from.saturating_add(span - 1), PAGE);
        // This is the last look that is taken at it: what the disk doesn't give is stepped over as well.
        let readable = readable.unwrap_or_else(|_| Readable {
            records: Vec::new(),
            next: from.saturating_add(1),
        });
        // What `readable` gives has been checked.
        match readable.records.into_iter().next_back() {
            Some(last) => {
                newest = Some(Mark {
                    seqno: last.seqno,
                    sha256: last.sha256,
                });
            }
            None if readable.next > written => return newest,
            None => {}
        }
        from = readable.next;
    }
}

/// Which of the journals moved aside have something left to deliver, as far as can be told.
pub(super) fn undelivered(older: &[(PathBuf, Why)], newest: &Salvaged, owner: &Owner) -> Vec<MovedAside> {
    let mut entries = Vec::new();
    for (at, (path, _)) in older.iter().enumerate() {
        if let Some(known) = newest.moved_aside.iter().find(|known| known.path == *path) {
            entries.push(known.clone());
            continue;
        }
        let read;
        let salvaged = if at + 1 == older.len() {
            newest
        } else {
            read = salvage(path, owner);
            &read
        };
        if salvaged.through > 0 {
            entries.push(MovedAside {
                path: path.clone(),
                journal_id: salvaged.journal_id.clone(),
                cursor: salvaged.cursor.min(salvaged.through),
                through: salvaged.through,
            });
        }
    }
    entries
}

/// The date for a file's name: sorts by time, and needs no quoting.
fn stamp(now: Timestamp) -> String {
    now.to_string()
        .chars()
        .take_while(|c| *c != '.')
        .filter(|c| !matches!(c, '-' | ':'))
        .collect::<String>()
        + "Z"
}
