//! `tablegate journal verify|info`: proves a journal and tells its particulars. Read-only; works beside the daemon, without it, and on a copy.

use super::daemon::{self, Reach};
use super::ending::{Failure, Status, print, print_json};
use super::event_json::hex;
use super::progress::Progress;
use super::reading::before;
use super::signatures::{Signatures, Tally, keys_in};
use crate::causes;
use crate::counted::counted;
use crate::journal::{
    Beginning, Elder, End, Infos, Link, Origin, ReadError, Reader, Report, StoreError, file_in, verify_and_show,
};
use crate::table::event::JournalStartedReason;
use crate::time::Timestamp;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Prove a journal, or tell its particulars.
#[derive(Args, Debug)]
#[command(after_help = daemon::finds_its_daemon!(
    "Examples:\n",
    "  tablegate journal verify /var/lib/tablegate/TS-07\n",
    "  tablegate journal info --instance TS-07\n\n",
    "With the path of a journal (its file, its directory, or a copy) no daemon is asked.",
))]
pub struct JournalCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Follow the chain from the oldest event to the newest: order, gaps, hashes, checkpoints, owner, structure of the file.
    #[command(
        after_help = "Examples:\n  tablegate journal verify /var/lib/tablegate/TS-07\n  tablegate journal verify --key TS-07.public.pem /var/lib/tablegate/TS-07\n\nThe chain alone proves a journal to whoever has stored its head: who owns the disk can write another one. With --key the signatures of its checkpoints prove it up to the newest of them."
    )]
    Verify(Verify),
    /// Whose journal it is, its events, cursor and size.
    #[command(after_help = "Example:\n  tablegate journal info --instance TS-07 --json")]
    Info(Which),
}

#[derive(Args, Debug)]
struct Which {
    /// The journal's file or its directory.
    #[arg(value_name = "PATH", conflicts_with_all = ["config", "socket", "instance"])]
    path: Option<PathBuf>,
    #[command(flatten)]
    reach: Reach,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Verify {
    #[command(flatten)]
    which: Which,
    /// A public key (PEM) that signs its checkpoints; several after a change of keys.
    #[arg(long = "key", value_name = "PUBLIC.pem")]
    keys: Vec<PathBuf>,
}

/// Which journal a command reads; none of these: that of the only daemon of this PC.
#[derive(Args, Clone, Debug, Default)]
pub struct Source {
    /// The journal's file or its directory.
    #[arg(long, value_name = "PATH", visible_alias = "directory", conflicts_with_all = ["config", "socket", "instance"])]
    journal: Option<PathBuf>,
    #[command(flatten)]
    reach: Reach,
}

impl Source {
    /// The journal's file.
    ///
    /// # Errors
    /// No configuration, or no daemon, to say where it is.
    pub fn file(&self) -> Result<PathBuf, Failure> {
        find(self.journal.as_deref(), &self.reach)
    }
}

/// The journal's file: as named, as configured, or as the daemon says.
fn find(path: Option<&Path>, reach: &Reach) -> Result<PathBuf, Failure> {
    match (path, &reach.config) {
        (Some(path), _) if path.is_dir() => Ok(file_in(path)),
        (Some(path), _) => Ok(path.to_owned()),
        (None, Some(config)) => Ok(file_in(&daemon::configuration(config)?.journal.directory)),
        (None, None) => Ok(daemon::look(reach)?.table.journal.path),
    }
}

/// Opens a journal for reading.
///
/// # Errors
/// What is wrong with it.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    Reader::open(path).map_err(unreadable)
}

/// A journal that can't be read, with its causes.
#[must_use]
pub fn unreadable(error: ReadError) -> Failure {
    let status = match &error {
        ReadError::Newer { .. } => Status::NewerJournal,
        ReadError::Missing { .. } | ReadError::NotClosed { .. } | ReadError::Event { .. } | ReadError::Store { .. } => {
            Status::Failed
        }
    };
    Failure {
        status,
        text: format!("{}{}", causes::told(&error), advice(&error)),
    }
}

