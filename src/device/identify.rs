//! Greets whatever is on a port and says what answered. The thing there may be anything: whoever asks for it has been warned.

use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use crate::table::input::DeviceKind;
use crate::time::Clock;
use crate::wire::message::{self as wire, DeviceHello};
use crate::wire::session::{DEFAULT_HOLD_MS, Host, HostConfig, HostEvent};

use super::TumblerBuild;
use super::outside::Ports;
use super::port::{Moved, OpenError};
use super::report::{Identity, Kind};
use super::translate;

/// A device answers within the first greetings (0, 250, 750 and 1750 ms) or needs a person.
pub const ANSWERS_WITHIN: Duration = Duration::from_secs(4);

/// What came of a greeting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answered {
    /// A device of the link protocol.
    By {
        /// What it is; `None`: a kind that this program doesn't know.
        kind: Option<Kind>,
        /// Which.
        identity: Identity,
    },
    /// A device that speaks another version of the protocol.
    OtherVersion,
    /// Our own greetings: transmit and receive are joined somewhere.
    Echo,
    /// Bytes that are no frames: another speed, another protocol, or noise.
    Noise {
        /// How many.
        bytes: u64,
    },
    /// Nothing at all.
    Nothing,
}

/// Opens the port, greets until something answers or [`ANSWERS_WITHIN`] has passed, and closes it again.
///
/// # Errors
/// The port can't be opened, or it is gone.
pub async fn identify(
    ports: &dyn Ports,
    path: &Path,
    baud: u32,
    table: &str,
    clock: &Arc<dyn Clock>,
) -> Result<Answered, OpenError> {
    let config = HostConfig {
        kind: None,
        lamp_count: 0,
        table: table.to_owned(),
        hold_ms: DEFAULT_HOLD_MS,
        baud,
        tumbler: TumblerBuild::Covered,
    };
    let missing = || OpenError::Missing { path: path.to_owned() };
    let mut port = ports.open(path.to_owned(), baud).await.ok_or_else(missing)??;
    let mut host = Host::new(config, ports.seed());
    let until = Instant::now() + ANSWERS_WITHIN;
    host.handle_opened(clock.uptime());
    let (mut out, mut buffer) = (Vec::new(), [0; 256]);
    let mut heard = 0u64;
    loop {
        while host.poll_transmit(&mut out) {}
        while let Some(event) = host.poll_event() {
            if let HostEvent::Up { hello, .. } = event {
                return Ok(by(&hello));
            }
        }
        if Instant::now() >= until {
            break;
        }
        let wait = host.deadline().map(|at| at.since(clock.uptime()));
        let wake_at = wait.map_or(until, |wait| until.min(Instant::now() + wait));
        tokio::select! {
            biased;
            moved = poll_fn(|cx| port.poll_move(cx, &out, &mut buffer)) => match moved {
                Ok(Moved::Written(count)) => { out.drain(..count); }
                Ok(Moved::Read(count)) => {
                    heard = heard.saturating_add(count as u64);
                    host.handle_bytes(clock.uptime(), buffer.get(..count).unwrap_or_default());
                }
                Err(source) => return Err(OpenError::Unusable { path: path.to_owned(), baud, source }),
            },
            () = sleep_until(wake_at) => host.handle_deadline(clock.uptime()),
        }
    }
    let seen = host.counters().seen;
    Ok(if seen.other_versions > 0 {
        Answered::OtherVersion
    } else if seen.echoes > 0 {
        Answered::Echo
    } else if heard > 0 {
        Answered::Noise { bytes: heard }
    } else {
        Answered::Nothing
    })
}

fn by(hello: &DeviceHello) -> Answered {
    let kind = match hello.kind() {
        wire::DeviceKind::Tumbler => Some(DeviceKind::Tumbler),
        wire::DeviceKind::Terminal => Some(DeviceKind::Terminal),
        wire::DeviceKind::LayoutLamps => Some(DeviceKind::LayoutLamps),
        wire::DeviceKind::ResultLights => Some(DeviceKind::ResultLights),
        wire::DeviceKind::Unspecified => None,
    };
    // An identity is told of a kind; its words are the same of each.
    let identity = translate::identity(kind.unwrap_or(DeviceKind::Terminal), hello);
    Answered::By {
        kind: kind.map(Kind::from),
        identity: Identity::from(&identity),
    }
}
