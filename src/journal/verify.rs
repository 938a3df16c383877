//! Proves a journal: its structure, order, gaps, chain, owner, checkpoints, what was deleted, the cursor, and the note beside it.

use super::beginning::Beginning;
use super::chain::{BadRecord, Chain};
use super::ending::{End, note_of};
use super::error::StoreError;
use super::handle::Shared;
use super::head_mark;
use super::lineage::{self, Elder, Link, Origin};
use super::reader::{ReadError, Reader};
use super::store::View;
use super::tail::PAGE;
use super::{Record, Seqno};
use crate::table::event::{Body, Event, EventsExpired, Head};
use std::path::Path;
use std::time::{Duration, Instant};

/// In the background a page of events costs some 0.3 ms: resting this long after each leaves the table nine tenths of the processor.
const REST: Duration = Duration::from_millis(3);

/// A proof in the background that a disk ends is begun anew after so long: one that is reset or busy answers again within seconds.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

/// It is begun so often: a disk that can't be read for a minute is told.
const TRIES: u32 = 6;

/// How long closing waits at most for one that waits.
const LOOK_AT_CLOSING: Duration = Duration::from_millis(100);

/// How far a proof has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Events proven.
    pub done: u64,
    /// Events in the journal.
    pub of: u64,
}

/// The first thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bad {
    /// The first event that it concerns; `None`: the file as a whole.
    pub seqno: Option<Seqno>,
    /// What is wrong.
    pub text: String,
}

/// What a proof found.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// UUID of the journal.
    pub journal_id: String,
    /// Its owner's site.
    pub site: String,
    /// Its owner's table.
    pub table: String,
    /// Its oldest event; 0: empty.
    pub oldest: Seqno,
    /// Its newest event.
    pub head: Head,
    /// Events that are proven.
    pub proven: u64,
    /// Checkpoints among them.
    pub checkpoints: u64,
    /// Highest seqno up to which a broker acknowledged everything.
    pub cursor: Seqno,
    /// How far back it reaches. [`verify`] alone tells.
    pub beginning: Beginning,
    /// What its first event says; `None`: it isn't there ([`Report::beginning`] says why), or can't be read. [`verify`] alone tells.
    pub origin: Option<Origin>,
    /// The journals before it, newest first, and whether the files beside it bear them out. [`verify`] alone tells.
    pub elders: Vec<Elder>,
    /// The first thing that is wrong; `None`: the journal is whole.
    pub bad: Option<Bad>,
}

/// Proves the journal at `path`, beside a running daemon or of a copy, and changes nothing. `progress` is called after each page.
///
/// # Errors
/// The journal can't be read at all; what is wrong with its contents is in the report.
pub fn verify(path: &Path, progress: impl FnMut(Progress)) -> Result<Report, ReadError> {
    verify_and_show(path, progress, |_, _| {})
}

/// As [`verify`]; `show` is given each event that follows from the one before it, oldest first.
///
/// # Errors
/// As [`verify`].
pub fn verify_and_show(
    path: &Path,
    mut progress: impl FnMut(Progress),
    mut show: impl FnMut(&Record, &Event),
) -> Result<Report, ReadError> {
    let mut reader = Reader::open(path)?;
    let noted = note_of(&reader);
    let mut is_another = false;
    let structure = whole(&mut reader, View::structure)?;
    let go_on = |step| {
        progress(step);
        true
    };
    let mut look = |record: &Record, event: &Event| {
        let is_noted = |noted: &head_mark::Noted| noted.head.seqno == record.seqno;
        is_another |= noted
            .as_ref()
            .is_some_and(|noted| is_noted(noted) && noted.head.sha256 != record.sha256);
        show(record, event);
    };
    let mut report = match walk(&mut reader, &mut look, go_on) {
        Ok(Some(report)) => report,
        Ok(None) => unreachable!("a walk ends early only when its progress says so"),
        Err(error) => return Err(error),
    };
    if report.bad.is_some() && report.bad == cut_off(&report.head, report.cursor) {
        // The note may know of more than the cursor does.
        let noted = noted.as_ref().map_or(0, |noted| noted.head.seqno);
        report.bad = cut_off(&report.head, noted.max(report.cursor));
    }
    if report.bad.is_none() {
        report.bad = match (structure, noted) {
            (Some(text), _) => Some(Bad { seqno: None, text }),
            (None, Some(noted)) if noted.head.seqno > report.head.seqno => cut_off(&report.head, noted.head.seqno),
            (None, Some(noted)) if is_another => Some(Bad {
                seqno: Some(noted.head.seqno),
                text: "it is not the event that had been written: the note of the newest one differs".to_owned(),
            }),
            (None, _) => None,
        };
    }
    report.beginning = reader.beginning()?;
    report.origin = lineage::origin(&mut reader)?;
    report.elders = lineage::elders(&mut reader, report.origin.as_ref())?;
    if report.bad.is_none() {
        report.bad = report.elders.iter().find_map(exchanged);
    }
    Ok(report)
}