/// What to do about it, for the end of the sentence.
fn advice(error: &ReadError) -> &'static str {
    match error {
        ReadError::Missing { .. } => ": name a table's journal.sqlite3, or the folder that it is in",
        ReadError::Newer { .. } => ": use the version of tablegate that wrote it, or a newer one",
        ReadError::Store {
            source: StoreError::Damaged { .. },
            ..
        } => {
            "; a table's journal is the file journal.sqlite3, and a copy of it is whole together with the file that ends in -wal, where there is one"
        }
        ReadError::NotClosed { .. } | ReadError::Event { .. } | ReadError::Store { .. } => "",
    }
}

/// Runs it.
///
/// # Errors
/// The journal can't be read, or isn't whole.
pub fn run(command: &JournalCommand) -> Result<(), Failure> {
    match &command.command {
        Command::Verify(verify) => run_verify(verify),
        Command::Info(which) => run_info(which),
    }
}

#[derive(Serialize, Debug)]
struct Verified {
    path: PathBuf,
    whole: bool,
    journal_id: String,
    site: String,
    table: String,
    oldest: u64,
    newest: u64,
    head_sha256: String,
    events_proven: u64,
    checkpoints: u64,
    acknowledged_through: u64,
    /// "first", "expired", "gone", "empty": how far back it reaches.
    beginning: &'static str,
    #[serde(skip)]
    begins: String,
    begun: Option<Begun>,
    before_it: Vec<Before>,
    /// Of what came before a journal that is whole itself: what is neither there as named nor with the floor to its end.
    not_proven_before_it: Option<String>,
    first_bad_seqno: Option<u64>,
    what_is_wrong: Option<String>,
    signatures: Signatures,
}

impl Verified {
    fn new(path: PathBuf, report: Report, signatures: Signatures) -> Self {
        let before_it: Vec<Before> = report.elders.into_iter().map(Before::new).collect();
        let unproven = before_it.iter().find(|elder| !elder.is_accounted_for);
        Verified {
            path,
            whole: report.bad.is_none(),
            journal_id: report.journal_id,
            site: report.site,
            table: report.table,
            oldest: report.oldest,
            newest: report.head.seqno,
            head_sha256: hex(&report.head.sha256),
            events_proven: report.proven,
            checkpoints: report.checkpoints,
            acknowledged_through: report.cursor,
            beginning: beginning_word(&report.beginning),
            begins: begins(&report.beginning),
            begun: report.origin.map(Begun::new),
            not_proven_before_it: unproven.map(|elder| elder.words.clone()),
            before_it,
            first_bad_seqno: report.bad.as_ref().and_then(|bad| bad.seqno),
            what_is_wrong: report.bad.map(|bad| bad.text),
            signatures,
        }
    }
}

fn beginning_word(beginning: &Beginning) -> &'static str {
    match beginning {
        Beginning::Empty => "empty",
        Beginning::First => "first",
        Beginning::Expired { .. } => "expired",
        Beginning::Gone { .. } => "gone",
    }
}

/// Of a journal whose first event doesn't say how it was begun.
fn begins(beginning: &Beginning) -> String {
    match beginning {
        Beginning::Empty => "nothing is written in it yet".to_owned(),
        Beginning::First => "its first event doesn't say how".to_owned(),
        known @ (Beginning::Expired { .. } | Beginning::Gone { .. }) => before(known),
    }
}

/// Why a journal was begun, and where.
#[derive(Serialize, Debug)]
struct Begun {
    reason: &'static str,
    machine: String,
    #[serde(skip)]
    words: &'static str,
}

impl Begun {
    fn new(origin: Origin) -> Self {
        let (reason, words) = match origin.reason {
            JournalStartedReason::First => ("first", "as the first of its table"),
            JournalStartedReason::MovedAside => ("moved_aside", "in the place of a damaged one"),
            JournalStartedReason::RolledBack => ("rolled_back", "in the place of one that went back in time"),
            JournalStartedReason::Unspecified => ("unspecified", "for a reason that this program doesn't know"),
        };
        Begun {
            reason,
            machine: origin.machine,
            words,
        }
    }
}

/// A journal before it, and whether what is kept of it is what was named.
#[derive(Serialize, Debug)]
struct Before {
    journal_id: String,
    last_seqno: u64,
    path: PathBuf,
    link: &'static str,
    what_is_found: Option<String>,
    /// A broker has acknowledged all of it.
    delivered: bool,
    #[serde(skip)]
    is_accounted_for: bool,
    #[serde(skip)]
    words: String,
}

