//! Facts: the `tablegate.v1` messages, generated from `proto/tablegate/v1`, and a fact before it has a place in the journal. PURE.
//!
//! The table decides [`Fact`]s; the gateway gives each its envelope ([`Event`]: number, chain, time) and its bytes.

#![allow(missing_docs, reason = "generated: the proto files document every message and field")]
#![allow(clippy::all, reason = "generated")]

include!(concat!(env!("OUT_DIR"), "/tablegate.v1.rs"));

pub use event::Body;

/// One fact that the table decided, before the gateway numbers, chains and encodes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub body: Body,
    /// Who did it; `None` where nobody did (a lamp failed).
    pub actor: Option<Actor>,
    /// The device that it came from.
    pub device: Option<DeviceRef>,
    /// The rules that decided it.
    pub rules: Vec<String>,
    /// 0 outside a round.
    pub round_id: u64,
}
