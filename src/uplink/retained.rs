//! What the retained messages on the table's own topics mean for this connection. PURE.

use super::Ancestry;
use crate::journal::Seqno;
use crate::table::event::{Head, Status, TableState};
use prost::Message;

/// What a message on the own status topic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusVerdict {
    /// What this connection published.
    Own,
    /// Of an older connection (a late last will), or no status at all: it is to be corrected.
    Stale,
    /// Offline, with this connection's own number: its last will. The broker has given the connection up, whatever it says.
    GivenUp,
    /// Of a connection that isn't older: another gateway, or a counter that was lost. Take its number plus 1 and connect again.
    Foreign {
        /// Its number.
        connection: u64,
    },
}

/// Judges a message on the own status topic, while this connection (number `own`) says that the table is online.
#[must_use]
pub fn judge_status(own: u64, payload: &[u8]) -> StatusVerdict {
    match Status::decode(payload) {
        Ok(status) if status.connection == own && status.online => StatusVerdict::Own,
        Ok(status) if status.connection == own => StatusVerdict::GivenUp,
        Ok(status) if status.connection > own => StatusVerdict::Foreign {
            connection: status.connection,
        },
        Ok(_) | Err(_) => StatusVerdict::Stale,
    }
}

/// What the own retained state says of the journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StateVerdict {
    /// It is behind the journal, of a predecessor, or says nothing.
    Consistent,
    /// It is consistent if the event of that number has this SHA-256, or is no longer there.
    IfEventIs {
        /// The number.
        seqno: Seqno,
        /// What the floor was told.
        sha256: Vec<u8>,
    },
    /// The floor was told more, or something else: the disk went back in time.
    RolledBack(Head),
}

/// Judges the retained state of the own topic against the journal whose newest event is `ours`.
#[must_use]
pub fn judge_state(ours: &Head, ancestry: &Ancestry, payload: &[u8]) -> StateVerdict {
    // What is no state, or an empty one, was not written by a gateway that had events.
    let Some(found) = TableState::decode(payload).ok().and_then(|state| state.head) else {
        return StateVerdict::Consistent;
    };
    if found.journal_id.is_empty() || found.seqno == 0 {
        return StateVerdict::Consistent;
    }
    if found.journal_id != ours.journal_id {
        return match ancestry {
            Ancestry::Known(before) if !before.contains(&found.journal_id) => StateVerdict::RolledBack(found),
            Ancestry::Known(_) | Ancestry::Unreadable => StateVerdict::Consistent,
        };
    }
    match found.seqno.cmp(&ours.seqno) {
        std::cmp::Ordering::Greater => StateVerdict::RolledBack(found),
        std::cmp::Ordering::Equal if found.sha256 == ours.sha256 => StateVerdict::Consistent,
        std::cmp::Ordering::Equal => StateVerdict::RolledBack(found),
        std::cmp::Ordering::Less => StateVerdict::IfEventIs {
            seqno: found.seqno,
            sha256: found.sha256,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(journal_id: &str, seqno: u64, byte: u8) -> Head {
        Head {
            journal_id: journal_id.to_owned(),
            seqno,
            sha256: vec![byte; 32],
        }
    }

    fn status(connection: u64, online: bool) -> Vec<u8> {
        Status {
            connection,
            online,
            ..Status::default()
        }
        .encode_to_vec()
    }

    #[test]
    fn a_status_is_own_stale_or_foreign() {
        for (payload, expected) in [
            (status(7, true), StatusVerdict::Own),
            (status(6, false), StatusVerdict::Stale),
            (status(6, true), StatusVerdict::Stale),
            (vec![], StatusVerdict::Stale),
            (vec![0xff], StatusVerdict::Stale),
            (status(7, false), StatusVerdict::GivenUp),
            (status(8, false), StatusVerdict::Foreign { connection: 8 }),
            (status(u64::MAX, true), StatusVerdict::Foreign { connection: u64::MAX }),
        ] {
            assert_eq!(judge_status(7, &payload), expected, "{payload:?}");
        }
    }

    #[test]
    fn a_retained_head_shows_whether_the_disk_went_back() {
        let known = Ancestry::Known(vec!["before".to_owned()]);
        let ours = head("j", 10, 1);
        let rolled_back = |found: &Head| StateVerdict::RolledBack(found.clone());
        let cases = [
            (head("j", 11, 1), None),
            (head("j", 10, 2), None),
            (head("stranger", 1, 1), None),
            (head("j", 10, 1), Some(StateVerdict::Consistent)),
            (
                head("j", 9, 3),
                Some(StateVerdict::IfEventIs {
                    seqno: 9,
                    sha256: vec![3; 32],
                }),
            ),
            (head("before", 999, 1), Some(StateVerdict::Consistent)),
            (head("", 0, 0), Some(StateVerdict::Consistent)),
            (head("stranger", 0, 0), Some(StateVerdict::Consistent)),
        ];
        for (found, expected) in cases {
            let state = TableState {
                head: Some(found.clone()),
                ..TableState::default()
            };
            let expected = expected.unwrap_or_else(|| rolled_back(&found));
            assert_eq!(
                judge_state(&ours, &known, &state.encode_to_vec()),
                expected,
                "{found:?}"
            );
        }
    }

    #[test]
    fn an_unreadable_predecessor_may_be_any_journal() {
        let state = TableState {
            head: Some(head("stranger", 5, 1)),
            ..TableState::default()
        };
        let verdict = judge_state(&head("j", 10, 1), &Ancestry::Unreadable, &state.encode_to_vec());
        assert_eq!(verdict, StateVerdict::Consistent);
    }

    #[test]
    fn what_is_no_state_says_nothing() {
        for payload in [&[][..], &[0xff, 0xff][..]] {
            let verdict = judge_state(&head("j", 10, 1), &Ancestry::Known(vec![]), payload);
            assert_eq!(verdict, StateVerdict::Consistent);
        }
    }
}
