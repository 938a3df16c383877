//! The daemon's end: one task per connection, each with its limits. Nobody who connects can hold up the table or anybody else.

use super::hex;
use super::message::{Act, ActError, Answer, Request};
use super::offers;
use super::peer::Peer;
use super::socket::{BindError, ControlConfig, Listening};
use super::{MAX_CONNECTIONS, MAX_MESSAGE};
use crate::gateway::{Handle, Refusal, VerifyRefusal, Watcher};
use crate::table::input::{OperatorAct, Person, Role};
use futures_util::{SinkExt, StreamExt};
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::codec::{Framed, LinesCodec, LinesCodecError};

/// A reader that takes longer for one message is dropped: it would only ever see old news.
const SLOW_READER: Duration = Duration::from_secs(5);

/// A connection that asks nothing for this long is dropped, so that forgotten ones don't use up the few there are.
/// Long enough for a person to walk around the table between two questions of the opening checks.
const SILENT_CLIENT: Duration = Duration::from_secs(1800);

/// Watchers see at most this many changes a second; a person sees no more.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// A watcher gets something at least this often, so that it can tell a quiet table from a dead daemon.
const WATCH_AT_LEAST: Duration = Duration::from_secs(1);

/// How long the listener rests when the system has no file descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(500);

/// Characters of a claimed name that are recorded: as many as a name may have.
const MAX_CLAIMED: usize = 64;

type Lines = Framed<UnixStream, LinesCodec>;

/// Two listening sockets. Dropping it ends them, removes their files and drops every connection.
pub struct Control {
    tasks: tokio::task::JoinSet<()>,
}

/// Listens at both sockets. Must be called within the daemon's runtime.
///
/// # Errors
/// A socket that can't be made.
pub fn serve(config: &ControlConfig, handle: &Handle) -> Result<Control, BindError> {
    let look = Listening::at("socket", &config.socket)?;
    let act = Listening::at("supervisor_socket", &config.supervisor_socket)?;
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let numbers = Arc::new(AtomicU64::new(1));
    let mut tasks = tokio::task::JoinSet::new();
    for (listening, role) in [(look, Role::Technician), (act, Role::Supervisor)] {
        tasks.spawn(accept(listening, role, room.clone(), numbers.clone(), handle.clone()));
    }
    Ok(Control { tasks })
}

impl Control {
    /// Ends the sockets.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

async fn accept(listening: Listening, role: Role, room: Arc<Semaphore>, numbers: Arc<AtomicU64>, handle: Handle) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listening.listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a control connection could not be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                    continue;
                }
            },
            Some(_) = connections.join_next() => continue,
        };
        let Ok(place) = room.clone().try_acquire_owned() else {
            connections.spawn(turn_away(stream));
            continue;
        };
        let connection = numbers.fetch_add(1, Ordering::Relaxed);
        let handle = handle.clone();
        connections.spawn(async move {
            let _place = place;
            attend(stream, role, connection, handle).await;
        });
    }
}

async fn turn_away(stream: UnixStream) {
    let text = format!(
        "{MAX_CONNECTIONS} connections are open, and more aren't taken: close a command that watches, and try again"
    );
    let mut lines = Framed::new(stream, LinesCodec::new());
    let _gone = send(&mut lines, &Answer::Failed { text }).await;
}

/// A connection, from its first request to its end.
async fn attend(stream: UnixStream, role: Role, connection: u64, handle: Handle) {
    let Ok(credentials) = stream.peer_cred() else { return };
    let peer = Peer::new(credentials.uid(), role, connection);
    let mut lines = Framed::new(stream, LinesCodec::new_with_max_length(MAX_MESSAGE));
    let mut acted = Acted::Nothing;
    converse(&mut lines, &peer, &handle, &mut acted).await;
    if acted == Acted::Something {
        handle.operator_gone(connection).await;
    }
}

/// Whether the table knows this connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Acted {
    Nothing,
    Something,
}

