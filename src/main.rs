//! Parses arguments and hands over to `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tablegate::cli::main()
}
