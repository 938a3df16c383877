//! Where a journal comes from: what its first event says of the one before it, and whether the files beside it bear that out.

use super::reader::{ReadError, Reader};
use super::store::View;
use super::{Seqno, decode};
use crate::table::event::{Body, JournalStarted, JournalStartedReason, Predecessor};
use std::path::{Path, PathBuf};

/// Journals before a journal that are looked at. Each stands for a disk that failed or went back in time.
const ELDERS: usize = 16;

/// What a journal's first event says.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    /// Why it was begun.
    pub reason: JournalStartedReason,
    /// The journal before it.
    pub predecessor: Option<Predecessor>,
    /// The machine id of the PC that it was begun on.
    pub machine: String,
}

/// A journal that comes before, as a later one names it.
#[derive(Clone, PartialEq, Debug)]
pub struct Elder {
    /// UUID of the journal that names it.
    pub named_by: String,
    /// Its UUID; empty when it could not be read even then.
    pub journal_id: String,
    /// The event that it is said to end with.
    pub last_seqno: Seqno,
    /// Where it is said to be kept; empty: nowhere.
    pub path: PathBuf,
    /// What is found there.
    pub link: Link,
    /// A broker acknowledged all that could be read of it, as the journal that is proven has noted: its file may go.
    pub is_delivered: bool,
}

impl Elder {
    /// Whether what came before is accounted for: it is there as named, or the floor has it all and its file was let go.
    #[must_use]
    pub fn is_accounted_for(&self) -> bool {
        match self.link {
            Link::Holds => true,
            Link::Gone => self.is_delivered,
            Link::Lost(_) | Link::Differs(_) => false,
        }
    }
}

/// Whether a journal is what a later one says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Link {
    /// Its last event is there and has the SHA-256 that is named.
    Holds,
    /// No file is there: it was gone already, or was taken away since. Proves nothing, either way.
    Gone,
    /// The file is damaged: the event that is named can't be found in it.
    Lost(String),
    /// It is another journal, or its last event is another: something was exchanged.
    Differs(String),
}

/// What the first event says; `None` when it isn't there, or can't be read.
pub(super) fn origin(reader: &mut Reader) -> Result<Option<Origin>, ReadError> {
    let page = match reader.page(1, 1, 1) {
        Ok(page) => page,
        Err(ReadError::Event { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(Body::JournalStarted(started)) = page
        .first()
        .and_then(|record| decode(record).ok())
        .and_then(|event| event.body)
    else {
        return Ok(None);
    };
    let reason = started.reason();
    let JournalStarted {
        predecessor, machine, ..
    } = started;
    Ok(Some(Origin {
        reason,
        predecessor,
        machine,
    }))
}

/// Whether `journal_id` is known to come before this journal.
pub(super) fn comes_before(reader: &mut Reader, journal_id: &str) -> Result<bool, ReadError> {
    let moved_aside = reader.read(|view: &View| view.moved_aside(Path::new("")))?;
    if moved_aside.iter().any(|moved| moved.journal_id == journal_id) {
        return Ok(true);
    }
    let predecessor = origin(reader)?.and_then(|origin| origin.predecessor);
    Ok(predecessor.is_some_and(|predecessor| predecessor.journal_id == journal_id))
}

/// Follows predecessors through the files that they are kept as, newest first.
///
/// # Errors
/// [`ReadError`], of the journal itself; what is wrong with those before it is in the answer.
pub(super) fn elders(reader: &mut Reader, origin: Option<&Origin>) -> Result<Vec<Elder>, ReadError> {
    let moved_aside = match reader.read(|view: &View| view.moved_aside(Path::new(""))) {
        Ok(moved_aside) => moved_aside,
        Err(error) if error.is_of_contents() => Vec::new(),
        Err(error) => return Err(error),
    };
    let is_delivered = |predecessor: &Predecessor| {
        let mut noted = moved_aside.iter();
        let is_noted = noted.any(|moved| moved.journal_id == predecessor.journal_id && moved.cursor >= moved.through);
        is_noted || predecessor.last_seqno > 0 && predecessor.last_acknowledged >= predecessor.last_seqno
    };
    let directory = reader.path().parent().unwrap_or(Path::new("")).to_owned();
    let mut elders = Vec::new();
    let mut named_by = reader.journal_id().to_owned();
    let mut next = origin.and_then(|origin| origin.predecessor.clone());
    while let Some(predecessor) = next.take() {
        let (path, link, older) = follow(&directory, &predecessor);
        elders.push(Elder {
            is_delivered: is_delivered(&predecessor),
            named_by: std::mem::replace(&mut named_by, predecessor.journal_id.clone()),
            journal_id: predecessor.journal_id,
            last_seqno: predecessor.last_seqno,
            path,
            link,
        });
        if elders.len() < ELDERS {
            next = older;
        }
    }
    Ok(elders)
}

/// What is found of a predecessor, and who came before it.
fn follow(directory: &Path, named: &Predecessor) -> (PathBuf, Link, Option<Predecessor>) {
    // A file's name, never a path: an event must not lead out of the journal's directory.
    let Some(name) = Path::new(&named.moved_to).file_name() else {
        return (PathBuf::new(), Link::Gone, None);
    };
    let path = directory.join(name);
    let mut reader = match Reader::open(&path) {
        Ok(reader) => reader,
        Err(ReadError::Missing { .. }) => return (path, Link::Gone, None),
        Err(error) => return (path, Link::Lost(error.to_string()), None),
    };
    let link = join(&mut reader, named);
    let older = match link {
        Link::Holds | Link::Lost(_) => origin(&mut reader).ok().flatten().and_then(|origin| origin.predecessor),
        Link::Gone | Link::Differs(_) => None,
    };
    (path, link, older)
}

fn join(reader: &mut Reader, named: &Predecessor) -> Link {
    if reader.journal_id() != named.journal_id {
        return Link::Differs(format!("it is journal {}", reader.journal_id()));
    }
    if named.last_seqno == 0 {
        return Link::Holds;
    }
    match reader.page(named.last_seqno, named.last_seqno, 1) {
        Ok(page) => match page.first() {
            Some(record) if record.seqno == named.last_seqno && record.sha256 == named.last_sha256.as_slice() => {
                Link::Holds
            }
            Some(record) if record.seqno == named.last_seqno => {
                Link::Differs(format!("its event {} is another", named.last_seqno))
            }
            Some(_) | None => Link::Lost(format!("its event {} can't be found", named.last_seqno)),
        },
        Err(error) => Link::Lost(error.to_string()),
    }
}
