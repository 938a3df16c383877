//! The demo's table: a temporary folder with a configuration and a journal, simulated devices, and the daemon on a thread
//! of its own, reached as a real one is: by ptys, sockets and a broker.

use super::super::ending::Failure;
use super::super::sim::devices::AnyDealer;
use super::super::sim::game::Game;
use crate::config;
use crate::control::{self, Act, Answer, Request, client::Client};
use crate::gateway::{self, Rooms};
use crate::journal;
use crate::rules::sic_bo;
use crate::rules::tai_sai::{self, Style};
use crate::rules::two_up_dice::Light;
use crate::sim::{LampsView, Pace, TerminalView, Trouble, TumblerView, TwoUp};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

/// A socket's path has 107 bytes at most, and `/TS-07.supervisor.sock` comes after the folder.
const FOLDER_BYTES_MAX: usize = 107 - 22;

/// What the folder's name begins with, and how many random characters follow.
const FOLDER_PREFIX: &str = "tablegate-demo-";
/// See [`FOLDER_PREFIX`].
const FOLDER_RANDOM: usize = 8;

/// The folder holds the socket, the journal and the ptys' links; it goes when the demo ends.
pub struct DemoTable {
    folder: TempDir,
    game: Game,
    dealer: Arc<AnyDealer>,
    daemon: Option<Daemon>,
}

struct Daemon {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Result<(), String>>,
}

/// What stands in the journal at the end.
pub struct JournalEnd {
    /// Its newest event.
    pub head: u64,
    /// The whole chain holds.
    pub verified: bool,
    /// The verification in words.
    pub text: String,
}

/// What a person at the table sees.
pub struct Seen {
    /// The terminal's readout.
    pub readout: String,
    /// The tumbler, where there is one.
    pub tumbler: Option<SeenTumbler>,
    /// Areas whose lamps are lit, or the lights that are.
    pub lit: Vec<String>,
}

/// What a person sees of the tumbler.
pub struct SeenTumbler {
    /// The dice can't be seen.
    pub covered: bool,
    /// It doesn't spin.
    pub inhibited: bool,
}

/// Wakes when something that a person would see has changed.
pub struct Changes {
    tumbler: Option<watch::Receiver<TumblerView>>,
    terminal: watch::Receiver<TerminalView>,
    lamps: watch::Receiver<LampsView>,
}