impl Before {
    fn new(elder: Elder) -> Self {
        let is_accounted_for = elder.is_accounted_for();
        let path = elder.path.display();
        let (link, what_is_found, found) = match elder.link {
            Link::Holds => ("holds", None, format!("kept as {path}, which ends with that event")),
            Link::Gone if elder.is_delivered => {
                let found = "which is not there; the floor has it to its end".to_owned();
                ("gone", None, found)
            }
            Link::Gone => ("gone", None, "which is not there".to_owned()),
            Link::Lost(what) => ("lost", Some(what.clone()), format!("kept as {path}: {what}")),
            Link::Differs(what) => ("differs", Some(what.clone()), format!("kept as {path}: {what}")),
        };
        let journal = match elder.journal_id.as_str() {
            "" => "one that could not be read",
            known => known,
        };
        Before {
            words: format!("{journal} up to event {}, {found}", elder.last_seqno),
            journal_id: elder.journal_id,
            last_seqno: elder.last_seqno,
            path: elder.path,
            link,
            what_is_found,
            delivered: elder.is_delivered,
            is_accounted_for,
        }
    }
}

fn run_verify(Verify { which, keys }: &Verify) -> Result<(), Failure> {
    let mut tally = Tally::new(keys_in(keys)?);
    let path = find(which.path.as_deref(), &which.reach)?;
    let mut shown = Progress::start();
    let progress = |progress: crate::journal::Progress| shown.events(progress.done, progress.of);
    let report = verify_and_show(&path, progress, |record, event| tally.take(record, event));
    drop(shown);
    let verified = Verified::new(path.clone(), report.map_err(unreadable)?, tally.end());
    if which.json {
        print_json(&verified)?;
    } else {
        print(&verify_text(&verified))?;
    }
    match (&verified.what_is_wrong, verified.first_bad_seqno) {
        (None, _) => match (&verified.signatures.what_is_wrong, &verified.not_proven_before_it) {
            (None, None) => Ok(()),
            (None, Some(what)) => Err(Failure::failed(format!(
                "{} is whole, but the journal before it is not proven: {what}",
                path.display()
            ))),
            (Some(what), _) => Err(Failure::failed(format!(
                "{} is not proven by its signatures: {what}",
                path.display()
            ))),
        },
        (Some(what), Some(seqno)) => Err(Failure::failed(format!(
            "{} is not whole: event {seqno}: {what}",
            path.display()
        ))),
        (Some(what), None) => Err(Failure::failed(format!("{} is not whole: {what}", path.display()))),
    }
}

fn verify_text(verified: &Verified) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "journal      {}", verified.journal_id);
    let _ = writeln!(text, "table        {} at {}", verified.table, verified.site);
    let _ = match verified.oldest {
        0 => writeln!(text, "events       none"),
        oldest => writeln!(text, "events       {oldest} to {}", verified.newest),
    };
    let _ = writeln!(text, "head         {}", verified.head_sha256);
    let _ = writeln!(text, "acknowledged through {}", verified.acknowledged_through);
    let _ = match &verified.begun {
        Some(begun) => writeln!(text, "begun        {} on machine {}", begun.words, begun.machine),
        None => writeln!(text, "begun        {}", verified.begins),
    };
    for elder in &verified.before_it {
        let _ = writeln!(text, "before it    {}", elder.words);
    }
    if verified.whole {
        let _ = writeln!(
            text,
            "WHOLE{}: {} in one chain, {} among them",
            match verified.not_proven_before_it {
                None => "",
                Some(_) => ", but the journal before it is not proven",
            },
            counted(verified.events_proven, "event"),
            counted(verified.checkpoints, "checkpoint")
        );
    } else {
        let _ = writeln!(text, "NOT WHOLE after {}", counted(verified.events_proven, "event"));
    }
    text.push_str(&verified.signatures.text());
    text
}

#[derive(Serialize, Debug)]
struct Told {
    path: PathBuf,
    journal_id: String,
    site: String,
    table: String,
    machine: String,
    created_at: String,
    oldest: u64,
    newest: u64,
    head_sha256: String,
    acknowledged_through: u64,
    unacknowledged: u64,
    newest_checkpoint: Option<u64>,
    /// Up to which event retention deleted, as an event says; absent: nothing, or nobody says so.
    deleted_through: Option<u64>,
    /// "first", "expired", "gone", "empty": how far back it reaches.
    beginning: &'static str,
    #[serde(skip)]
    deleted: String,
    /// Behind the newest: what had been written and is gone; absent: nothing.
    gone_behind: Option<String>,
    file_bytes: u64,
    wal_bytes: u64,
    moved_aside: Vec<ToldMovedAside>,
}

