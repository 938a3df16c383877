//! Device messages: the `tablegate.device.v1` types, generated from `proto/tablegate/device/v1`. PURE.

#![allow(missing_docs, reason = "generated: the proto files document every message and field")]
#![allow(clippy::all, reason = "generated")]

include!(concat!(env!("OUT_DIR"), "/tablegate.device.v1.rs"));
