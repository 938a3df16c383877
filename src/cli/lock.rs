//! `tablegate close`, `lock`, `unlock`, `accept-device`, `acknowledge`: a supervisor's acts on the table as a whole.

use super::daemon::{Acting, act};
use super::ending::Failure;
use crate::control::Act;
use clap::Args;

/// Hold the next round until a supervisor ends it.
#[derive(Args, Debug)]
pub struct Lock {
    /// Why, 1 to 200 characters.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    acting: Acting,
}

/// End the locks that a supervisor may end.
#[derive(Args, Debug)]
pub struct Unlock {
    /// What was rectified, or what is done in its place, 1 to 200 characters.
    #[arg(long, value_name = "TEXT")]
    procedure: String,
    #[command(flatten)]
    acting: Acting,
}

/// Accept a device whose serial number is not approved.
#[derive(Args, Debug)]
pub struct AcceptDevice {
    /// Its serial number, as `tablegate devices` shows it.
    #[arg(value_name = "SERIAL")]
    serial: String,
    #[command(flatten)]
    acting: Acting,
}

/// Say that an alert was seen.
#[derive(Args, Debug)]
pub struct Acknowledge {
    /// Its name, as `tablegate status` shows it.
    #[arg(value_name = "ALERT")]
    alert: String,
    #[command(flatten)]
    acting: Acting,
}

/// Runs `close`.
///
/// # Errors
/// The refusal, in words.
pub fn close(acting: &Acting) -> Result<(), Failure> {
    act(acting, Act::Close {})
}

/// Runs `lock`.
///
/// # Errors
/// The refusal, in words.
pub fn lock(lock: Lock) -> Result<(), Failure> {
    act(&lock.acting, Act::Lock { reason: lock.reason })
}

/// Runs `unlock`.
///
/// # Errors
/// The refusal, in words.
pub fn unlock(unlock: Unlock) -> Result<(), Failure> {
    let procedure = unlock.procedure;
    act(&unlock.acting, Act::Unlock { procedure })
}

/// Runs `accept-device`.
///
/// # Errors
/// The refusal, in words.
pub fn accept_device(accept: AcceptDevice) -> Result<(), Failure> {
    let serial_number = accept.serial;
    act(&accept.acting, Act::AcceptDevice { serial_number })
}

/// Runs `acknowledge`.
///
/// # Errors
/// The refusal, in words.
pub fn acknowledge(acknowledge: Acknowledge) -> Result<(), Failure> {
    let alert = acknowledge.alert;
    act(&acknowledge.acting, Act::AcknowledgeAlert { alert })
}
