//! What holds for every scenario's journal: folding it gives the table that wrote it, from the start and from every checkpoint.

use crate::scene::Scene;
use prost::Message;
use tablegate::table::Table;
use tablegate::table::event::{Body, CheckpointRecorded, Event, TableCheckpoint};

/// No event is longer: the floor's limit.
const LONGEST_EVENT: usize = 8 * 1024;

/// A table as the events left it.
pub fn fold<'a>(scene: &Scene, events: impl IntoIterator<Item = &'a Event>) -> Table {
    let mut table = Table::new(scene.config.clone());
    for event in events {
        table.apply(event);
    }
    table
}

/// The checkpoint as it comes out of its own bytes, inside an event that keeps the limit.
fn through_bytes(scene: &Scene, state: TableCheckpoint, through_seqno: u64) -> Event {
    let body = CheckpointRecorded {
        through_seqno,
        sha256: vec![9; 32],
        state: Some(state),
        ..Default::default()
    };
    let event = scene.envelope(Body::CheckpointRecorded(body), 0);
    let bytes = event.encode_to_vec();
    assert!(bytes.len() <= LONGEST_EVENT, "a checkpoint of {} bytes", bytes.len());
    Event::decode(&*bytes).unwrap()
}

/// Asserts everything that must hold of the journal that a scenario wrote.
pub fn check(scene: &Scene) {
    let events: Vec<&Event> = scene.events.iter().map(|recorded| &recorded.event).collect();
    let live = (scene.table.checkpoint(), scene.table.state());
    let folded = fold(scene, events.iter().copied());
    assert_eq!(
        folded.checkpoint(),
        live.0,
        "folding all events gives another checkpoint than the live table's"
    );
    assert_eq!(
        folded.state(),
        live.1,
        "folding all events gives another state than the live table's"
    );

    let mut prefix = Table::new(scene.config.clone());
    for (n, event) in events.iter().enumerate() {
        prefix.apply(event);
        let checkpoint = through_bytes(scene, prefix.checkpoint(), event.seqno);
        let mut restored = Table::new(scene.config.clone());
        restored.apply(&checkpoint);
        assert_eq!(
            restored.checkpoint(),
            prefix.checkpoint(),
            "a checkpoint after event {} restores to another",
            n + 1
        );
        for later in &events[n + 1..] {
            restored.apply(later);
        }
        assert_eq!(
            restored.checkpoint(),
            live.0,
            "checkpoint after event {} and the tail give another checkpoint",
            n + 1
        );
        assert_eq!(
            restored.state(),
            live.1,
            "checkpoint after event {} and the tail give another state",
            n + 1
        );
    }
}

/// Asserts what must hold of one event's bytes.
pub fn check_bytes(bytes: &[u8]) {
    assert!(bytes.len() <= LONGEST_EVENT, "an event of {} bytes", bytes.len());
}
