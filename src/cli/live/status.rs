//! `tablegate status --watch`: the table as it is now, the alerts to acknowledge, the latest events to look at.

mod draw;
#[cfg(test)]
mod tests;
mod worries;

use super::WHOLE;
use super::daemon::{act, gone};
use super::events::{Events, Then};
use super::feed::{Feed, Seen};
use super::input::{Input, Key, Woken};
use super::look::Look;
use super::screen::Screen;
use crate::cli::daemon::{Acting, block_on};
use crate::cli::ending::Failure;
use crate::control::Act;
use crate::gateway::View;
use std::sync::Arc;
use worries::{Worry, worries};

/// Rows above and below a list of events.
const AROUND_EVENTS: u16 = 2;

/// What is shown, and what the keys stand on.
pub(super) struct Watch {
    acting: Acting,
    look: Look,
    page: Page,
    /// The worry that the arrow keys stand on; `None` before a key moved them.
    chosen: Option<String>,
    /// The worry that stands on the screen as the chosen one.
    drawn: Option<String>,
    /// The alert that is named to whoever pressed the key: they are to say yes.
    asked: Option<String>,
    /// What came of the last key, or of the daemon; until the next key.
    said: Option<String>,
}

/// Which page is shown.
enum Page {
    /// The table.
    Table,
    /// Everything that is said of it; the line that is at the top.
    All(usize),
    /// Events of its journal.
    Events(Box<Events>),
}

/// Whether the view goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    Off,
}

/// Fills the terminal until a person has seen enough.
///
/// # Errors
/// There is no terminal, or no daemon to begin with.
pub fn run(acting: &Acting) -> Result<(), Failure> {
    let socket = acting.reach.look_socket()?;
    block_on(async {
        let mut feed = Feed::follow(socket).await?;
        let mut screen = Screen::take("status --watch")?;
        let mut input = Input::new()?;
        let mut watch = Watch::new(acting.clone());
        loop {
            let seen = feed.seen();
            if let Some(said) = feed.returned() {
                (watch.said, watch.asked) = (Some(said), None);
            }
            watch.draw(&mut screen, &seen)?;
            match input.next(&mut feed).await {
                Woken::Key(key) => {
                    if watch.press(key, &feed.seen(), &screen).await == Goes::Off {
                        return Ok(());
                    }
                }
                Woken::News => watch.refresh(),
                Woken::Draw => {}
                Woken::Suspend => screen.suspend()?,
                Woken::End => return feed.end(),
            }
        }
    })
}

impl Watch {
    fn new(acting: Acting) -> Watch {
        Watch {
            acting,
            look: Look::of_environment(),
            page: Page::Table,
            chosen: None,
            drawn: None,
            asked: None,
            said: None,
        }
    }

    fn draw(&mut self, screen: &mut Screen, seen: &Seen) -> Result<(), Failure> {
        let look = self.look;
        let mut drawn = None;
        screen.draw(look, WHOLE, |frame| match (seen, &mut self.page) {
            (Seen::Now(view, at), Page::Table) => {
                let shown = draw::Shown {
                    view,
                    age: at.elapsed(),
                    look,
                    chosen: self.chosen.as_deref(),
                    said: self.said.as_deref(),
                };
                drawn = draw::table(frame, &shown);
            }
            (Seen::Now(view, _), Page::All(top)) => draw::all(frame, view, look, top),
            // The journal holds what happened, whether the daemon answers or not.
            (_, Page::Events(events)) => draw::events(frame, look, events, self.said.as_deref()),
            (Seen::Gone(why), Page::Table | Page::All(_)) => gone(frame, look, why, " e: events   q: quit"),
        })?;
        self.drawn = drawn;
        Ok(())
    }

    /// Events that have come belong to the list.
    fn refresh(&mut self) {
        if let Page::Events(events) = &mut self.page
            && let Err(failure) = events.refresh()
        {
            self.said = Some(failure.text);
        }
    }

