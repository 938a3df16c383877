//! `tablegate`: the gateway daemon on a casino table's PC.
//!
//! It speaks serial to the table's devices (dice tumbler, entry terminal, layout lamps, result lights), knows the law of the game, refuses
//! entries that the rules or the order of play make impossible, writes every decision to a durable, tamper-evident journal
//! **before** anyone can see it, lights the lamps, and delivers the journal as protobuf events over MQTT to the casino's floor
//! system. Technicians and supervisors use the same binary as a command-line tool that talks to the daemon.
//!
//! # The data path
//!
//! ```text
//! port            link                device             gateway                                    journal (SQLite)
//! serial bytes -> Frame -> session -> DeviceMessage   -> Input --> table.decide(now, &input) ------> append(facts) + sync
//!                                                                        PURE, &self                     |
//!                                                                                                  table.apply(&event)   PURE, &mut self
//!                                                                                                        |
//!                                  device commands <- difference <- table.indicators()  <----------------+
//!                                                                                                        |
//!                                  MQTT broker <----- uplink: a reader of the journal with a cursor <----+
//!                                                                                                        |
//!                                  results display, control socket: readers of the table's state <-------+
//! ```
//!
//! 1. **Decide, append, apply, act.** `decide` looks and returns facts; the journal makes them durable; `apply` folds them into
//!    the state; only then do lamps, readout and broker learn of it. Live running and recovery go through the same `apply`.
//! 2. **The journal holds facts (past tense), not inputs.** New rules can't rewrite old results. The bytes in the journal are the
//!    bytes published, encoded once.
//! 3. **MQTT is a reader of the journal.** There is no second queue; the cursor says up to where a broker has acknowledged.
//! 4. **Lamps, lights and readout are derived from state.** After a restart the difference between wanted and reported re-lights them.
//! 5. **Recovery is the newest checkpoint plus the events after it.**
//!
//! # Code map, in reading order
//!
//! | room | what it is | what it may not know |
//! | --- | --- | --- |
//! | [`time`] | the words for time | PURE: reads no clock |
//! | [`counted`] | counts with their nouns, as people say them | PURE: everything else |
//! | [`failpoint`] | steps that a crash test may end the process after; nothing without the feature `failpoints` | everything else |
//! | `causes` | an error with its causes, for a person | everything else |
//! | [`rules`] | what the law says of each game: wagers, odds, areas, calls, void reasons, the law's machine | PURE: devices, people, time |
//! | [`table`] | what has happened at this table: `decide`, `apply`, `deadline`, `indicators` | PURE: bytes, files, sockets, clocks |
//! | [`wire`] | bytes to frames to device messages; the link session without I/O | PURE: what a message means |
//! | [`device`] | one task per port: open, read, translate, write, reopen | rules of the game |
//! | [`signing`] | signed checkpoints: message, keys, verdicts | PURE: files, who keeps the chain |
//! | [`journal`] | the durable store: chain, cursor, verification, retention | who publishes it |
//! | [`uplink`] | journal to MQTT: topics, the window, requests, the connection | what events mean |
//! | [`floor`] | the consumer's rule, as a library for the floor's side | MQTT, files |
//! | [`gateway`] | the loop that owns the table, and what starts and stops whom | how people reach it |
//! | [`control`] | the local API on two Unix sockets: status, acts, who may do what | the table's rules |
//! | [`display`] | the table's results display, a web page | anything but the view |
//! | [`metrics`] | the gateway's numbers for Prometheus | anything but the view and the counts |
//! | [`config`] | what the file may say, and what the program may rely on | running tasks |
//! | [`cli`] | one file per command | - |
//! | `sim` | simulated devices behind ptys, scripted dealers, the demo's broker (features `sim`, `demo`) | gateway, device |
//! | `sim::faults` | the deterministic simulation: a world around the gateway on a virtual clock, faults from seeds, judges | how people reach it |
//!
//! # Invariants
//!
//! - Nothing in `rules`, `table` or `wire` reads a clock, a random number, a file, a socket or a channel: `now` comes in.
//! - One task owns the table. It awaits the next input and the journal, and nothing else; what it gives away is a latest-value slot or a one-shot reply.
//! - Only one file names each of tokio-serial and rumqttc, and only one folder rusqlite.
//! - Bytes from outside never reach `unwrap`, indexing or `panic!`; nothing from outside can make memory grow without bound.
//! - Order and identity come from sequence numbers, never from the wall clock.
//! - The daemon has no branch for simulated devices: they stand on the far side of the bytes.
//! - Dice under the cover are never known to anything that logs, captures, shows or publishes.
//!
//! `tests/house.rs` holds the code to this page.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        reason = "a test may panic"
    )
)]

mod causes;
pub mod cli;
pub mod config;
pub mod control;
pub mod counted;
pub mod device;
pub mod display;
pub mod failpoint;
pub mod floor;
pub mod gateway;
pub mod journal;
pub mod metrics;
pub mod rules;
pub mod signing;
#[cfg(feature = "sim")]
pub mod sim;
pub mod table;
pub mod time;
pub mod uplink;
pub mod wire;