/// The first event behind the newest one, when a newer one is known to have been written.
fn cut_off(newest: &Head, known: Seqno) -> Option<Bad> {
    match End::judge(newest.seqno, known) {
        End::There => None,
        gone @ End::Gone { first, .. } => Some(Bad {
            seqno: Some(first),
            text: gone.gone().unwrap_or_default(),
        }),
    }
}

/// A journal before this one that isn't the one that was named. One that is damaged or gone says nothing against this one.
fn exchanged(elder: &Elder) -> Option<Bad> {
    match &elder.link {
        Link::Differs(what) => Some(Bad {
            seqno: None,
            text: format!(
                "journal {} names journal {} as the one before it, kept as {}: {what}",
                elder.named_by,
                elder.journal_id,
                elder.path.display()
            ),
        }),
        Link::Holds | Link::Gone | Link::Lost(_) => None,
    }
}

/// Proves everything, what opening did not look at and the rest with it, in a thread of its own.
pub(super) fn in_background(shared: &Shared, found: impl FnOnce(Result<Report, ReadError>) + Send + 'static) {
    let wanted = shared.wanted();
    let path = shared.path().to_owned();
    let check = move || {
        let prove = || {
            Reader::open(&path).and_then(|mut reader| {
                walk(&mut reader, &mut |_, _| {}, |_| {
                    std::thread::sleep(REST);
                    !wanted.is_closing()
                })
            })
        };
        let rest = || {
            let until = Instant::now() + AGAIN_AFTER;
            while Instant::now() < until && !wanted.is_closing() {
                std::thread::sleep(LOOK_AT_CLOSING);
            }
            !wanted.is_closing()
        };
        match patiently(prove, rest) {
            Ok(Some(report)) => found(Ok(report)),
            Ok(None) => {}
            Err(error) => found(Err(error)),
        }
    };
    if let Err(error) = std::thread::Builder::new()
        .name("journal-verify".to_owned())
        .spawn(check)
    {
        tracing::error!(%error, "nobody could verify the older part of the journal");
    }
}

/// Proves again what a read that failed has ended, with a rest before each; `None` as well when a rest said that it is over.
fn patiently<T>(
    mut prove: impl FnMut() -> Result<Option<T>, ReadError>,
    mut rest: impl FnMut() -> bool,
) -> Result<Option<T>, ReadError> {
    for _ in 1..TRIES {
        match prove() {
            Err(error) if !error.is_of_contents() => {
                tracing::debug!(%error, "the journal can't be proven now: trying again");
                if !rest() {
                    return Ok(None);
                }
            }
            proven => return proven,
        }
    }
    prove()
}

/// Who looks at each event of a proof.
type Show<'a> = &'a mut dyn FnMut(&Record, &Event);

