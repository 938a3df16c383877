//! The terminal of a full-screen view: taken over at its start, and given back however it ends, a panic included.

use super::look::{Look, wrapped};
use crate::cli::ending::Failure;
use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use ratatui::{Frame, Terminal};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::Once;

/// A whole screen at once, so that it goes out in one piece.
const BUFFER: usize = 16 * 1024;

/// Terminals that can't place a cursor call themselves so.
const DUMB: &str = "dumb";

/// The terminal, in the hands of a view.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Screen {
    /// Takes the terminal over. `what` it is for: "status --watch".
    ///
    /// # Errors
    /// Wrong usage, where there is no terminal to fill.
    pub fn take(what: &str) -> Result<Screen, Failure> {
        for (stream, is_terminal) in [
            ("output", io::stdout().is_terminal()),
            ("input", io::stdin().is_terminal()),
        ] {
            if !is_terminal {
                return Err(Failure::usage(format!(
                    "tablegate {what} fills a terminal, and standard {stream} is none: for a pipe or a file, run it without a terminal's view \
                     (tablegate status, tablegate devices, each with --json for programs)"
                )));
            }
        }
        if std::env::var_os("TERM").is_some_and(|term| term == DUMB) {
            return Err(Failure::usage(format!(
                "tablegate {what} fills a terminal, and this one (TERM={DUMB}) can't place its cursor"
            )));
        }
        give_back_at_a_panic();
        enable_raw_mode()?;
        let taken = execute!(io::stdout(), EnterAlternateScreen, Hide);
        // From here on, dropping it gives the terminal back.
        let backend = CrosstermBackend::new(BufWriter::with_capacity(BUFFER, io::stdout()));
        let screen = Terminal::new(backend).map(|terminal| Screen { terminal });
        match (taken, screen) {
            (Ok(()), Ok(screen)) => Ok(screen),
            (Err(error), _) | (_, Err(error)) => {
                give_back();
                Err(error.into())
            }
        }
    }

    /// Draws what has changed. Where there is less room than `least`, it says so instead.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, look: Look, least: Size, paint: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let area = frame.area();
            if area.width < least.width || area.height < least.height {
                too_small(frame, look, least);
            } else {
                paint(frame);
            }
        })?;
        Ok(())
    }
}

impl Screen {
    /// Rows of the terminal; those that everybody has while it doesn't say.
    #[must_use]
    pub fn rows(&self) -> u16 {
        self.terminal.size().map_or(super::WHOLE.height, |size| size.height)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn too_small(frame: &mut Frame<'_>, look: Look, least: Size) {
    let area = frame.area();
    let said = format!(
        "This view needs {} columns and {} rows. This terminal has {} and {}: make it larger. q ends the view.",
        least.width, least.height, area.width, area.height
    );
    let lines = wrapped(&said, usize::from(area.width)).into_iter().map(Line::raw);
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()).style(look.alarm()), area);
}

/// The terminal as it was before. What can't be written any more needs no restoring.
fn give_back() {
    let _gone = disable_raw_mode();
    let _gone = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _gone = io::stdout().flush();
}

/// A defect's message is readable, and the terminal usable after it.
fn give_back_at_a_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let told_before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            told_before(panic);
        }));
    });
}
