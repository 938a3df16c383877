//! How far long work has come, on standard error: only where that is a terminal, on one line that is gone when the work is done.

use crate::counted::counted;
use std::io::{self, IsTerminal, Write};

/// Progress in whole percent.
#[derive(Debug)]
pub struct Progress {
    shown: Shown,
    percent: u64,
    /// Columns that the line has now.
    columns: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    OnTerminal,
    Nowhere,
}

impl Progress {
    /// Shown when standard error is a terminal, and standard output isn't the same one being written to.
    #[must_use]
    pub fn start() -> Progress {
        Progress {
            shown: if io::stderr().is_terminal() {
                Shown::OnTerminal
            } else {
                Shown::Nowhere
            },
            percent: 0,
            columns: 0,
        }
    }

    /// The same, unless what is printed meanwhile goes to a terminal: the two would mix.
    #[must_use]
    pub fn beside_output() -> Progress {
        if io::stdout().is_terminal() {
            Progress {
                shown: Shown::Nowhere,
                percent: 0,
                columns: 0,
            }
        } else {
            Progress::start()
        }
    }

    /// So many of so many events are done.
    pub fn events(&mut self, done: u64, of: u64) {
        let percent = done.saturating_mul(100).checked_div(of).unwrap_or(100);
        if self.shown == Shown::OnTerminal && percent > self.percent {
            self.percent = percent;
            self.write(&format!("{percent:>3} % of {}", counted(of, "event")));
        }
    }

    fn write(&mut self, line: &str) {
        let blank = " ".repeat(self.columns.saturating_sub(line.len()));
        self.columns = line.len();
        // A terminal that is gone needs no progress.
        let _ = write!(io::stderr(), "\r{line}{blank}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.columns > 0 {
            self.write("");
            let _ = write!(io::stderr(), "\r");
        }
    }
}
