//! `tablegate supervise`: the acts that the table would do now, each saying in advance what it will do, for arrow keys and Enter alone.
//! The table is asked what is possible, and asked again what exactly the chosen act would do; nothing of that is decided here.

mod asking;
mod draw;
mod words;

use super::daemon::gone;
use super::feed::{Feed, Seen};
use super::input::{Input, Key, Woken};
use super::look::Look;
use super::screen::Screen;
use crate::cli::daemon::{Acting, Reach, block_on, done, finds_its_daemon, unexpected, unreachable};
use crate::cli::ending::Failure;
use crate::control::client::Client;
use crate::control::{Act, Answer, Offer, Preview, Request};
use crate::gateway::View;
use asking::{Asking, Next};
use clap::Args;
use ratatui::layout::Size;
use std::mem::Discriminant;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A small screen is enough.
const LEAST: Size = Size { width: 40, height: 15 };

/// An act is waited for this long: an append's longest time.
const ACT_WITHIN: Duration = Duration::from_secs(15);

/// The acts that are possible now, on the whole screen, for arrow keys and Enter.
#[derive(Args, Debug)]
#[command(after_help = finds_its_daemon!(
    "Examples:\n",
    "  tablegate supervise --instance TS-07\n",
    "  tablegate supervise --by ana        root acts in ana's name\n\n",
    "Seven keys are enough: arrows, Enter, Esc (back), and Tab, which shows what is not possible now and why. Each act says what it \
     would record, what the lamps and the bets would do and whether it can be taken back, before it is done. It needs the supervisors' \
     socket, and a terminal of 40x15 or more.",
))]
pub struct Supervise {
    #[command(flatten)]
    reach: Reach,
    /// In whose name root acts; everybody else acts in their own.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// The menu.
struct Menu {
    socket: PathBuf,
    acting: Acting,
    look: Look,
    /// What the table said to every act.
    offers: Vec<Offer>,
    /// Why it said nothing.
    trouble: Option<String>,
    which: Which,
    /// The kind of act that the arrow keys were moved to; `None`: the first.
    chosen: Option<Discriminant<Act>>,
    page: Page,
}

/// Which acts are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Possible,
    Impossible,
}

/// What is shown.
enum Page {
    Menu,
    /// Something is to be chosen for an act.
    Asking(Box<Asking>),
    /// What the act would do, and whether to do it.
    Confirm(Box<Confirm>),
    /// What came of it, until a key.
    Said(Said),
}

/// An act, complete.
struct Confirm {
    act: Act,
    preview: Preview,
    choice: Choice,
    /// To go back to.
    asking: Asking,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    No,
    Yes,
}

/// What came of an act.
struct Said {
    heading: &'static str,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    Off,
}

/// Fills the terminal until a person has done what was to be done.
///
/// # Errors
/// There is no terminal, no daemon to begin with, or no right to act.
pub fn run(args: &Supervise) -> Result<(), Failure> {
    let acting = Acting {
        reach: args.reach.clone(),
        by: args.by.clone(),
        json: false,
    };
    let socket = args.reach.act_socket()?;
    block_on(async {
        let mut menu = Menu::new(socket.clone(), acting);
        // Whoever may not act is told so before the terminal is taken.
        menu.offers = offers(&socket, menu.acting.by.as_deref()).await?;
        let mut feed = Feed::follow(socket).await?;
        let mut screen = Screen::take("supervise")?;
        let mut input = Input::new()?;
        loop {
            let seen = feed.seen();
            if let Some(returned) = feed.returned() {
                menu.begin_again(returned);
            }
            screen.draw(menu.look, LEAST, |frame| match &seen {
                Seen::Now(view, at) => draw::page(frame, &menu, view, at.elapsed()),
                Seen::Gone(why) => gone(frame, menu.look, why, " Esc: quit"),
            })?;
            match input.next(&mut feed).await {
                Woken::Key(key) => {
                    if menu.press(key, &feed.seen()).await == Goes::Off {
                        return Ok(());
                    }
                }
                // What is possible changes with events, and some of it with time alone.
                Woken::News | Woken::Draw => menu.refresh(&feed.seen()).await,
                Woken::Suspend => screen.suspend()?,
                Woken::End => return feed.end(),
            }
        }
    })
}

