//! What wakes a view: a key, another size of the terminal, news of the daemon, the second hand, or a signal to end.

use super::feed::Feed;
use crate::cli::ending::Failure;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt;
use nix::sys::signal::{Signal as Stop, kill};
use nix::unistd::Pid;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Clocks are drawn this often.
const SECOND: Duration = Duration::from_secs(1);

/// A key that a view may know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// A screenful.
    PageUp,
    /// A screenful.
    PageDown,
    /// Enter.
    Enter,
    /// Esc.
    Escape,
    /// Backspace: back too, but where a text is typed.
    Backspace,
    /// Tab.
    Tab,
    /// A letter.
    Letter(char),
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// A key was pressed.
    Key(Key),
    /// What the daemon says, or whether it says anything, has changed.
    News,
    /// A second has passed, or the terminal has another size: draw.
    Draw,
    /// Ctrl-Z, or the signal for it: stop until somebody lets it go on.
    Suspend,
    /// Ctrl-C, a signal, or the terminal is gone.
    End,
}

/// Everything that wakes a view.
pub struct Input {
    keys: EventStream,
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    suspend: Signal,
    second: Interval,
}

impl Input {
    /// Must be called within a runtime, after the terminal was taken.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn new() -> Result<Input, Failure> {
        let mut second = interval(SECOND);
        second.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Ok(Input {
            keys: EventStream::new(),
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            suspend: signal(SignalKind::from_raw(Stop::SIGTSTP as i32))?,
            second,
        })
    }

    /// Waits for the next thing.
    pub async fn next(&mut self, feed: &mut Feed) -> Woken {
        loop {
            tokio::select! {
                event = self.keys.next() => match event {
                    Some(Ok(Event::Key(key))) => {
                        if let Some(woken) = pressed(key) {
                            return woken;
                        }
                    }
                    Some(Ok(Event::Resize(..))) => return Woken::Draw,
                    Some(Ok(Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Paste(_))) => {}
                    Some(Err(_)) | None => return Woken::End,
                },
                changed = feed.changed() => return if changed { Woken::News } else { Woken::End },
                _ = self.second.tick() => return Woken::Draw,
                _ = self.terminate.recv() => return Woken::End,
                _ = self.hang_up.recv() => return Woken::End,
                _ = self.interrupt.recv() => return Woken::End,
                _ = self.quit.recv() => return Woken::End,
                _ = self.suspend.recv() => return Woken::Suspend,
            }
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "keyboards have more keys than a view knows"
)]
fn pressed(key: KeyEvent) -> Option<Woken> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(Woken::Key(match key.code {
        // Terminals tell Ctrl-\ by either.
        KeyCode::Char('c' | 'C' | '\\' | '4') if control => return Some(Woken::End),
        KeyCode::Char('z' | 'Z') if control => {
            // Whoever was started together with us stops as well, as with every program; our own comes back as a signal.
            let _nobody_else = kill(Pid::from_raw(0), Stop::SIGTSTP);
            return None;
        }
        KeyCode::Char(_) if control => return None,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        _ => return None,
    }))
}