impl Changes {
    /// Waits for the next change; never returns once the devices are gone.
    pub async fn next(&mut self) {
        let tumbler = async {
            match &mut self.tumbler {
                Some(tumbler) => tumbler.changed().await,
                None => std::future::pending().await,
            }
        };
        let changed = tokio::select! {
            changed = tumbler => changed,
            changed = self.terminal.changed() => changed,
            changed = self.lamps.changed() => changed,
        };
        if changed.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl DemoTable {
    /// Makes the folder, the configuration and the devices. The daemon isn't started yet.
    pub fn set_up(game: Game, broker_port: u16, speed: f64, seed: u64) -> Result<DemoTable, Failure> {
        let folder = new_folder()?;
        let pace = Pace {
            before_act: Duration::from_millis(800).div_f64(speed),
            settle_after: settle_after(speed) + Duration::from_millis(200),
            ..Pace::default()
        };
        let dealer = AnyDealer::start(folder.path(), game, seed, pace)
            .map_err(|error| Failure::failed(format!("the simulated devices didn't start: {error}")))?;
        let table = DemoTable {
            folder,
            game,
            dealer: Arc::new(dealer),
            daemon: None,
        };
        let file = table.file("toml");
        fs::write(&file, table.configuration(broker_port, speed))
            .map_err(|error| Failure::failed(format!("{}: {error}", file.display())))?;
        Ok(table)
    }

    /// Starts the daemon and opens the table.
    pub async fn start(&mut self) -> Result<(), Failure> {
        let (stop, stopped) = oneshot::channel();
        let (ready, started) = oneshot::channel();
        let file = self.file("toml");
        let thread = std::thread::Builder::new()
            .name("gateway".to_owned())
            .spawn(move || daemon(&file, stopped, ready))?;
        self.daemon = Some(Daemon { stop, thread });
        if started.await.is_err() {
            return Err(self.why_it_ended());
        }
        self.wait_for_greetings().await.map_err(stuck)?;
        self.supervisor().act(Act::OpenVouched {}).await.map(|_done| ())
    }

    /// Every device has been told what to show.
    async fn wait_for_greetings(&self) -> Result<(), Trouble> {
        let patience = self.dealer.pace().patience;
        self.dealer
            .lamps()
            .wait("the gateway to greet the lamps", |view| view.pictures > 0, patience)
            .await?;
        self.dealer
            .terminal()
            .wait("the gateway to greet the terminal", |view| view.entry != 0, patience)
            .await?;
        if let Some(tumbler) = self.dealer.tumbler() {
            tumbler
                .wait("the gateway to greet the tumbler", |view| view.inhibits > 0, patience)
                .await?;
        }
        Ok(())
    }

    /// What failed, and what the table itself says of it: a dealer who waits in vain doesn't know that the disk is full.
    pub async fn explained(&self, failure: Failure) -> Failure {
        let view = async {
            let mut client = Client::connect(&self.supervisor_socket()).await.ok()?;
            client.ask(&Request::Look {}).await.ok()?.view().ok()
        };
        let Some(view) = view.await else { return failure };
        let alerts = view.table.situation.alerts.iter().map(|alert| alert.alert.clone());
        let known: Vec<String> = view.table.fault.clone().into_iter().chain(alerts).collect();
        if known.is_empty() {
            return failure;
        }
        Failure {
            text: format!("{}; the table says: {}", failure.text, known.join(", ")),
            ..failure
        }
    }

    fn why_it_ended(&mut self) -> Failure {
        let ended = self.daemon.take().and_then(|daemon| daemon.thread.join().ok());
        match ended {
            Some(Err(text)) => Failure::failed(text),
            Some(Ok(())) | None => Failure::failed("the gateway ended before it was up"),
        }
    }

    /// Who plays.
    pub fn dealer(&self) -> Arc<AnyDealer> {
        self.dealer.clone()
    }

    /// Who decides.
    pub fn supervisor(&self) -> Supervisor {
        Supervisor {
            socket: self.supervisor_socket(),
        }
    }

    /// Where commands that act reach this table.
    pub fn supervisor_socket(&self) -> PathBuf {
        self.file("supervisor.sock")
    }

    /// Its name.
    pub fn id(&self) -> &'static str {
        match self.game {
            Game::TaiSai { .. } => "TS-07",
            Game::SicBo(_) => "SB-07",
            Game::TwoUp(TwoUp::Dice) => "TU-07",
            Game::TwoUp(TwoUp::TriplePenny) => "TP-07",
        }
    }

    /// What is played on it.
    pub fn game(&self) -> Game {
        self.game
    }

    /// A file of this table in its folder.
    fn file(&self, ending: &str) -> PathBuf {
        self.folder.path().join(format!("{}.{ending}", self.id()))
    }

    /// What its topics begin with.
    pub fn prefix(&self) -> String {
        format!("tablegate/v1/demo/{}", self.id())
    }

    /// Wakes when the devices show something else.
    pub fn changes(&self) -> Changes {
        Changes {
            tumbler: self.dealer.tumbler().map(|tumbler| tumbler.watch()),
            terminal: self.dealer.terminal().watch(),
            lamps: self.dealer.lamps().watch(),
        }
    }

    /// What a person at the table sees now.
    pub fn seen(&self) -> Seen {
        let lamps = self.dealer.lamps().view().lit;
        let named = |bit: &u32| match self.game {
            Game::TaiSai { layout, .. } => area(tai_sai::areas(layout), *bit),
            Game::SicBo(_) => area(sic_bo::areas(), *bit),
            Game::TwoUp(_) => light(*bit),
        };
        Seen {
            readout: self.dealer.terminal().view().readout,
            tumbler: self.dealer.tumbler().map(|tumbler| {
                let view = tumbler.view();
                SeenTumbler {
                    covered: view.covered,
                    inhibited: view.inhibited,
                }
            }),
            lit: lamps.iter().filter_map(named).collect(),
        }
    }

    fn configuration(&self, broker_port: u16, speed: f64) -> String {
        let folder = self.folder.path();
        format!(
            "[table]\nsite = \"demo\"\nid = \"{}\"\ngame = \"{}\"\n\n{}\n{}\n\
             [mqtt]\nbrokers = [\"mqtt://127.0.0.1:{broker_port}\"]\n\n\
             [journal]\ndirectory = \"{}\"\n\n\
             [control]\nsocket = \"{}\"\nsupervisor_socket = \"{}\"\n",
            self.id(),
            self.game.name(),
            game_section(self.game, speed),
            self.dealer.sections(folder),
            folder.join("journal").display(),
            self.file("sock").display(),
            self.file("supervisor.sock").display(),
        )
    }

    /// Stops the daemon cleanly and verifies what it leaves.
    pub async fn stop(&mut self) -> Result<JournalEnd, Failure> {
        if let Some(daemon) = self.daemon.take() {
            // A daemon that is gone already has told why in its result.
            let _gone = daemon.stop.send(());
            let joined = tokio::task::spawn_blocking(move || daemon.thread.join()).await;
            match joined {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(text))) => return Err(Failure::failed(text)),
                Ok(Err(_)) | Err(_) => return Err(Failure::failed("the gateway's thread panicked")),
            }
        }
        verify_journal(&self.folder.path().join("journal"))
    }
}

