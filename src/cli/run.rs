//! `tablegate run`: the daemon of one table. One thread for everything but the journal's disk.

use super::daemon::{self, configuration};
use super::ending::{Failure, Status};
use crate::causes::told;
use crate::config::{Config, signing_key};
use crate::control;
use crate::display::{self, DisplayConfig, Picture};
use crate::gateway::{self, Handle, Rooms, Running};
use crate::journal::OpenError;
use crate::metrics::{self, MetricsConfig};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The table's configuration.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// How much to log.
    #[arg(long, value_enum, default_value_t = LogLevel::Info)]
    log_level: LogLevel,
}

/// How much is logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum LogLevel {
    /// What keeps the table from playing.
    Error,
    /// And what may soon.
    Warn,
    /// And what begins and ends.
    Info,
    /// And what each part does.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for tracing::level_filters::LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Runs it.
///
/// # Errors
/// Exit status 3: the configuration is refused, or the journal is another table's. 4: the journal is of a newer program.
/// 1: anything else that keeps the daemon from starting.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let mut config = configuration(&args.config)?;
    let signing = config.signing_key.as_ref().map(signing_key::read).transpose();
    let signing = signing.map_err(|problem| daemon::refused(&[problem]))?;
    super::log::to_journald_or_stderr(args.log_level.into());
    if let Some((signer, doubt)) = signing {
        if let Some(doubt) = doubt {
            tracing::warn!("{doubt}");
        }
        config.gateway.signer = Some(Arc::new(signer));
    }
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(live(config))
}

async fn live(config: Config) -> Result<(), Failure> {
    // Before anything is opened: a stop that comes during the start must be a clean one.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // The terminal of a daemon that was started by hand is closed: no reason to leave the table without a clean stop.
    let mut hang_up = signal(SignalKind::hangup())?;
    // A limit on the size of files ends a process that doesn't listen. Here the write fails instead, and the table stands still and says so.
    let _size_limit_reached = signal(SignalKind::from_raw(nix::libc::SIGXFSZ))?;
    let rooms = Rooms {
        ports: config.ports,
        journal: config.journal,
        uplink: config.uplink,
    };
    let mut running = gateway::start(config.gateway, rooms).await.map_err(refused)?;
    let serving = serve(&running, &config.control);
    let control = match serving {
        Ok(control) => control,
        Err(failure) => {
            running.handle().stop();
            if let Err(defect) = running.ended().await {
                tracing::error!("{}", told(&defect));
            }
            return Err(failure);
        }
    };
    let display = config
        .display
        .map(|display| tokio::spawn(show(display, running.handle())));
    let metrics = config
        .metrics
        .map(|metrics| tokio::spawn(offer(metrics, running.handle())));
    running.tell_ready();
    tokio::select! {
        _ = terminate.recv() => tracing::info!("asked to stop"),
        _ = interrupt.recv() => tracing::info!("interrupted: stopping"),
        _ = hang_up.recv() => tracing::info!("hung up: stopping (the configuration is read at the start only)"),
        ended = running.ended() => {
            let defect = ended.err().map(|defect| told(&defect));
            return Err(Failure::failed(defect.unwrap_or_else(|| "the table ended by itself".to_owned())));
        }
    }
    running.handle().stop();
    tokio::select! {
        ended = running.ended() => ended.map_err(|defect| Failure::failed(told(&defect)))?,
        // Whoever asks twice wants it now; the journal is whole at any moment.
        _ = terminate.recv() => tracing::warn!("asked to stop again: stopping at once"),
        _ = interrupt.recv() => tracing::warn!("interrupted again: stopping at once"),
    }
    control.stop().await;
    for reader in display.into_iter().chain(metrics) {
        reader.abort();
    }
    Ok(())
}

/// A display that can't listen is tried again this often: another program may have its port for a while.
const LISTEN_AGAIN: Duration = Duration::from_secs(30);

/// The results display, beside the table: whatever happens to it, play goes on (NZ Div 9 r7.5).
async fn show(config: DisplayConfig, handle: Handle) {
    let mut table = handle.table();
    let (show, shown) = watch::channel(Arc::new(Picture::of(&table.borrow_and_update(), config.results)));
    let results = config.results;
    let draw = async {
        while table.changed().await.is_ok() {
            let picture = Picture::of(&table.borrow_and_update(), results);
            show.send_if_modified(|known| {
                let differs = **known != picture;
                if differs {
                    *known = Arc::new(picture);
                }
                differs
            });
        }
    };
    let listen = async {
        loop {
            let bound = |address| tracing::info!(%address, "the results display listens");
            if let Err(error) = display::serve(&config, shown.clone(), bound).await {
                tracing::error!("{}", told(&error));
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    };
    tokio::join!(draw, listen);
}

/// The metrics, beside the table as the display is.
async fn offer(config: MetricsConfig, handle: Handle) {
    loop {
        let bound = |address| tracing::info!(%address, "metrics are offered");
        if let Err(error) = metrics::serve(config, handle.clone(), bound).await {
            tracing::error!("{}", told(&error));
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

fn serve(running: &Running, config: &control::ControlConfig) -> Result<control::Control, Failure> {
    control::serve(config, &running.handle()).map_err(|error| Failure::failed(told(&error)))
}

/// A journal that this daemon may not use, in words and with the exit status for it.
fn refused(error: OpenError) -> Failure {
    let status = match &error {
        OpenError::OtherOwner { .. } => Status::Configuration,
        OpenError::Newer { .. } => Status::NewerJournal,
        OpenError::Locked(_) | OpenError::Directory { .. } | OpenError::Store { .. } => Status::Failed,
    };
    Failure {
        status,
        text: told(&error),
    }
}