    async fn press(&mut self, key: Key, seen: &Seen, screen: &Screen) -> Goes {
        self.said = None;
        let asked = self.asked.take();
        if key == Key::Letter('q') {
            return Goes::Off;
        }
        if let Some(alert) = asked {
            // Any other key says no, and does nothing else.
            if key == Key::Letter('a') {
                self.said = Some(self.acknowledge(alert).await);
            }
            return Goes::On;
        }
        match (&mut self.page, seen) {
            (Page::Events(events), _) => {
                let rows = usize::from(screen.rows().saturating_sub(AROUND_EVENTS));
                match events.press(key, rows) {
                    Ok(Then::Stay) => {}
                    Ok(Then::Leave) => self.page = Page::Table,
                    Err(failure) => self.said = Some(failure.text),
                }
                Goes::On
            }
            (Page::All(top), Seen::Now(..)) => {
                let rows = usize::from(screen.rows().saturating_sub(AROUND_EVENTS));
                match key {
                    Key::Up => *top = top.saturating_sub(1),
                    Key::Down => *top += 1,
                    Key::PageUp => *top = top.saturating_sub(rows),
                    Key::PageDown => *top += rows,
                    Key::Escape | Key::Backspace | Key::Left | Key::Enter => self.page = Page::Table,
                    Key::Right | Key::Tab | Key::Letter(_) => {}
                }
                Goes::On
            }
            (Page::Table, Seen::Now(view, _)) => self.press_at_table(key, &view.clone()),
            (Page::Table | Page::All(_), Seen::Gone(gone)) => {
                let last = gone.last.clone();
                match key {
                    Key::Escape => return Goes::Off,
                    Key::Letter('e') => self.show_events(&last),
                    Key::Up
                    | Key::Down
                    | Key::Left
                    | Key::Right
                    | Key::PageUp
                    | Key::PageDown
                    | Key::Enter
                    | Key::Backspace
                    | Key::Tab
                    | Key::Letter(_) => {}
                }
                Goes::On
            }
        }
    }

    fn press_at_table(&mut self, key: Key, view: &Arc<View>) -> Goes {
        let worries = worries(view);
        let at = chosen_of(&worries, self.chosen.as_deref());
        let choose = |at: Option<usize>| at.and_then(|at| worries.get(at)).map(|worry| worry.key.clone());
        match key {
            Key::Escape => return Goes::Off,
            Key::Up => self.chosen = choose(at.map(|at| at.saturating_sub(1))),
            Key::Down => self.chosen = choose(at.map(|at| (at + 1).min(worries.len().saturating_sub(1)))),
            Key::Letter('a') => {
                let worry = worries.iter().find(|worry| Some(&worry.key) == self.drawn.as_ref());
                // It stays where it was, with what comes of it, and doesn't move on to the next.
                self.chosen.clone_from(&self.drawn);
                self.said = Some(match ask_for(worry) {
                    Ok(alert) => {
                        let said = format!("Acknowledge {alert}?   a: yes   any other key: no");
                        self.asked = Some(alert);
                        said
                    }
                    Err(why_not) => why_not.to_owned(),
                });
            }
            Key::Letter('e') => self.show_events(view),
            Key::Enter | Key::Right => self.page = Page::All(0),
            Key::Left | Key::PageUp | Key::PageDown | Key::Backspace | Key::Tab | Key::Letter(_) => {}
        }
        Goes::On
    }

    fn show_events(&mut self, view: &View) {
        match Events::read(&view.table.journal.path) {
            Ok(events) => self.page = Page::Events(Box::new(events)),
            Err(failure) => self.said = Some(failure.text),
        }
    }

    /// Says that the alert was seen, in the name of whoever looks.
    async fn acknowledge(&self, alert: String) -> String {
        match act(&self.acting, Act::AcknowledgeAlert { alert: alert.clone() }).await {
            Ok(said) => format!("{alert}: {said}"),
            Err(failure) => failure.text,
        }
    }
}

/// The alert that is chosen on the screen; else why there is nothing to acknowledge.
fn ask_for(worry: Option<&Worry>) -> Result<String, &'static str> {
    let Some(worry) = worry else {
        return Err("There is no alert to acknowledge.");
    };
    match &worry.alert {
        None => Err("Only an alert is acknowledged (down: the next); this ends by what it says itself."),
        Some(_) if !worry.waits => Err("It is acknowledged already."),
        Some(alert) => Ok(alert.clone()),
    }
}

/// Which worry the arrow keys stand on: the one that they were moved to, else the first: it matters most, and must not be scrolled away
/// for an alert below it.
fn chosen_of(worries: &[Worry], chosen: Option<&str>) -> Option<usize> {
    let moved_to = chosen.and_then(|key| worries.iter().position(|worry| worry.key == key));
    moved_to.or_else(|| (!worries.is_empty()).then_some(0))
}