impl Drop for DemoTable {
    fn drop(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            let _gone = daemon.stop.send(());
            let _ended = daemon.thread.join();
        }
    }
}

/// A folder whose name nobody can guess and that nobody else can enter; it goes when it is dropped.
fn new_folder() -> Result<TempDir, Failure> {
    let place = std::env::temp_dir();
    let fits = |text: &str| text.len() + 1 + FOLDER_PREFIX.len() + FOLDER_RANDOM <= FOLDER_BYTES_MAX;
    if !place.to_str().is_some_and(fits) {
        return Err(Failure::failed(format!(
            "{}: sockets can't be made there, the name is too long or no UTF-8; let TMPDIR name another folder",
            place.display()
        )));
    }
    tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .rand_bytes(FOLDER_RANDOM)
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(&place)
        .map_err(|error| Failure::failed(format!("{}: {error}", place.display())))
}

/// A supervisor with the act socket.
#[derive(Clone)]
pub struct Supervisor {
    socket: PathBuf,
}

impl Supervisor {
    /// Does `act`; root acts in the name of a demo supervisor.
    pub async fn act(&self, act: Act) -> Result<String, Failure> {
        let by = nix::unistd::geteuid().is_root().then_some("demo-supervisor");
        let mut client = Client::connect(&self.socket)
            .await
            .map_err(|error| Failure::failed(error.to_string()))?;
        match client
            .act(act, by)
            .await
            .map_err(|error| Failure::failed(error.to_string()))?
        {
            Answer::Done { text } => Ok(text),
            Answer::Refused { text, .. } | Answer::Failed { text } | Answer::WrongUse { text } => {
                Err(Failure::failed(text))
            }
            Answer::View(_) | Answer::Lines(_) | Answer::Offers(_) | Answer::Preview(_) | Answer::Verified { .. } => {
                Err(Failure::failed("the gateway answered something else than was asked"))
            }
        }
    }
}

fn stuck(trouble: Trouble) -> Failure {
    Failure::failed(trouble.to_string())
}

fn settle_after(speed: f64) -> Duration {
    Duration::from_millis(3000)
        .div_f64(speed)
        .max(Duration::from_millis(500))
}

/// The section of the game. At a demo's speed the law's three seconds would be most of a round; the configuration's least is half
/// a second.
fn game_section(game: Game, speed: f64) -> String {
    let wait_ms = settle_after(speed).as_millis().min(30_000);
    match game {
        Game::TaiSai { style, layout } => {
            let rest = match style {
                Style::A => format!("rest_ms = {wait_ms}\n"),
                Style::B => String::new(),
            };
            format!(
                "[tai_sai]\nstyle = \"{}\"\nlayout = \"{}\"\n{rest}settle_after_ms = {wait_ms}\n",
                style.name(),
                layout.name()
            )
        }
        Game::SicBo(tumbler) => format!(
            "[sic_bo]\ntumbler = \"{}\"\nrest_ms = {wait_ms}\nsettle_after_ms = {wait_ms}\n",
            tumbler.name()
        ),
        Game::TwoUp(_) => String::new(),
    }
}

/// The area with this bit, as the default map has it.
fn area(areas: &[&str], bit: u32) -> Option<String> {
    let area = areas.get(usize::try_from(bit).ok()?)?;
    Some((*area).to_owned())
}

/// "heads_2": the light with this bit.
fn light(bit: u32) -> Option<String> {
    let found = Light::ALL.into_iter().find(|light| u32::from(light.bit()) == bit);
    found.map(Light::name)
}

/// The daemon as `tablegate run` starts it, stopped by `stopped` instead of a signal.
fn daemon(file: &Path, stopped: oneshot::Receiver<()>, ready: oneshot::Sender<()>) -> Result<(), String> {
    let config = config::load(file, &[])
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async move {
        let rooms = Rooms {
            ports: config.ports,
            journal: config.journal,
            uplink: config.uplink,
        };
        let mut running = gateway::start(config.gateway, rooms)
            .await
            .map_err(|error| error.to_string())?;
        let control = control::serve(&config.control, &running.handle()).map_err(|error| error.to_string())?;
        let _nobody_waits = ready.send(());
        let _demo_is_gone = stopped.await;
        running.handle().stop();
        let ended = running.ended().await;
        control.stop().await;
        ended.map_err(|defect| defect.to_string())
    })
}

fn verify_journal(directory: &Path) -> Result<JournalEnd, Failure> {
    let file = journal::file_in(directory);
    let report = journal::verify(&file, |_| {}).map_err(|error| Failure::failed(error.to_string()))?;
    let text = report
        .bad
        .as_ref()
        .map_or_else(|| "whole".to_owned(), |bad| bad.text.clone());
    Ok(JournalEnd {
        head: report.head.seqno,
        verified: report.bad.is_none(),
        text,
    })
}