/// Follows the chain from the oldest event to the head. `None` when `go_on` said no.
fn walk(
    reader: &mut Reader,
    show: Show<'_>,
    mut go_on: impl FnMut(Progress) -> bool,
) -> Result<Option<Report>, ReadError> {
    let identity = reader.identity().clone();
    let mut report = Report {
        journal_id: identity.journal_id.clone(),
        site: identity.site.clone(),
        table: identity.table.clone(),
        oldest: 0,
        head: Head {
            journal_id: identity.journal_id.clone(),
            seqno: 0,
            sha256: vec![0; 32],
        },
        proven: 0,
        checkpoints: 0,
        cursor: 0,
        beginning: Beginning::Empty,
        origin: None,
        elders: Vec::new(),
        bad: None,
    };
    if let Err(error) = edges(reader, &mut report) {
        return as_bad(error, None).map(|bad| {
            Some(Report {
                bad: Some(bad),
                ..report
            })
        });
    }
    if report.bad.is_some() || report.oldest == 0 {
        return Ok(Some(report));
    }
    let to = report.head.seqno;
    let of = (to + 1).saturating_sub(report.oldest);
    let anchor = anchor(reader, report.oldest)?;
    let mut follow = Follow {
        chain: Chain::new(
            &identity.journal_id,
            &identity.site,
            &identity.table,
            report.oldest,
            anchor,
        ),
        oldest: None,
        deletion: None,
        checkpoints: Vec::new(),
    };
    while follow.chain.next() <= to {
        let from = follow.chain.next();
        let page = match reader.read(|view| view.page(from, to, PAGE)) {
            Ok(page) => page,
            Err(error) => {
                let seqno = first_unreadable(reader, from, to);
                return as_bad(error, Some(seqno)).map(|bad| {
                    Some(Report {
                        bad: Some(bad),
                        ..report
                    })
                });
            }
        };
        if page.is_empty() {
            report.bad = Some(bad(
                from,
                &BadRecord::Missing {
                    expected: from,
                    found: to,
                },
            ));
            return Ok(Some(report));
        }
        for record in &page {
            if let Err(wrong) = follow.take(reader, record, &mut report, show) {
                report.bad = Some(bad(record.seqno.min(follow.chain.next()), &wrong));
                return Ok(Some(report));
            }
        }
        if !go_on(Progress {
            done: report.proven,
            of,
        }) {
            return Ok(None);
        }
    }
    if let Some(oldest) = &follow.oldest
        && let Beginning::Gone { oldest } = Beginning::judge(oldest, follow.deletion.as_ref())
    {
        report.bad = Some(bad(oldest, &BadRecord::Unexplained));
    }
    if report.bad.is_none() {
        report.bad = cut_off(&report.head, cursor_end(reader, report.cursor)?);
    }
    if report.bad.is_none() {
        report.bad = match misjudged(reader, &follow.checkpoints, (report.oldest, to)) {
            Ok(wrong) => wrong,
            Err(error) => Some(as_bad(error, None)?),
        };
    }
    Ok(Some(report))
}

/// The cursor where no event is under it; 0 where one is, if only since the newest one was looked for.
fn cursor_end(reader: &mut Reader, cursor: Seqno) -> Result<Seqno, ReadError> {
    Ok(match reader.sha256(cursor)? {
        None => cursor,
        Some(_) => 0,
    })
}

/// Whether the list that a start finds its checkpoint by has those that are there, and nothing else. A daemon may append and delete meanwhile.
fn misjudged(reader: &mut Reader, seen: &[Seqno], (oldest, walked): (Seqno, Seqno)) -> Result<Option<Bad>, ReadError> {
    let listed = reader.read(View::checkpoints)?;
    let (oldest_now, newest_now) = (reader.oldest()?, reader.head()?.seqno);
    let is_wrong = |seqno: &Seqno| {
        let is_unread = *seqno > walked && *seqno <= newest_now;
        !is_unread && (*seqno < oldest || seen.binary_search(seqno).is_err())
    };
    let wrong = listed.iter().copied().find(is_wrong).map(BadRecord::Listed);
    let lacking = || {
        let is_lacking = |seqno: &Seqno| *seqno >= oldest_now && listed.binary_search(seqno).is_err();
        seen.iter().copied().find(is_lacking).map(BadRecord::Unlisted)
    };
    Ok(wrong.or_else(lacking).map(|wrong| Bad {
        seqno: None,
        text: wrong.to_string(),
    }))
}

/// The chain, with what it says about itself.
struct Follow {
    chain: Chain,
    oldest: Option<Event>,
    /// The newest record of a deletion.
    deletion: Option<EventsExpired>,
    /// Numbers of the checkpoints, in order.
    checkpoints: Vec<Seqno>,
}

impl Follow {
    fn take(
        &mut self,
        reader: &mut Reader,
        record: &Record,
        report: &mut Report,
        show: Show<'_>,
    ) -> Result<(), BadRecord> {
        let event = self.chain.take(record)?;
        report.proven += 1;
        match &event.body {
            Some(Body::CheckpointRecorded(checkpoint)) => {
                report.checkpoints += 1;
                self.checkpoints.push(event.seqno);
                let through = checkpoint.through_seqno;
                // The second event of a journal carries over a predecessor's state: its number is one of the predecessor.
                if event.seqno > 2 && through < event.seqno {
                    let stored = reader.sha256(through).ok().flatten();
                    if stored.is_some_and(|stored| stored != checkpoint.sha256.as_slice()) {
                        return Err(BadRecord::Checkpoint(through));
                    }
                }
            }
            Some(Body::EventsExpired(said)) => self.deletion = Some(said.clone()),
            _ => {}
        }
        show(record, &event);
        self.oldest.get_or_insert(event);
        Ok(())
    }
}

