//! The world that a gateway runs in: clock, identities, journal, ports, brokers, and somebody who runs its tasks. The daemon's is
//! [`Machine`]; in another one the same gateway runs on a clock and with faults of somebody else's making.

use super::clock::{ClockSource, Synchronisation, SystemClock, watch_synchronisation};
use super::store::{Answer, Found, JournalStore};
use crate::device::{Ports, SerialPorts};
use crate::journal::{self, Begin, Journal, JournalConfig, OpenError, Options, Owner};
use crate::time::{Clock, Timestamp};
use crate::uplink::{Brokers, MqttBrokers};
use sha2::{Digest, Sha256};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// What a gateway needs of the world.
pub trait Outside: Send + Sync {
    /// Another one at each start.
    fn run_id(&self) -> String;

    /// Monotonic time since this run began, and the wall clock.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Whether `source` says that the wall clock follows a time server. Must be called within a runtime.
    fn synchronisation(&self, source: ClockSource) -> watch::Receiver<Synchronisation>;

    /// What identifies this PC.
    fn machine(&self) -> String;

    /// Begins to digest the running program after `seed` (which may be empty); the digest is zeros when the program can't be read.
    fn program_digest(&self, seed: &[u8]) -> Answer<[u8; 32]>;

    /// Opens the journal. Blocks.
    ///
    /// # Errors
    /// [`OpenError`]; nothing was moved or changed then.
    fn open(
        &self,
        journal: &JournalConfig,
        owner: &Owner,
        machine: &str,
        now: Timestamp,
        begin: Begin,
    ) -> Result<Found, OpenError>;

    /// The number of the next connection, kept if the disk lets it be kept, while there is no journal that counts: the self-test has failed.
    fn count_connection(&self, journal: &JournalConfig, now: Timestamp) -> u64;

    /// Where links find their ports.
    fn ports(&self) -> Arc<dyn Ports>;

    /// Where the uplink finds its brokers.
    fn brokers(&self) -> Arc<dyn Brokers>;

    /// Runs the table's task.
    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()>;
}

/// The table's PC.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl Outside for Machine {
    fn run_id(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock::start())
    }

    fn synchronisation(&self, source: ClockSource) -> watch::Receiver<Synchronisation> {
        watch_synchronisation(source)
    }

    /// Its machine id, else its host name.
    fn machine(&self) -> String {
        let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
        match id.trim() {
            "" => nix::unistd::gethostname()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            id => id.to_owned(),
        }
    }

    /// On a thread: the journal is opened meanwhile.
    fn program_digest(&self, seed: &[u8]) -> Answer<[u8; 32]> {
        let seed = seed.to_vec();
        let (tell, told) = oneshot::channel();
        let _detached = std::thread::spawn(move || {
            // Whoever asked may have gone.
            let _gone = tell.send(own_digest(&seed));
        });
        Box::pin(async move { told.await.unwrap_or_default() })
    }

    fn open(
        &self,
        journal: &JournalConfig,
        owner: &Owner,
        machine: &str,
        now: Timestamp,
        begin: Begin,
    ) -> Result<Found, OpenError> {
        let options = Options {
            retention: journal.retention,
            now,
            begin,
            faults: None,
        };
        let opened = Journal::open(&journal.directory, owner, machine, options)?;
        Ok(JournalStore::found(opened, journal.min_free_bytes))
    }

    fn count_connection(&self, journal: &JournalConfig, now: Timestamp) -> u64 {
        journal::count_connection(&journal.directory, now)
    }

    fn ports(&self) -> Arc<dyn Ports> {
        Arc::new(SerialPorts)
    }

    fn brokers(&self) -> Arc<dyn Brokers> {
        Arc::new(MqttBrokers)
    }

    fn run(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) -> JoinHandle<()> {
        tokio::spawn(task)
    }
}

/// SHA-256 of the seed and this program's file; zeros when it can't be read.
fn own_digest(seed: &[u8]) -> [u8; 32] {
    let digest = || -> std::io::Result<[u8; 32]> {
        let mut program = std::fs::File::open("/proc/self/exe")?;
        let mut sha256 = Sha256::new_with_prefix(seed);
        std::io::copy(&mut program, &mut Hashing(&mut sha256))?;
        Ok(sha256.finalize().into())
    };
    digest().unwrap_or_else(|error| {
        tracing::warn!(%error, "this program's own file can't be read: its digest is recorded as zeros");
        [0; 32]
    })
}

/// Hashes what is written to it.
struct Hashing<'a>(&'a mut Sha256);

impl std::io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
