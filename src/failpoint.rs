//! Steps after which a crash test may end the process. Compiled in only with the feature `failpoints`, which the floor's package is
//! built without: there [`pass`] is nothing. Imports nothing of the crate; any room whose work crosses a step may name it.
//!
//! `TABLEGATE_FAILPOINTS` says where: names of points, each with the passing that is the last, as in
//! `append-synced:3,cursor-written:1`. The process ends there as by a power cut, with SIGKILL.

/// A step that a crash may come right after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// An append is asked for, nothing of it is written.
    AppendBegins,
    /// Its rows are written, the transaction is open.
    AppendWritten,
    /// It is synced; nobody was told.
    AppendSynced,
    /// Its asker was told; the note of the head beside the journal is that of the append before.
    AppendAnswered,
    /// The note beside the journal says so as well.
    HeadNoted,
    /// The rows of an append with a checkpoint are written, the transaction is open.
    CheckpointWritten,
    /// An append with a checkpoint is synced.
    CheckpointSynced,
    /// Old events are deleted in a transaction that is open.
    ExpiryWritten,
    /// Old events are deleted for good.
    ExpirySynced,
    /// The cursor is about to be written.
    CursorBegins,
    /// The cursor is written.
    CursorWritten,
    /// The WAL is about to be moved into the file.
    TidyBegins,
    /// The WAL's pages are in the file; the WAL still has them.
    TidyMoved,
    /// Everything was moved into the file at a close; the WAL is there, empty.
    CloseMoved,
    /// A new journal is built, under another name.
    JournalBuilt,
    /// A new journal has its name.
    JournalPlaced,
    /// One more file of a journal that is moved aside has its new name: first the database, then its WAL.
    DatabaseMovedAside,
    /// All files of a journal that is moved aside have their new names.
    JournalMovedAside,
    /// A connection to a broker has its number, and the number is durable.
    ConnectionCounted,
    /// The loop knows that what it decided is durable; nothing is shown.
    Recorded,
    /// Lamps and readout were told.
    Shown,
    /// The floor's side, the display and the control socket were told.
    Told,
    /// An event was handed to the connection to the broker.
    Published,
    /// A broker has acknowledged an event; the cursor doesn't know.
    Acknowledged,
    /// The journal's thread was told of the new cursor.
    CursorTold,
}

impl Point {
    /// Every point, with its name in the environment.
    pub const ALL: [(Point, &str); 25] = [
        (Point::AppendBegins, "append-begins"),
        (Point::AppendWritten, "append-written"),
        (Point::AppendSynced, "append-synced"),
        (Point::AppendAnswered, "append-answered"),
        (Point::HeadNoted, "head-noted"),
        (Point::CheckpointWritten, "checkpoint-written"),
        (Point::CheckpointSynced, "checkpoint-synced"),
        (Point::ExpiryWritten, "expiry-written"),
        (Point::ExpirySynced, "expiry-synced"),
        (Point::CursorBegins, "cursor-begins"),
        (Point::CursorWritten, "cursor-written"),
        (Point::TidyBegins, "tidy-begins"),
        (Point::TidyMoved, "tidy-moved"),
        (Point::CloseMoved, "close-moved"),
        (Point::JournalBuilt, "journal-built"),
        (Point::JournalPlaced, "journal-placed"),
        (Point::DatabaseMovedAside, "database-moved-aside"),
        (Point::JournalMovedAside, "journal-moved-aside"),
        (Point::ConnectionCounted, "connection-counted"),
        (Point::Recorded, "recorded"),
        (Point::Shown, "shown"),
        (Point::Told, "told"),
        (Point::Published, "published"),
        (Point::Acknowledged, "acknowledged"),
        (Point::CursorTold, "cursor-told"),
    ];
}

#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) fn pass(_point: Point) {}

#[cfg(feature = "failpoints")]
pub(crate) use armed::pass;

#[cfg(feature = "failpoints")]
mod armed {
    use super::Point;
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Where the environment says where.
    const VARIABLE: &str = "TABLEGATE_FAILPOINTS";

    /// A point, and how many passings are left.
    struct Mine {
        point: Point,
        left: AtomicU64,
    }

    /// Read once: the environment of a process doesn't change.
    static MINES: OnceLock<Vec<Mine>> = OnceLock::new();

    /// Ends the process when its environment says so.
    pub(crate) fn pass(point: Point) {
        for mine in MINES.get_or_init(read) {
            if mine.point == point && mine.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                // It can't fail, and nothing may happen after it.
                let _killed = kill(Pid::this(), Signal::SIGKILL);
                loop {
                    std::thread::park();
                }
            }
        }
    }

    fn read() -> Vec<Mine> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Vec::new();
        };
        let mines = text.split(',').filter_map(|item| {
            let mine = parse(item);
            if mine.is_none() {
                tracing::error!("{VARIABLE} names no such point: {item:?}");
            }
            mine
        });
        mines.collect()
    }

    fn parse(item: &str) -> Option<Mine> {
        let (name, passing) = item.split_once(':')?;
        let (point, _) = Point::ALL.into_iter().find(|(_, known)| *known == name)?;
        Some(Mine {
            point,
            left: AtomicU64::new(passing.parse().ok()?),
        })
    }
}