async fn converse(lines: &mut Lines, peer: &Peer, handle: &Handle, acted: &mut Acted) {
    while let Ok(Some(line)) = tokio::time::timeout(SILENT_CLIENT, lines.next()).await {
        let asked = line.map(|line| Request::read(&line));
        let answer = match asked {
            Ok(Ok(Request::Look {})) => Answer::View(Box::new(handle.look())),
            Ok(Ok(Request::Watch {})) => return watch(lines, handle).await,
            Ok(Ok(Request::WatchLines { devices, since })) => {
                return watch_lines(lines, handle.watch_lines(devices, since)).await;
            }
            Ok(Ok(Request::Offers { by })) => offered(handle, peer, by.as_deref()).await,
            Ok(Ok(Request::Preview { act, by })) => preview(handle, peer, act, by.as_deref()).await,
            Ok(Ok(Request::VerifySoftware { seed, by })) => verify(handle, peer, &seed, by.as_deref()).await,
            Ok(Ok(Request::Act { act, by })) => self::act(handle, peer, act, by, acted).await,
            Ok(Err(text)) => Answer::WrongUse { text },
            Err(LinesCodecError::MaxLineLengthExceeded) => {
                let text = format!("a request may have {} KiB at most", MAX_MESSAGE / 1024);
                let _gone = send(lines, &Answer::WrongUse { text }).await;
                return;
            }
            Err(LinesCodecError::Io(_)) => return,
        };
        if send(lines, &answer).await.is_err() {
            return;
        }
    }
}

/// Has digests made: anybody who may look may ask what runs here, by name.
async fn verify(handle: &Handle, peer: &Peer, seed: &str, by: Option<&str>) -> Answer {
    let person = match peer.acting(by) {
        Ok(person) => person,
        Err(error) => {
            let text = error.to_string();
            return Answer::WrongUse { text };
        }
    };
    let Some(seed) = hex::read(seed) else {
        let text = "a seed is an even number of hexadecimal digits".to_owned();
        return Answer::WrongUse { text };
    };
    match handle.verify(person, seed).await {
        Ok(verified) => Answer::Verified {
            message: hex::write(&verified.encode_to_vec()),
        },
        Err(error @ VerifyRefusal::Seed(_)) => Answer::WrongUse {
            text: error.to_string(),
        },
        Err(error @ (VerifyRefusal::Busy(_) | VerifyRefusal::Refused(_))) => Answer::Failed {
            text: error.to_string(),
        },
    }
}

/// What this person could do now.
async fn offered(handle: &Handle, peer: &Peer, by: Option<&str>) -> Answer {
    match peer.acting(by) {
        Ok(person) => match offers::offers(handle, &person).await {
            Ok(offers) => Answer::Offers(offers),
            Err(refusal) => not_done(refusal),
        },
        Err(error) => Answer::WrongUse {
            text: error.to_string(),
        },
    }
}

/// What an act of this person would do.
async fn preview(handle: &Handle, peer: &Peer, act: Act, by: Option<&str>) -> Answer {
    let act = match act.try_into() {
        Ok(act) => act,
        Err(error) => return wrong_act(&error),
    };
    match peer.acting(by) {
        Ok(person) => match offers::preview(handle, &person, &act).await {
            Ok(preview) => Answer::Preview(Box::new(preview)),
            Err(refusal) => not_done(refusal),
        },
        Err(error) => Answer::WrongUse {
            text: error.to_string(),
        },
    }
}

/// Does what a person asks, if this person may ask it here.
async fn act(handle: &Handle, peer: &Peer, act: Act, by: Option<String>, acted: &mut Acted) -> Answer {
    let is_test = act.is_test();
    let act = match act.try_into() {
        Ok(act) => act,
        Err(error) => return wrong_act(&error),
    };
    let person = match peer.acting(by.as_deref()) {
        Ok(person) if peer.role == Role::Supervisor || is_test => person,
        Ok(person) => {
            let text = "this socket is for looking and testing: supervisors act through the other one";
            return forbid(handle, person, act, text.to_owned()).await;
        }
        Err(error) => {
            let claimed = by.map(|by| format!(" (asked in the name of {:?})", clipped(&by)));
            let answer = forbid(
                handle,
                peer.itself(),
                act,
                error.to_string() + claimed.as_deref().unwrap_or(""),
            );
            return answer.await;
        }
    };
    *acted = Acted::Something;
    match handle.act(person, act).await {
        Ok(text) => Answer::Done { text },
        Err(refusal) => not_done(refusal),
    }
}