async fn ask(socket: &Path, request: &Request) -> Result<Answer, Failure> {
    let asked = async {
        let mut client = Client::connect(socket).await.map_err(unreachable)?;
        client.ask(request).await.map_err(unreachable)
    };
    match tokio::time::timeout(ACT_WITHIN, asked).await {
        Ok(answer) => answer,
        Err(_) => Err(Failure::failed("the daemon does not answer")),
    }
}

async fn offers(socket: &Path, by: Option<&str>) -> Result<Vec<Offer>, Failure> {
    let by = by.map(ToOwned::to_owned);
    let answer = ask(socket, &Request::Offers { by }).await?;
    if let Answer::Offers(offers) = answer {
        Ok(offers)
    } else {
        Err(unexpected(&answer))
    }
}

/// Acts of one kind: those that the table would take, or why it takes none.
struct Group<'a> {
    taken: Vec<&'a Offer>,
    first: &'a Offer,
}

impl Menu {
    fn new(socket: PathBuf, acting: Acting) -> Menu {
        Menu {
            socket,
            acting,
            look: Look::of_environment(),
            offers: Vec::new(),
            trouble: None,
            which: Which::Possible,
            chosen: None,
            page: Page::Menu,
        }
    }

    /// What was possible, and what it would have done, was said by the daemon as it was: what came of an act is still told.
    fn begin_again(&mut self, returned: String) {
        let text = match self.page {
            Page::Said(_) => return,
            Page::Menu => returned,
            Page::Asking(_) | Page::Confirm(_) => format!("{returned} What was being chosen is not done: begin again."),
        };
        self.page = Page::Said(Said {
            heading: "The daemon was away.",
            text,
        });
    }