#[derive(Serialize, Debug)]
struct ToldMovedAside {
    path: PathBuf,
    journal_id: String,
    acknowledged_through: u64,
    readable_through: u64,
}

impl Told {
    fn new(path: PathBuf, infos: Infos, beginning: &Beginning, ending: End) -> Self {
        Told {
            path,
            journal_id: infos.identity.journal_id,
            site: infos.identity.site,
            table: infos.identity.table,
            machine: infos.identity.machine,
            created_at: Timestamp::from_unix_micros(infos.identity.created_us).to_string(),
            oldest: infos.oldest,
            newest: infos.head.seqno,
            head_sha256: hex(&infos.head.sha256),
            acknowledged_through: infos.cursor,
            unacknowledged: infos.head.seqno.saturating_sub(infos.cursor),
            newest_checkpoint: infos.checkpoint,
            deleted_through: match beginning {
                Beginning::Expired { through } => Some(*through),
                Beginning::Empty | Beginning::First | Beginning::Gone { .. } => None,
            },
            beginning: beginning_word(beginning),
            deleted: before(beginning),
            gone_behind: ending.gone(),
            file_bytes: infos.file_bytes,
            wal_bytes: infos.wal_bytes,
            moved_aside: infos
                .moved_aside
                .into_iter()
                .map(|moved| ToldMovedAside {
                    path: moved.path,
                    journal_id: moved.journal_id,
                    acknowledged_through: moved.cursor,
                    readable_through: moved.through,
                })
                .collect(),
        }
    }
}

fn run_info(which: &Which) -> Result<(), Failure> {
    let path = find(which.path.as_deref(), &which.reach)?;
    let told = particulars(&path, &mut open(&path)?)?;
    if which.json {
        print_json(&told)?;
    } else {
        print(&info_text(&told))?;
    }
    match told.gone_behind {
        None => Ok(()),
        Some(gone) => Err(Failure::failed(format!("{} is not whole: {gone}", path.display()))),
    }
}

/// A journal's particulars in words.
///
/// # Errors
/// It can't be read.
pub fn told(path: &Path, reader: &mut Reader) -> Result<String, Failure> {
    Ok(info_text(&particulars(path, reader)?))
}

fn particulars(path: &Path, reader: &mut Reader) -> Result<Told, Failure> {
    let infos = reader.infos().map_err(unreadable)?;
    let beginning = reader.beginning().map_err(unreadable)?;
    let ending = reader.ending().map_err(unreadable)?;
    Ok(Told::new(path.to_owned(), infos, &beginning, ending))
}

fn info_text(told: &Told) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "file         {}", told.path.display());
    let _ = writeln!(text, "journal      {}", told.journal_id);
    let _ = writeln!(text, "table        {} at {}", told.table, told.site);
    let _ = writeln!(text, "begun        {} on machine {}", told.created_at, told.machine);
    let _ = match told.oldest {
        0 => writeln!(text, "events       none"),
        oldest => writeln!(text, "events       {oldest} to {}", told.newest),
    };
    let _ = writeln!(text, "head         {}", told.head_sha256);
    let _ = writeln!(
        text,
        "acknowledged through {}, {} waiting for the floor",
        told.acknowledged_through, told.unacknowledged
    );
    if let Some(checkpoint) = told.newest_checkpoint {
        let _ = writeln!(text, "checkpoint   {checkpoint}");
    }
    if !told.deleted.is_empty() {
        let _ = writeln!(text, "before them  {}", told.deleted);
    }
    if let Some(gone) = &told.gone_behind {
        let _ = writeln!(text, "behind them  {gone}");
    }
    let _ = writeln!(
        text,
        "size         {} KiB, and {} KiB not yet moved into it",
        told.file_bytes / 1024,
        told.wal_bytes / 1024
    );
    for moved in &told.moved_aside {
        let _ = writeln!(
            text,
            "before it    {} ({}), delivered through {} of {}",
            moved.path.display(),
            moved.journal_id,
            moved.acknowledged_through,
            moved.readable_through
        );
    }
    text
}
