//! What wakes a view: a key, another size of the terminal, news of the daemon, the second hand, or a signal to end.

use super::feed::Feed;
use crate::cli::ending::Failure;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt;
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
    /// Ctrl-C, a signal, or the terminal is gone.
    End,
}

/// Everything that wakes a view.
pub struct Input {
    keys: EventStream,
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
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
                () = feed.changed() => return Woken::News,
                _ = self.second.tick() => return Woken::Draw,
                _ = self.terminate.recv() => return Woken::End,
                _ = self.hang_up.recv() => return Woken::End,
                _ = self.interrupt.recv() => return Woken::End,
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
        KeyCode::Char('c' | 'C') if control => return Some(Woken::End),
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
