//! What a port's task needs of the world: ports to open, somebody to ask who else holds one, chance, and to be run. The daemon's is
//! [`SerialPorts`]; another one lets the same tasks run on a clock, with lines and chance of somebody else's making.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::holder::{self, Holders};
use super::port::{Leads, Moved, OpenError, Port};

/// An answer on its way; `None`: the runtime is going down, and nobody needs it.
pub type Answer<T> = Pin<Box<dyn Future<Output = Option<T>> + Send>>;

/// A port's task.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An open port, as its link drives it. Dropping it closes it.
pub trait OpenPort: Send {
    /// The device behind the name, as it was when it was opened.
    fn resolved(&self) -> &Path;

    /// Where the name leads now.
    fn leads(&self, path: &Path) -> Leads;

    /// Writes the beginning of `out`, or reads, whichever is possible; writing first, because what is written is short and a
    /// device that talks without end must not keep us from answering.
    ///
    /// # Errors
    /// The device is gone: an end of file counts as that, or a dead port would be read for ever.
    fn poll_move(&mut self, cx: &mut Context<'_>, out: &[u8], into: &mut [u8]) -> Poll<io::Result<Moved>>;
}

/// Where links find their ports.
pub trait Ports: Send + Sync {
    /// Whether there is anything of this name, at the price of one system call.
    ///
    /// # Errors
    /// [`OpenError::Missing`], or what keeps us from looking.
    fn find(&self, path: &Path, baud: u32) -> Result<(), OpenError>;

    /// Opens the port for us alone, without keeping the runtime's thread waiting.
    fn open(&self, path: PathBuf, baud: u32) -> Answer<Result<Box<dyn OpenPort>, OpenError>>;

    /// Who has the device open beside us.
    fn others(&self, resolved: PathBuf) -> Answer<Holders>;

    /// From which a link draws its session numbers.
    fn seed(&self) -> u64;

    /// Runs a port's task.
    fn run(&self, task: Task);
}

/// The machine's serial ports.
#[derive(Clone, Copy, Debug)]
pub struct SerialPorts;

impl Ports for SerialPorts {
    fn find(&self, path: &Path, baud: u32) -> Result<(), OpenError> {
        Port::find(path, baud)
    }

    /// Off the loop's thread: other devices' keys are not kept waiting while somebody is asked who holds it.
    fn open(&self, path: PathBuf, baud: u32) -> Answer<Result<Box<dyn OpenPort>, OpenError>> {
        Box::pin(async move {
            let opened = off_the_loop(move || Port::open(&path, baud)).await?;
            Some(opened.map(|port| Box::new(port) as Box<dyn OpenPort>))
        })
    }

    fn others(&self, resolved: PathBuf) -> Answer<Holders> {
        Box::pin(off_the_loop(move || holder::of(&resolved).without_makers()))
    }

    fn seed(&self) -> u64 {
        rand::random()
    }

    fn run(&self, task: Task) {
        tokio::spawn(task);
    }
}

/// `None` when the runtime is going down; a panic goes on here.
async fn off_the_loop<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Some(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => None,
        },
    }
}
