//! What keeper, greeting and session wait for alike.

use super::alarms::Alarms;
use super::{Notice, Stopping};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Tells the gateway one thing. A gateway that has gone away has no use for it.
pub(super) fn tell(permit: Result<mpsc::Permit<'_, Notice>, mpsc::error::SendError<()>>, alarms: &mut Alarms) {
    if let (Ok(permit), Some(notice)) = (permit, alarms.next_news()) {
        permit.send(notice);
    } else {
        while alarms.next_news().is_some() {}
    }
}

/// Returns at the time, or never.
pub(super) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Returns when the gateway asks to stop, or has gone away.
pub(super) async fn asked_to_stop(stopping: &mut watch::Receiver<Stopping>) {
    let _ = stopping.wait_for(|stopping| *stopping == Stopping::Asked).await;
}

/// Returns when there is a new value; never when nobody can send one.
pub(super) async fn changed<T>(values: &mut watch::Receiver<T>) {
    if values.changed().await.is_err() {
        std::future::pending().await
    }
}