/// Oldest, newest, cursor.
fn edges(reader: &mut Reader, report: &mut Report) -> Result<(), ReadError> {
    report.head = reader.head()?;
    report.oldest = reader.oldest()?;
    let cursor = reader.read(View::cursor)?;
    report.cursor = cursor.seqno;
    let under = reader.sha256(cursor.seqno)?;
    let deleted = reader.read(View::expired)?.map_or(0, |expired| expired.through.seqno);
    // An event that isn't there is found by whoever follows the chain to it, or behind its end.
    let is_missed = under.is_none() && report.oldest > 0 && cursor.seqno >= report.oldest;
    if cursor.seqno > deleted && under != Some(cursor.sha256) && !is_missed {
        let what = if under.is_some() { "is another" } else { "is not there" };
        let text = format!("the cursor names event {}, and that {what}", cursor.seqno);
        report.bad = Some(Bad {
            seqno: Some(cursor.seqno),
            text,
        });
    }
    Ok(())
}

/// The hash that the oldest event follows from: zeros for the first, else what the deletion before it left.
fn anchor(reader: &mut Reader, oldest: Seqno) -> Result<Option<[u8; 32]>, ReadError> {
    if oldest == 1 {
        return Ok(Some([0; 32]));
    }
    let expired = reader.read(View::expired)?;
    Ok(expired
        .filter(|expired| expired.through.seqno + 1 == oldest)
        .map(|expired| expired.through.sha256))
}

/// A page failed: which event of it is the first that can't be read?
fn first_unreadable(reader: &mut Reader, from: Seqno, to: Seqno) -> Seqno {
    let last = to.min(from.saturating_add(PAGE as u64));
    (from..=last)
        .find(|seqno| {
            reader
                .read(|view| view.page(*seqno, *seqno, 1))
                .map_or(true, |page| page.is_empty())
        })
        .unwrap_or(from)
}

fn bad(seqno: Seqno, wrong: &BadRecord) -> Bad {
    Bad {
        seqno: Some(seqno),
        text: wrong.to_string(),
    }
}

/// Damage is a finding; anything else is an error.
fn as_bad(error: ReadError, seqno: Option<Seqno>) -> Result<Bad, ReadError> {
    match error {
        ReadError::Store {
            source: StoreError::Damaged { doing, source },
            ..
        } => Ok(Bad {
            seqno,
            text: format!("cannot {doing}: {source}"),
        }),
        ReadError::Event { seqno, source, .. } => Ok(Bad {
            seqno: Some(seqno),
            text: source.to_string(),
        }),
        other @ (ReadError::Missing { .. }
        | ReadError::Newer { .. }
        | ReadError::NotClosed { .. }
        | ReadError::Store { .. }) => Err(other),
    }
}

/// A check of the whole file that damage itself may end.
fn whole(
    reader: &mut Reader,
    check: impl Fn(&View) -> Result<Option<String>, StoreError>,
) -> Result<Option<String>, ReadError> {
    match reader.read(check) {
        Ok(verdict) => Ok(verdict),
        Err(error) => as_bad(error, None).map(|bad| Some(bad.text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn failed() -> ReadError {
        ReadError::Store {
            path: PathBuf::new(),
            source: StoreError::injected_io(),
        }
    }

    #[test]
    fn a_disk_that_fails_is_asked_again_and_damage_is_told_at_once() {
        let missing = || ReadError::Missing { path: PathBuf::new() };
        for (what, failing, then_missing, rests, expected) in [
            ("sound", 0, false, 9, Some(0)),
            ("fails for a while", 2, false, 9, Some(2)),
            ("fails until the last", 5, false, 9, Some(5)),
            ("is gone", 0, true, 9, None),
            ("fails and is gone", 2, true, 9, None),
            ("fails for good", 9, false, 9, None),
        ] {
            let (mut proofs, mut rested) = (0, 0);
            let proven = patiently(
                || {
                    proofs += 1;
                    match proofs <= failing {
                        true => Err(failed()),
                        false if then_missing => Err(missing()),
                        false => Ok(Some(())),
                    }
                },
                || {
                    rested += 1;
                    rested <= rests
                },
            );
            match expected {
                Some(times) => assert!(proven.unwrap().is_some() && rested == times, "{what}: {rested}"),
                None => assert_eq!(proven.unwrap_err().is_of_contents(), then_missing, "{what}"),
            }
        }
        let closing = patiently(|| Err::<Option<()>, _>(failed()), || false);
        assert!(closing.unwrap().is_none());
    }
}
