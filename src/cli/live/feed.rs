//! What the daemon says, as it changes; and when it says nothing: since when and why. Takes up again by itself.

use super::look::clock;
use crate::cli::daemon::{unexpected, unreachable};
use crate::cli::ending::Failure;
use crate::control::Request;
use crate::control::client::Client;
use crate::gateway::View;
use crate::time::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A daemon says something at least once a second: one that is silent for this long is stuck.
const SILENT: Duration = Duration::from_secs(3);

/// How long between two tries to reach it.
const AGAIN: Duration = Duration::from_secs(1);

/// What is known of the daemon.
#[derive(Clone, Debug)]
pub enum Seen {
    /// It answers: the newest view, and when it came.
    Now(Arc<View>, Instant),
    /// It doesn't.
    Gone(Gone),
}

/// A daemon that doesn't answer.
#[derive(Clone, Debug)]
pub struct Gone {
    /// Since when, by the clock of this PC.
    pub at: Timestamp,
    /// The same, to count from.
    pub since: Instant,
    /// Why, in words.
    pub why: String,
    /// What was seen last.
    pub last: Arc<View>,
}

/// The daemon's views.
pub struct Feed {
    seen: watch::Receiver<Seen>,
    task: JoinHandle<()>,
    /// Since when it doesn't answer, as far as was seen.
    away: Option<Instant>,
    /// The daemon's run that was seen last.
    run: String,
    /// That it answers again, until that was told.
    returned: Option<String>,
}

impl Feed {
    /// Connects, and follows from then on.
    ///
    /// # Errors
    /// When there is no daemon to begin with.
    pub async fn follow(socket: PathBuf) -> Result<Feed, Failure> {
        let (mut client, first) = tokio::time::timeout(SILENT, connect(&socket))
            .await
            .map_err(|_| Failure::failed(silent()))??;
        let run = first.table.run_id.clone();
        let (tell, seen) = watch::channel(Seen::Now(first, Instant::now()));
        let task = tokio::spawn(async move {
            loop {
                let why = ended(&mut client, &tell).await;
                tell_gone(&tell, &why);
                client = again(&socket, &tell).await;
            }
        });
        Ok(Feed {
            seen,
            task,
            away: None,
            run,
            returned: None,
        })
    }

    /// What is known now.
    #[must_use]
    pub fn seen(&mut self) -> Seen {
        let seen = self.seen.borrow_and_update().clone();
        match &seen {
            Seen::Gone(gone) => self.away = Some(gone.since),
            Seen::Now(view, _) => {
                let away = self.away.take().map(|since| since.elapsed());
                let anew = view.table.run_id != self.run;
                if anew {
                    self.run.clone_from(&view.table.run_id);
                }
                if anew || away.is_some() {
                    self.returned = Some(returned(anew, away.unwrap_or_default()));
                }
            }
        }
        seen
    }

    /// A sentence when it answers again, once.
    #[must_use]
    pub fn returned(&mut self) -> Option<String> {
        self.returned.take()
    }

    /// Waits until something else is known; false: nothing will be any more, by a defect.
    pub async fn changed(&mut self) -> bool {
        self.seen.changed().await.is_ok()
    }

    /// How a view ends that a person, or a signal, has ended.
    ///
    /// # Errors
    /// It was a defect.
    pub fn end(&self) -> Result<(), Failure> {
        match self.task.is_finished() {
            true => Err(Failure::failed(
                "this view has a defect, and ends; the table is not touched by it",
            )),
            false => Ok(()),
        }
    }
}

fn returned(anew: bool, away: Duration) -> String {
    let away = clock(u64::try_from(away.as_millis()).unwrap_or(u64::MAX));
    match anew {
        true => format!("The daemon was started anew, and answers again (away for {away})."),
        false => format!("The daemon answers again (away for {away})."),
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connect(socket: &Path) -> Result<(Client, Arc<View>), Failure> {
    let mut client = Client::connect(socket).await.map_err(unreachable)?;
    let answer = client.ask(&Request::Watch {}).await.map_err(unreachable)?;
    let view = answer.view().map_err(|other| unexpected(&other))?;
    Ok((client, Arc::new(view)))
}

/// Passes views on until none come; says why.
async fn ended(client: &mut Client, tell: &watch::Sender<Seen>) -> String {
    loop {
        match tokio::time::timeout(SILENT, client.next()).await {
            Ok(Ok(answer)) => match answer.view() {
                Ok(view) => {
                    tell.send_replace(Seen::Now(Arc::new(view), Instant::now()));
                }
                Err(other) => return unexpected(&other).text,
            },
            Ok(Err(error)) => return unreachable(error).text,
            Err(_) => return silent(),
        }
    }
}

/// Tries until it is there again.
async fn again(socket: &Path, tell: &watch::Sender<Seen>) -> Client {
    loop {
        match tokio::time::timeout(SILENT, connect(socket)).await {
            Ok(Ok((client, view))) => {
                tell.send_replace(Seen::Now(view, Instant::now()));
                return client;
            }
            Ok(Err(failure)) => tell_gone(tell, &failure.text),
            Err(_) => tell_gone(tell, &silent()),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// It is gone since its last view, whatever is tried meanwhile.
fn tell_gone(tell: &watch::Sender<Seen>, why: &str) {
    tell.send_if_modified(|seen| match seen {
        Seen::Now(last, since) => {
            let ago = i64::try_from(since.elapsed().as_micros()).unwrap_or(0);
            *seen = Seen::Gone(Gone {
                at: Timestamp::from_unix_micros(wall().as_unix_micros().saturating_sub(ago)),
                since: *since,
                why: why.to_owned(),
                last: last.clone(),
            });
            true
        }
        Seen::Gone(gone) => {
            let differs = gone.why != why;
            why.clone_into(&mut gone.why);
            differs
        }
    });
}

fn silent() -> String {
    format!(
        "the daemon is there, and has said nothing for {} s: it is stuck, or the PC is too busy",
        SILENT.as_secs()
    )
}

/// Now, by the clock of this PC.
#[must_use]
pub fn wall() -> Timestamp {
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_unix_micros(i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX))
}
