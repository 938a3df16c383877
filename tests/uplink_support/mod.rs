//! What the uplink's tests share: a journal in memory, a broker that a test scripts packet by packet, a real one.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a test waits for what it waits for")]

pub mod fake;
pub mod floor_broker;
pub mod memory;
pub mod mosquitto;
pub mod subscriber;

use std::time::Duration;
use tablegate::uplink::UplinkReport;
use tokio::sync::watch;

/// Nothing here takes so long unless it is broken.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a future that must be ready in time.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {PATIENCE:?}"),
    }
}

/// Waits until the report is as wanted.
pub async fn report_is(
    report: &mut watch::Receiver<UplinkReport>,
    what: &str,
    is_wanted: impl FnMut(&UplinkReport) -> bool,
) -> UplinkReport {
    let last = report.clone();
    let found = tokio::time::timeout(PATIENCE, report.wait_for(is_wanted)).await;
    match found {
        Ok(Ok(report)) => report.clone(),
        Ok(Err(_)) => panic!("{what}: the uplink ended"),
        Err(_) => panic!("{what}: not within {PATIENCE:?}: {:?}", last.borrow().clone()),
    }
}
