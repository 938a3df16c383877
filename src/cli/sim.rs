//! `tablegate sim`: simulated devices and tables, for trying a gateway without hardware.

mod device;
pub mod devices;
mod faults;
pub mod game;
mod links;
mod script;
mod table;

use super::ending::Failure;
use clap::{Args, Subcommand};

/// Simulated devices on ptys, to try a gateway without hardware.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate sim table --links /tmp/TS-07 --rounds 10
  tablegate sim device terminal --link /tmp/terminal
  tablegate sim faults --seeds 10000

A simulated device makes its own port; a daemon finds it there by its configuration. These commands ask no daemon.")]
pub struct Sim {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Device(device::Device),
    Table(table::Table),
    Faults(faults::Faults),
}

/// Runs it.
///
/// # Errors
/// What could not be started or understood.
pub fn run(sim: Sim) -> Result<(), Failure> {
    match sim.command {
        Command::Device(device) => device::run(&device),
        Command::Table(table) => table::run(&table),
        Command::Faults(faults) => faults::run(&faults),
    }
}
