//! Journals on the simulated disk, as the uplink reads them.

use super::{Disk, Kept, Reads};
use crate::journal::Seqno;
use crate::sim::faults::eyes::hold;
use crate::uplink::{EventSource, Extent, Page, SourceError, SourceOpener};
use std::sync::Arc;

/// Opens the journal of this id.
pub(super) fn opener(disk: &Arc<Disk>, journal_id: &str) -> SourceOpener {
    let (disk, journal_id) = (Arc::clone(disk), journal_id.to_owned());
    Box::new(move || {
        Ok(Box::new(Pages {
            disk: Arc::clone(&disk),
            journal_id: journal_id.clone(),
        }))
    })
}

/// A journal, as the uplink reads it.
struct Pages {
    disk: Arc<Disk>,
    journal_id: String,
}

impl Pages {
    fn with<T>(&self, look: impl FnOnce(&Kept) -> T) -> Result<T, SourceError> {
        let inner = hold(&self.disk.inner);
        if inner.reads == Reads::Fail {
            return Err(SourceError::Failed {
                text: "the journal can't be read: simulated".to_owned(),
            });
        }
        let all = std::iter::once(&inner.kept).chain(&inner.older);
        let kept = all.into_iter().find(|kept| kept.journal_id == self.journal_id);
        kept.map(look).ok_or_else(|| SourceError::Lost {
            text: "no such journal".to_owned(),
        })
    }
}

impl EventSource for Pages {
    fn extent(&mut self) -> Result<Extent, SourceError> {
        self.with(|kept| Extent {
            journal_id: kept.journal_id.clone(),
            oldest: kept.records.first().map_or(0, |oldest| oldest.seqno),
            newest: kept.head().seqno,
        })
    }

    fn page(&mut self, from: Seqno, to: Seqno, max: usize) -> Result<Page, SourceError> {
        let records = self.with(|kept| kept.between(from, to, max))?;
        let next = records.last().map_or(from, |last| last.seqno.saturating_add(1));
        Ok(Page { records, next })
    }

    fn elder(&mut self, journal_id: &str) -> Result<Option<Box<dyn EventSource>>, SourceError> {
        let elder = Pages {
            disk: Arc::clone(&self.disk),
            journal_id: journal_id.to_owned(),
        };
        match elder.with(|_| ()) {
            Ok(()) => Ok(Some(Box::new(elder))),
            Err(SourceError::Lost { .. }) => Ok(None),
            Err(error @ SourceError::Failed { .. }) => Err(error),
        }
    }
}
