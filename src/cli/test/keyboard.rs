//! What a person types, line by line, beside whatever else is waited for.

use std::io::BufRead;
use tokio::sync::mpsc;

/// Lines that wait to be read: nobody types ahead more than a few.
const MAX_LINES: usize = 8;

/// The keyboard.
pub(super) struct Keyboard {
    lines: mpsc::Receiver<String>,
}

impl Keyboard {
    /// Reads standard input on a thread of its own: a terminal can't be waited for otherwise.
    pub(super) fn open() -> Keyboard {
        let (sender, lines) = mpsc::channel(MAX_LINES);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if sender.blocking_send(line.trim().to_owned()).is_err() {
                    return;
                }
            }
        });
        Keyboard { lines }
    }

    /// The next line, without spaces around it; `None` when the terminal is gone.
    pub(super) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
