//! The deterministic simulation: the gateway's own code on a virtual clock, with simulated devices, storage and broker, and all faults from
//! a seed. What an onlooker outside the gateway can see goes to a [`trace`], and independent checkers judge it.

pub mod check;
pub mod planted;
pub mod shrink;
pub mod trace;
