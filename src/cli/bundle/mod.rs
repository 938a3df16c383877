//! `tablegate support-bundle`: one archive for the supplier. What may leave the house is collected in memory, cleaned, listed, and sealed
//! only after a yes. Works without the daemon and as far as this user's rights go: what is missing is said, and why.

mod archive;
mod parts;
mod redact;

use super::daemon::{Reach, block_on};
use super::ending::{Failure, confirmed, print, print_json};
use super::new_file::{Existing, NewFile, Readers, unwritten};
use crate::time::Timestamp;
use archive::Contents;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One archive for the supplier: configuration without secrets, versions, state, link statistics, the lines' last minutes, journal and log
/// without people's names. Listed before it is written.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  tablegate support-bundle --instance TS-07
  tablegate support-bundle --config /etc/tablegate/TS-07.toml --yes --output /tmp/TS-07.tar.gz

People are numbered (person-1 ...), what they wrote is left out, and so are passwords, user names of the broker, and what stands in the files of \
keys. Where the daemon is stopped, or this user may not look, the bundle says what is missing. Nothing is sent anywhere: hand the file over \
as your house allows.")]
pub struct SupportBundle {
    /// The file to write, for its owner alone; without it, tablegate-support-NAME-TIME.tar.gz in this folder.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Don't ask whether what is listed may be written.
    #[arg(long)]
    yes: bool,
    /// Replace the file if there is one, once the new one is whole.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reach: Reach,
    /// Print JSON: what is in it. Needs --yes.
    #[arg(long, requires = "yes")]
    json: bool,
}

/// What scripts are told.
#[derive(Serialize)]
struct Said<'a> {
    file: &'a Path,
    bytes: u64,
    #[serde(flatten)]
    contents: &'a Contents,
}

/// Runs it.
///
/// # Errors
/// The file is there already or can't be written, or there is nobody to ask.
pub fn run(args: &SupportBundle) -> Result<(), Failure> {
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let unix_s = since_1970.as_secs();
    let (instance, contents) = block_on(async { Ok(parts::collect(&args.reach).await) })?;
    let name = format!("tablegate-support-{instance}-{}", compact(unix_s));
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{name}.tar.gz")));
    if !args.json {
        print(&format!("The bundle for {instance} will hold:\n{}", contents.list()))?;
    }
    if !args.yes {
        let question = format!("Write it to {}? [y/N] ", path.display());
        let without = "nobody can be asked here: look at the list above, and write the bundle with --yes";
        if !confirmed(&question, without)? {
            return print("Nothing was written.\n");
        }
    }
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    let file = NewFile::begin(&path, existing, Readers::Owner)?;
    let file = contents
        .seal(file, &name, unix_s)
        .map_err(|error| unwritten(&path, &error))?;
    let bytes = file.keep()?;
    if args.json {
        return print_json(&Said {
            file: &path,
            bytes,
            contents: &contents,
        });
    }
    print(&format!(
        "{} is written: {} KiB, for its owner alone.\n",
        path.display(),
        bytes.div_ceil(1024)
    ))
}

/// A time for a file's name: 20260214T101530Z.
fn compact(unix_s: u64) -> String {
    let micros = i64::try_from(unix_s).unwrap_or(0).saturating_mul(1_000_000);
    let text = Timestamp::from_unix_micros(micros).to_string();
    let seconds = text.split('.').next().unwrap_or_default();
    format!("{}Z", seconds.replace(['-', ':'], ""))
}
