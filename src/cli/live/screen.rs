//! The terminal of a full-screen view: taken over at its start, and given back however it ends, a panic included, and while it is stopped.

use super::look::{Look, wrapped};
use crate::cli::ending::Failure;
use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use nix::sys::signal::{Signal, raise};
use nix::unistd::{Pid, getpgid, getppid, getsid};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use ratatui::{Frame, Terminal};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// A whole screen at once, so that it goes out in one piece.
const BUFFER: usize = 16 * 1024;

/// Terminals that can't place a cursor call themselves so.
const DUMB: &str = "dumb";

/// The terminal, in the hands of a view.
pub struct Screen {
    terminal: OnStdout,
}

type OnStdout = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// Nothing is drawn yet.
fn empty() -> io::Result<OnStdout> {
    Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(BUFFER, io::stdout())))
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
        let taken = take_over();
        // From here on, dropping it gives the terminal back.
        let screen = empty().map(|terminal| Screen { terminal });
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

    /// Gives the terminal to the shell and stops, until somebody lets it go on (`fg`); does nothing where nobody could.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn suspend(&mut self) -> io::Result<()> {
        if !can_be_continued() {
            return Ok(());
        }
        give_back();
        // The usual stop signal has a listener, and would not stop us; this one does, and returns when somebody lets us go on.
        raise(Signal::SIGSTOP)?;
        take_over()?;
        // The screen is empty, and so is what was drawn: everything is drawn anew. (Clearing it would ask the terminal where its cursor
        // is, which not every one answers.)
        self.terminal = empty()?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// The longest of these that there is room for, down to a terminal of two letters.
fn too_small(frame: &mut Frame<'_>, look: Look, least: Size) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let (columns, rows) = (least.width, least.height);
    let said = [
        format!(
            "This view needs {columns} columns and {rows} rows. This terminal has {width} and {height}: make it larger. q ends the view."
        ),
        format!("needs {columns}x{rows}, has {width}x{height}; q: quit"),
        format!("{columns}x{rows}!"),
        "!".to_owned(),
    ];
    let fits = said
        .iter()
        .filter(|said| said.split(' ').all(|word| word.len() <= width))
        .map(|said| wrapped(said, width))
        .find(|lines| lines.len() <= height);
    let lines = fits.unwrap_or_default().into_iter().map(Line::raw);
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()).style(look.alarm()), area);
}

/// A view has the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Full-screen, without echo, and without a cursor.
fn take_over() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

/// The terminal as it was before. What can't be written any more needs no restoring. Only once: a second time would put the cursor
/// back to where it was before the view, and what comes next over a defect's message.
fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _gone = disable_raw_mode();
    let _gone = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _gone = io::stdout().flush();
}

/// Somebody with a job control of its own waits for us: a parent in the same session and another group. Else a stop would be for ever.
fn can_be_continued() -> bool {
    let (session, group) = (getsid(None), getpgid(None));
    let mut above = getppid();
    while session.is_ok() && getsid(Some(above)) == session {
        if getpgid(Some(above)) != group {
            return true;
        }
        match parent(above) {
            Some(next) => above = next,
            None => return false,
        }
    }
    false
}

/// The parent of a process, as the kernel tells it: its number, its name in brackets, its state, its parent.
fn parent(of: Pid) -> Option<Pid> {
    let told = std::fs::read_to_string(format!("/proc/{of}/stat")).ok()?;
    let (_, behind_name) = told.rsplit_once(')')?;
    let number = behind_name.split_whitespace().nth(1)?.parse().ok()?;
    Some(Pid::from_raw(number))
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

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::openpty;
    use nix::sys::termios::{LocalFlags, tcgetattr};
    use ratatui::backend::TestBackend;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};

    /// Begins the defect's test on a terminal.
    const ON_A_TERMINAL: &str = "TABLEGATE_TEST_ON_A_TERMINAL";

    /// Runs itself again, on a terminal, where it takes the screen and breaks.
    #[test]
    fn a_defect_gives_the_terminal_back_and_its_message_is_seen() {
        if std::env::var_os(ON_A_TERMINAL).is_some() {
            let _screen = Screen::take("test").unwrap();
            panic!("a defect");
        }
        let pty = openpty(None, None).unwrap();
        let line = || Stdio::from(pty.slave.try_clone().unwrap());
        let usual = tcgetattr(&pty.slave).unwrap().local_flags;
        assert!(usual.contains(LocalFlags::ICANON | LocalFlags::ECHO));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("cli::live::screen::tests::a_defect_gives_the_terminal_back_and_its_message_is_seen")
            .env(ON_A_TERMINAL, "1")
            .env("TERM", "xterm")
            .stdin(line())
            .stdout(line())
            .stderr(line())
            .spawn()
            .unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(tcgetattr(pty.slave.as_fd()).unwrap().local_flags, usual);
        drop(pty.slave);
        let mut written = Vec::new();
        // The end of a terminal is an error of the pty.
        let _ended = std::fs::File::from(pty.master).read_to_end(&mut written);
        let written = String::from_utf8_lossy(&written);
        let at = |what: &str| {
            written
                .rfind(what)
                .unwrap_or_else(|| panic!("{what:?} is not in {written:?}"))
        };
        assert!(at("\u{1b}[?1049h") < at("\u{1b}[?1049l"), "{written:?}");
        assert!(at("\u{1b}[?1049l") < at("a defect\r\n"), "{written:?}");
        assert!(at("\u{1b}[?25h") < at("a defect\r\n"), "{written:?}");
    }

    #[test]
    fn a_terminal_that_is_too_small_is_told_so_in_whole_words_at_every_size() {
        let look = Look::of_environment();
        for (width, height) in (1..=79).flat_map(|width| [1, 2, 3, 10, 23].map(|height| (width, height))) {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal
                .draw(|frame| too_small(frame, look, super::super::WHOLE))
                .unwrap();
            let shown: String = terminal
                .backend()
                .buffer()
                .content()
                .iter()
                .map(|cell| cell.symbol())
                .collect();
            let whole = ["theview.", "q:quit", "80x24!", "!"];
            assert!(
                whole.iter().any(|end| shown.replace(' ', "").ends_with(end)),
                "{width}x{height}: {shown:?}"
            );
        }
    }
}