    /// The groups that are listed.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for offer in &self.offers {
            let kind = std::mem::discriminant(&offer.act);
            let known = groups
                .iter_mut()
                .find(|group| std::mem::discriminant(&group.first.act) == kind);
            let taken = offer.refused.is_none().then_some(offer);
            match known {
                Some(group) => group.taken.extend(taken),
                None => groups.push(Group {
                    taken: taken.into_iter().collect(),
                    first: offer,
                }),
            }
        }
        groups.retain(|group| group.taken.is_empty() == (self.which == Which::Impossible));
        groups
    }

    /// Where the arrow keys stand: with their act, wherever it moves to.
    fn at(&self) -> usize {
        let same = |group: &Group<'_>| Some(std::mem::discriminant(&group.first.act)) == self.chosen;
        self.groups().iter().position(same).unwrap_or(0)
    }

    /// Moves them to a line, or the last.
    fn choose(&mut self, at: usize) {
        let groups = self.groups();
        let group = groups.get(at).or(groups.last());
        self.chosen = group.map(|group| std::mem::discriminant(&group.first.act));
    }

    /// Asks what is possible now, where that is shown.
    async fn refresh(&mut self, seen: &Seen) {
        if !matches!((&self.page, seen), (Page::Menu, Seen::Now(..))) {
            return;
        }
        match offers(&self.socket, self.acting.by.as_deref()).await {
            Ok(offers) => {
                self.offers = offers;
                self.trouble = None;
            }
            Err(failure) => {
                self.offers.clear();
                self.trouble = Some(failure.text);
            }
        }
    }

    async fn press(&mut self, key: Key, seen: &Seen) -> Goes {
        let Seen::Now(view, _) = seen else {
            return if matches!(key, Key::Escape | Key::Backspace | Key::Letter('q')) {
                Goes::Off
            } else {
                Goes::On
            };
        };
        match std::mem::replace(&mut self.page, Page::Menu) {
            Page::Menu => return self.press_in_menu(key, view).await,
            Page::Said(_) => {
                self.chosen = None;
                self.refresh(seen).await;
            }
            Page::Asking(asking) => self.press_in_asking(*asking, key).await,
            Page::Confirm(confirm) => self.press_in_confirm(*confirm, key).await,
        }
        Goes::On
    }

    async fn press_in_menu(&mut self, key: Key, view: &Arc<View>) -> Goes {
        let at = self.at();
        match key {
            Key::Up => self.choose(at.saturating_sub(1)),
            Key::Down => self.choose(at + 1),
            Key::PageUp => self.choose(0),
            Key::PageDown => self.choose(usize::MAX),
            Key::Tab | Key::Left => {
                self.which = match self.which {
                    Which::Possible => Which::Impossible,
                    Which::Impossible => Which::Possible,
                };
                self.chosen = None;
            }
            Key::Enter | Key::Right if self.which == Which::Possible => {
                let begun = self.groups().get(at).map(|group| {
                    let taken = group.taken.iter().map(|offer| offer.act.clone());
                    Asking::begin(taken.collect(), view.clone(), self.look)
                });
                if let Some(asking) = begun {
                    self.go_on(asking).await;
                }
            }
            Key::Escape | Key::Backspace if self.which == Which::Impossible => {
                self.which = Which::Possible;
                self.chosen = None;
            }
            Key::Escape | Key::Backspace | Key::Letter('q') => return Goes::Off,
            Key::Enter | Key::Right | Key::Letter(_) => {}
        }
        Goes::On
    }

    async fn press_in_asking(&mut self, mut asking: Asking, key: Key) {
        match asking.press(key) {
            Next::Stay => self.page = Page::Asking(Box::new(asking)),
            Next::Back => {}
            Next::Answered => self.go_on(asking).await,
        }
    }

    /// Asks the next thing; when nothing is left to ask, what the act would do.
    async fn go_on(&mut self, asking: Asking) {
        if !asking.is_complete() {
            self.page = Page::Asking(Box::new(asking));
            return;
        }
        let act = asking.act.clone();
        let request = Request::Preview {
            act: act.clone(),
            by: self.acting.by.clone(),
        };
        self.page = match ask(&self.socket, &request).await {
            Ok(Answer::Preview(preview)) => {
                let choice = match preview.taken_back_by {
                    Some(_) => Choice::Yes,
                    None => Choice::No,
                };
                Page::Confirm(Box::new(Confirm {
                    act,
                    preview: *preview,
                    choice,
                    asking,
                }))
            }
            Ok(other) => refused(unexpected(&other)),
            Err(failure) => refused(failure),
        };
    }

    async fn press_in_confirm(&mut self, mut confirm: Confirm, key: Key) {
        match key {
            Key::Left | Key::Up => confirm.choice = Choice::No,
            Key::Right | Key::Down => confirm.choice = Choice::Yes,
            Key::Escape | Key::Backspace => return self.back_from(confirm.asking),
            Key::Enter if confirm.choice == Choice::No => return self.back_from(confirm.asking),
            Key::Enter => {
                let by = self.acting.by.clone();
                let answer = ask(&self.socket, &Request::Act { act: confirm.act, by }).await;
                self.page = match answer.and_then(done) {
                    Ok(text) => Page::Said(Said { heading: "Done.", text }),
                    Err(failure) => refused(failure),
                };
                return;
            }
            Key::Tab | Key::PageUp | Key::PageDown | Key::Letter(_) => {}
        }
        self.page = Page::Confirm(Box::new(confirm));
    }

    fn back_from(&mut self, mut asking: Asking) {
        if asking.again() {
            self.page = Page::Asking(Box::new(asking));
        }
    }
}

fn refused(failure: Failure) -> Page {
    Page::Said(Said {
        heading: "Not done.",
        text: failure.text,
    })
}