/// Why nothing was done.
fn not_done(refusal: Refusal) -> Answer {
    match refusal {
        Refusal::Rejected(rejection) => Answer::Refused {
            code: rejection.code,
            readout: rejection.readout.to_owned(),
            text: rejection.text,
            rule: rejection.rule.to_owned(),
        },
        Refusal::JournalFailed { .. } | Refusal::SelfTestFailed { .. } | Refusal::Stopping => Answer::Failed {
            text: refusal.to_string(),
        },
    }
}

/// Who may not ask for it so is told why, and the journal keeps that they tried.
async fn forbid(handle: &Handle, person: Person, act: OperatorAct, text: String) -> Answer {
    handle.forbidden(person, act, text.clone()).await;
    Answer::WrongUse { text }
}

/// A name that somebody claimed, as far as it is told and recorded.
fn clipped(name: &str) -> String {
    name.chars().take(MAX_CLAIMED).collect()
}

fn wrong_act(error: &ActError) -> Answer {
    Answer::WrongUse {
        text: error.to_string(),
    }
}

/// Everything there is to see at every change, and at least once a second.
async fn watch(lines: &mut Lines, handle: &Handle) {
    let mut changes = handle.table();
    loop {
        changes.mark_unchanged();
        if send(lines, &Answer::View(Box::new(handle.look()))).await.is_err() {
            return;
        }
        tokio::time::sleep(WATCH_EVERY).await;
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(WATCH_AT_LEAST - WATCH_EVERY) => {}
            read = lines.next() => match read {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

/// What goes over the devices' lines, as it comes, and at least once a second a sign of life.
async fn watch_lines(lines: &mut Lines, mut watcher: Watcher) {
    let mut told = Instant::now();
    loop {
        let captured = watcher.more();
        let more = captured.more;
        let is_news = !captured.entries.is_empty() || !captured.missed.is_empty();
        if is_news || told.elapsed() >= WATCH_AT_LEAST {
            told = Instant::now();
            if send(lines, &Answer::Lines(Box::new(captured))).await.is_err() {
                return;
            }
        }
        if more {
            // The table goes first.
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(WATCH_EVERY) => {}
            read = lines.next() => match read {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

struct Gone;

async fn send(lines: &mut Lines, answer: &Answer) -> Result<(), Gone> {
    let line = serde_json::to_string(answer).map_err(|error| {
        tracing::error!(%error, "an answer could not be written as JSON");
        Gone
    })?;
    match tokio::time::timeout(SLOW_READER, lines.send(line)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Gone),
        Err(_) => {
            tracing::info!("a control connection that doesn't read was dropped");
            Err(Gone)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::{Client, ClientError};
    use super::*;
    use crate::gateway::TableView;
    use crate::gateway::testing;
    use crate::table::input::Input;
    use std::path::Path;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::{mpsc, watch};

    struct Scene {
        _directory: tempfile::TempDir,
        config: ControlConfig,
        _control: Control,
        view: watch::Sender<Arc<TableView>>,
        /// What the table was told, in order.
        told: mpsc::UnboundedReceiver<Input>,
    }

    /// A daemon whose table answers every act with "done".
    fn scene() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let config = ControlConfig {
            socket: directory.path().join("t.sock"),
            supervisor_socket: directory.path().join("t.supervisor.sock"),
        };
        let (handle, mut asked, view) = testing::handle();
        let control = serve(&config, &handle).unwrap();
        let (tell, told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(asked) = asked.recv().await {
                tell.send(asked.arrival.input.clone()).unwrap();
                asked.answer(Ok("done".into()));
            }
        });
        Scene {
            _directory: directory,
            config,
            _control: control,
            view,
            told,
        }
    }

    async fn ask(socket: &Path, act: Act, by: Option<&str>) -> Answer {
        let mut client = Client::connect(socket).await.unwrap();
        client.act(act, by).await.unwrap()
    }

    #[tokio::test]
    async fn who_may_act_is_who_may_open_the_supervisors_socket() {
        let mut scene = scene();
        let by = nix::unistd::Uid::current().is_root().then_some("ana");
        let answer = ask(&scene.config.socket, Act::Close {}, by).await;
        assert!(matches!(answer, Answer::WrongUse { .. }), "{answer:?}");
        let answer = ask(&scene.config.supervisor_socket, Act::Close {}, by).await;
        assert_eq!(answer, Answer::Done { text: "done".into() });
        let answer = ask(&scene.config.supervisor_socket, Act::Amend { faces: [1, 2, 7] }, by).await;
        assert!(matches!(answer, Answer::WrongUse { .. }), "{answer:?}");
        let Some(Input::ActForbidden { person, act, text }) = scene.told.recv().await else {
            panic!("the table is told who asked by the wrong socket");
        };
        assert_eq!((person.role, act), (Role::Technician, OperatorAct::Close));
        assert!(text.contains("supervisors act through the other one"), "{text}");
        let Some(Input::Operator {
            person,
            act: OperatorAct::Close,
        }) = scene.told.recv().await
        else {
            panic!("the table is told of the act that was allowed, and of no other");
        };
        assert_eq!(person.role, Role::Supervisor);
        let gone = Input::OperatorGone {
            connection: person.connection,
        };
        assert_eq!(scene.told.recv().await, Some(gone), "and that its connection has ended");
    }

    #[tokio::test]
    async fn a_watcher_sees_the_newest_state_and_one_that_only_looked_is_not_reported() {
        let mut scene = scene();
        let mut watcher = Client::connect(&scene.config.socket).await.unwrap();
        let Answer::View(first) = watcher.ask(&Request::Watch {}).await.unwrap() else {
            panic!("a watcher gets views");
        };
        assert_eq!(first.table.state.round_id, 0);
        for round in 1..=1000 {
            scene
                .view
                .send_modify(|view| Arc::make_mut(view).state.round_id = round);
        }
        loop {
            let Answer::View(view) = watcher.next().await.unwrap() else {
                panic!("a watcher gets views");
            };
            if view.table.state.round_id == 1000 {
                break;
            }
        }
        drop(watcher);
        let by = nix::unistd::Uid::current().is_root().then_some("ana");
        ask(&scene.config.supervisor_socket, Act::Close {}, by).await;
        assert!(matches!(scene.told.recv().await, Some(Input::Operator { .. })));
    }

    #[tokio::test]
    async fn the_seventeenth_connection_is_told_so_and_finds_room_when_another_ends() {
        let scene = scene();
        let mut open = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            let mut client = Client::connect(&scene.config.socket).await.unwrap();
            client.ask(&Request::Look {}).await.unwrap();
            open.push(client);
        }
        let mut one_more = Client::connect(&scene.config.supervisor_socket).await.unwrap();
        assert!(matches!(
            one_more.ask(&Request::Look {}).await,
            Ok(Answer::Failed { .. })
        ));
        open.pop();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        loop {
            let mut client = Client::connect(&scene.config.socket).await.unwrap();
            match client.ask(&Request::Look {}).await {
                Ok(Answer::View(_)) => break,
                Ok(Answer::Failed { .. }) | Err(ClientError::Closed) => {
                    assert!(tokio::time::Instant::now() < deadline, "no room was made");
                    tokio::task::yield_now().await;
                }
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_is_too_long_or_no_request_gets_an_answer_and_costs_at_most_its_connection() {
        let scene = scene();
        let mut stream = UnixStream::connect(&scene.config.socket).await.unwrap();
        stream.write_all(b"{\"look\"}\n").await.unwrap();
        let mut answer = vec![0; 4096];
        let read = stream.read(&mut answer).await.unwrap();
        assert!(answer[..read].starts_with(b"{\"wrong_use\""));
        let endless = vec![b'x'; MAX_MESSAGE + 1];
        // The daemon may close before it has read everything.
        let _closed = stream.write_all(&endless).await;
        let mut rest = Vec::new();
        let _reset = stream.read_to_end(&mut rest).await;
        assert!(rest.is_empty() || rest.starts_with(b"{\"wrong_use\""));
        let mut client = Client::connect(&scene.config.socket).await.unwrap();
        assert!(matches!(client.ask(&Request::Look {}).await, Ok(Answer::View(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_that_does_not_read_is_dropped() {
        let scene = scene();
        let mut stream = UnixStream::connect(&scene.config.socket).await.unwrap();
        stream.write_all(b"{\"watch\":{}}\n").await.unwrap();
        let tumult = scene.view.clone();
        let talking = tokio::spawn(async move {
            loop {
                tumult.send_modify(|view| Arc::make_mut(view).state.round_id += 1);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        // Time is paused: minutes pass as soon as nobody has anything to do.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        talking.abort();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        assert!(!rest.is_empty());
    }
}
